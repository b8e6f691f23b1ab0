internal import Platform
internal import RecordWire
internal import SQLiteDriver

/// A name that the service is to drop.
struct DroppedName {
    /// Z_PK of the name's line.
    let key: Int64
    let name: String
    /// At which it was seen last; nil where it is dropped whatever was written to it.
    let tag: String?
    /// The line of the object that took it in; 0 where there is none any more.
    let survivor: Int64
}

/// Aliases: names of objects that were merged into others, which the service is to drop.
extension Ledger {
    static let aliasTables = [
        "CREATE TABLE IF NOT EXISTS ADIPTYCHALIAS (ZRECORDNAME VARCHAR PRIMARY KEY, ZTAG VARCHAR) "
            + "WITHOUT ROWID",
        "CREATE INDEX IF NOT EXISTS ADIPTYCH_RECEIPTLINE ON ANSCKRECORDZONEMOVERECEIPT "
            + "(ZRECORDMETADATA)",
        "CREATE INDEX IF NOT EXISTS ADIPTYCH_NAMESTODROP ON ANSCKRECORDZONEMOVERECEIPT (Z_PK) "
            + "WHERE ZNEEDSCLOUDDELETE = 1",
    ]

    /// Notes that the object called `name` is now one with the line `key`; the service is to drop
    /// the name, as far as nobody wrote to it since it stood at `tag`; whatever it is for nil.
    package func keepAlias(_ name: String, mergedInto key: Int64, at tag: String?) throws {
        try removeAlias(of: name)
        try connection.run(
            "INSERT INTO ANSCKRECORDZONEMOVERECEIPT (Z_ENT, Z_OPT, ZNEEDSCLOUDDELETE, "
                + "ZRECORDMETADATA, "
                + "ZMOVEDAT, ZRECORDNAME) VALUES (17017, 1, 1, ?, ?, ?)",
            [.integer(key), SQLiteValue(platform.clock.now()), .text(name)])
        if let tag { try setAliasTag(tag, of: name) }
    }

