public import Foundation
package import ObjectModel
public import SQLiteDriver
public import Stores

/// One transaction of a store, handed to the body of `SQLiteRowStore.write` or `.read`.
///
/// Queue: the thread of that body, until it returns; afterwards every function throws. In one that
/// only reads, what writes throws `.readOnly`. What is done with `connection` throws `SQLiteFault`.
///
/// Every function throws `StoreError`, and those that save `SaveConflicts` or
/// `UniquenessViolation`. Cost: one or few statements each, compiled once for a connection.
public final class StoreTransaction: RowWriting {
    private let reader: StoreReader
    /// Nil in a transaction that only reads.
    private let store: OpenStore?
    private var isOver = false

    /// A transaction that writes.
    init(_ store: OpenStore) {
        self.store = store
        reader = store.reading
    }

    /// A transaction that only reads.
    init(reading reader: StoreReader) {
        self.reader = reader
        store = nil
    }

    func end() { isOver = true }

    private func working<Result>(_ body: (StoreReader) throws -> Result) throws -> Result {
        guard !isOver else {
            throw StoreError(.failed, "The transaction is over; work only inside its body.")
        }
        return try StoreError.mapping(path: reader.connection.path) { try body(reader) }
    }

    private func writing<Result>(_ body: (OpenStore) throws -> Result) throws -> Result {
        try working { _ in
            guard let store else {
                throw StoreError(
                    .readOnly, "The transaction only reads; write inside SQLiteRowStore.write.")
            }
            return try body(store)
        }
    }

    /// The store's connection, for tables that are not the model's. Do not begin or end
    /// transactions on it.
    public var connection: Connection { reader.connection }
    /// The store's, by whose slots rows and links are read.
    public var layout: ModelLayout { reader.schema.layout }
    /// Where each property is kept.
    public var schema: StoreSchema { reader.schema }

    /// Writes everything of `changes` or nothing, with one transaction of the history. May be
    /// called several times; when it throws, what was written before stays.
    public func apply(_ changes: ChangeSet) throws -> SaveOutcome {
        try writing { try $0.apply(changes) }
    }

    /// The same without a savepoint of its own: when it throws, so must the body, which undoes the
    /// transaction.
    public func save(_ changes: ChangeSet) throws -> SaveOutcome {
        try writing { try $0.write(changes) }
    }

    /// The row of an ID, with what this transaction wrote; nil where there is none.
    public func row(_ id: RowID) throws -> Row? { try working { try $0.row(id) } }
    /// The rows that exist among `ids`, in the order of `ids`.
    public func rows(_ ids: [RowID]) throws -> [Row] { try working { try $0.rows(ids) } }
    /// The rows that a query finds, in its order; rows that sort alike by their keys.
    public func rows(matching query: RowQuery) throws -> [Row] {
        try working { try $0.rows(matching: query) }
    }
    /// The IDs of the rows that a query finds, in its order, without reading values.
    public func ids(matching query: RowQuery) throws -> [RowID] {
        try working { try $0.ids(matching: query) }
    }
    /// How many rows a query finds, within its bounds.
    public func count(matching query: RowQuery) throws -> Int {
        try working { try $0.count(matching: query) }
    }
    /// Values of rows or of groups of rows; see `ValueQuery`.
    public func values(of query: ValueQuery) throws -> [[Any?]] {
        try working { try $0.values(of: query) }
    }
    /// Carries out a batch update in one statement; nil where a column needs more than that.
    public func update(_ batch: BatchUpdate) throws -> [RowID]? {
        try writing { try $0.update(batch) }
    }
    /// Hands the rows of exactly one entity to `body` by key, at most `count` at a time, with flat
    /// memory. `body` may read of the store meanwhile, but not write to it. Cost: one statement for
    /// the whole walk.
    public func forEachBatch(
        of entity: Int32, count: Int = 500, _ body: ([Row]) throws -> Void
    ) throws {
        try working { try $0.rows.forEachBatch(of: entity, count: count, body) }
    }
    /// The members of a to-many relationship, in order where it is ordered.
    public func members(of owner: RowID, toMany slot: Int) throws -> [Link] {
        try working { try $0.rows.members(of: owner, toMany: slot) }
    }
    /// The members of several owners of one entity, with one question for some hundreds of them.
    public func members(ofEach owners: [RowID], toMany slot: Int) throws -> [RowID: [Link]] {
        try working { try $0.rows.members(ofEach: owners, toMany: slot) }
    }
    /// The place of one member in an ordered to-many; nil where it is none, or there is no order.
    /// Cost: one look-up.
    public func place(of member: RowID, in owner: RowID, toMany slot: Int) throws -> Int64? {
        try working { try $0.rows.place(of: member, in: owner, toMany: slot) }
    }
    /// Hands out fresh keys of the entity's tree, ascending. They come back only if the transaction
    /// is undone.
    public func reserveKeys(entity: Int32, count: Int) throws -> [Int64] {
        try writing { try $0.reserveKeys(entity: entity, count: count) }
    }

