internal import Foundation
internal import Platform
package import RecordWire
internal import SQLiteDriver

/// What is in flight (sent and not yet answered), what the service refused, and aliases: names of
/// objects that were merged into others, which the service is to drop.
///
/// A sent record is kept until the base advances. When the reply was lost, the service's record is
/// recognised as our own write by its values, and is no conflict.
extension Ledger {
    private static let keepingInFlight =
        "INSERT OR REPLACE INTO ADIPTYCHINFLIGHT (ZRECORDNAME, ZMARK, ZRECORD) VALUES (?, ?, ?)"

    func keepInFlight(_ archived: Data, of name: String, mark: String) throws {
        rare.note(.inFlight)
        try connection.run(
            Self.keepingInFlight, [.text(name), .text(mark), .blob(archived)])
    }

    /// What was sent under `mark` and not yet answered.
    package func inFlight(_ name: String, mark: String) throws -> Record? {
        try inFlight(
            "SELECT ZRECORD FROM ADIPTYCHINFLIGHT WHERE ZRECORDNAME = ? AND ZMARK = ?",
            [.text(name), .text(mark)])
    }

    /// What was sent last and not yet answered.
    package func lastInFlight(_ name: String) throws -> Record? {
        try inFlight(
            "SELECT ZRECORD FROM ADIPTYCHINFLIGHT WHERE ZRECORDNAME = ? "
                + "ORDER BY rowid DESC LIMIT 1", [.text(name)])
    }

    private func inFlight(_ sql: String, _ values: [SQLiteValue]) throws -> Record? {
        try spreadBatches()
        guard try mayHold(.inFlight), case .blob(let bytes)? = try connection.value(sql, values)
        else { return nil }
        return try Self.decode(bytes)
    }

    /// The IDs of all that was sent and not yet answered.
    func marksInFlight(_ name: String) throws -> [String] {
        try spreadBatches()
        guard try mayHold(.inFlight) else { return [] }
        return try connection.rows(
            "SELECT ZMARK FROM ADIPTYCHINFLIGHT WHERE ZRECORDNAME = ?", [.text(name)]
        ).compactMap { $0[0].string }
    }

    /// Puts other versions in the place of those that were sent and not yet answered.
    func replaceInFlight(_ name: String, _ change: (Record) -> Record) throws {
        for mark in try marksInFlight(name) {
            guard let sent = try inFlight(name, mark: mark) else { continue }
            try connection.run(
                "UPDATE ADIPTYCHINFLIGHT SET ZRECORD = ?3 WHERE ZRECORDNAME = ?1 AND ZMARK = ?2",
                [.text(name), .text(mark), .blob(RecordArchive.encode(change(sent)))])
        }
    }

    package func forgetInFlight(_ name: String) throws {
        try spreadBatches()
        try forgetEarlierInFlight(name)
    }

    /// Forgets what was sent before the batches that are in one piece still.
    func forgetEarlierInFlight(_ name: String) throws {
        guard try mayHold(.inFlight) else { return }
        try connection.run("DELETE FROM ADIPTYCHINFLIGHT WHERE ZRECORDNAME = ?", [.text(name)])
    }

    /// Counts values that are sealed under a key; throws `.keyWornOut` beyond what one may seal.
    func addSeals(_ count: Int, under key: SealingKey) throws {
        let former = try setting(.seals(under: key))?.int64 ?? 0
        guard former <= Sealer.sealsMax - Int64(count) else {
            throw MirrorError(
                .keyWornOut,
                "The key \(key) has sealed \(former) values on this device, as many as are safe. "
                    + "Rotate the key file.", fields: ["key": key.description])
        }
        try set(.seals(under: key), to: .integer(former + Int64(count)))
    }

