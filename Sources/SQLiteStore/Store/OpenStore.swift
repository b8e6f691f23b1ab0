internal import Foundation
internal import ObjectModel
internal import Platform
internal import SQLiteDriver
internal import Stores

/// An open store's connection that writes, and all that is compiled for it.
///
/// Not thread-safe: used under the store's lock only.
final class OpenStore {
    let connection: Connection
    let schema: StoreSchema
    /// What reads through the same connection.
    let reading: StoreReader
    let writer: ChangeWriter
    let keys: KeyRegister
    let derived: DerivedValues
    /// Nil for a store without a file.
    let external: ExternalWrites?
    private(set) var history: (log: HistoryLog, reader: HistoryReader)?
    /// Whether saves write history.
    var writesHistory: Bool { writer.history != nil }
    private let log: HistoryLog
    var path: String { model.path }
    private let model: ModelWatch
    /// How often this connection committed.
    var commits: Int64 = 0
    /// The roots whose keys were compared with the rows that are there.
    private var checkedRoots: Set<Int32> = []

    /// Takes over an open file. `schema` has the file's names; `writesHistory` says whether saves
    /// are logged.
    init(
        _ connection: Connection, file: StoreFile, schema: StoreSchema, platform: Environment,
        writesHistory: Bool
    ) throws {
        self.connection = connection
        self.schema = schema
        let place = file.url.flatMap { _ in FilePlace(of: file.path) }
        model = try ModelWatch(connection, path: file.path, place: place)
        let keys = KeyRegister(connection: connection)
        self.keys = keys
        let files = file.url.map { ExternalFiles(store: $0) }
        reading = try StoreReader(
            connection, of: model.identifier, schema: schema, files: files, keys: keys,
            platform: platform)
        external = files.map {
            ExternalWrites(
                files: $0, connection: connection, platform: platform,
                bytesMin: file.options.externalBytesMin)
        }
        if let files, !file.options.isReadOnly {
            try ExternalWrites.recover(files, schema: schema, connection: connection)
            try ExternalWrites.bringHome(files, schema: schema, connection: connection)
        }
        derived = DerivedValues(schema: schema)
        try derived.register(with: connection)
        let log = HistoryLog(
            connection: connection, keys: keys, platform: platform, origin: file.options.origin)
        self.log = log
        writer = ChangeWriter(
            connection: connection, schema: schema, reader: reading.rows, keys: keys, history: nil,
            rows: RowWriter(
                connection: connection, schema: schema, external: external, derived: derived,
                platform: platform))
        if writesHistory {
            try beginHistory()
        } else {
            history = try reading.historyReader().map { (log, $0) }
        }
    }

    /// Throws `.modelMismatch` where another program migrated the file meanwhile, `.cannotOpen`
    /// where it put another store there, or the file away.
    func expectSameModel() throws { try model.check() }

    /// Whether the file's history is in use and saves do not write it. Cost: next to nothing for a
    /// file that has no tables of a history.
    func hasUnwrittenHistory() throws -> Bool {
        guard !writesHistory, try reading.historyReader() != nil else { return false }
        return try HistoryTables.areInUse(connection)
    }

    /// Lets saves write history from now on. Not within a transaction.
    func beginHistory() throws {
        let tombstones = schema.preservedCountMax
        // Opening waits for no other writer where there is nothing to make.
        if try !HistoryTables.arePrepared(connection, tombstones: tombstones) {
            try connection.transaction {
                try HistoryTables.prepare(connection, keys: keys, tombstones: tombstones)
            }
        }
        history = try reading.historyReader().map { (log, $0) }
        writer.history = history
    }

    /// Drops what was learnt from a transaction that was undone.
    func forget() {
        history?.log.forget()
        checkedRoots.removeAll()
        derived.take()
    }

    /// Writes a change set, within a transaction that is undone where this throws.
    func write(_ changes: ChangeSet) throws -> SaveOutcome {
        var outcome = try writer.apply(changes)
        outcome.derivedValues = derived.take()
        return outcome
    }

    func apply(_ changes: ChangeSet) throws -> SaveOutcome {
        do {
            return try connection.transaction { try write(changes) }
        } catch {
            forget()
            throw error
        }
    }

    // MARK: Keys

    func raiseKeys(entity: Int32, to key: Int64) throws {
        guard let root = schema.columns(of: entity)?.root else {
            throw schema.unknownEntity(entity)
        }
        try keys.raise(Int64(root), to: key)
    }

    func reserveKeys(entity: Int32, count: Int) throws -> [Int64] {
        guard let root = schema.columns(of: entity)?.root else {
            throw schema.unknownEntity(entity)
        }
        guard count > 0 else { return [] }
        if checkedRoots.insert(root).inserted {
            // Files that other programs made may hold higher keys than their table of keys knows.
            let highest = try connection.value(
                "SELECT max(Z_PK) FROM \(schema.columns(of: root)?.table ?? "")")?.int64
            try keys.raise(Int64(root), to: highest ?? 0)
        }
        let first = try keys.reserve(Int64(root), count: count)
        return (0..<Int64(count)).map { first + $0 }
    }
}
