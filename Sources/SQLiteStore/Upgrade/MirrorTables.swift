internal import Foundation
internal import Platform
internal import SQLiteDriver
internal import Stores

/// The tables in which a mirror keeps what it and its service agreed on, on their way from a store
/// to one that a mapping made of it.
///
/// Lines that name a row follow it to its new one. A line whose row has none keeps its entity, with
/// a key that no row has: to the mirror the object was deleted. One of an entity that the mapping
/// does not take along gets the entity number 0. The history does not follow, so the mirror is told
/// to compare every row, and when edits were made that it has not looked at (`UnseenEdits`).
struct MirrorTables {
    let source: Connection
    /// That of the store in it.
    let identifier: String
    let destination: Connection
    /// What the entities that were taken along have become, by their former names.
    let entities: [String: String]
    let history: FormerHistory
    let faults: any FaultPoints

    /// Tables that name rows, by `ZENTITYID` and `ZENTITYPK`.
    private static let linedTables = ["ANSCKRECORDMETADATA", "ADIPTYCHFOREIGN"]
    private static let lines = linedTables[0]
    /// Where mirroring stands in the history, and with which model.
    private static let historyKey = "NSCloudKitMirroringDelegateLastHistoryTokenKey"
    private static let modelKey = "DiptychModelDigest"
    /// The identifier of the store that this one is a copy of.
    private static let originKey = "DiptychOriginalIdentifier"
    /// Tables of what the old file alone needs, or that are made anew.
    private static let tablesLeft =
        [HistoryConsumers.table, UnseenEdits.table, FormerRowNumbers.table, DeferredWork.table]
        .map { "'\($0)'" }.joined(separator: ", ")
    private static let systemNumbers = "Z_ENT > 17000 AND Z_ENT < 18000"

    /// Whether there is a mirror at all.
    static func exist(in connection: Connection) throws -> Bool {
        try has(lines, connection)
    }

    /// Who a transaction of the mirror's own names as its author.
    private static let author = "NSCloudKitMirroringDelegate.import"

    /// Objects that wait for export, and those that others changed since the mirror looked last.
    static func waitingObjects(in connection: Connection) throws -> Int {
        var waiting = "SELECT ZENTITYID, ZENTITYPK FROM \(lines) WHERE ZNEEDSUPLOAD = 1"
        var values: [SQLiteValue] = []
        if try HistoryTables.columns(of: "ATRANSACTION", connection).contains("ZAUTHORTS") {
            waiting +=
                " UNION SELECT c.ZENTITY, c.ZENTITYPK FROM ACHANGE c JOIN ATRANSACTION t "
                + "ON t.Z_PK = c.ZTRANSACTIONID LEFT JOIN ATRANSACTIONSTRING s "
                + "ON s.Z_PK = t.ZAUTHORTS WHERE c.ZCHANGETYPE <> 2 AND t.Z_PK > ? "
                + "AND ifnull(s.ZNAME, t.ZAUTHOR) IS NOT ?"
            values = [.integer(try seenTransaction(in: connection) ?? 0), .text(author)]
        }
        let count = try connection.value("SELECT count(*) FROM (\(waiting))", values)
        return Int(clamping: count?.int64 ?? 0)
    }

    /// Tells the mirror of a copy, or of a file that was made of another, by which identifier it
    /// named what it did before.
    static func keepName(_ identifier: String, in connection: Connection) throws {
        try connection.run(
            "INSERT INTO ANSCKMETADATAENTRY (Z_ENT, Z_OPT, ZKEY, ZSTRINGVALUE) "
                + "SELECT 17009, 1, ?, ? WHERE NOT EXISTS "
                + "(SELECT 1 FROM ANSCKMETADATAENTRY WHERE ZKEY = ?)",
            [.text(originKey), .text(identifier), .text(originKey)])
    }

    /// The last transaction that the mirror has looked at.
    static func seenTransaction(in connection: Connection) throws -> Int64? {
        try connection.value(
            "SELECT ZINTEGERVALUE FROM ANSCKMETADATAENTRY WHERE ZKEY = ?", [.text(historyKey)]
        )?.int64
    }

