internal import Foundation
internal import ObjectModel
public import Platform

/// A store whose rows live in dictionaries and end with it.
///
/// It keeps every rule of the contract (optimistic lock, uniqueness, history), so whatever is
/// tested upon it holds for the stores on disk. Queue: any thread; a lock guards the rows. Cost: a
/// save touches only the rows it names; a query walks its entity's rows.
public final class MemoryRowStore: RowStore, KeyKeeping {
    public let layout: ModelLayout
    public let identifier: String
    public let keepsHistory: Bool
    let platform: Environment
    let tables: Lock<MemoryTables>

    /// An empty store. Without an `identifier` the platform's randomness makes one.
    public init(
        layout: ModelLayout, platform: Environment = .system, identifier: String? = nil,
        keepsHistory: Bool = true
    ) {
        self.layout = layout
        self.platform = platform
        self.identifier = identifier ?? platform.randomness.uuid().uuidString
        self.keepsHistory = keepsHistory
        tables = Lock(MemoryTables(layout: layout))
    }

    public func metadata() throws -> [String: Any] {
        var all = tables.withLock { $0.metadata }
        all["NSStoreUUID"] = identifier
        all["NSStoreType"] = "InMemory"
        return all
    }

    public func setMetadata(_ metadata: [String: Any]) throws {
        tables.withLock { $0.metadata = metadata }
    }

    public func reserveKeys(entity: Int32, count: Int) throws -> [Int64] {
        guard layout.entity(entity) != nil else { throw Self.unknownEntity(entity) }
        return tables.withLock { $0.reserveKeys(entity: entity, count: count) }
    }

    public func row(_ id: RowID) throws -> Row? { tables.withLock { $0.row(id) } }

    public func rows(_ ids: [RowID]) throws -> [Row] {
        tables.withLock { tables in ids.compactMap { tables.row($0) } }
    }

    public func rows(matching query: RowQuery) throws -> [Row] {
        guard let entity = layout.entity(query.entity) else {
            throw Self.unknownEntity(query.entity)
        }
        let found = tables.withLock { tables in
            tables.rows(of: query.includesSubentities ? layout.family(of: entity) : [entity.number])
        }
        return try MemoryQuery(query: query, store: self).answer(from: found)
    }

    public func ids(matching query: RowQuery) throws -> [RowID] {
        try rows(matching: query).map(\.id)
    }

    public func count(matching query: RowQuery) throws -> Int {
        try rows(matching: query).count
    }

    public func members(of owner: RowID, toMany slot: Int) throws -> [Link] {
        tables.withLock { $0.links.members(of: owner, slot: slot) }
    }

    /// The tables are values: holding them costs nothing but what is written meanwhile.
    public func readingOneState<Result>(
        _ body: (any RowReading) throws -> Result
    ) throws -> Result {
        let held = MemoryRowStore(layout: layout, platform: platform, identifier: identifier)
        held.install(tables.withLock { $0 })
        return try body(held)
    }

    public func save(_ changes: ChangeSet) throws -> SaveOutcome {
        let now = platform.clock.now()
        return try tables.withLock { tables in
            let deleted = keepsHistory ? changes.deletes.compactMap { tables.row($0.id) } : []
            var outcome = try tables.write(changes, now: now)
            if keepsHistory {
                outcome.transactionNumber = tables.record(
                    changes, cleared: outcome.clearedLinks, deleted: deleted, date: now)
            }
            return outcome
        }
    }

    public func check(_ changes: ChangeSet) throws { _ = try draft(changes) }

    public func lastTransactionNumber() throws -> Int64 {
        tables.withLock { $0.lastTransaction }
    }

    package func lastKey(entity: Int32) throws -> Int64 {
        tables.withLock { $0.lastKey(entity: entity) }
    }

    package func raiseKeys(entity: Int32, to key: Int64) throws {
        tables.withLock { $0.raiseKeys(entity: entity, to: key) }
    }

    static func unknownEntity(_ number: Int32) -> StoreError {
        StoreError(
            .modelMismatch, "The store has no such entity; use an entity of the store's own model.",
            fields: ["entity": String(number)])
    }
}
