package import Foundation
internal import Platform
package import RecordWire
internal import SQLiteDriver
package import Stores

/// One object's line in ANSCKRECORDMETADATA, with the record as this device last saw it.
package struct RecordEntry: Sendable {
    /// Z_PK of the line.
    package var key: Int64
    package var row: RowID
    package var recordName: String
    package var needsUpload: Bool
    /// The object is gone here, and the service is still to be told.
    package var needsCloudDelete: Bool
    /// The history transaction of the newest change that waits for export; 0 where the mirror
    /// itself marked the line since it was last sent.
    package var pendingTransaction: Int64
    /// The merge base, with its change tag; nil until the service has the record.
    package var base: Record?
}

extension Ledger {
    private static let entryColumns =
        "m.Z_PK, m.ZENTITYID, m.ZENTITYPK, m.ZCKRECORDNAME, m.ZNEEDSUPLOAD, m.ZNEEDSCLOUDDELETE, "
        + "m.ZPENDINGEXPORTTRANSACTIONNUMBER, a.ZBINARYDATA FROM ANSCKRECORDMETADATA m "
        + "LEFT JOIN ANSCKRECORDMETADATAENCODEDRECORDASSET a ON a.Z_PK = m.ZENCODEDRECORDASSET"

    private static let entryNamed = "SELECT \(entryColumns) WHERE m.ZCKRECORDNAME = ?"

    package func entry(named name: String) throws -> RecordEntry? {
        try entry(Self.entryNamed, [.text(name)])
    }

    private static let entryOfKey = "SELECT \(entryColumns) WHERE m.Z_PK = ?"

    /// The name that sorts last by its bytes; nil where there is none.
    func lastName() throws -> String? {
        try connection.value("SELECT max(ZCKRECORDNAME) FROM ANSCKRECORDMETADATA")?.string
    }

    func entry(key: Int64) throws -> RecordEntry? { try entry(Self.entryOfKey, [.integer(key)]) }

    /// The line `key`, where it is of that record.
    func entry(key: Int64, named name: String) throws -> RecordEntry? {
        try entry(key: key).flatMap {
            $0.recordName.isExactly(name) ? $0 : nil
        }
    }

    private static let entryOfRow =
        "SELECT \(entryColumns) WHERE m.ZENTITYID = ? AND m.ZENTITYPK = ?"

    package func entry(for row: RowID) throws -> RecordEntry? {
        try entry(Self.entryOfRow, Self.values(row))
    }

    /// The entries that wait for export after the line `key`, in order, without those held back by
    /// a waiting conflict or refused by the service.
    package func pendingEntries(after key: Int64, limit: Int) throws -> [RecordEntry] {
        let sql =
            "SELECT \(Self.entryColumns) WHERE (m.ZNEEDSUPLOAD = 1 OR m.ZNEEDSCLOUDDELETE = 1) "
            + "AND m.Z_PK > ? "
            + "AND NOT EXISTS (SELECT 1 FROM ADIPTYCHCONFLICT c WHERE c.ZWINNER = 'waiting' "
            + "AND c.ZRECORDNAME = m.ZCKRECORDNAME) "
            + "AND NOT EXISTS (SELECT 1 FROM ADIPTYCHREFUSAL r WHERE r.ZRECORDNAME = "
            + "m.ZCKRECORDNAME)" + (try withoutOutside("m.ZCKRECORDNAME"))
            + " ORDER BY m.Z_PK LIMIT ?"
        return try entries(sql: sql, [.integer(key), SQLiteValue(limit)])
    }

    /// The entries of objects that the service knows nothing of, after the line `key`, in order:
    /// whether or not they may be sent now.
    func unsentEntries(after key: Int64, limit: Int) throws -> [RecordEntry] {
        try entries(
            "WHERE m.ZNEEDSUPLOAD = 1 AND m.ZNEEDSCLOUDDELETE = 0 "
                + "AND m.ZENCODEDRECORDASSET IS NULL AND m.Z_PK > ? ORDER BY m.Z_PK LIMIT ?",
            [.integer(key), SQLiteValue(limit)])
    }

