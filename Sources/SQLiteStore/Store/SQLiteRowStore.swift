public import Foundation
public import ObjectModel
public import Platform
internal import SQLiteDriver
public import Stores

/// A store in a SQLite file of Apple's format.
///
/// Queue: any thread. One connection writes, for one thread at a time; others wait for their turn.
/// Reads have connections of their own, and wait neither for a write nor for each other; the first
/// ones, before anybody writes, use the one that writes, and the first write may wait for the last
/// of them. Where there is no log (`journal_mode` other than WAL, in memory, read-only) one
/// connection serves all in turn.
///
/// A call made inside `write` or `read` on the same thread joins that transaction; a write inside a
/// `read` is a transaction of its own, of which that `read` sees nothing.
///
/// Cost: a read outside of `read` and `write` is one statement in a transaction of its own; a save
/// is one transaction, with a run of a compiled statement for each row it names, or for ten new
/// ones of one entity without large or derived values, and one for some dozens of rows of the
/// history.
public final class SQLiteRowStore: RowStore, KeyKeeping, @unchecked Sendable {
    // @unchecked: `open` and `foreign` are used under `lock` only; the pool has a lock of its
    // own; all else never changes.
    public let layout: ModelLayout
    public let identifier: String
    /// As it was given; nil for a store in memory.
    public let url: URL?
    /// Whether saves write history. Where the options leave it to the file, that begins as soon as
    /// somebody begins one: `beginHistory()`, here or in another process.
    public var keepsHistory: Bool { historyIsOn.withLock { $0 } }
    /// What the schema could not do as the model asks.
    public var schemaNotes: [SchemaNote] { open.schema.notes }
    /// What speaks against the place where the file lies, for the user to read: a file system
    /// without locks, or one shared between machines.
    public let fileSystemWarning: String?
    let permission: WritePermission
    let historyIsOn: Lock<Bool>
    public var isClosedToWriting: Bool { permission.isClosed }
    let platform: Environment
    let lock = StoreLock()
    let open: OpenStore
    /// Nil where the connection that writes serves readers, too.
    let readers: ReaderPool?
    let foreign: ForeignChanges

