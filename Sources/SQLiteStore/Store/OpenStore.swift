internal import Foundation
internal import ObjectModel
internal import Platform
internal import SQLiteDriver
internal import Stores

/// An open store: its connection, its schema and all that is compiled for them.
///
/// Not thread-safe: used under the store's lock only.
final class OpenStore {
    let connection: Connection
    let schema: StoreSchema
    let reader: RowReader
    let writer: ChangeWriter
    let keys: KeyRegister
    let uniqueKeys: UniqueKeys
    let queries: QueryCompiler
    let derived: DerivedValues
    /// Nil for a store without a file.
    let external: ExternalWrites?
    let history: (log: HistoryLog, reader: HistoryReader)?
    let path: String
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
        path = file.path
        let keys = try KeyRegister(connection: connection)
        self.keys = keys
        let files = file.url.map { ExternalFiles(store: $0) }
        reader = RowReader(connection: connection, schema: schema, files: files)
        external = files.map {
            ExternalWrites(
                files: $0, connection: connection, platform: platform,
                bytesMin: file.options.externalBytesMin)
        }
        if let files, !file.options.isReadOnly {
            try ExternalWrites.recover(files, schema: schema, connection: connection)
        }
        uniqueKeys = UniqueKeys(connection: connection, schema: schema, reader: reader)
        queries = QueryCompiler(schema: schema, reader: reader, platform: platform)
        try TextFunctions.register(with: connection)
        try ExternalFunctions.register(with: connection, files: files)
        derived = DerivedValues(schema: schema)
        try derived.register(with: connection)
        if writesHistory {
            let tombstones = schema.preservedSlots.values.map(\.count).max() ?? 0
            // Opening waits for no other writer where there is nothing to make.
            if try !HistoryTables.arePrepared(connection, tombstones: tombstones) {
                try connection.transaction {
                    try HistoryTables.prepare(connection, keys: keys, tombstones: tombstones)
                }
            }
        }
        let hasHistory = try !HistoryTables.columns(of: "ATRANSACTION", connection).isEmpty
        let log = HistoryLog(
            connection: connection, keys: keys, platform: platform, origin: file.options.origin)
        history =
            hasHistory ? (log, try HistoryReader(connection: connection, schema: schema)) : nil
        writer = ChangeWriter(
            connection: connection, schema: schema, reader: reader, keys: keys,
            history: writesHistory ? history : nil,
            rows: RowWriter(
                connection: connection, schema: schema, external: external, derived: derived,
                platform: platform))
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

    // MARK: Queries

    func rows(matching query: RowQuery) throws -> [Row] {
        let plan = try reader.plan(
            for: query.entity, includesSubentities: query.includesSubentities)
        return try run(query, .rows) { try reader.rows(of: $0, plan: plan) }
    }

    func ids(matching query: RowQuery) throws -> [RowID] {
        let isAlone = schema.columns(of: query.entity)?.condition == nil
        if isAlone && query.sort.isEmpty { return try keys(matching: query) }
        return try run(query, .ids) { statement in
            var ids: [RowID] = []
            while try statement.step() {
                let named =
                    isAlone || statement.isNull(at: 0)
                    ? query.entity : Int32(truncatingIfNeeded: statement.int64(at: 0))
                ids.append(RowID(entity: named, key: statement.int64(at: 1)))
            }
            return ids
        }
    }

    /// The rows of a table that holds one entity, by their keys.
    private func keys(matching query: RowQuery) throws -> [RowID] {
        let compiled = try queries.compile(query, .keys)
        var keys = try LongLists.with(compiled.longLists, on: connection) {
            try connection.integers(in: "Z_PK", of: compiled.sql.text, compiled.sql.values)
        }
        if !zip(keys, keys.dropFirst()).allSatisfy({ $0 < $1 }) { keys.sort() }
        return keys.map { RowID(entity: query.entity, key: $0) }
    }

    func count(matching query: RowQuery) throws -> Int {
        try run(query, .count) { statement in
            try statement.step() ? Int(statement.int64(at: 0)) : 0
        }
    }

    private func run<Result>(
        _ query: RowQuery, _ selection: QueryCompiler.Selection,
        _ read: (Statement) throws -> Result
    ) throws -> Result {
        let compiled = try queries.compile(query, selection)
        return try LongLists.with(compiled.longLists, on: connection) {
            let statement = try connection.prepare(compiled.sql.text)
            defer { statement.reset() }
            try statement.bind(compiled.sql.values)
            return try read(statement)
        }
    }

    // MARK: Keys

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

    // MARK: History

    func history(after number: Int64, limit: Int?) throws -> [HistoryTransaction] {
        try history?.reader.transactions(after: number, limit: limit, keys: keys) ?? []
    }

    func lastTransactionNumber() throws -> Int64 {
        try history?.reader.lastNumber(keys: keys) ?? 0
    }
}
