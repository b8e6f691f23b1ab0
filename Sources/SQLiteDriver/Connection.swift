internal import CSQLite

/// One open SQLite database.
///
/// Queue: not thread-safe; whoever owns a connection uses it from one thread at a time. Cost: a
/// statement is compiled once and kept by its text; after that a call costs what SQLite needs to
/// run it. The file is not trusted: views are closed, and what its schema calls is SQLite's own or
/// declared harmless. Every function throws `SQLiteFault`.
public final class Connection {
    /// How the file is opened.
    public enum Access: Sendable {
        /// An existing file, never written.
        case readOnly
        /// An existing file on a medium that cannot change: no locks, no files beside it.
        case immutable
        /// An existing file with its log, where nothing can be written and nobody else has it open.
        case abandoned
        /// An existing file.
        case readWrite
        /// A file that is created when absent.
        case create
    }

    let handle: OpaquePointer
    /// As it was given to the initializer, ":memory:" too.
    public let path: String
    private let busyMilliseconds: Int32
    private var cache: [StatementText: Statement] = [:]
    private var transactionDepth = 0
    private var knownCollector: IntegerCollector?
    /// Who is told of what is run.
    var trace: StatementTrace?
    /// Outlives this connection and its statements, to clear away what they needed beside the file.
    var tidier: Connection?

