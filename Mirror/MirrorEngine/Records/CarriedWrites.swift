internal import RecordWire

/// The IDs of a record's last writes. A service with extensions tells them; with a plain one they
/// travel as a field of the record. (docs/MERGE.md §14)
extension Record {
    /// How many writes a record carries.
    static let carriedWritesMax = 8

    var knownWriteIDs: [String] { recentWriteIDs.isEmpty ? carriedWriteIDs : recentWriteIDs }

    private var carriedWriteIDs: [String] {
        guard case .string(let text)?? = fields[RecordNames.writes] else { return [] }
        return text.split(separator: " ").map(String.init)
    }

    /// The field of this record after one more write.
    func carriedWrites(adding id: String) -> FieldValue {
        let ids = [id] + carriedWriteIDs.filter { $0 != id }
        return .string(ids.prefix(Self.carriedWritesMax).joined(separator: " "))
    }
}
