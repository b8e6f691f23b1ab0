internal import SQLiteDriver

/// Knows whether what a connection reads is still the store that was opened, or another one that
/// was put in its place. One thread at a time.
final class StoreIdentity {
    /// What was read is another store's.
    struct Replaced: Error {}

    private let identifier: String
    private let connection: Connection
    /// The state of the file up to which the store was this one.
    private var confirmed: UInt32?

    init(_ identifier: String, in connection: Connection) {
        self.identifier = identifier
        self.connection = connection
    }

    /// To be called after reading, since only then it is known which state was read. Throws
    /// `Replaced`. Cost: next to nothing where nobody wrote since the last call, else one row.
    func confirm() throws {
        guard connection.seenState != confirmed else { return }
        let present = try connection.value("SELECT Z_UUID FROM Z_METADATA LIMIT 1")?.string
        guard present == identifier else { throw Replaced() }
        confirmed = connection.seenState
    }
}
