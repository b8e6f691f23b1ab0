internal import SQLiteDriver
internal import Stores

/// Writes rows of ACHANGE, some dozens with one statement, which is compiled once. Used under the
/// store's lock.
///
/// What neighbours have in common stays bound from one execution to the next: mostly the key of the
/// changed row is all that is given.
final class HistoryRows {
    private struct Place {
        var kind: HistoryChange.Kind
        var entity: Int32
        var bitmap: ChangeBitmap?
    }

    /// How many rows one execution writes.
    let count: Int
    private let statement: Statement
    private var bound: [Place?]

    init(count: Int, connection: Connection) throws {
        self.count = count
        bound = Array(repeating: nil, count: count)
        let rows = (0..<count).map { row in
            let (entity, kind) = (Self.first(row), Self.first(row) + 1)
            let (key, bitmap) = (kind + 1, kind + 2)
            return "(?1 + \(row), \(HistoryTables.change), ?\(kind), ?\(entity), ?\(key), ?2, "
                + "?\(bitmap))"
        }
        statement = try connection.compile(
            "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, "
                + "ZCOLUMNS) VALUES \(rows.joined(separator: ", "))")
    }

    /// The first parameter of a row; the key of the first row and the transaction come before all.
    private static func first(_ row: Int) -> Int { 3 + row * 4 }

    /// Writes the next `count` entries, which `entry` gives, with keys from `key` on.
    func write(
        from key: Int64, transaction: Int64, _ entry: (Int) throws -> HistoryLog.Entry
    ) throws {
        try statement.bind(.integer(key), at: 1)
        try statement.bind(.integer(transaction), at: 2)
        for row in 0..<count { try bind(entry(row), at: row) }
        try statement.perform()
    }

    private func bind(_ entry: HistoryLog.Entry, at row: Int) throws {
        let first = Self.first(row)
        try statement.bind(.integer(entry.id.key), at: first + 2)
        if let known = bound[row], known.kind == entry.kind, known.entity == entry.id.entity,
            known.bitmap === entry.bitmap
        {
            return
        }
        bound[row] = nil
        try statement.bind(.integer(Int64(entry.id.entity)), at: first)
        try statement.bind(.integer(entry.kind.rawValue), at: first + 1)
        try statement.bind(SQLiteValue(entry.bitmap?.bytes), at: first + 3)
        bound[row] = Place(kind: entry.kind, entity: entry.id.entity, bitmap: entry.bitmap)
    }
}