    /// Makes sure that no key up to `key` is handed out again.
    func raiseKeys(entity: Int32, to key: Int64) throws {
        try writing { try $0.raiseKeys(entity: entity, to: key) }
    }

    // MARK: Looking from the other end

    /// The rows whose to-one links point at `id`, each with the link's slot in that row's layout.
    /// Cost: one index look-up for each to-one relationship that leads to the entity.
    public func referrers(of id: RowID) throws -> [(row: RowID, toOneSlot: Int)] {
        try working { try $0.rows.referrers(of: id) }
    }

    /// The many-to-many memberships of `id`, by its own to-many slots. Cost: one index look-up for
    /// each join table of the entity.
    public func pairs(of id: RowID) throws -> [(toManySlot: Int, other: RowID)] {
        try working { try $0.rows.pairs(of: id) }
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

    /// The transactions of the history that a query names, oldest first. Throws `.historyExpired`
    /// where some that came after its beginning were removed.
    public func history(_ query: HistoryQuery) throws -> [HistoryTransaction] {
        try working { try $0.history(query) }
    }
    /// The transactions after `number` with their changes, oldest first. Throws `.historyExpired`
    /// where some of them were removed.
    public func history(after number: Int64, limit: Int?) throws -> [HistoryTransaction] {
        var query = HistoryQuery(after: number)
        query.limit = limit
        return try history(query)
    }
    /// Notes that a consumer has seen the history up to and with a number. It never goes back.
    public func setHistoryConsumer(_ name: String, lastSeen number: Int64, at date: Date) throws {
        try writing { store in
            try HistoryConsumers(connection: store.connection).set(
                HistoryConsumer(name: name, lastSeen: number, date: date))
        }
    }
    /// Forgets a consumer: what it has not seen may go.
    public func removeHistoryConsumer(_ name: String) throws {
        try writing { try HistoryConsumers(connection: $0.connection).remove(name) }
    }
    /// The number of the newest transaction, this one's own included once it has written; 0 for
    /// none.
    public func lastTransactionNumber() throws -> Int64 {
        try working { try $0.lastTransactionNumber() }
    }

    /// Gives the next transaction's number away without one: whoever saves next has a later one.
    /// Returns it. For who must tell what comes from what was there, in a history that is empty.
    public func skipTransactionNumber() throws -> Int64 {
        try writing { store in
            try store.keys.ensure(HistoryTables.transaction, name: "TRANSACTION")
            return try store.keys.reserve(HistoryTables.transaction, count: 1)
        }
    }

    // MARK: System tables

    /// The next key of a system table, whose row of `Z_PRIMARYKEY` is made on demand.
    public func nextPrimaryKey(forSystemEntity number: Int, name: String) throws -> Int64 {
        try writing { store in
            try store.keys.ensure(Int64(number), name: name)
            return try store.keys.reserve(Int64(number), count: 1)
        }
    }

    /// Keeps the model in the file in the place of a former one with the same version hashes. One
    /// that no archive can hold leaves the former.
    package func keepModel(_ model: NSManagedObjectModel) throws {
        try writing { try ModelCache.write(model, to: $0.reading.connection) }
    }
}