    /// Notes that the service will not take a record as it is. It waits until the object changes.
    package func keepRefusal(of name: String, _ error: RecordError) throws {
        rare.note(.refusals)
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHREFUSAL (ZRECORDNAME, ZDATE, ZCODE, ZREASON) "
                + "VALUES (?, ?, ?, ?)",
            [
                .text(name), SQLiteValue(platform.clock.now()), .text(error.code.rawValue),
                .text(error.reason),
            ])
    }

    /// What was refused is gone, or has changed since.
    package func forgetRefusal(of name: String) throws {
        guard try mayHold(.refusals) else { return }
        try connection.run("DELETE FROM ADIPTYCHREFUSAL WHERE ZRECORDNAME = ?", [.text(name)])
    }

    /// Lets all that was refused with a code be sent again.
    func forgetRefusals(_ code: RecordError.Code) throws {
        guard try mayHold(.refusals) else { return }
        try connection.run(
            "DELETE FROM ADIPTYCHREFUSAL WHERE ZCODE = ?", [.text(code.rawValue)])
    }

    /// Whether the service is still to hear of a record's edit or deletion, and has not refused it.
    package func waits(_ name: String) throws -> Bool {
        if let alias = try alias(of: name), !alias.isDropped { return true }
        guard let entry = try entry(named: name) else { return false }
        let isRefused =
            try connection.rows(
                "SELECT 1 FROM ADIPTYCHREFUSAL WHERE ZRECORDNAME = ?", [.text(name)]
            ).first != nil
        return (entry.needsUpload || entry.needsCloudDelete) && !isRefused
    }

    /// Lets what did not fit into the user's quota, met another record's natural key, named an
    /// asset that the service lacks, or was not the user's to write in the public database, be sent
    /// again, once in an hour: room is made and roles are given elsewhere, and nobody tells this
    /// device. Of a share's permission it is told.
    package func retryRefused(in database: MirrorDatabase) throws {
        guard try mayHold(.refusals) else { return }
        let before = platform.clock.now().addingTimeInterval(-Self.refusalPauseSeconds)
        var codes = [RecordError.Code.quotaExceeded, .uniqueFieldError, .assetNotFound]
        if database == .public { codes.append(.accessDenied) }
        for code in codes {
            try connection.run(
                "DELETE FROM ADIPTYCHREFUSAL WHERE ZCODE = ? AND ZDATE <= ?",
                [.text(code.rawValue), SQLiteValue(before)])
        }
    }

    private static let refusalPauseSeconds = 3_600.0

    /// Notes that the object called `name` is now one with the line `key`; the service is to drop
    /// the name.
    package func keepAlias(_ name: String, mergedInto key: Int64) throws {
        try connection.run(
            "DELETE FROM ANSCKRECORDZONEMOVERECEIPT WHERE ZRECORDNAME = ?", [.text(name)])
        try connection.run(
            "INSERT INTO ANSCKRECORDZONEMOVERECEIPT (Z_ENT, Z_OPT, ZNEEDSCLOUDDELETE, "
                + "ZRECORDMETADATA, "
                + "ZMOVEDAT, ZRECORDNAME) VALUES (17017, 1, 1, ?, ?, ?)",
            [.integer(key), SQLiteValue(platform.clock.now()), .text(name)])
    }

    /// Names that stood for one line stand for another.
    package func moveAliases(from key: Int64, to other: Int64) throws {
        try connection.run(
            "UPDATE ANSCKRECORDZONEMOVERECEIPT SET ZRECORDMETADATA = ? WHERE ZRECORDMETADATA = ?",
            [.integer(other), .integer(key)])
    }

    /// Names that the service is still to drop. While the object that absorbed one is held back
    /// from export by a decision that waits, or is to bring what only the service can read of it,
    /// others keep theirs.
    package func aliasesToDrop(limit: Int) throws -> [String] {
        try connection.rows(
            "SELECT r.ZRECORDNAME FROM ANSCKRECORDZONEMOVERECEIPT r WHERE r.ZNEEDSCLOUDDELETE = 1 "
                + "AND NOT EXISTS (SELECT 1 FROM ANSCKRECORDMETADATA m JOIN ADIPTYCHCONFLICT c "
                + "ON c.ZRECORDNAME = m.ZCKRECORDNAME AND c.ZWINNER = 'waiting' "
                + "WHERE m.Z_PK = r.ZRECORDMETADATA) "
                + "AND NOT EXISTS (SELECT 1 FROM ANSCKRECORDMETADATA m JOIN ADIPTYCHFOREIGN f "
                + "ON f.ZENTITYID = m.ZENTITYID AND f.ZENTITYPK = m.ZENTITYPK "
                + "WHERE m.Z_PK = r.ZRECORDMETADATA) "
                + "ORDER BY r.Z_PK LIMIT ?", [SQLiteValue(limit)]
        ).compactMap { $0[0].string }
    }

    /// The name was dropped by the service; it goes on standing for the object that absorbed it.
    package func markAliasDropped(_ name: String) throws {
        try connection.run(
            "UPDATE ANSCKRECORDZONEMOVERECEIPT SET ZNEEDSCLOUDDELETE = 0 WHERE ZRECORDNAME = ?",
            [.text(name)])
        // A name that was only to be deleted again stands for nothing here.
        try connection.run(
            "DELETE FROM ANSCKRECORDZONEMOVERECEIPT WHERE ZRECORDNAME = ? AND ZRECORDMETADATA = 0",
            [.text(name)])
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
        return row.map { ($0[0] != 1, $0[1].int64 ?? 0) }
    }

    /// The name stands for an object of its own again.
    package func removeAlias(of name: String) throws {
        try connection.run(
            "DELETE FROM ANSCKRECORDZONEMOVERECEIPT WHERE ZRECORDNAME = ?", [.text(name)])
    }
}
