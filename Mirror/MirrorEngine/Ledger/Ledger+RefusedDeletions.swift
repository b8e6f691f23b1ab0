internal import SQLiteDriver

/// Deletions that never happened at the service, because it refused them.
extension Ledger {
    private static let refusedDeletion =
        "WHERE m.ZNEEDSCLOUDDELETE = 1 AND \(isRefused) m.ZCKRECORDNAME)"

    /// The lines whose deletion the service refused, in the order in which they came to be known.
    func refusedDeletions() throws -> [RecordEntry] {
        guard try mayHold(.refusals) else { return [] }
        return try entries(Self.refusedDeletion + " ORDER BY m.Z_PK", [])
    }

    /// The line of the record called `name`, where its deletion was refused.
    func refusedDeletion(named name: String) throws -> RecordEntry? {
        guard try mayHold(.refusals) else { return nil }
        return try entries(Self.refusedDeletion + " AND m.ZCKRECORDNAME = ?", [.text(name)]).first
    }

    /// The lines of living objects that may differ from what the service has of them.
    func editedEntries() throws -> [RecordEntry] {
        try entries(
            "WHERE m.ZNEEDSUPLOAD = 1 AND m.ZNEEDSCLOUDDELETE = 0 "
                + "AND m.ZENCODEDRECORDASSET IS NOT NULL ORDER BY m.Z_PK", [])
    }
}
