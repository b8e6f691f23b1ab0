internal import CSQLite
internal import Foundation

/// Entries in folders as plain SQLite reads them: the floor of reading one by one and by
/// relationship.
final class RawLinkedTables {
    private let database: RawDatabase
    private static let columns =
        "Z_PK, ZAMOUNT, ZCOUNT, ZCREATED, ZISDONE, ZKEY, ZNAME, ZNOTE, ZFOLDER"

    /// Opens the file of a store whose model is `SampleModel.make(linked: true)`.
    init(path: String) throws { database = try RawDatabase(path: path) }

    /// Each row by a statement of its own, prepared once; `inTransactions` puts BEGIN and COMMIT
    /// around each.
    func fetchOneByOne(_ keys: ClosedRange<Int64>, inTransactions: Bool) throws -> Int {
        let begin = try database.compile("BEGIN")
        let commit = try database.compile("COMMIT")
        let statement = try database.compile(
            "SELECT \(Self.columns) FROM ZENTRY WHERE Z_PK = ?")
        defer { for each in [begin, commit, statement] { sqlite3_finalize(each) } }
        var rows: [RawEntry] = []
        for key in keys {
            if inTransactions { try database.finish(begin) }
            sqlite3_bind_int64(statement, 1, key)
            if sqlite3_step(statement) == SQLITE_ROW { rows.append(RawEntry(statement)) }
            sqlite3_reset(statement)
            if inTransactions { try database.finish(commit) }
        }
        return rows.count
    }

    /// The folders, and the entries of each by a join in one statement.
    func fetchFoldersWithEntries() throws -> Int {
        var folders: [Int64: [RawEntry]] = [:]
        try database.each("SELECT Z_PK, ZNAME FROM ZFOLDER") {
            folders[sqlite3_column_int64($0, 0)] = []
        }
        try database.each(
            "SELECT \(Self.columns) FROM ZENTRY WHERE ZFOLDER IN (SELECT Z_PK FROM ZFOLDER) "
                + "ORDER BY ZFOLDER, Z_PK"
        ) { folders[sqlite3_column_int64($0, 8), default: []].append(RawEntry($0)) }
        return folders.values.map(\.count).reduce(0, +)
    }
}

/// One row of entries as a value of its own.
struct RawEntry {
    let key: Int64
    let amount: Double
    let count: Int64
    let created: Double
    let isDone: Bool
    let uuid: uuid_t?
    let name: String?
    let note: String?

    /// The first eight columns of a row.
    init(_ row: OpaquePointer) {
        key = sqlite3_column_int64(row, 0)
        amount = sqlite3_column_double(row, 1)
        count = sqlite3_column_int64(row, 2)
        created = sqlite3_column_double(row, 3)
        isDone = sqlite3_column_int64(row, 4) != 0
        uuid = sqlite3_column_blob(row, 5).map { $0.loadUnaligned(as: uuid_t.self) }
        name = sqlite3_column_text(row, 6).map { String(cString: $0) }
        note = sqlite3_column_text(row, 7).map { String(cString: $0) }
    }
}
