internal import Foundation
internal import Platform
internal import SQLiteDriver
internal import Stores

/// Makes and opens the file of a store; knows nothing of rows.
struct StoreFile {
    /// Nil for a store in memory.
    let url: URL?
    let options: SQLiteStoreOptions

    var path: String { url?.path ?? ":memory:" }

    /// Opens an existing store for work.
    func open() throws -> Connection {
        let connection = try connectToStore()
        if !options.isReadOnly, connection.isReadOnly { throw readOnly }
        try configure(connection)
        return connection
    }

    /// Opens without asking for the right to write, for a look at the metadata.
    func openForReading() throws -> Connection {
        var options = options
        options.isReadOnly = true
        return try StoreFile(url: url, options: options).connectToStore()
    }

    var exists: Bool { url.map { FileKind(at: $0.path) != .nothing } ?? false }

    /// Opens the store, or fills the empty database that a destroyed one left.
    func open(orFill fill: (Connection) throws -> Void) throws -> Connection {
        do {
            return try open()
        } catch let error as StoreError where error.code == .notAStore && !options.isReadOnly {
            guard let url, Self.isBlank(at: url) else { throw error }
            try StorePlacing(place: url.resolvingSymlinksInPath()).locked {
                let connection = try Connection(
                    path: path, access: .readWrite, busyMilliseconds: options.busyMilliseconds)
                try connection.transaction(.exclusive) {
                    // Another process may have been faster.
                    if try Self.isBlank(connection) { try fill(connection) }
                }
            }
            return try open()
        }
    }

    /// Whether the file is a database without anything in it, as `StoreRemoval` leaves it. A file
    /// of no bytes is none: its log may hold all of a store. (Who only reads leaves a log behind.)
    static func isBlank(at url: URL) -> Bool {
        guard FileKind(at: url.path) == .file, FileKind.size(at: url.path) > 0,
            let connection = try? Connection(path: url.path, access: .readWrite)
        else { return false }
        return (try? isBlank(connection)) ?? false
    }

    private static func isBlank(_ connection: Connection) throws -> Bool {
        try connection.value("SELECT count(*) FROM sqlite_master") == 0
    }

    private func connectToStore() throws -> Connection {
        try checkPath()
        do {
            let connection = try connect()
            try Self.checkIsStore(connection, path: path)
            return connection
        } catch let fault as SQLiteFault where fault.isNotADatabase {
            guard beginsAsDatabase else { throw notAStore(fault) }
            throw fault
        }
    }

    private func connect() throws -> Connection {
        guard !options.isReadOnly else {
            return try .reading(path, busyMilliseconds: options.busyMilliseconds)
        }
        return try Connection(
            path: path, access: .readWrite, busyMilliseconds: options.busyMilliseconds)
    }

    /// Looks at the path, not into the file: closing a file of one's own would drop the locks that
    /// SQLite holds on it elsewhere in this process.
    private func checkPath() throws {
        guard let url else { return }
        func fail(_ code: StoreError.Code, _ message: String) -> StoreError {
            StoreError(code, message, fields: ["path": url.path])
        }
        switch FileKind(at: url.path) {
        case .nothing: throw fail(.cannotOpen, "There is no file at this path.")
        case .folder: throw fail(.cannotOpen, "The path is a folder; give the path of a file.")
        case .link, .other:
            throw fail(.cannotOpen, "The path leads to no plain file; give the path of a file.")
        case .file: break
        }
        guard FileKind.size(at: url.path) > 0 else {
            throw fail(
                .notAStore, "The file is empty; remove it, and the store is made in its place.")
        }
    }

    /// Whether a file that SQLite refuses begins as a database does. Nobody works with such a file.
    var beginsAsDatabase: Bool {
        let handle = FileHandle(forReadingAtPath: path)
        defer { try? handle?.close() }
        return (try? handle?.read(upToCount: Self.magic.count)) == Self.magic
    }

    func notAStore(_ cause: SQLiteFault) -> StoreError {
        StoreError(
            .notAStore, "The file is no SQLite database; give the path of a store.",
            fields: ["path": path], cause: cause)
    }

    var readOnly: StoreError {
        StoreError(
            .readOnly, "The file cannot be written; open it read-only or change its access.",
            fields: ["path": path])
    }

    /// Refuses a database of another program.
    func checkIsStoreOrBlank(_ connection: Connection) throws {
        if try !Self.isBlank(connection) { try Self.checkIsStore(connection, path: path) }
    }

    private static let magic = Data("SQLite format 3\0".utf8)

