public import Foundation
public import ObjectModel
public import Platform
internal import SQLiteDriver
public import Stores

/// A store in a SQLite file of Apple's format.
///
/// One connection, used by one thread at a time; a call made inside `write` or `read` on the same
/// thread joins that transaction. Calls of other threads wait for their turn.
public final class SQLiteRowStore: RowStore, @unchecked Sendable {
    // @unchecked: `open` and `foreign` are used under `lock` only; all else never changes.
    public let layout: ModelLayout
    public let identifier: String
    public let url: URL?
    public let keepsHistory: Bool
    /// What the schema could not do as the model asks.
    public let schemaNotes: [SchemaNote]
    /// What speaks against the place where the file lies, for the user to read: a file system
    /// without locks, or one shared between machines.
    public let fileSystemWarning: String?
    private let isReadOnly: Bool
    private let platform: Environment
    private let lock = StoreLock()
    private let open: OpenStore
    private let foreign: ForeignChanges

    /// Opens the store at `url`, or makes it when there is no file; nil makes one in memory.
    ///
    /// Throws `StoreError`: `.notAStore`, `.cannotOpen`, `.modelMismatch` (fields `changed`,
    /// `onlyInModel`, `onlyInStore` name the entities), `.readOnly`, `.diskFull`, `.busy`,
    /// `.corrupt`, `.unsupported`.
    public init(
        url: URL?, model: NSManagedObjectModel, configuration: String? = nil,
        options: SQLiteStoreOptions = .init(), platform: Environment = .system
    ) throws {
        let file = StoreFile(url: url, options: options)
        let made = try StoreError.mapping(path: file.path) {
            let opening = try StoreOpening(
                file: file, model: model, configuration: configuration, platform: platform)
            return try opening.run()
        }
        open = made.store
        foreign = try StoreError.mapping(path: file.path) { try ForeignChanges(made.store) }
        identifier = made.identifier
        layout = made.store.schema.layout
        schemaNotes = made.store.schema.notes
        keepsHistory = options.tracksHistory && !options.isReadOnly
        isReadOnly = options.isReadOnly
        fileSystemWarning = url.flatMap(FileSystem.present.warning)
        self.platform = platform
        self.url = url
    }

    /// The metadata of the store at `url`, which is not opened for work and not changed.
    public static func metadata(at url: URL) throws -> [String: Any] {
        let file = StoreFile(url: url, options: .init())
        return try StoreError.mapping(path: file.path) {
            let connection = try file.openForReading()
            return try StoreMetadata(reading: connection, path: file.path).dictionary
        }
    }

    /// The model that the store at `url` keeps of itself, for migrations; nil where it keeps none.
    /// It can be older than the file's tables.
    public static func cachedModel(at url: URL) throws -> NSManagedObjectModel? {
        let file = StoreFile(url: url, options: .init())
        return try StoreError.mapping(path: file.path) {
            try ModelCache.read(from: file.openForReading(), path: file.path)
        }
    }

    /// A model made of the tables of the store at `url`, for a look at stores that keep none. Its
    /// hashes are not those of the store's own model.
    public static func inferredModel(at url: URL) throws -> NSManagedObjectModel {
        let file = StoreFile(url: url, options: .init())
        return try StoreError.mapping(path: file.path) {
            try InferredModel.make(from: file.openForReading())
        }
    }

    // MARK: Transactions

    /// Runs `body` in one writing transaction: all of it stays when `body` returns, none of it when
    /// it throws.
    public func write<Result>(_ body: (StoreTransaction) throws -> Result) throws -> Result {
        guard !isReadOnly else {
            throw StoreError(
                .readOnly, "The store was opened read-only; open it for writing to save.",
                fields: ["path": open.path])
        }
        return try perform(.immediate, body)
    }

    /// Runs `body` with a consistent view of the store: what other processes write meanwhile is not
    /// seen. A write inside it fails with `.busy` when another process wrote since it began.
    public func read<Result>(_ body: (StoreTransaction) throws -> Result) throws -> Result {
        try perform(.deferred, body)
    }

