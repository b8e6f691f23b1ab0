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
        try checkIsDatabase()
        let connection = try connect()
        try Self.checkIsStore(connection, path: path)
        if !options.isReadOnly, connection.isReadOnly {
            throw StoreError(
                .readOnly, "The file cannot be written; open it read-only or change its access.",
                fields: ["path": path])
        }
        try configure(connection)
        return connection
    }

    /// Opens without asking for the right to write, for a look at the metadata.
    func openForReading() throws -> Connection {
        var file = self
        file = StoreFile(
            url: url,
            options: {
                var o = options; o.isReadOnly = true; return o
            }())
        try file.checkIsDatabase()
        let connection = try file.connect()
        try Self.checkIsStore(connection, path: path)
        return connection
    }

    var exists: Bool { url.map { FileManager.default.fileExists(atPath: $0.path) } ?? false }

    private func connect() throws -> Connection {
        let access: Connection.Access = options.isReadOnly ? .readOnly : .readWrite
        let connection = try Connection(
            path: path, access: access, busyMilliseconds: options.busyMilliseconds)
        guard options.isReadOnly else { return connection }
        do {
            _ = try connection.value("SELECT count(*) FROM sqlite_master")
            return connection
        } catch let fault as SQLiteFault where fault.cannotOpen || fault.isReadOnly {
            // A file in WAL mode in a folder that cannot be written: readable when no log is left.
            guard !Self.hasContent(path + "-wal") else { throw fault }
            return try Connection(path: path, access: .immutable)
        }
    }

    private static func hasContent(_ path: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0 > 0
    }

    /// Looks at the first bytes, so that what is no database is told from a damaged one.
    private func checkIsDatabase() throws {
        guard let url else { return }
        func fail(_ code: StoreError.Code, _ message: String, _ cause: (any Error)? = nil)
            -> StoreError
        {
            StoreError(code, message, fields: ["path": url.path], cause: cause)
        }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw fail(.cannotOpen, "There is no file at this path.")
        }
        guard !isFolder.boolValue else {
            throw fail(.cannotOpen, "The path is a folder; give the path of a file.")
        }
        let head: Data
        do {
            let handle = try FileHandle(forReadingFrom: url)
            defer { try? handle.close() }
            head = try handle.read(upToCount: Self.magic.count) ?? Data()
        } catch {
            throw fail(.cannotOpen, "The file cannot be read; check its access.", error)
        }
        guard !head.isEmpty else {
            throw fail(
                .notAStore, "The file is empty; remove it, and the store is made in its place.")
        }
        guard head == Self.magic else {
            throw fail(.notAStore, "The file is no SQLite database; give the path of a store.")
        }
    }

    private static let magic = Data("SQLite format 3\0".utf8)

    private static func checkIsStore(_ connection: Connection, path: String) throws {
        let tables = try connection.value(
            "SELECT count(*) FROM sqlite_master WHERE type = 'table' "
                + "AND name IN ('Z_METADATA', 'Z_PRIMARYKEY')")
        guard tables == 2 else {
            throw StoreError(
                .notAStore,
                "The database is no Core Data store: it lacks Z_METADATA or Z_PRIMARYKEY.",
                fields: ["path": path])
        }
    }

    /// The settings of a connection that works.
    func configure(_ connection: Connection) throws {
        if !options.isReadOnly, url != nil {
            try connection.script("PRAGMA journal_mode = WAL")
        }
        try connection.script("PRAGMA synchronous = \(options.synchronous.rawValue)")
        for (name, value) in options.pragmas.sorted(by: { $0.key < $1.key }) {
            guard
                (name + value).allSatisfy({
                    $0.isASCII && ($0.isLetter || $0.isNumber || "_-.".contains($0))
                })
            else {
                throw StoreError(
                    .invalidValue, "A pragma's name and value are plain words and numbers.",
                    fields: ["pragma": name])
            }
            try connection.script("PRAGMA \(name) = \(value)")
        }
    }

    // MARK: Creation

    /// Makes the store: `fill` writes everything into the new file in one transaction. The file
    /// appears at its place only when it is whole; when another process was faster, its file stays.
    func create(platform: Platform, _ fill: (Connection) throws -> Void) throws -> Connection {
        guard let url else {
            let connection = try Connection(path: path)
            try prepare(connection, fill)
            try configure(connection)
            return connection
        }
        let name = ".\(url.lastPathComponent).\(platform.randomness.uuid().uuidString)"
        let draft = url.deletingLastPathComponent().appendingPathComponent(name)
        defer { Self.remove(draft) }
        try autoreleased { try prepare(Connection(path: draft.path), fill) }
        try platform.faults.reach("store.beforePlacing")
        if link(draft.path, url.path) != 0, errno != EEXIST {
            do {
                try FileManager.default.moveItem(at: draft, to: url)
            } catch {
                throw StoreError(
                    .cannotOpen,
                    "The new store cannot be put in its place; check the folder's access.",
                    fields: ["path": url.path], cause: error)
            }
        }
        return try open()
    }

    /// The connection ends with the closure, which closes the file and empties its log.
    private func autoreleased(_ body: () throws -> Void) rethrows { try body() }

    private func prepare(_ connection: Connection, _ fill: (Connection) throws -> Void) throws {
        try connection.script("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL")
        if url != nil { try connection.script("PRAGMA journal_mode = WAL") }
        for (name, value) in options.pragmas where name == "max_page_count" {
            try connection.script("PRAGMA max_page_count = \(Int(value) ?? 0)")
        }
        try connection.transaction(.exclusive) { try fill(connection) }
    }

    private static func remove(_ draft: URL) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(draft.path + suffix) }
    }
}