    /// The entries that meet a condition on `m`.
    func entries(_ condition: String, _ values: [SQLiteValue]) throws -> [RecordEntry] {
        try entries(sql: "SELECT \(Self.entryColumns) \(condition)", values)
    }

    /// The lines of objects whose entity a migration removed.
    func orphans() throws -> [RecordEntry] { try entries("WHERE m.ZENTITYID = 0", []) }

    private func entries(sql: String, _ values: [SQLiteValue]) throws -> [RecordEntry] {
        var entries: [RecordEntry] = []
        try connection.forEachRow(sql, values) { entries.append(try Self.entry(at: $0)) }
        return entries
    }

    private static let addingEntry =
        "INSERT INTO ANSCKRECORDMETADATA (Z_ENT, Z_OPT, ZENTITYID, ZENTITYPK, ZCKRECORDNAME, "
        + "ZNEEDSUPLOAD, ZNEEDSCLOUDDELETE, ZNEEDSLOCALDELETE, ZPENDINGEXPORTTRANSACTIONNUMBER, "
        + "ZRECORDZONE) VALUES (17012, 1, ?, ?, ?, ?, 0, 0, ?, 1)"

    /// Adds the line of an object that has none. Returns its key.
    @discardableResult
    package func addEntry(
        for row: RowID, named name: String, needsUpload: Bool, transaction: Int64 = 0
    ) throws -> Int64 {
        try connection.run(
            Self.addingEntry,
            Self.values(row) + [.text(name), SQLiteValue(needsUpload), .integer(transaction)])
        return connection.lastInsertedRowID
    }

    private static let addingArrival =
        "INSERT INTO ANSCKRECORDMETADATA (Z_PK, ZENCODEDRECORDASSET, Z_ENT, Z_OPT, ZENTITYID, "
        + "ZENTITYPK, ZCKRECORDNAME, ZNEEDSUPLOAD, ZNEEDSCLOUDDELETE, ZNEEDSLOCALDELETE, "
        + "ZPENDINGEXPORTTRANSACTIONNUMBER, ZRECORDZONE) SELECT k, k, 17012, 1, ?, ?, ?, "
        + "0, 0, 0, 0, 1 FROM (SELECT ifnull(max(Z_PK), 0) + 1 AS k FROM ANSCKRECORDMETADATA)"

    /// Adds the line of an object that came from the service, whose record is its base. Returns its
    /// key.
    package func addEntry(for row: RowID, base record: Record) throws -> Int64 {
        try connection.run(Self.addingArrival, Self.values(row) + [.text(record.recordName)])
        let key = connection.lastInsertedRowID
        try keepBase(record, key: key)
        return key
    }

    /// The record name of a row; nil when it has none yet.
    package func knownName(of row: RowID) throws -> String? {
        let statement = try connection.prepare(
            "SELECT ZCKRECORDNAME FROM ANSCKRECORDMETADATA WHERE ZENTITYID = ? AND ZENTITYPK = ?")
        defer { statement.reset() }
        try statement.bind(Self.values(row))
        return try statement.step() ? statement.text(at: 0) : nil
    }

    /// The record name of a row, made up now when it has none; the new line waits for export.
    package func recordName(for row: RowID) throws -> String {
        if let name = try knownName(of: row) { return name }
        let name = platform.timeOrderedUUID().spelled
        try addEntry(for: row, named: name, needsUpload: true)
        return name
    }

    private static let rowNamed =
        "SELECT ZENTITYID, ZENTITYPK, ZNEEDSCLOUDDELETE, ZCKRECORDNAME <> ?1 "
        + "FROM ANSCKRECORDMETADATA "
        + "WHERE ZCKRECORDNAME = ?1 OR Z_PK = (SELECT ZRECORDMETADATA FROM "
        + "ANSCKRECORDZONEMOVERECEIPT WHERE ZRECORDNAME = ?1)"