    private func perform<Result>(
        _ kind: Connection.TransactionKind, _ body: (StoreTransaction) throws -> Result
    ) throws -> Result {
        try lock.run {
            defer { if !open.connection.isInTransaction { open.external?.cleanUp() } }
            // Before the lock is let go: another thread must not meet what was rolled back.
            var isKept = kind == .deferred
            defer { if !isKept { open.forget() } }
            let result = try StoreError.mapping(path: open.path) {
                try open.connection.transaction(kind) {
                    let handed = StoreTransaction(open)
                    defer { handed.end() }
                    let result = try body(handed)
                    if kind == .immediate { try platform.faults.reach("store.beforeCommit") }
                    return result
                }
            }
            isKept = true
            if !open.connection.isInTransaction { open.history?.log.own.commit() }
            return result
        }
    }

    // MARK: Other connections

    /// Whether other connections, of this or of other processes, have written since the last call
    /// or since the store was opened. Cost: a look at shared memory.
    public func hasForeignChanges() throws -> Bool {
        try lock.run { try StoreError.mapping(path: open.path) { try foreign.arePresent() } }
    }

    /// What other connections saved since the last call or since the store was opened; nil when
    /// they saved nothing. Empty where there is no history to tell it, or where it is very long.
    public func foreignTransactions() throws -> [HistoryTransaction]? {
        try lock.run { try StoreError.mapping(path: open.path) { try foreign.transactions() } }
    }

    /// Moves what the log holds into the file, as far as nobody else works with it, so that the
    /// file alone is the whole store. Does not wait.
    public func emptyLog() throws {
        try lock.run {
            try StoreError.mapping(path: open.path) {
                try open.connection.withoutWaiting {
                    _ = try open.connection.rows("PRAGMA main.wal_checkpoint(TRUNCATE)")
                }
            }
        }
    }

    // MARK: RowStore

    public func metadata() throws -> [String: Any] {
        try read { try StoreMetadata(reading: $0.connection, path: open.path).dictionary }
    }

    public func setMetadata(_ metadata: [String: Any]) throws {
        try write { transaction in
            var stored = try StoreMetadata(reading: transaction.connection, path: open.path)
            stored.replaceApplicationKeys(with: metadata)
            try stored.write(to: transaction.connection)
        }
    }

    public func reserveKeys(entity: Int32, count: Int) throws -> [Int64] {
        try write { try $0.reserveKeys(entity: entity, count: count) }
    }

    public func row(_ id: RowID) throws -> Row? { try read { try $0.row(id) } }
    public func rows(_ ids: [RowID]) throws -> [Row] { try read { try $0.rows(ids) } }
    public func rows(matching query: RowQuery) throws -> [Row] {
        try read { try $0.rows(matching: query) }
    }
    public func ids(matching query: RowQuery) throws -> [RowID] {
        try read { try $0.ids(matching: query) }
    }
    public func count(matching query: RowQuery) throws -> Int {
        try read { try $0.count(matching: query) }
    }

    public func members(of owner: RowID, toMany slot: Int) throws -> [Link] {
        try read { try $0.members(of: owner, toMany: slot) }
    }

    public func members(ofEach owners: [RowID], toMany slot: Int) throws -> [RowID: [Link]] {
        try read { try $0.members(ofEach: owners, toMany: slot) }
    }

    public func save(_ changes: ChangeSet) throws -> SaveOutcome {
        try write { try $0.save(changes) }
    }

    public func writing<Result>(_ body: (any RowWriting) throws -> Result) throws -> Result {
        try write { try body($0) }
    }

    public func history(after number: Int64, limit: Int?) throws -> [HistoryTransaction] {
        try read { try $0.history(after: number, limit: limit) }
    }

    public func deleteHistory(upTo number: Int64) throws {
        try write { _ in try open.history?.log.delete(upTo: number) }
    }

    public func lastTransactionNumber() throws -> Int64 {
        try read { try $0.lastTransactionNumber() }
    }
}
