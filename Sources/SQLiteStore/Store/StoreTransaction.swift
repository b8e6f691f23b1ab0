public import SQLiteDriver
public import Stores

/// One transaction of a store, handed to the body of `SQLiteRowStore.write` or `.read`.
///
/// Valid on that thread until the body returns; afterwards every function throws. Failures are
/// `StoreError`, `SaveConflicts` or `UniquenessViolation`; what is done with `connection` throws
/// `SQLiteFault`.
public final class StoreTransaction: RowWriting {
    private let store: OpenStore
    private var isOver = false

    init(_ store: OpenStore) { self.store = store }

    func end() { isOver = true }

    private func working<Result>(_ body: (OpenStore) throws -> Result) throws -> Result {
        guard !isOver else {
            throw StoreError(.failed, "The transaction is over; work only inside its body.")
        }
        return try StoreError.mapping(path: store.path) { try body(store) }
    }

    /// The store's connection, for tables that are not the model's. Do not begin or end
    /// transactions on it.
    public var connection: Connection { store.connection }
    public var layout: ModelLayout { store.schema.layout }
    /// Where each property is kept.
    public var schema: StoreSchema { store.schema }

    /// Writes everything of `changes` or nothing, with one transaction of the history. May be
    /// called several times; when it throws, what was written before stays.
    public func apply(_ changes: ChangeSet) throws -> SaveOutcome {
        try working { try $0.apply(changes) }
    }

    /// The same without a savepoint of its own: when it throws, so must the body, which undoes the
    /// transaction.
    public func save(_ changes: ChangeSet) throws -> SaveOutcome {
        try working { try $0.write(changes) }
    }

    public func row(_ id: RowID) throws -> Row? { try working { try $0.reader.row(id) } }
    /// The rows that exist among `ids`, in the order of `ids`.
    public func rows(_ ids: [RowID]) throws -> [Row] { try working { try $0.reader.rows(ids) } }
    public func rows(matching query: RowQuery) throws -> [Row] {
        try working { try $0.rows(matching: query) }
    }
    public func ids(matching query: RowQuery) throws -> [RowID] {
        try working { try $0.ids(matching: query) }
    }
    public func count(matching query: RowQuery) throws -> Int {
        try working { try $0.count(matching: query) }
    }
    /// Hands the rows of exactly one entity to `body` by key, at most `count` at a time, with flat
    /// memory. `body` may read of the store meanwhile, but not write to it.
    public func forEachBatch(
        of entity: Int32, count: Int = 500, _ body: ([Row]) throws -> Void
    ) throws {
        try working { try $0.reader.forEachBatch(of: entity, count: count, body) }
    }
    /// The members of a to-many relationship, in order where it is ordered.
    public func members(of owner: RowID, toMany slot: Int) throws -> [Link] {
        try working { try $0.reader.members(of: owner, toMany: slot) }
    }
    /// The members of several owners of one entity, with one question for some hundreds of them.
    public func members(ofEach owners: [RowID], toMany slot: Int) throws -> [RowID: [Link]] {
        try working { try $0.reader.members(ofEach: owners, toMany: slot) }
    }
    /// Hands out fresh keys of the entity's tree, ascending. They come back only if the transaction
    /// is undone.
    public func reserveKeys(entity: Int32, count: Int) throws -> [Int64] {
        try working { try $0.reserveKeys(entity: entity, count: count) }
    }

    // MARK: Looking from the other end

    /// The rows whose to-one links point at `id`, each with the link's slot in that row's layout.
    /// Cost: one index look-up for each to-one relationship that leads to the entity.
    public func referrers(of id: RowID) throws -> [(row: RowID, toOneSlot: Int)] {
        try working { try $0.reader.referrers(of: id) }
    }

    /// The many-to-many memberships of `id`, by its own to-many slots.
    public func pairs(of id: RowID) throws -> [(toManySlot: Int, other: RowID)] {
        try working { try $0.reader.pairs(of: id) }
    }

    /// The row that has this unique key, among the entity and its subentities. A null in the key
    /// belongs to nobody. A to-one relationship in the constraint takes the key of its target as an
    /// integer.
    public func holder(
        of constraint: [String], values: [AttributeValue], in entity: Int32
    ) throws -> RowID? {
        try working { try $0.uniqueKeys.holder(of: constraint, values: values, in: entity) }
    }

    // MARK: History

    public func history(after number: Int64, limit: Int?) throws -> [HistoryTransaction] {
        try working { try $0.history(after: number, limit: limit) }
    }
    public func lastTransactionNumber() throws -> Int64 {
        try working { try $0.lastTransactionNumber() }
    }

    // MARK: System tables

    /// The next key of a system table, whose row of `Z_PRIMARYKEY` is made on demand.
    public func nextPrimaryKey(forSystemEntity number: Int, name: String) throws -> Int64 {
        try working { store in
            try store.keys.ensure(Int64(number), name: name)
            return try store.keys.reserve(Int64(number), count: 1)
        }
    }
}