    /// Opens the store at `url`, or makes it when there is no file; nil makes one in memory.
    ///
    /// Throws `StoreError`: `.notAStore`, `.cannotOpen`, `.modelMismatch` (fields `changed`,
    /// `onlyInModel`, `onlyInStore` name the entities), `.readOnly`, `.diskFull`, `.busy`,
    /// `.corrupt`, `.unsupported`. Cost: O(entities and properties of the model), whatever the
    /// file's size.
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
        readers = made.readers
        foreign = try StoreError.mapping(path: file.path) { try ForeignChanges(made.store) }
        identifier = made.identifier
        layout = made.store.schema.layout
        historyIsOn = Lock(made.writesHistory)
        permission = WritePermission(
            isReadOnly: options.isReadOnly, tracksHistory: options.tracksHistory,
            isClosed: made.isClosedToWriting && !options.isReadOnly)
        fileSystemWarning = url.flatMap(FileSystem.present.warning)
        self.platform = platform
        self.url = url
    }

    /// Readers go first: the last connection to close takes the log away, and only one that may
    /// write can.
    deinit { readers?.close() }

    /// The metadata of the store at `url`, which is not opened for work and not changed. Throws
    /// `StoreError` `.cannotOpen`, `.notAStore`, `.corrupt`, `.busy`. Cost: reads one row.
    public static func metadata(at url: URL) throws -> [String: Any] {
        let file = StoreFile(url: url, options: .init())
        return try StoreError.mapping(path: file.path) {
            let connection = try file.openForReading()
            return try StoreMetadata(reading: connection, path: file.path).dictionary
        }
    }

    /// The model that the store at `url` keeps of itself, for migrations; nil where it keeps none.
    /// It can be older than the file's tables. Throws as `metadata(at:)` does; `.corrupt` for bytes
    /// that are no model. Cost: inflates and reads the model.
    public static func cachedModel(at url: URL) throws -> NSManagedObjectModel? {
        let file = StoreFile(url: url, options: .init())
        return try StoreError.mapping(path: file.path) {
            try ModelCache.read(from: file.openForReading(), path: file.path)
        }
    }

    /// A model made of the tables of the store at `url`, for a look at stores that keep none. Its
    /// hashes are not those of the store's own model. Throws as `metadata(at:)` does. Cost:
    /// O(tables and columns).
    public static func inferredModel(at url: URL) throws -> NSManagedObjectModel {
        let file = StoreFile(url: url, options: .init())
        return try StoreError.mapping(path: file.path) {
            try InferredModel.make(from: file.openForReading())
        }
    }

    // MARK: Transactions

    /// Runs `body` in one writing transaction: all of it stays when `body` returns, none of it when
    /// it throws. Throws `StoreError` `.readOnly`, `.busy`, `.diskFull`, `.failed`, and what `body`
    /// throws. Cost: one commit, beside what `body` does.
    public func write<Result>(_ body: (StoreTransaction) throws -> Result) throws -> Result {
        try permission.check(path: open.path)
        return try perform(body)
    }

    /// Runs `body` with one state of the store: what anybody writes meanwhile is not seen. What
    /// writes inside it throws `.readOnly`. Throws what `body` throws, and the failures of reading
    /// (`StoreError`). Cost: one reading transaction, for all that `body` reads.
    public func read<Result>(_ body: (StoreTransaction) throws -> Result) throws -> Result {
        try telling {
            if !lock.isHeldHere, let readers,
                let result = try readers.inTransaction({ try hand($0, to: body) })
            {
                return result
            }
            return try lock.run { try readWithWriter(body) }
        }
    }

    /// As `read`, for a few rows: before anybody writes it goes over the connection that writes, so
    /// that a look into a store opens no other. A write waits for it.
    package func glance<Result>(_ body: (StoreTransaction) throws -> Result) throws -> Result {
        let seen: Result? = try telling {
            guard let readers, !readers.areNeeded, !lock.isHeldHere else { return nil }
            return try lock.runIfFree { try readWithWriter(body) }
        }
        if let seen { return seen }
        return try read(body)
    }

    private func readWithWriter<Result>(
        _ body: (StoreTransaction) throws -> Result
    ) throws -> Result {
        try open.reading.confirming { reading in
            try reading.transaction { try hand(reading, to: body) }
        }
    }

    private func hand<Result>(
        _ reader: StoreReader, to body: (StoreTransaction) throws -> Result
    ) throws -> Result {
        let handed = StoreTransaction(reading: reader)
        defer { handed.end() }
        return try body(handed)
    }

    /// Runs `body`, which reads with as many statements as make one state.
    func reading<Result>(_ body: (StoreReader) throws -> Result) throws -> Result {
        try telling {
            if !lock.isHeldHere, let readers {
                if !readers.areNeeded,
                    let result = try lock.runIfFree({ try open.reading.confirming(body) })
                {
                    return result
                }
                if let result = try readers.reading(body) { return result }
            }
            return try lock.run { try open.reading.confirming(body) }
        }
    }

    /// Runs `body`, which reads. A statement that SQLite does not take may name what was there
    /// before another program migrated the file: then that is what is thrown, and where another
    /// store was put in its place, that.
    private func telling<Result>(_ body: () throws -> Result) throws -> Result {
        try StoreError.mapping(path: open.path) {
            do {
                return try body()
            } catch let fault as SQLiteFault where fault.isOfStatement {
                try lock.run { try open.expectSameModel() }
                throw fault
            } catch is StoreIdentity.Replaced {
                try lock.run { try open.expectSameModel() }
                throw ModelWatch.replaced(open.path)
            }
        }
    }

    private func perform<Result>(
        _ body: (StoreTransaction) throws -> Result
    ) throws -> Result {
        readers?.need()
        return try lock.run {
            defer { if !open.connection.isInTransaction { open.external?.cleanUp() } }
            // Before the lock is let go: another thread must not meet what was rolled back.
            var isKept = false
            defer { if !isKept { open.forget() } }
            let result = try StoreError.mapping(path: open.path) {
                do {
                    return try inTransaction(body)
                } catch is HistoryHasBegun {
                    try turnHistoryOn()
                    return try inTransaction(body)
                }
            }
            isKept = true
            if !open.connection.isInTransaction {
                open.commits &+= 1
                open.history?.log.own.commit()
                boundHeldLog()
            }
            return result
        }
    }

    private func inTransaction<Result>(
        _ body: (StoreTransaction) throws -> Result
    ) throws -> Result {
        let isJoined = open.connection.isInTransaction
        return try open.connection.transaction(.immediate) {
            if !isJoined { try open.expectSameModel() }
            if !isJoined, try open.hasUnwrittenHistory() {
                throw permission.tracksHistory == nil
                    ? HistoryHasBegun() : WritePermission.wouldLeaveGap(path: open.path)
            }
            let handed = StoreTransaction(open)
            defer { handed.end() }
            let result = try body(handed)
            try platform.faults.reach("store.beforeCommit")
            return result
        }
    }

    /// Somebody reads the file's history now: a save without one would be hidden from them.
    private struct HistoryHasBegun: Error {}

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

    package func lastKey(entity: Int32) throws -> Int64 {
        try reading { reader in
            try reader.lastKey(root: reader.schema.columns(of: entity)?.root ?? entity)
        }
    }

    package func raiseKeys(entity: Int32, to key: Int64) throws {
        try write { try $0.raiseKeys(entity: entity, to: key) }
    }

    public func row(_ id: RowID) throws -> Row? { try reading { try $0.row(id) } }
    public func rows(_ ids: [RowID]) throws -> [Row] { try reading { try $0.rows(ids) } }
    public func rows(matching query: RowQuery) throws -> [Row] {
        try reading { try $0.rows(matching: query) }
    }
    public func packs(_ ids: [RowID]) throws -> [RowPack]? { try reading { try $0.packs(ids) } }
    public func packs(matching query: RowQuery) throws -> [RowPack]? {
        try reading { try $0.packs(matching: query) }
    }
    public func ids(matching query: RowQuery) throws -> [RowID] {
        try reading { try $0.ids(matching: query) }
    }
    public func count(matching query: RowQuery) throws -> Int {
        try reading { try $0.count(matching: query) }
    }
    public func values(of query: ValueQuery) throws -> [[Any?]] {
        try reading { try $0.values(of: query) }
    }

    public func members(of owner: RowID, toMany slot: Int) throws -> [Link] {
        try reading { try $0.members(of: owner, toMany: slot) }
    }
    public func members(ofEach owners: [RowID], toMany slot: Int) throws -> [RowID: [Link]] {
        try reading { try $0.members(ofEach: owners, toMany: slot) }
    }

    /// One reading transaction, which no writer ends: it does not expire. Without a log writers
    /// wait for it.
    public func readingOneState<Result>(
        _ body: (any RowReading) throws -> Result
    ) throws -> Result {
        try read { _ in try body(self) }
    }

    public func save(_ changes: ChangeSet) throws -> SaveOutcome {
        try write { try $0.save(changes) }
    }

    /// True: a save is part of its transaction.
    public var takesBackSaves: Bool { true }

    public func writing<Result>(_ body: (any RowWriting) throws -> Result) throws -> Result {
        try write { try body($0) }
    }

    public func update(_ batch: BatchUpdate) throws -> [RowID]? {
        try write { try $0.update(batch) }
    }
}
