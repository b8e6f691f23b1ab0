import Foundation
import MirrorEngine
import ObjectModel
import SQLiteDriver
import SQLiteStore
import Stores

/// Everything a store's file holds for its model, read with plain SQL: rows and links by record
/// name, since keys are each device's own.
struct StoreImage {
    /// By table and record name: every column but the keys, as its storage class and bytes.
    private(set) var rows: [String: [String: String]] = [:]
    /// By join table: the record names of each pair, with the order keys.
    private(set) var pairs: [String: Set<String>] = [:]
    /// What is wrong within the file itself.
    private(set) var faults: [String] = []

    private let connection: Connection
    private let schema: StoreSchema
    private let layout: ModelLayout

    var rowCount: Int { rows.values.reduce(0) { $0 + $1.count } }
    var pairCount: Int { pairs.values.reduce(0) { $0 + $1.count } }

    init(file: URL, schema: StoreSchema) throws {
        connection = try Connection(path: file.path, access: .readOnly)
        self.schema = schema
        layout = schema.layout
        try checkFile()
        for (table, entities) in Dictionary(grouping: layout.entities, by: table(of:)) {
            try readRows(of: table, entities)
        }
        for (table, side) in joins() { try readPairs(of: table, side) }
        try findForgottenTables()
    }

    /// The lines in which two images differ, at most `limit`.
    func differences(from other: StoreImage, limit: Int = 6) -> [String] {
        var lines: [String] = []
        for table in Set(rows.keys).union(other.rows.keys).sorted() {
            let (mine, theirs) = (rows[table] ?? [:], other.rows[table] ?? [:])
            for name in Set(mine.keys).union(theirs.keys).sorted() where mine[name] != theirs[name]
            {
                lines.append(
                    "\(table) \(name.suffix(6)): "
                        + Self.columns(mine[name] ?? "no row", theirs[name] ?? "no row"))
            }
        }
        for table in Set(pairs.keys).union(other.pairs.keys).sorted() {
            for pair in (pairs[table] ?? []).symmetricDifference(other.pairs[table] ?? []).sorted()
            {
                lines.append("\(table): \(pair) in one only")
            }
        }
        return Array(lines.prefix(limit))
    }

    /// Only the columns that differ.
    private static func columns(_ mine: String, _ theirs: String) -> String {
        let (left, right) = (
            mine.split(separator: "\u{1}"), theirs.split(separator: "\u{1}")
        )
        guard left.count == right.count else { return "\(mine.prefix(80)) | \(theirs.prefix(80))" }
        return zip(left, right).filter { $0 != $1 }
            .map { "\($0.prefix(90)) | \($1.prefix(90))" }.joined(separator: ", ")
    }

    // MARK: Rows

    private func table(of entity: EntityLayout) -> String {
        schema.columns(of: entity.number)?.table ?? ""
    }

    private static let recordName = "(SELECT ZCKRECORDNAME FROM ANSCKRECORDMETADATA WHERE"

    /// SQL for the record name of the row whose key is in `column`, within a destination's family.
    private func name(of column: String, destination: Int32) -> String {
        let family = layout.entity(destination).map { layout.family(of: $0) } ?? []
        let numbers = family.map(String.init).joined(separator: ", ")
        return "\(Self.recordName) ZENTITYPK = \(column) AND ZENTITYID IN (\(numbers)))"
    }

    /// The SQL that reads a column: foreign keys become record names, all else its bytes.
    private func expression(_ column: String, _ keys: [String: Int32]) -> String {
        guard let destination = keys[column] else {
            return "typeof(t.\(column)) || ' ' || hex(CAST(t.\(column) AS BLOB))"
        }
        return "CASE WHEN t.\(column) IS NULL THEN 'none' ELSE "
            + "ifnull(\(name(of: "t.\(column)", destination: destination)), 'nothing') END"
    }

    /// The foreign keys of a tree's table with their destinations.
    private func foreignKeys(_ table: String, _ entities: [EntityLayout]) -> [String: Int32] {
        var keys: [String: Int32] = [:]
        for entity in entities {
            for link in schema.columns(of: entity.number)?.toOnes ?? [] {
                keys[link.key] = link.destination
            }
        }
        for entity in layout.entities {
            for place in schema.columns(of: entity.number)?.toManys ?? [] {
                guard case .owned(let members) = place, members.table == table else { continue }
                let owner = keys[members.key] ?? entity.number
                keys[members.key] = min(owner, entity.number)
            }
        }
        return keys
    }

    private mutating func readRows(of table: String, _ entities: [EntityLayout]) throws {
        let columns = try connection.rows("SELECT name FROM pragma_table_info(?)", [.text(table)])
            .compactMap { $0[0].string }.filter { !["Z_PK", "Z_ENT", "Z_OPT"].contains($0) }
        let keys = foreignKeys(table, entities)
        let list = columns.map { ", '\($0) ' || \(expression($0, keys))" }.joined()
        var found: [String: String] = [:]
        let sql =
            "SELECT \(Self.recordName) ZENTITYID = t.Z_ENT AND ZENTITYPK = t.Z_PK), "
            + "'Z_ENT ' || t.Z_ENT\(list) FROM \(table) t"
        for row in try connection.rows(sql) {
            guard let name = row[0].string else {
                faults.append("\(table) has a row without a record name")
                continue
            }
            found[name] = row.dropFirst().map { $0.string ?? "?" }.joined(separator: "\u{1}")
        }
        rows[table] = found
        try checkCompanions(of: table, entities)
        try checkPartners(of: table, entities)
    }

