/// Tells new names apart without looking each up: they are made to sort by time, so that most sort
/// behind all that are here.
struct KnownNames {
    /// The last of those that are here, by bytes.
    private var last: String?

    init(_ ledger: Ledger) throws { last = try ledger.lastName() }

    /// Whether a line may have this name; false for a new one that was not asked for before.
    mutating func mayHold(_ name: String) -> Bool {
        guard last.map({ $0.utf8.lexicographicallyPrecedes(name.utf8) }) ?? true else {
            return true
        }
        last = name
        return false
    }
}