    /// The row that a record name stands for: its own, or the one that absorbed its object. nil
    /// when there is none, or when it is deleted here.
    package func row(named name: String) throws -> RowID? { try place(named: name)?.row }

    /// As `row(named:)`, and whether the row's object has another name: one that it was merged
    /// into, or goes on under.
    func place(named name: String) throws -> (row: RowID, isRenamed: Bool)? {
        let statement = try connection.prepare(Self.rowNamed)
        defer { statement.reset() }
        try statement.bind(.text(name), at: 1)
        guard try statement.step(), statement.int64(at: 2) != 1 else { return nil }
        let row = RowID(
            entity: Int32(truncatingIfNeeded: statement.int64(at: 0)), key: statement.int64(at: 1))
        return (row, statement.int64(at: 3) == 1)
    }

    /// Whether there is any line.
    func hasEntries() throws -> Bool {
        try connection.value("SELECT 1 FROM ANSCKRECORDMETADATA LIMIT 1") != nil
    }

    /// Adds the line of a row that has none, under a name made up now; it waits for export.
    func addEntry(for row: RowID, inserted transaction: Int64) throws {
        let name = platform.timeOrderedUUID().spelled
        try addEntry(for: row, named: name, needsUpload: true, transaction: transaction)
    }

    private static let enqueuing =
        "UPDATE ANSCKRECORDMETADATA SET ZNEEDSUPLOAD = 1, ZPENDINGEXPORTTRANSACTIONNUMBER = "
        + "CASE WHEN ?3 = 0 THEN 0 ELSE max(?3, ifnull(ZPENDINGEXPORTTRANSACTIONNUMBER, 0)) END, "
        + "ZPENDINGEXPORTCHANGETYPENUMBER = 1 WHERE ZENTITYID = ?1 AND ZENTITYPK = ?2"

    /// Notes that a row changed in `transaction` and waits for export; makes its line when it has
    /// none. 0 stands for a change by the mirror itself, which no answer that is under way settles.
    package func enqueueUpload(_ row: RowID, transaction: Int64) throws {
        try connection.run(Self.enqueuing, Self.values(row) + [.integer(transaction)])
        if connection.changes == 0 { return try addEntry(for: row, inserted: transaction) }
        guard try mayHold(.refusals) else { return }
        try connection.run(
            "DELETE FROM ADIPTYCHREFUSAL WHERE ZRECORDNAME = (SELECT ZCKRECORDNAME FROM "
                + "ANSCKRECORDMETADATA WHERE ZENTITYID = ? AND ZENTITYPK = ?)", Self.values(row))
    }

    /// Notes that a row changed with the mirror's own upkeep: what was merged, or leads elsewhere
    /// now. Where nobody's edit waits with it, it need not be sent: who made the record does it,
    /// too.
    func enqueueUpkeep(_ row: RowID) throws {
        let isEdited = try connection.rows(
            "SELECT 1 FROM ANSCKRECORDMETADATA WHERE ZENTITYID = ? AND ZENTITYPK = ? AND "
                + "ZNEEDSUPLOAD = 1 AND ifnull(ZPENDINGEXPORTCHANGETYPENUMBER, 0) NOT IN "
                + "(\(Self.upkeepTypes))", Self.values(row)
        ).first
        try enqueueUpload(row, transaction: 0)
        if isEdited == nil { try markUpkeep(row) }
    }

    /// Notes that all that waits of a row is the mirror's own upkeep.
    func markUpkeep(_ row: RowID) throws {
        try connection.run(
            "UPDATE ANSCKRECORDMETADATA SET ZPENDINGEXPORTCHANGETYPENUMBER = ? WHERE ZENTITYID = ? "
                + "AND ZENTITYPK = ?", [.integer(Self.upkeepType)] + Self.values(row))
    }