    /// `rows` tells each old row with what came of it.
    func handOn(rows: ((RowID, RowID) throws -> Void) throws -> Void) throws {
        try destination.transaction(.immediate) {
            if try !Self.has(Self.lines, destination) { try copyTables() }
            try faults.reach("handOn.copied")
            let successors = try successors()
            try noteMoves(rows, successors)
            for table in Self.linedTables where try Self.has(table, destination) {
                try follow(table, successors)
            }
            try handOnEdits()
            try destination.script("DROP TABLE temp.moved")
            try faults.reach("handOn.beforeCommit")
        }
    }

    private static func has(_ table: String, _ connection: Connection) throws -> Bool {
        try connection.value(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(table)]) != nil
    }

    // MARK: Copying

    private func copyTables() throws {
        let tables = try source.rows(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND (name GLOB 'ANSCK*' "
                + "OR name GLOB 'ADIPTYCH*') AND name NOT IN (\(Self.tablesLeft))")
        for table in tables {
            guard let name = table[0].string, let sql = table[1].string else { continue }
            try destination.script(sql)
            try copyRows(of: name)
        }
        try Self.keepName(identifier, in: destination)
        try letGoOfRows()
        let indexes = try source.rows(
            "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL AND "
                + "(tbl_name GLOB 'ANSCK*' OR tbl_name GLOB 'ADIPTYCH*') "
                + "AND tbl_name NOT IN (\(Self.tablesLeft))")
        for case let sql? in indexes.map({ $0[0].string }) { try destination.script(sql) }
        for row in try source.rows(
            "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY WHERE \(Self.systemNumbers)")
        {
            try destination.run("INSERT OR REPLACE INTO Z_PRIMARYKEY VALUES (?, ?, ?, ?)", row)
        }
        try startOverWithHistory()
    }

    private func copyRows(of name: String) throws {
        let table = "\"\(name)\""
        let count = try source.rows("SELECT 1 FROM pragma_table_info(?)", [.text(name)]).count
        let places = Array(repeating: "?", count: count).joined(separator: ", ")
        try source.forEachRow("SELECT * FROM \(table)") { row in
            try destination.run(
                "INSERT INTO \(table) VALUES (\(places))", (0..<count).map { row.value(at: $0) })
        }
    }

    /// No line names a row until it is known what became of its own.
    private func letGoOfRows() throws {
        for table in Self.linedTables where try Self.has(table, destination) {
            try destination.run("UPDATE \(table) SET ZENTITYID = 0, ZENTITYPK = -Z_PK")
        }
    }

    /// The new store has a history of its own, whose numbers begin anew.
    private func startOverWithHistory() throws {
        try destination.run(
            "DELETE FROM ANSCKMETADATAENTRY WHERE ZKEY = ?", [.text(Self.historyKey)])
        try destination.run(
            "UPDATE ANSCKMETADATAENTRY SET ZSTRINGVALUE = '' WHERE ZKEY = ?",
            [.text(Self.modelKey)])
        try destination.run(
            "UPDATE \(Self.lines) SET ZPENDINGEXPORTTRANSACTIONNUMBER = 0, "
                + "ZLASTEXPORTEDTRANSACTIONNUMBER = 0")
    }

    // MARK: Following

    /// The numbers of the entities that were taken along.
    private func successors() throws -> [Int32: Int32] {
        let old = try BookkeepingTables.numbers(in: source)
        let new = try BookkeepingTables.numbers(in: destination)
        var successors: [Int32: Int32] = [:]
        for (name, other) in entities {
            if let from = old[name], let to = new[other] { successors[from] = to }
        }
        return successors
    }

    /// Of several objects that came of one, the first of the entity that its own became stands for
    /// it; of several that became one, the first.
    private func noteMoves(
        _ rows: ((RowID, RowID) throws -> Void) throws -> Void, _ successors: [Int32: Int32]
    ) throws {
        try destination.script(
            "CREATE TEMP TABLE moved (entity INTEGER, key INTEGER, newEntity INTEGER, "
                + "newKey INTEGER, PRIMARY KEY (entity, key), UNIQUE (newEntity, newKey))")
        for isSuccessor in [true, false] {
            try rows { from, to in
                guard (successors[from.entity] == to.entity) == isSuccessor else { return }
                try destination.run(
                    "INSERT OR IGNORE INTO temp.moved VALUES (?, ?, ?, ?)",
                    [
                        .integer(Int64(from.entity)), .integer(from.key),
                        .integer(Int64(to.entity)), .integer(to.key),
                    ])
            }
        }
    }

    private func follow(_ table: String, _ successors: [Int32: Int32]) throws {
        try source.forEachRow("SELECT Z_PK, ZENTITYID, ZENTITYPK FROM \(table)") { line in
            let former = Int32(truncatingIfNeeded: line.int64(at: 1))
            guard let successor = successors[former] else { return }
            try destination.run(
                "UPDATE \(table) SET ZENTITYID = ? WHERE Z_PK = ? AND ZENTITYPK < 0",
                [.integer(Int64(successor)), .integer(line.int64(at: 0))])
            try destination.run(
                "UPDATE \(table) SET ZENTITYID = m.newEntity, ZENTITYPK = m.newKey "
                    + "FROM temp.moved AS m WHERE \(table).Z_PK = ? AND \(table).ZENTITYPK < 0 "
                    + "AND m.entity = ? AND m.key = ?", (0..<3).map { line.value(at: $0) })
        }
    }

    // MARK: Edits

    /// A mirror that has not looked at the history at all asks for no times, unless it has come
    /// from another file itself.
    private func handOnEdits() throws {
        let (old, new) = (UnseenEdits(connection: source), UnseenEdits(connection: destination))
        try new.prepare()
        let token = try Self.seenTransaction(in: source)
        let wasHandedOn = try old.exist
        if wasHandedOn { try old.forEach { try add($0, to: new) } }
        try noteWaiting(in: new)
        guard let last = token ?? (wasHandedOn ? 0 : nil) else { return }
        try history.edits(last) { try add($0, to: new) }
        try handOnNames(after: last)
    }

    /// Of what was looked at and waits for export only the last transaction is known.
    private func noteWaiting(in edits: UnseenEdits) throws {
        guard try HistoryTables.areInUse(source) else { return }
        try source.forEachRow(
            "SELECT m.ZENTITYID, m.ZENTITYPK, t.Z_PK, t.ZTIMESTAMP FROM \(Self.lines) m "
                + "JOIN ATRANSACTION t ON t.Z_PK = m.ZPENDINGEXPORTTRANSACTIONNUMBER "
                + "WHERE m.ZNEEDSUPLOAD = 1"
        ) { line in
            let entity = Int32(truncatingIfNeeded: line.int64(at: 0))
            let edit = UnseenEdit(
                row: RowID(entity: entity, key: line.int64(at: 1)), property: nil,
                transaction: line.int64(at: 2),
                date: Date(timeIntervalSinceReferenceDate: line.double(at: 3)), author: nil)
            try edits.add(edit, named: "")
        }
    }

    /// What was inserted is named by the mirror as it was called in the file where that was done.
    private func handOnNames(after last: Int64) throws {
        let old = FormerRowNumbers(connection: source)
        let new = FormerRowNumbers(connection: destination)
        try new.prepare()
        let hasFormer = try old.exist
        if hasFormer { try old.forEachInsertion(new.add) }
        try history.edits(last) { edit in
            guard edit.property == nil, edit.author != Self.author else { return }
            try new.add(edit, of: hasFormer ? old.former(of: edit.row) : edit.row)
        }
    }

    private func add(_ edit: UnseenEdit, to edits: UnseenEdits) throws {
        guard let property = edit.property else { return try edits.add(edit, named: nil) }
        for name in history.names(edit.row.entity, property) {
            try edits.add(edit, named: name)
        }
    }
}