    /// Opens the database at `path` (":memory:" for one in memory). Waits up to `busyMilliseconds`
    /// for another connection's lock. Cost: opens the file, but reads nothing of it: what is no
    /// database is found out by the first statement.
    public init(path: String, access: Access = .create, busyMilliseconds: Int32 = 10_000) throws {
        let flags =
            switch access {
            case .readOnly: SQLITE_OPEN_READONLY
            case .immutable, .abandoned: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            case .readWrite: SQLITE_OPEN_READWRITE
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            }
        _ = Self.isConfigured
        var opened: OpaquePointer?
        let name = Self.name(of: path, access)
        let code = sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            let message = opened.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
            sqlite3_close_v2(opened)
            throw SQLiteFault(code: code, message: message ?? "cannot open the file")
        }
        handle = opened
        self.path = path
        self.busyMilliseconds = busyMilliseconds
        sqlite3_extended_result_codes(handle, 1)
        diptych_sqlite_distrust(handle)
        sqlite3_busy_timeout(handle, busyMilliseconds)
        if StatementTrace.level > 0 { follow(with: StatementTrace(level: StatementTrace.level)) }
        // Alone with the file, SQLite keeps the index of the log in memory of its own.
        if access == .abandoned { try script("PRAGMA locking_mode = EXCLUSIVE") }
    }

    /// Done once a process, before its first connection.
    private static let isConfigured: Bool = {
        diptych_sqlite_configure()
        return true
    }()

    deinit {
        cache.removeAll()
        sqlite3_close_v2(handle)
    }

    private static func name(of path: String, _ access: Access) -> String {
        switch access {
        case .readOnly, .readWrite, .create: path
        case .immutable: "file:\(escaped(path))?immutable=1"
        case .abandoned: "file:\(escaped(path))?vfs=unix-none"
        }
    }

    private static func escaped(_ path: String) -> String {
        path.utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            let isPlain = character.isASCII && (character.isLetter || character.isNumber)
            return isPlain || "/._-".contains(character)
                ? String(character) : "%" + hexDigits(byte)
        }.joined()
    }

    private static func hexDigits(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "0" + digits : digits
    }

    // MARK: Statements

    /// Returns the compiled statement for `sql`, from the cache when it was used before.
    /// The caller resets it after use; `rows` and `run` do.
    public func prepare(_ sql: String) throws -> Statement {
        let text = StatementText(sql)
        if let known = cache[text] {
            known.reset()
            return known
        }
        let statement = try compile(sql)
        if cache.count >= Self.cachedStatementsMax { cache.removeAll() }
        cache[text] = statement
        return statement
    }

    /// Compiles `sql` outside the cache, for statements whose text is used once, or that stay open
    /// while others run.
    public func compile(_ sql: String) throws -> Statement {
        var compiled: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, 0, &compiled, nil)
        guard code == SQLITE_OK, let compiled else { throw fault(code, sql: sql) }
        if trace != nil { tellPlan(of: sql) }
        return Statement(handle: compiled, connection: self)
    }

    /// Runs one statement to its end and drops its rows. Returns the number of rows it changed.
    @discardableResult
    public func run(_ sql: String, _ values: [SQLiteValue] = []) throws -> Int {
        let statement = try prepare(sql)
        defer { statement.reset() }
        try statement.bind(values)
        while try statement.step() {}
        return changes
    }

    /// Runs one statement and returns all its rows, each an array of values.
    public func rows(_ sql: String, _ values: [SQLiteValue] = []) throws -> [[SQLiteValue]] {
        let statement = try prepare(sql)
        defer { statement.reset() }
        try statement.bind(values)
        var result: [[SQLiteValue]] = []
        while try statement.step() {
            result.append((0..<statement.columnCount).map { statement.value(at: $0) })
        }
        return result
    }

    /// The first column of the first row, or nil when there is no row.
    public func value(_ sql: String, _ values: [SQLiteValue] = []) throws -> SQLiteValue? {
        let statement = try prepare(sql)
        defer { statement.reset() }
        try statement.bind(values)
        return try statement.step() ? statement.value(at: 0) : nil
    }

    /// Calls `body` with the statement positioned on each row in turn. Memory stays flat.
    /// The statement is compiled apart, so `body` may run the same text again.
    public func forEachRow(
        _ sql: String, _ values: [SQLiteValue] = [], _ body: (Statement) throws -> Void
    ) throws {
        let statement = try compile(sql)
        try statement.bind(values)
        while try statement.step() { try body(statement) }
    }

    /// Runs several statements, separated by semicolons, that take no values.
    public func script(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw fault(code, sql: sql) }
    }

    func collector() throws -> IntegerCollector {
        if let knownCollector { return knownCollector }
        let fresh = try IntegerCollector(handle)
        knownCollector = fresh
        return fresh
    }

    // MARK: Transactions

    /// When a transaction takes its locks. <https://www.sqlite.org/lang_transaction.html>
    public enum TransactionKind: String, Sendable {
        /// With the first statement that needs one: a read may find later that it cannot write any
        /// more.
        case deferred = "BEGIN DEFERRED"
        /// The writer's lock at once; readers go on.
        case immediate = "BEGIN IMMEDIATE"
        /// The writer's lock at once; outside of WAL mode readers are shut out, too.
        case exclusive = "BEGIN EXCLUSIVE"
    }

    /// Runs `body` in a transaction: commits when it returns, rolls back when it throws.
    /// Inside another transaction it becomes a savepoint.
    public func transaction<Result>(
        _ kind: TransactionKind = .immediate, _ body: () throws -> Result
    ) throws -> Result {
        let name = "depth\(transactionDepth)"
        try run(transactionDepth == 0 ? kind.rawValue : "SAVEPOINT \(name)")
        transactionDepth += 1
        do {
            let result = try body()
            transactionDepth -= 1
            try run(transactionDepth == 0 ? "COMMIT" : "RELEASE \(name)")
            return result
        } catch {
            transactionDepth = min(transactionDepth, Int(name.dropFirst(5)) ?? 0)
            rollBack(to: name)
            throw error
        }
    }

    /// Undoes the innermost transaction. SQLite may already have done so by itself (disk full, I/O
    /// error), which is the one outcome that is not a fault here.
    private func rollBack(to savepoint: String) {
        guard sqlite3_get_autocommit(handle) == 0 else { return }
        if transactionDepth == 0 {
            sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
        } else {
            sqlite3_exec(handle, "ROLLBACK TO \(savepoint); RELEASE \(savepoint)", nil, nil, nil)
        }
    }

    /// Runs `body` without waiting for other connections' locks: it throws a busy fault at once.
    public func withoutWaiting<Result>(_ body: () throws -> Result) throws -> Result {
        sqlite3_busy_timeout(handle, 0)
        defer { sqlite3_busy_timeout(handle, busyMilliseconds) }
        return try body()
    }

    /// Whether a transaction is open, a held state (`beginHolding`) too. SQLite may have ended one
    /// by itself, as it does on a full disk.
    public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Begins to hold the present state of the file: until `endHolding` every read sees it,
    /// whatever others write. In WAL mode writers go on meanwhile, and the log grows.
    /// <https://www.sqlite.org/isolation.html>
    public func beginHolding() throws {
        try run(TransactionKind.deferred.rawValue)
        transactionDepth = 1
        do {
            // The state is the one of the first read.
            _ = try value("SELECT count(*) FROM sqlite_master")
        } catch {
            endHolding()
            throw error
        }
    }

    /// Lets go of the state that `beginHolding` held. Nothing was written, so nothing can fail.
    public func endHolding() {
        transactionDepth = 0
        rollBack(to: "")
    }

    /// Runs `body`, which writes nothing here, while nobody can write to the file. Its end waits
    /// for nobody and cannot fail; a commit would, for a reader of a file without a log.
    public func keepingWritersOut<Result>(_ body: () throws -> Result) throws -> Result {
        try run(TransactionKind.immediate.rawValue)
        transactionDepth = 1
        defer { endHolding() }
        return try body()
    }

    // MARK: Facts

    /// Whether nothing can be written, because of how the file was opened or of its permissions.
    public var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// A number that changes whenever this connection sees commits, its own and those of others, as
    /// of its last read. Cost: none of SQLite's.
    /// <https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntldataversion>
    public var seenState: UInt32 {
        var state: UInt32 = 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &state)
        return state
    }

    /// The rowid of this connection's newest row in any table; 0 before the first.
    public var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(handle) }
    /// Rows changed by the last statement.
    public var changes: Int { Int(sqlite3_changes(handle)) }

    /// The value of a pragma, for example `pragma("page_size")`.
    public func pragma(_ name: String) throws -> SQLiteValue? { try value("PRAGMA \(name)") }

    func fault(_ code: Int32, sql: String?) -> SQLiteFault {
        let extended = sqlite3_extended_errcode(handle)
        let message = sqlite3_errmsg(handle).map { String(cString: $0) } ?? "unknown"
        return SQLiteFault(
            code: extended & 0xFF == code & 0xFF ? extended : code, message: message, sql: sql)
    }

    private static let cachedStatementsMax = 512
}