    func isUpkeep(key: Int64) throws -> Bool {
        try connection.rows(
            "SELECT 1 FROM ANSCKRECORDMETADATA WHERE Z_PK = ? AND ZPENDINGEXPORTCHANGETYPENUMBER "
                + "IN (\(Self.upkeepTypes))", [.integer(key)]
        ).first != nil
    }

    /// Numbers of ours, for a line that waits with nobody's edit; the second for one of which a
    /// link waits alone that another record gave up.
    static let upkeepType: Int64 = 3
    static let releaseType: Int64 = 5
    static let upkeepTypes = "\(upkeepType), \(releaseType)"
    /// Another, for a line whose ends follow from claims and are left to whoever may write it.
    static let leftType: Int64 = 4

    package func setNeedsUpload(_ needed: Bool, key: Int64) throws {
        try connection.run(
            "UPDATE ANSCKRECORDMETADATA SET ZNEEDSUPLOAD = ? WHERE Z_PK = ?",
            [SQLiteValue(needed), .integer(key)])
    }

    /// Notes that an object is gone here and the service is still to be told.
    package func queueDeletion(key: Int64) throws {
        try connection.run(
            "UPDATE ANSCKRECORDMETADATA SET ZNEEDSCLOUDDELETE = 1, ZNEEDSUPLOAD = 0 WHERE Z_PK = ?",
            [.integer(key)])
        // What the service would not take as it was may be taken as a deletion, and a decision that
        // waited has been made by deleting the object.
        let name = try connection.value(
            "SELECT ZCKRECORDNAME FROM ANSCKRECORDMETADATA WHERE Z_PK = ?", [.integer(key)])
        guard let name = name?.string else { return }
        try forgetRefusal(of: name)
        try decideWaiting(of: name, for: .local)
    }

    /// A number of Apple's, for a line whose deletion was sent.
    private static let deletionType = 2

    /// Notes that the service is being told of a deletion, whatever becomes of the answer.
    package func noteDeletionSent(key: Int64) throws {
        try connection.run(
            "UPDATE ANSCKRECORDMETADATA SET ZPENDINGEXPORTCHANGETYPENUMBER = ? WHERE Z_PK = ?",
            [SQLiteValue(Self.deletionType), .integer(key)])
    }

    package func wasDeletionSent(key: Int64) throws -> Bool {
        try connection.value(
            "SELECT ZPENDINGEXPORTCHANGETYPENUMBER FROM ANSCKRECORDMETADATA WHERE Z_PK = ?",
            [.integer(key)])?.int64 == Int64(Self.deletionType)
    }

    /// The object of a deletion that waited is here again.
    package func unqueueDeletion(key: Int64) throws {
        try connection.run(
            "UPDATE ANSCKRECORDMETADATA SET ZNEEDSCLOUDDELETE = 0, "
                + "ZPENDINGEXPORTCHANGETYPENUMBER = 1 WHERE Z_PK = ?", [.integer(key)])
    }

    /// The rows whose deletion the service is still to be told.
    package func deletedRows() throws -> Set<RowID> {
        let lines = try connection.rows(
            "SELECT ZENTITYID, ZENTITYPK FROM ANSCKRECORDMETADATA WHERE ZNEEDSCLOUDDELETE = 1")
        return Set(
            lines.compactMap { line in
                guard let entity = line[0].int64, let key = line[1].int64 else { return nil }
                return RowID(entity: Int32(truncatingIfNeeded: entity), key: key)
            })
    }

    /// Clears the export mark of a line that was found to differ from its base in nothing.
    package func clearUpload(key: Int64) throws {
        try connection.run(
            "UPDATE ANSCKRECORDMETADATA SET ZNEEDSUPLOAD = 0, ZLASTEXPORTEDTRANSACTIONNUMBER = "
                + "ZPENDINGEXPORTTRANSACTIONNUMBER WHERE Z_PK = ?", [.integer(key)])
    }

