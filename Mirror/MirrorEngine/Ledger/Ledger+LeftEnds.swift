internal import SQLiteDriver

/// Lines whose one-to-one ends follow from other records.
extension Ledger {
    /// Notes that nothing waits of a line but ends that others write.
    func leaveEnds(key: Int64, areClaims: Bool) throws {
        try clearUpload(key: key)
        try connection.run(
            "UPDATE ANSCKRECORDMETADATA SET ZPENDINGEXPORTCHANGETYPENUMBER = ? WHERE Z_PK = ?",
            [.integer(areClaims ? Self.leftType : Self.upkeepType), .integer(key)])
    }

    /// Notes that all that waits of a line is a link that another record gave up.
    func markRelease(key: Int64) throws {
        try connection.run(
            "UPDATE ANSCKRECORDMETADATA SET ZPENDINGEXPORTCHANGETYPENUMBER = ? WHERE Z_PK = ?",
            [.integer(Self.releaseType), .integer(key)])
    }

    func isRelease(key: Int64) throws -> Bool {
        try connection.value(
            "SELECT ZPENDINGEXPORTCHANGETYPENUMBER FROM ANSCKRECORDMETADATA WHERE Z_PK = ?",
            [.integer(key)])?.int64 == Self.releaseType
    }

    func entriesWithLeftEnds() throws -> [RecordEntry] {
        try entries(
            "WHERE m.ZPENDINGEXPORTCHANGETYPENUMBER = \(Self.leftType) AND m.ZNEEDSUPLOAD = 0 "
                + "AND m.ZNEEDSCLOUDDELETE = 0 ORDER BY m.Z_PK", [])
    }

    /// Whether nobody edited what a line's ends differ in from its record.
    func hasDerivedEnds(key: Int64) throws -> Bool {
        try connection.rows(
            "SELECT 1 FROM ANSCKRECORDMETADATA WHERE Z_PK = ? AND "
                + "(ZPENDINGEXPORTCHANGETYPENUMBER IN (\(Self.upkeepTypes)) "
                + "OR ZNEEDSUPLOAD = 0 AND "
                + "ZPENDINGEXPORTCHANGETYPENUMBER = \(Self.leftType))", [.integer(key)]
        ).first != nil
    }
}