    /// A version of a merged object's record was seen, and what it says is in the log.
    func setAliasTag(_ tag: String, of name: String) throws {
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHALIAS (ZRECORDNAME, ZTAG) VALUES (?, ?)",
            [.text(name), .text(tag)])
    }

    /// Whether a name is to be dropped as it stood at another version than a record's.
    func isAliasBehind(_ record: Record) throws -> Bool {
        let known = try connection.value(
            "SELECT ZTAG FROM ADIPTYCHALIAS WHERE ZRECORDNAME = ?", [.text(record.recordName)])
        return known?.string != record.recordChangeTag
    }

    private func forgetAliasTag(of name: String) throws {
        try connection.run("DELETE FROM ADIPTYCHALIAS WHERE ZRECORDNAME = ?", [.text(name)])
    }

    /// Names that stood for one line stand for another.
    package func moveAliases(from key: Int64, to other: Int64) throws {
        try connection.run(
            "UPDATE ANSCKRECORDZONEMOVERECEIPT SET ZRECORDMETADATA = ? WHERE ZRECORDMETADATA = ?",
            [.integer(other), .integer(key)])
    }

    /// Names that the service is still to drop and has not refused to, in the order of their lines,
    /// of which `key` is the last that is known. While the object that absorbed one is not at the
    /// service, is held back from export by a decision that waits or a refusal, or is to bring what
    /// only the service can read of it, others keep theirs. A refusal for a unique key may be that
    /// of the name itself.
    func aliasesToDrop(after key: Int64, limit: Int) throws -> [DroppedName] {
        try connection.rows(
            "SELECT r.Z_PK, r.ZRECORDNAME, a.ZTAG, r.ZRECORDMETADATA "
                + "FROM ANSCKRECORDZONEMOVERECEIPT r "
                + "LEFT JOIN ADIPTYCHALIAS a ON a.ZRECORDNAME = r.ZRECORDNAME "
                + "WHERE r.ZNEEDSCLOUDDELETE = 1 AND r.Z_PK > ? "
                + "AND NOT EXISTS (SELECT 1 FROM ADIPTYCHREFUSAL f "
                + "WHERE f.ZRECORDNAME = r.ZRECORDNAME) "
                + "AND NOT EXISTS (SELECT 1 FROM ANSCKRECORDMETADATA m JOIN ADIPTYCHCONFLICT c "
                + "ON c.ZRECORDNAME = m.ZCKRECORDNAME AND c.ZWINNER = 'waiting' "
                + "WHERE m.Z_PK = r.ZRECORDMETADATA) "
                + "AND NOT EXISTS (SELECT 1 FROM ANSCKRECORDMETADATA m JOIN ADIPTYCHFOREIGN f "
                + "ON f.ZENTITYID = m.ZENTITYID AND f.ZENTITYPK = m.ZENTITYPK "
                + "WHERE m.Z_PK = r.ZRECORDMETADATA) "
                + "AND NOT EXISTS (SELECT 1 FROM ANSCKRECORDMETADATA m LEFT JOIN ADIPTYCHREFUSAL f "
                + "ON f.ZRECORDNAME = m.ZCKRECORDNAME WHERE m.Z_PK = r.ZRECORDMETADATA "
                + "AND m.ZNEEDSCLOUDDELETE = 0 "
                + "AND CASE WHEN f.ZCODE IS NULL THEN m.ZENCODEDRECORDASSET IS NULL "
                + "ELSE f.ZCODE <> ? END) "
                + "ORDER BY r.Z_PK LIMIT ?",
            [
                .integer(key), .text(RecordError.Code.uniqueFieldError.rawValue),
                SQLiteValue(limit),
            ]
        ).compactMap { row in
            guard let key = row[0].int64, let name = row[1].string else { return nil }
            return DroppedName(
                key: key, name: name, tag: row[2].string, survivor: row[3].int64 ?? 0)
        }
    }

    /// The name was dropped by the service; it goes on standing for the object that absorbed it.
    package func markAliasDropped(_ name: String) throws {
        try forgetRefusal(of: name)
        try forgetAliasTag(of: name)
        try connection.run(
            "UPDATE ANSCKRECORDZONEMOVERECEIPT SET ZNEEDSCLOUDDELETE = 0 WHERE ZRECORDNAME = ?",
            [.text(name)])
        // A name that was only to be deleted again stands for nothing here.
        try connection.run(
            "DELETE FROM ANSCKRECORDZONEMOVERECEIPT WHERE ZRECORDNAME = ? AND ZRECORDMETADATA = 0",
            [.text(name)])
    }

    /// Whether the service is still to drop the name for this device.
    func isToDrop(_ name: String) throws -> Bool {
        try connection.rows(
            "SELECT 1 FROM ANSCKRECORDZONEMOVERECEIPT WHERE ZRECORDNAME = ? "
                + "AND ZNEEDSCLOUDDELETE = 1", [.text(name)]
        ).first != nil
    }

    /// The name is another user's: their device drops it, and nothing waits for that here.
    func leaveAlias(_ name: String) throws {
        try connection.run(
            "UPDATE ANSCKRECORDZONEMOVERECEIPT SET ZNEEDSCLOUDDELETE = 2 WHERE ZRECORDNAME = ? "
                + "AND ZNEEDSCLOUDDELETE = 1", [.text(name)])
    }

    /// The names that the line `key` is still to have dropped.
    func namesToDrop(of key: Int64) throws -> [String] {
        try connection.rows(
            "SELECT ZRECORDNAME FROM ANSCKRECORDZONEMOVERECEIPT WHERE ZRECORDMETADATA = ? "
                + "AND ZNEEDSCLOUDDELETE = 1", [.integer(key)]
        ).compactMap { $0[0].string }
    }

    /// All of them are left so.
    func leaveAliases(of key: Int64) throws {
        try connection.run(
            "UPDATE ANSCKRECORDZONEMOVERECEIPT SET ZNEEDSCLOUDDELETE = 2 "
                + "WHERE ZRECORDMETADATA = ? AND ZNEEDSCLOUDDELETE = 1", [.integer(key)])
    }

    /// Whether the name was left so, and lives.
    func isLeft(_ name: String) throws -> Bool {
        try connection.rows(
            "SELECT 1 FROM ANSCKRECORDZONEMOVERECEIPT WHERE ZRECORDNAME = ? "
                + "AND ZNEEDSCLOUDDELETE = 2", [.text(name)]
        ).first != nil
    }

    /// The names that were left and stand for the line `key`.
    func leftNames(of key: Int64) throws -> [String] {
        try connection.rows(
            "SELECT ZRECORDNAME FROM ANSCKRECORDZONEMOVERECEIPT WHERE ZRECORDMETADATA = ? "
                + "AND ZNEEDSCLOUDDELETE = 2", [.integer(key)]
        ).compactMap { $0[0].string }
    }

    func hasLeftNames(of key: Int64) throws -> Bool { try !leftNames(of: key).isEmpty }

    /// What was passed over under names that are left to others is needed, where the object called
    /// `name` has any.
    func readAgainForNamesLeft(to name: String) throws {
        let key = try connection.value(
            "SELECT Z_PK FROM ANSCKRECORDMETADATA WHERE ZCKRECORDNAME = ?", [.text(name)])
        guard let key = key?.int64, try hasLeftNames(of: key) else { return }
        try set(.readingAgain, to: .integer(1))
    }

    /// Whether the zone is to be read from its start once more. It is asked for once.
    func takeReadingAgain() throws -> Bool {
        guard try setting(.readingAgain) != nil else { return false }
        try set(.readingAgain, to: .null)
        return true
    }

    /// Such a name was dropped.
    func noteLeftAliasDropped(_ name: String) throws {
        try connection.run(
            "UPDATE ANSCKRECORDZONEMOVERECEIPT SET ZNEEDSCLOUDDELETE = 0 WHERE ZRECORDNAME = ? "
                + "AND ZNEEDSCLOUDDELETE = 2", [.text(name)])
    }

    /// Whether any name was merged into another here.
    package func hasAliases() throws -> Bool {
        try connection.value("SELECT 1 FROM ANSCKRECORDZONEMOVERECEIPT LIMIT 1") != nil
    }

    /// Whether the object called `name` was merged into another here, and whether the service has
    /// dropped the name since; nil for a name of its own.
    package func alias(of name: String) throws -> (isDropped: Bool, key: Int64)? {
        let row = try connection.rows(
            "SELECT ZNEEDSCLOUDDELETE, ZRECORDMETADATA FROM ANSCKRECORDZONEMOVERECEIPT "
                + "WHERE ZRECORDNAME = ?", [.text(name)]
        ).first
        return row.map { ($0[0].int64 ?? 0 == 0, $0[1].int64 ?? 0) }
    }

    /// The name stands for an object of its own again.
    package func removeAlias(of name: String) throws {
        try forgetAliasTag(of: name)
        try connection.run(
            "DELETE FROM ANSCKRECORDZONEMOVERECEIPT WHERE ZRECORDNAME = ?", [.text(name)])
    }
}
