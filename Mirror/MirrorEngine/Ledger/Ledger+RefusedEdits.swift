internal import RecordWire
internal import SQLiteDriver

/// Edits that the service refused: it has the objects as they were before.
extension Ledger {
    /// What waits with such a code goes by itself, or is a record on its way here; no edit was
    /// refused.
    private static let waitingCodes = [
        RecordImport.missingAsset.code, RecordImport.mismatch, .keyMissing, .assetNotFound,
        .quotaExceeded,
    ]

    static let isRefused =
        "EXISTS (SELECT 1 FROM ADIPTYCHREFUSAL r WHERE r.ZCODE NOT IN ("
        + waitingCodes.map { "'\($0.rawValue)'" }.joined(separator: ", ") + ") AND r.ZRECORDNAME = "

    /// The lines of objects that the service has, or has deleted, and whose edits it refused, in
    /// the order in which they came to be known.
    func refusedEdits() throws -> [RecordEntry] {
        guard try mayHold(.refusals) else { return [] }
        return try entries(
            "WHERE m.ZNEEDSUPLOAD = 1 AND m.ZNEEDSCLOUDDELETE = 0 "
                + "AND m.ZENCODEDRECORDASSET IS NOT NULL AND \(Self.isRefused) m.ZCKRECORDNAME) "
                + "ORDER BY m.Z_PK", []
        ).filter { $0.base?.recordChangeTag != nil }
    }

    /// The pairs whose making or removal the service refused.
    func refusedPairs() throws -> [PairEntry] {
        guard try mayHold(.refusals) else { return [] }
        return try pairs(
            "(p.ZISUPLOADED = 0 OR p.ZNEEDSDELETE = 1) AND \(Self.isRefused) p.ZCKRECORDID)", [])
    }

    /// The words in which records were refused, by name.
    func refusalReasons() throws -> [ExactName: String] {
        Dictionary(
            try refusals().map { (ExactName($0.recordName), $0.reason) },
            uniquingKeysWith: { one, _ in one })
    }
}