    /// The companion of a foreign key holds the entity number of the row pointed at.
    private mutating func checkCompanions(of table: String, _ entities: [EntityLayout]) throws {
        for entity in entities {
            for link in schema.columns(of: entity.number)?.toOnes ?? [] {
                guard let target = link.destinationTable else { continue }
                let companion = link.companion.map { "OR d.Z_ENT IS NOT t.\($0)" } ?? ""
                let wrong = try connection.value(
                    "SELECT count(*) FROM \(table) t LEFT JOIN \(target) d "
                        + "ON d.Z_PK = t.\(link.key) "
                        + "WHERE t.\(link.key) IS NOT NULL AND (d.Z_PK IS NULL \(companion))")
                if wrong?.int64 != 0 {
                    faults.append("\(table).\(link.key) points at nothing, or at another entity")
                }
            }
        }
    }

    /// Both ends of a one-to-one point at each other.
    private mutating func checkPartners(of table: String, _ entities: [EntityLayout]) throws {
        for entity in entities {
            for (slot, relationship) in entity.toOnes.enumerated() {
                guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
                    let link = schema.columns(of: entity.number)?.toOnes[slot],
                    let target = link.destinationTable,
                    let place = layout.entity(link.destination)?.toOneSlot(inverse.name),
                    let back = schema.columns(of: link.destination)?.toOnes[place].key
                else { continue }
                let wrong = try connection.value(
                    "SELECT count(*) FROM \(table) t JOIN \(target) d ON d.Z_PK = t.\(link.key) "
                        + "WHERE t.Z_ENT = \(entity.number) AND d.\(back) IS NOT t.Z_PK")
                if wrong?.int64 != 0 {
                    faults.append("\(table).\(link.key): a partner does not point back")
                }
            }
        }
    }

    // MARK: Pairs

    private func joins() -> [String: (owner: Int32, side: JoinSide)] {
        var joins: [String: (owner: Int32, side: JoinSide)] = [:]
        for entity in layout.entities {
            for place in schema.columns(of: entity.number)?.toManys ?? [] {
                guard case .join(let side) = place, joins[side.table] == nil else { continue }
                joins[side.table] = (entity.number, side)
            }
        }
        return joins
    }

    private mutating func readPairs(
        of table: String, _ join: (owner: Int32, side: JoinSide)
    ) throws {
        let (owner, side) = join
        let orders = try connection.rows(
            "SELECT name FROM pragma_table_info(?) WHERE name LIKE 'Z\\_FOK%' ESCAPE '\\'",
            [.text(table)]
        ).compactMap { $0[0].string }
        let list = orders.map { " || ' ' || ifnull(t.\($0), 'none')" }.joined()
        let first = name(of: "t.\(side.owner)", destination: owner)
        let second = name(of: "t.\(side.member)", destination: side.destination)
        let rows = try connection.rows(
            "SELECT ifnull(\(first), 'nothing') || ' ' || ifnull(\(second), 'nothing')\(list) "
                + "FROM \(table) t")
        let texts = rows.compactMap { $0[0].string }
        pairs[table] = Set(texts)
        if Set(texts).count != texts.count { faults.append("\(table) has a pair twice") }
        for pair in texts where pair.contains("nothing") {
            faults.append("\(table) has a pair of nothing: \(pair)")
        }
    }

    // MARK: The file

    private mutating func checkFile() throws {
        let integrity = try connection.pragma("integrity_check")
        if integrity != "ok" { faults.append("integrity_check: \(String(describing: integrity))") }
        for entity in layout.entities where entity.entity.superentity == nil {
            try checkHighestKey(number: Int64(entity.number), table: table(of: entity))
        }
        let system = try connection.rows(
            "SELECT Z_ENT, 'A' || upper(Z_NAME) FROM Z_PRIMARYKEY WHERE Z_ENT >= 16001")
        let history: Set<Int64?> = [16_001, 16_002, 16_003]
        for row in system where !history.contains(row[0].int64) {
            try checkHighestKey(number: row[0].int64 ?? 0, table: row[1].string ?? "")
        }
    }

    private mutating func checkHighestKey(number: Int64, table: String) throws {
        let row = try connection.rows(
            "SELECT (SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(number)), "
                + "(SELECT ifnull(max(Z_PK), 0) FROM \(table))"
        ).first
        guard let known = row?[0].int64, let used = row?[1].int64, known >= used else {
            faults.append("Z_MAX of \(table) is below its highest key")
            return
        }
    }

    /// No table of the model may be left out of the comparison.
    private mutating func findForgottenTables() throws {
        let known = Set(rows.keys).union(pairs.keys)
        let tables = try connection.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z%' "
                + "AND name NOT IN ('Z_PRIMARYKEY', 'Z_METADATA', 'Z_MODELCACHE') "
                + "AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'Z\\_RT\\_%' ESCAPE '\\'")
        for table in tables.compactMap({ $0[0].string }) where !known.contains(table) {
            faults.append("table \(table) was not compared")
        }
    }
}
