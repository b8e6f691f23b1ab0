public import Foundation
public import Predicates

/// What every store does, in values. No store knows of a context or an object.
///
/// A store serialises its own work; every function may be called from any thread and blocks until
/// done. Failures are `StoreError`, `SaveConflicts` or `UniquenessViolation`.
public protocol RowStore: RowWriting, AnyObject, Sendable {
    var layout: ModelLayout { get }
    /// The store's identity, written when it was made.
    var identifier: String { get }
    /// Whether saves write history.
    var keepsHistory: Bool { get }

    /// The metadata dictionary of `Z_METADATA`, hashes included.
    func metadata() throws -> [String: Any]
    /// Replaces the application's metadata; the store's own keys are kept right by the store.
    func setMetadata(_ metadata: [String: Any]) throws

    func row(_ id: RowID) throws -> Row?
    /// The rows that exist among `ids`, in no particular order.
    func rows(_ ids: [RowID]) throws -> [Row]
    func rows(matching query: RowQuery) throws -> [Row]
    func ids(matching query: RowQuery) throws -> [RowID]
    func count(matching query: RowQuery) throws -> Int
    /// The members of a to-many relationship, in order where it is ordered.
    func members(of owner: RowID, toMany slot: Int) throws -> [Link]
    /// The same for several owners of one entity; owners without members may be left out.
    func members(ofEach owners: [RowID], toMany slot: Int) throws -> [RowID: [Link]]

    /// Runs `body`, whose reservations and one save are one transaction where the store has such:
    /// keys it reserved come back when it throws. `body` ends with its save, and throws what that
    /// throws.
    func writing<Result>(_ body: (any RowWriting) throws -> Result) throws -> Result

    /// The transactions after `number`, oldest first, at most `limit`.
    func history(after number: Int64, limit: Int?) throws -> [HistoryTransaction]
    /// Removes transactions up to and including `number`.
    func deleteHistory(upTo number: Int64) throws
    /// The number of the newest transaction, 0 when there is none.
    func lastTransactionNumber() throws -> Int64
}

/// What writing takes.
public protocol RowWriting {
    /// Hands out `count` fresh keys of the entity's tree, ascending. They are never handed out
    /// again, unless the transaction is undone.
    func reserveKeys(entity: Int32, count: Int) throws -> [Int64]
    /// Writes everything or nothing, with its history, in one transaction.
    func save(_ changes: ChangeSet) throws -> SaveOutcome
}

extension RowStore {
    public func writing<Result>(_ body: (any RowWriting) throws -> Result) throws -> Result {
        try body(self)
    }

    public func members(ofEach owners: [RowID], toMany slot: Int) throws -> [RowID: [Link]] {
        var members: [RowID: [Link]] = [:]
        for owner in owners { members[owner] = try self.members(of: owner, toMany: slot) }
        return members
    }
}

/// Which rows to find. Constants of the predicate that were objects are `RowID`s.
public struct RowQuery: @unchecked Sendable {
    // @unchecked: sort descriptors are immutable; the predicate is a tree of values.
    public var entity: Int32
    public var includesSubentities = true
    public var predicate: PredicateNode?
    public var sort: [NSSortDescriptor] = []
    public var limit = 0
    public var offset = 0

    public init(entity: Int32) { self.entity = entity }
}
