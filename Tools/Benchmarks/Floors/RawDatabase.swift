internal import CSQLite

/// A database by SQLite's C interface, in WAL. One thread at a time.
final class RawDatabase {
    /// When SQLite waits for the disk.
    enum Synchronous: String {
        /// At checkpoints.
        case normal = "NORMAL"
        /// At each commit.
        case full = "FULL"
    }

    private let handle: OpaquePointer

    init(path: String, synchronous: Synchronous = .normal) throws {
        var opened: OpaquePointer?
        guard sqlite3_open(path, &opened) == SQLITE_OK, let opened else {
            throw BenchmarkError("SQLite cannot open \(path).")
        }
        handle = opened
        try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous.rawValue)")
    }

    deinit { sqlite3_close(handle) }

    func bind(_ text: String, _ index: Int32, _ statement: OpaquePointer) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                _ = diptych_bind_text(statement, index, $0.baseAddress, Int32($0.count))
            }
        }
    }

    /// Compiles `sql` and lets `work` perform it many times in one transaction.
    func transaction(_ sql: String, _ work: (OpaquePointer) throws -> Void) throws {
        try run("BEGIN IMMEDIATE")
        let statement = try compile(sql)
        defer { sqlite3_finalize(statement) }
        try work(statement)
        try run("COMMIT")
    }

    func each(_ sql: String, _ body: (OpaquePointer) throws -> Void) throws {
        let statement = try compile(sql)
        defer { sqlite3_finalize(statement) }
        while sqlite3_step(statement) == SQLITE_ROW { try body(statement) }
    }

    func finish(_ statement: OpaquePointer) throws {
        guard sqlite3_step(statement) == SQLITE_DONE else { throw failure }
        sqlite3_reset(statement)
    }

    func run(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
    }

    func compile(_ sql: String) throws -> OpaquePointer {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement
        else { throw failure }
        return statement
    }

    private var failure: BenchmarkError {
        BenchmarkError("SQLite failed: \(String(cString: sqlite3_errmsg(handle))).")
    }
}
