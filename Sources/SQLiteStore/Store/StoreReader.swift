internal import ObjectModel
internal import Platform
internal import SQLiteDriver
internal import Stores

/// What reads a store: a connection, and all that is compiled for it.
///
/// Not thread-safe: one thread at a time uses it, under the store's lock, on loan from the pool, or
/// under the lock of a snapshot. What takes one statement needs no transaction: SQLite shows a
/// statement one state of the file from its first step to its last.
final class StoreReader {
    let connection: Connection
    let schema: StoreSchema
    let rows: RowReader
    let queries: QueryCompiler
    let uniqueKeys: UniqueKeys
    private let keys: KeyRegister
    private let identity: StoreIdentity
    /// What was found when the file's schema had this version.
    private var knownHistory: (version: Int64, reader: HistoryReader?)?

    init(
        _ connection: Connection, of identifier: String, schema: StoreSchema,
        files: ExternalFiles?, keys: KeyRegister, platform: Environment
    ) throws {
        self.connection = connection
        self.schema = schema
        self.keys = keys
        identity = StoreIdentity(identifier, in: connection)
        rows = RowReader(connection: connection, schema: schema, files: files)
        uniqueKeys = UniqueKeys(connection: connection, schema: schema, reader: rows)
        queries = QueryCompiler(schema: schema, reader: rows, platform: platform)
        try TextFunctions.register(with: connection)
        try ExternalFunctions.register(with: connection, files: files)
    }

    /// Runs `body` with one state of the store.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try connection.transaction(.deferred) {
            let result = try body()
            // What comes behind its end is another state.
            try identity.confirm()
            return result
        }
    }

    /// Runs `body`, which reads. Throws `StoreIdentity.Replaced` where what it read is another
    /// store's, whose rows stand under the keys of other objects.
    func confirming<Result>(_ body: (StoreReader) throws -> Result) throws -> Result {
        let result = try body(self)
        try identity.confirm()
        return result
    }

    // MARK: Rows

    func row(_ id: RowID) throws -> Row? { try rows.row(id) }

    func rows(_ ids: [RowID]) throws -> [Row] {
        guard ids.count > 1 else { return try rows.rows(ids) }
        return try transaction { try rows.rows(ids) }
    }

    func packs(_ ids: [RowID]) throws -> [RowPack]? { try rows.packs(ids) }

    func members(of owner: RowID, toMany slot: Int) throws -> [Link] {
        try rows.members(of: owner, toMany: slot)
    }

    func members(ofEach owners: [RowID], toMany slot: Int) throws -> [RowID: [Link]] {
        try transaction { try rows.members(ofEach: owners, toMany: slot) }
    }

    // MARK: Queries

    func rows(matching query: RowQuery) throws -> [Row] {
        let plan = try rows.plan(
            for: query.entity, includesSubentities: query.includesSubentities)
        return try run(query, .rows) { try rows.rows(of: $0, plan: plan) }
    }

    /// Nil where values may be in files: whether these are there must be told at once.
    func packs(matching query: RowQuery) throws -> [RowPack]? {
        let plan = try rows.plan(
            for: query.entity, includesSubentities: query.includesSubentities)
        guard !plan.mayMiss else { return nil }
        return try run(query, .rows) { try rows.packs(of: $0, plan: plan) }
    }

    func ids(matching query: RowQuery) throws -> [RowID] {
        let isAlone = schema.columns(of: query.entity)?.condition == nil
        if isAlone && query.sort.isEmpty { return try keys(matching: query) }
        if isAlone { return try orderedKeys(matching: query) }
        return try run(query, .ids) { statement in
            var ids: [RowID] = []
            while try statement.step() {
                let named =
                    statement.isNull(at: 0)
                    ? query.entity : Int32(truncatingIfNeeded: statement.int64(at: 0))
                ids.append(RowID(entity: named, key: statement.int64(at: 1)))
            }
            return ids
        }
    }

    /// The rows of a table that holds one entity, in the query's order: where an index has it, the
    /// table itself is not read.
    private func orderedKeys(matching query: RowQuery) throws -> [RowID] {
        try run(query, .orderedKeys) { statement in
            var ids: [RowID] = []
            while try statement.step() {
                ids.append(RowID(entity: query.entity, key: statement.int64(at: 0)))
            }
            return ids
        }
    }

    /// The highest key of a tree that was handed out.
    func lastKey(root: Int32) throws -> Int64 { try keys.last(Int64(root)) }

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

    func values(of query: ValueQuery) throws -> [[Any?]] {
        let compiled = try queries.compile(query)
        return try run(compiled.query) { statement in
            var lines: [[Any?]] = []
            while try statement.step() {
                var place = 0
                lines.append(compiled.columns.map { $0.read(statement, &place) })
            }
            return lines
        }
    }

    private func run<Result>(
        _ query: RowQuery, _ selection: QueryCompiler.Selection,
        _ read: (Statement) throws -> Result
    ) throws -> Result {
        try run(queries.compile(query, selection), read)
    }

    func run<Result>(
        _ compiled: CompiledQuery, _ read: (Statement) throws -> Result
    ) throws -> Result {
        try LongLists.with(compiled.longLists, on: connection) {
            let statement = try connection.prepare(compiled.sql.text)
            defer { statement.reset() }
            try statement.bind(compiled.sql.values)
            return try read(statement)
        }
    }

    // MARK: History

    /// Nil where the file keeps no history.
    func historyReader() throws -> HistoryReader? {
        let version = try connection.pragma("schema_version")?.int64 ?? 0
        if let knownHistory, knownHistory.version == version { return knownHistory.reader }
        let isThere = try !HistoryTables.columns(of: "ATRANSACTION", connection).isEmpty
        let made = isThere ? try HistoryReader(connection: connection, schema: schema) : nil
        knownHistory = (version, made)
        return made
    }

    func history(_ query: HistoryQuery) throws -> [HistoryTransaction] {
        try historyReader()?.transactions(query, keys: keys) ?? []
    }

    func lastTransactionNumber() throws -> Int64 {
        try historyReader()?.lastNumber(keys: keys) ?? 0
    }
}