    /// Notes that a line is sent as of `transaction`, so that a mark made after it is told apart.
    package func setPendingTransaction(_ transaction: Int64, key: Int64) throws {
        try connection.run(
            "UPDATE ANSCKRECORDMETADATA SET ZPENDINGEXPORTTRANSACTIONNUMBER = ? WHERE Z_PK = ?",
            [.integer(transaction), .integer(key)])
    }

    /// Points a line at another row, or gives its row another record name.
    package func repoint(key: Int64, to row: RowID, named name: String) throws {
        try connection.run(
            "UPDATE ANSCKRECORDMETADATA SET ZENTITYID = ?, ZENTITYPK = ?, ZCKRECORDNAME = ? "
                + "WHERE Z_PK = ?", Self.values(row) + [.text(name), .integer(key)])
    }

    /// What hangs on a record name goes on under another: conflicts that wait, times of edits,
    /// links that wait for their targets, and whether it is sent at all.
    package func rename(_ name: String, to other: String) throws {
        for table in [
            "ADIPTYCHCONFLICT", "ADIPTYCHEDIT", "ADIPTYCHCOUNT", "ANSCKIMPORTPENDINGRELATIONSHIP",
        ] {
            try connection.run(
                "UPDATE OR REPLACE \(table) SET ZRECORDNAME = ? WHERE ZRECORDNAME = ?",
                [.text(other), .text(name)])
        }
        try renameSharing(name, to: other)
        if try isOutside(name) {
            try setOutside(false, name)
            try setOutside(true, other)
        }
    }

    /// Keeps `record` as the merge base of a line. What was sent before is thereby answered.
    package func setBase(_ record: Record, key: Int64) throws {
        try keepBase(record, key: key)
        try connection.run(
            "UPDATE ANSCKRECORDMETADATA SET ZENCODEDRECORDASSET = ?1 WHERE Z_PK = ?1 "
                + "AND ZENCODEDRECORDASSET IS NULL", [.integer(key)])
        try forgetInFlight(record.recordName)
    }

    /// Puts another base in the place of a line's; what is under way stays so.
    package func replaceBase(_ record: Record, key: Int64) throws {
        try keepBase(record, key: key)
    }

    /// The service has the record as of `transaction`: it is the base, and waits no longer unless
    /// the object changed since, or the mirror marked it since. `fields` is the archive of its
    /// fields, where it was made before; batches that are in one piece are not looked into.
    package func setExported(
        _ record: Record, fields: Data? = nil, key: Int64, upTo transaction: Int64
    ) throws {
        try keepBase(record, fields, key: key)
        try connection.run(Self.settingExported, [.integer(key), .integer(transaction)])
        try forgetEarlierInFlight(record.recordName)
    }

    /// As `setExported`, for a line without a base. Returns false, and does nothing, where `key` is
    /// no such line of that record.
    func setFirstExported(
        _ record: Record, fields: Data?, key: Int64, upTo transaction: Int64
    ) throws -> Bool {
        try connection.run(
            Self.settingFirstExported,
            [.integer(key), .integer(transaction), .text(record.recordName)])
        guard connection.changes > 0 else { return false }
        try keepBase(record, fields, key: key)
        try forgetEarlierInFlight(record.recordName)
        return true
    }

    private static let settingFirstExported =
        settingExported + " AND ZCKRECORDNAME = ?3 AND ZENCODEDRECORDASSET IS NULL"

    private static let settingExported =
        "UPDATE ANSCKRECORDMETADATA SET ZENCODEDRECORDASSET = ?1, ZNEEDSUPLOAD = CASE WHEN "
        + "ZPENDINGEXPORTTRANSACTIONNUMBER BETWEEN 1 AND ?2 THEN 0 ELSE ZNEEDSUPLOAD END, "
        + "ZLASTEXPORTEDTRANSACTIONNUMBER = CASE WHEN "
        + "ZPENDINGEXPORTTRANSACTIONNUMBER BETWEEN 1 AND ?2 THEN ?2 "
        + "ELSE ZLASTEXPORTEDTRANSACTIONNUMBER END WHERE Z_PK = ?1"

