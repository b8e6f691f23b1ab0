/// What is read of a store: as it is now, or as it was when a snapshot was made of it.
///
/// Queue: every function may be called from any thread and blocks until done. What one call returns
/// belongs to one state of the store: it never has half of a save.
///
/// Every function throws `StoreError`: `.modelMismatch` for an entity that the store does not have,
/// `.unsupported` for a predicate, sorting or value it cannot work out, `.corrupt`, `.busy` and
/// `.failed` for its file. Cost: in a SQLite store one statement a call, or one for some hundred
/// IDs; in other stores a walk through the entity's rows, or one look for each ID.
public protocol RowReading: AnyObject, Sendable {
    /// The row of an ID; nil where there is none.
    func row(_ id: RowID) throws -> Row?
    /// The rows that exist among `ids`, in no particular order.
    func rows(_ ids: [RowID]) throws -> [Row]
    /// Which of some rows are there, without reading them. Cost: one search by key for each. Throws
    /// the store's failures.
    func present(among ids: [RowID]) throws -> Set<RowID>
    /// The rows that a query finds, in its order; without one in the order of their keys.
    func rows(matching query: RowQuery) throws -> [Row]
    /// `rows(_:)` in packs; nil where the store gives no packs of them.
    func packs(_ ids: [RowID]) throws -> [RowPack]?
    /// `rows(matching:)` in packs; nil where the store gives no packs of them.
    func packs(matching query: RowQuery) throws -> [RowPack]?
    /// The IDs of the rows that a query finds, in its order, without their values.
    func ids(matching query: RowQuery) throws -> [RowID]
    /// How many rows a query finds; its limit and offset count.
    func count(matching query: RowQuery) throws -> Int
    /// Values computed of rows or of groups of rows, one array for each line; see `ValueQuery`.
    func values(of query: ValueQuery) throws -> [[Any?]]
    /// The members of a to-many relationship, in order where it is ordered.
    func members(of owner: RowID, toMany slot: Int) throws -> [Link]
    /// The same for several owners of one entity; owners without members may be left out.
    func members(ofEach owners: [RowID], toMany slot: Int) throws -> [RowID: [Link]]
}

extension RowReading {
    /// Reads the rows: for stores that have them in memory.
    public func present(among ids: [RowID]) throws -> Set<RowID> {
        Set(try rows(ids).map(\.id))
    }

    /// Nil, for stores that give no packs.
    public func packs(_ ids: [RowID]) throws -> [RowPack]? { nil }
    /// Nil, for stores that give no packs.
    public func packs(matching query: RowQuery) throws -> [RowPack]? { nil }

    /// Throws `StoreError` `.unsupported`, for stores that compute nothing.
    public func values(of query: ValueQuery) throws -> [[Any?]] {
        throw StoreError(
            .unsupported, "This store computes no values; fetch objects and compute of them.")
    }

    /// Asks for one owner after the other, for stores that have no quicker way.
    public func members(ofEach owners: [RowID], toMany slot: Int) throws -> [RowID: [Link]] {
        var members: [RowID: [Link]] = [:]
        for owner in owners { members[owner] = try self.members(of: owner, toMany: slot) }
        return members
    }
}

/// A store as it was at one moment. What is saved later is not seen through it.
///
/// It ends with its last reference, when it is ended, or when its store can hold it no longer; from
/// then on every read throws `.snapshotExpired`. Queue: as its store's, beside which it may be
/// read.
public protocol RowSnapshot: RowReading {
    /// Whether the state is held no longer, so that every read throws.
    var isOver: Bool { get }
    /// Lets go of what holds the state. Waits for a read under way.
    func end()
}
