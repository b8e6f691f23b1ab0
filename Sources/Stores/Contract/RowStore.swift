public import Foundation
package import ObjectModel
public import Predicates

/// What every store does, in values. No store knows of a context or an object.
///
/// Queue: every function may be called from any thread and blocks until done; a store has one
/// writer at a time. What a save wrote is seen by every read that begins after it returned.
///
/// Every function throws `StoreError`, and those that save `SaveConflicts` or
/// `UniquenessViolation`. Cost: stated by each store's type.
public protocol RowStore: RowReading, RowWriting, HistoryKeeping {
    /// Where the properties of the store's entities stand in rows. It stays the same while the
    /// store is open.
    var layout: ModelLayout { get }
    /// The store's identity, written when it was made.
    var identifier: String { get }

    /// The metadata dictionary of `Z_METADATA`, hashes included. What another process wrote is
    /// seen.
    func metadata() throws -> [String: Any]
    /// Replaces the application's metadata; the store's own keys are kept right by the store.
    /// Throws `.invalidValue` for what is no property list.
    func setMetadata(_ metadata: [String: Any]) throws

    /// Runs `body`, whose reservations and one save are one transaction where the store has such:
    /// keys it reserved come back when it throws. `body` throws what
    /// its save throws.
    func writing<Result>(_ body: (any RowWriting) throws -> Result) throws -> Result

    /// Whether the save of `writing` is taken back where its body throws after it, and seen by
    /// nobody before.
    var takesBackSaves: Bool { get }

    /// Throws what a save of `changes` would throw now, as far as that is known without writing.
    /// For stores that cannot take back what they wrote. Cost: a save's, without its file.
    func check(_ changes: ChangeSet) throws

    /// Carries out a batch update in one statement, with its history, and returns the rows. Nil
    /// where the store has no statement for it: the caller reads and saves rows then. Throws
    /// `.invalidValue` for a value its attribute cannot hold, `.unsupported` for an expression
    /// without SQL.
    func update(_ batch: BatchUpdate) throws -> [RowID]?

    /// Runs `body` on this thread with one state of the store: what anybody saves meanwhile is not
    /// seen through what it is handed. A store that can hold no state hands itself.
    func readingOneState<Result>(_ body: (any RowReading) throws -> Result) throws -> Result

    /// Does one piece of what a migration left for later; false where nothing is left. Cost: a
    /// piece's, in one transaction.
    func finishDeferredWork() throws -> Bool

    /// Holds the present state for reading; nil where the store cannot: one in memory, or a file
    /// without a log of its own. States that are equal may be one snapshot.
    func makeSnapshot() throws -> (any RowSnapshot)?
    /// Ends all snapshots that are held of the store.
    func endSnapshots()
}

/// What writing takes.
///
/// Queue: any thread where it is a store; what `RowStore.writing` hands to its body is used there,
/// and only until it returns. Every function throws `StoreError`. Cost: O(what is written).
public protocol RowWriting {
    /// Hands out `count` fresh keys of the entity's tree, ascending. They are never handed out
    /// again, unless the transaction is undone. Cost: one statement, whatever `count` is.
    func reserveKeys(entity: Int32, count: Int) throws -> [Int64]
    /// Writes everything or nothing, with its history, in one transaction. Throws `SaveConflicts`,
    /// `UniquenessViolation`, and of `StoreError` `.missingRow` for an update without an expected
    /// version whose row is gone, `.invalidValue`, `.diskFull`, `.readOnly`, `.busy`.
    func save(_ changes: ChangeSet) throws -> SaveOutcome
}

extension RowStore {
    /// False, for stores without transactions.
    public var takesBackSaves: Bool { false }

    /// Nothing, for stores that know it only as they write.
    public func check(_ changes: ChangeSet) throws {}

    /// Nil, for stores without statements.
    public func update(_ batch: BatchUpdate) throws -> [RowID]? { nil }

    /// Lets `body` write to the store itself, for stores without transactions. Throws what `body`
    /// throws.
    public func writing<Result>(_ body: (any RowWriting) throws -> Result) throws -> Result {
        try body(self)
    }

    public func readingOneState<Result>(
        _ body: (any RowReading) throws -> Result
    ) throws -> Result {
        try body(self)
    }

    /// False, for stores whose migrations leave nothing.
    public func finishDeferredWork() throws -> Bool { false }

    /// Nil, for stores that hold no state.
    public func makeSnapshot() throws -> (any RowSnapshot)? { nil }
    /// Nothing, for stores that hold no state.
    public func endSnapshots() {}
}

/// Which rows to find. Constants of the predicate that were objects are `RowID`s, those that were
/// entities `RowEntity`s.
public struct RowQuery: @unchecked Sendable {
    // @unchecked: sort descriptors are immutable; the predicate is a tree of values.
    /// The entity's number in the store.
    public var entity: Int32
    /// Whether rows of the entity's subentities are found, too.
    public var includesSubentities = true
    /// What a row must meet; nil finds all.
    public var predicate: PredicateNode?
    /// The order; empty leaves that of the keys.
    public var sort: [NSSortDescriptor] = []
    /// At most so many rows; 0 for all.
    public var limit = 0
    /// How many rows to leave out at the beginning.
    public var offset = 0
    /// What a transformable attribute's bytes stand for, for stores that evaluate predicates over
    /// values; without it they are bytes.
    package var transformed: (@Sendable (Data, NSAttributeDescription) -> Any?)?

    /// All rows of an entity and its subentities.
    public init(entity: Int32) { self.entity = entity }
}