    private static let keepingBase =
        "INSERT OR REPLACE INTO ANSCKRECORDMETADATAENCODEDRECORDASSET "
        + "(Z_PK, Z_ENT, Z_OPT, ZRECORDMETADATA, ZBINARYDATA) VALUES (?1, 17013, 1, ?1, ?2)"

    private func keepBase(_ record: Record, _ fields: Data? = nil, key: Int64) throws {
        try connection.run(
            Self.keepingBase, [.integer(key), .blob(Self.archive(record, fields))])
        try forgetRefusal(of: record.recordName)
        if !record.deleted { try forgetFormerBase(of: record.recordName) }
    }

    static func archive(_ record: Record, _ fields: Data?) -> Data {
        fields.map { RecordArchive.encode(record, fields: $0) } ?? RecordArchive.encode(record)
    }

    package func clearBase(key: Int64) throws {
        try connection.run(
            "DELETE FROM ANSCKRECORDMETADATAENCODEDRECORDASSET WHERE Z_PK = ?", [.integer(key)])
        try connection.run(
            "UPDATE ANSCKRECORDMETADATA SET ZENCODEDRECORDASSET = NULL WHERE Z_PK = ?",
            [.integer(key)])
    }

    /// Removes an object's line and all that hangs on it.
    package func removeEntry(_ entry: RecordEntry) throws {
        try clearBase(key: entry.key)
        // What others have under names that were left to them stands for itself from now on.
        if try hasLeftNames(of: entry.key) { try set(.readingAgain, to: .integer(1)) }
        // The key may be given to another object later, for which these names do not stand.
        try moveAliases(from: entry.key, to: 0)
        try connection.run("DELETE FROM ANSCKRECORDMETADATA WHERE Z_PK = ?", [.integer(entry.key)])
        try connection.run(
            "DELETE FROM ANSCKIMPORTPENDINGRELATIONSHIP WHERE ZRECORDNAME = ?",
            [.text(entry.recordName)])
        try connection.run(
            "DELETE FROM ADIPTYCHREFUSAL WHERE ZRECORDNAME = ?", [.text(entry.recordName)])
        try connection.run(
            "DELETE FROM ADIPTYCHEDIT WHERE ZRECORDNAME = ?", [.text(entry.recordName)])
        try forgetCounts(of: entry.recordName)
        try forgetFormerBase(of: entry.recordName)
        try setOutside(false, entry.recordName)
        try dropReplay(of: entry.recordName)
        try decideWaiting(of: entry.recordName, for: .remote)
        try forgetInFlight(entry.recordName)
    }

    static func values(_ row: RowID) -> [SQLiteValue] {
        [.integer(Int64(row.entity)), .integer(row.key)]
    }

    private func entry(_ sql: String, _ values: [SQLiteValue]) throws -> RecordEntry? {
        let statement = try connection.prepare(sql)
        defer { statement.reset() }
        try statement.bind(values)
        return try statement.step() ? Self.entry(at: statement) : nil
    }

    private static func entry(at statement: Statement) throws -> RecordEntry {
        RecordEntry(
            key: statement.int64(at: 0),
            row: RowID(
                entity: Int32(truncatingIfNeeded: statement.int64(at: 1)),
                key: statement.int64(at: 2)),
            recordName: statement.text(at: 3) ?? "",
            needsUpload: statement.int64(at: 4) == 1,
            needsCloudDelete: statement.int64(at: 5) == 1,
            pendingTransaction: statement.int64(at: 6),
            base: try statement.blob(at: 7).map(decode))
    }

    static func decode(_ bytes: Data) throws -> Record {
        do {
            return try RecordArchive.decode(bytes)
        } catch {
            throw MirrorError(
                .ledgerDamaged,
                "A record kept in the store's mirroring tables cannot be read. "
                    + "Run 'diptych reset' to fetch the records anew; local edits are kept.",
                cause: error)
        }
    }
}