    private static func checkIsStore(_ connection: Connection, path: String) throws {
        let columns = try connection.rows(
            "SELECT m.name || '.' || c.name FROM sqlite_master m, pragma_table_info(m.name) c "
                + "WHERE m.type = 'table' AND m.name IN ('Z_METADATA', 'Z_PRIMARYKEY') "
                + "AND m.sql NOT LIKE 'CREATE VIRTUAL%'")
        guard Set(columns.compactMap { $0[0].string }).isSuperset(of: neededColumns) else {
            throw StoreError(
                .notAStore,
                "The database is no Core Data store: it lacks Z_METADATA or Z_PRIMARYKEY.",
                fields: ["path": path])
        }
    }

    /// Without these no file is a store. Columns that a stranger's schema computes do not count.
    private static let neededColumns: Set<String> = [
        "Z_METADATA.Z_UUID", "Z_METADATA.Z_PLIST", "Z_PRIMARYKEY.Z_ENT", "Z_PRIMARYKEY.Z_NAME",
        "Z_PRIMARYKEY.Z_MAX",
    ]

    /// The settings of a connection that works.
    func configure(_ connection: Connection) throws {
        let pragmas = try StorePragma.list(options.pragmas).filter { $0.moment == .opening }
        try connection.script("PRAGMA synchronous = \(options.synchronous.rawValue)")
        let choosesJournal = pragmas.contains { $0.name == StorePragma.journal }
        for pragma in pragmas where pragma.name == "synchronous" {
            try connection.script(pragma.statement)
        }
        if !options.isReadOnly, url != nil, !choosesJournal {
            try connection.script("PRAGMA journal_mode = WAL")
        }
        for pragma in pragmas where !(options.isReadOnly && pragma.name == StorePragma.journal) {
            try connection.script(pragma.statement)
        }
        guard !options.isReadOnly else { return }
        try allowPlaces(connection)
        if options.vacuumsOnOpening { try connection.script("VACUUM") }
        if options.analyzesOnOpening { try connection.script("ANALYZE") }
    }

    /// The settings of a connection that reads beside one that writes. How the file keeps its
    /// journal is that one's to say.
    func configureReader(_ connection: Connection) throws {
        for pragma in try StorePragma.list(options.pragmas)
        where pragma.moment == .opening && pragma.name != StorePragma.journal {
            try connection.script(pragma.statement)
        }
    }

    /// R-trees are filled by triggers, in which SQLite allows no virtual table of a schema that is
    /// not trusted. What our own functions do stays closed to the schema all the same.
    private func allowPlaces(_ connection: Connection) throws {
        let trees = try connection.value(
            "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_RT_*' "
                + "AND sql LIKE 'CREATE VIRTUAL TABLE % USING RTREE%'")
        if trees != 0 { try connection.script("PRAGMA trusted_schema = ON") }
    }

    // MARK: Creation

    /// Makes the store: `fill` writes everything into the new file in one transaction. The file
    /// appears at its place only when it is whole; when another process was faster, its file stays.
    func create(platform: Environment, _ fill: (Connection) throws -> Void) throws -> Connection {
        guard let url else {
            let connection = try Connection(path: path)
            try prepare(connection, fill)
            try configure(connection)
            return connection
        }
        let name = ".\(url.lastPathComponent).\(platform.randomness.uuid().uuidString)"
        let draft = url.deletingLastPathComponent().appendingPathComponent(name)
        defer { Self.remove(draft) }
        options.making.access?.makeFile(at: draft.path)
        try autoreleased { try prepare(Connection(path: draft.path), fill) }
        try platform.faults.reach("store.beforePlacing")
        do {
            try StorePlacing(place: url).put(draft)
        } catch let error as StoreError where error.fields["taken"] != nil {
            // Another process was faster.
        }
        return try open()
    }

    /// The connection ends with the closure, which closes the file and empties its log.
    private func autoreleased(_ body: () throws -> Void) rethrows { try body() }

    private func prepare(_ connection: Connection, _ fill: (Connection) throws -> Void) throws {
        var settings = ["page_size": "4096", "auto_vacuum": "INCREMENTAL"]
        for pragma in try StorePragma.list(options.pragmas)
        where pragma.moment == .creation || pragma.name == "max_page_count" {
            settings[pragma.name] = pragma.value
        }
        // The size of pages first: the others fix it.
        for name in ["page_size", "auto_vacuum", "max_page_count"] {
            guard let value = settings[name] else { continue }
            try connection.script("PRAGMA \(name) = \(value)")
        }
        if url != nil { try connection.script("PRAGMA journal_mode = WAL") }
        try connection.transaction(.exclusive) { try fill(connection) }
    }

    static func remove(_ draft: URL) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            FileKind.removeFile(at: draft.path + suffix)
        }
    }
}
