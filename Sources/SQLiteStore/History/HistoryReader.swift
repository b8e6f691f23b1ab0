internal import Foundation
internal import ObjectModel
internal import SQLiteDriver
internal import Stores

/// Reads the history back into values. Used under the store's lock.
final class HistoryReader {
    private let connection: Connection
    private let schema: StoreSchema
    /// Whether names stand in a table of strings; in files of about 2017 they stand in the
    /// transactions.
    private let hasStrings: Bool
    private let tombstoneColumns: Int
    private var bitmaps: [Int32: ChangedColumns] = [:]

    init(connection: Connection, schema: StoreSchema) throws {
        self.connection = connection
        self.schema = schema
        let strings = try HistoryTables.columns(of: "ATRANSACTIONSTRING", connection)
        hasStrings = !strings.isEmpty
        let present = try HistoryTables.columns(of: "ACHANGE", connection)
        tombstoneColumns = (0...).first { !present.contains("ZTOMBSTONE\($0)") } ?? 0
    }

    /// The bits of an entity's changes.
    func columns(of entity: Int32) -> ChangedColumns? {
        if let known = bitmaps[entity] { return known }
        guard let columns = schema.columns(of: entity), let layout = schema.layout.entity(entity)
        else {
            return nil
        }
        let made = ChangedColumns(schema: schema, columns: columns, layout: layout)
        bitmaps[entity] = made
        return made
    }

    /// The newest transaction's number; the highest ever given where all were removed; 0 at the
    /// start.
    func lastNumber(keys: KeyRegister) throws -> Int64 {
        if let last = try connection.value("SELECT max(Z_PK) FROM ATRANSACTION")?.int64 {
            return last
        }
        return try keys.last(HistoryTables.transaction)
    }

    /// The transactions that a query names, oldest first. Cost: in proportion to what is found,
    /// however much history there is besides.
    func transactions(_ query: HistoryQuery, keys: KeyRegister) throws -> [HistoryTransaction] {
        try checkExpiry(of: query.after, keys: keys)
        func text(_ plain: String, _ reference: String) -> String {
            guard hasStrings else { return "t.\(plain)" }
            return
                "IFNULL(t.\(plain), "
                + "(SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = t.\(reference)))"
        }
        let rows = try connection.rows(
            "SELECT t.Z_PK, t.ZTIMESTAMP, \(text("ZAUTHOR", "ZAUTHORTS")), "
                + "\(text("ZBUNDLEID", "ZBUNDLEIDTS")), \(text("ZCONTEXTNAME", "ZCONTEXTNAMETS")), "
                + "\(text("ZPROCESSID", "ZPROCESSIDTS")) FROM ATRANSACTION t "
                + "WHERE \(condition(query)) LIMIT ?3",
            [
                .integer(query.lowest), SQLiteValue(query.since), SQLiteValue(query.limit ?? -1),
            ])
        return try rows.map { row in
            var transaction = HistoryTransaction(
                number: row[0].int64 ?? 0,
                date: Date(timeIntervalSinceReferenceDate: row[1].double ?? 0))
            transaction.author = row[2].string
            transaction.bundleID = row[3].string
            transaction.contextName = row[4].string
            transaction.processID = row[5].string
            if query.includesChanges {
                transaction.changes = try changes(of: transaction.number)
            }
            return transaction
        }
    }

    /// Where only a moment is given, the index of moments leads; a plus keeps the key from it.
    private func condition(_ query: HistoryQuery) -> String {
        guard query.since != nil else { return "t.Z_PK > ?1 ORDER BY t.Z_PK" }
        let key = query.lowest > 0 ? "t.Z_PK" : "+t.Z_PK"
        return "\(key) > ?1 AND t.ZTIMESTAMP > ?2 ORDER BY \(key)"
    }

    private func checkExpiry(of number: Int64, keys: KeyRegister) throws {
        guard number > 0 else { return }
        let first = try connection.value("SELECT min(Z_PK) FROM ATRANSACTION")?.int64
        let oldest = try first ?? keys.last(HistoryTables.transaction) &+ 1
        guard number < .max, oldest > number + 1 else { return }
        throw StoreError(
            .historyExpired, "The history after this token was removed; fetch everything instead.",
            fields: ["after": "\(number)", "oldest": "\(oldest)"])
    }

    private func changes(of transaction: Int64) throws -> [HistoryChange] {
        let tombstones = (0..<tombstoneColumns).map { ", ZTOMBSTONE\($0)" }.joined()
        let statement = try connection.prepare(
            "SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZCOLUMNS\(tombstones) FROM ACHANGE "
                + "WHERE ZTRANSACTIONID = ? ORDER BY Z_PK")
        defer { statement.reset() }
        try statement.bind(.integer(transaction), at: 1)
        var changes: [HistoryChange] = []
        while try statement.step() {
            guard let kind = HistoryChange.Kind(rawValue: statement.int64(at: 1)) else {
                throw StoreError(
                    .corrupt, "A change in the history has an unknown type; the file is damaged.",
                    fields: ["change": "\(statement.int64(at: 0))"])
            }
            let id = RowID(
                entity: Int32(truncatingIfNeeded: statement.int64(at: 2)),
                key: statement.int64(at: 3))
            var change = HistoryChange(number: statement.int64(at: 0), kind: kind, id: id)
            if kind == .update, let bitmap = statement.blob(at: 4) {
                change.changedProperties = columns(of: id.entity)?.properties(in: bitmap) ?? []
            }
            if kind == .delete, tombstoneColumns > 0 {
                change.tombstone = try tombstone(of: id.entity, statement)
            }
            changes.append(change)
        }
        return changes
    }

    private func tombstone(
        of entity: Int32, _ statement: Statement
    ) throws -> [String: AttributeValue] {
        guard let layout = schema.layout.entity(entity), let columns = schema.columns(of: entity)
        else { return [:] }
        var values: [String: AttributeValue] = [:]
        for (place, slot) in layout.preservedSlots.enumerated() where place < tombstoneColumns {
            let value = try ValueCoding.read(
                statement, 5 + place, as: columns.attributes[slot].kind.inTombstone, files: nil)
            if !value.isNull { values[layout.attributes[slot].name] = value }
        }
        return values
    }
}

extension EntityLayout {
    /// The slots of the attributes that are kept after deletion, sorted by name.
    var preservedSlots: [Int] {
        attributes.indices.filter { attributes[$0].attribute.preservesValueInHistoryOnDeletion }
    }
}

extension ColumnKind {
    /// A tombstone holds large values plainly, without a marker.
    var inTombstone: ColumnKind {
        if case .binary = self { .binary(external: false) } else { self }
    }
}
