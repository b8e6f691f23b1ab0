internal import RecordWire
internal import SQLiteDriver

/// Edits that the service refused: it has the objects as they were before.
extension Ledger {
    private static let isRefused =
        "EXISTS (SELECT 1 FROM ADIPTYCHREFUSAL r WHERE r.ZRECORDNAME = "

    /// The lines of objects that the service has, and whose edits it refused, in the order in which
    /// they came to be known.
    func refusedEdits() throws -> [RecordEntry] {
        guard try mayHold(.refusals) else { return [] }
        return try entries(
            "WHERE m.ZNEEDSUPLOAD = 1 AND m.ZNEEDSCLOUDDELETE = 0 "
                + "AND m.ZENCODEDRECORDASSET IS NOT NULL AND \(Self.isRefused) m.ZCKRECORDNAME) "
                + "ORDER BY m.Z_PK", []
        ).filter { $0.base?.deleted == false && $0.base?.recordChangeTag != nil }
    }

    /// The pairs whose making or removal the service refused.
    func refusedPairs() throws -> [PairEntry] {
        guard try mayHold(.refusals) else { return [] }
        return try pairs(
            "(p.ZISUPLOADED = 0 OR p.ZNEEDSDELETE = 1) AND \(Self.isRefused) p.ZCKRECORDID)", [])
    }

    /// What waits of a record for a decision is decided as the service has it.
    func decideForService(_ name: String) throws {
        try connection.run(
            "UPDATE ADIPTYCHCONFLICT SET ZWINNER = 'remote' WHERE ZRECORDNAME = ? "
                + "AND ZWINNER = 'waiting'", [.text(name)])
    }
}
