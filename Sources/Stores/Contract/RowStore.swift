public import Foundation
package import ObjectModel
public import Predicates

/// What every store does, in values. No store knows of a context or an object.
///
/// A store has one writer at a time; every function may be called from any thread and blocks until
/// done. What a save wrote is seen by every read that begins after it returned. Failures are
/// `StoreError`, `SaveConflicts` or `UniquenessViolation`.
public protocol RowStore: RowReading, RowWriting, HistoryKeeping {
    var layout: ModelLayout { get }
    /// The store's identity, written when it was made.
    var identifier: String { get }

    /// The metadata dictionary of `Z_METADATA`, hashes included.
    func metadata() throws -> [String: Any]
    /// Replaces the application's metadata; the store's own keys are kept right by the store.
    func setMetadata(_ metadata: [String: Any]) throws

    /// Runs `body`, whose reservations and one save are one transaction where the store has such:
    /// keys it reserved come back when it throws. `body` ends with its save, and throws what that
    /// throws.
    func writing<Result>(_ body: (any RowWriting) throws -> Result) throws -> Result

    /// Carries out a batch update in one statement, with its history, and returns the rows. Nil
    /// where the store has no statement for it: the caller reads and saves rows then.
    func update(_ batch: BatchUpdate) throws -> [RowID]?

    /// Runs `body` on this thread with one state of the store: what anybody saves meanwhile is not
    /// seen through what it is handed. A store that can hold no state hands itself.
    func readingOneState<Result>(_ body: (any RowReading) throws -> Result) throws -> Result

    /// Holds the present state for reading; nil where the store cannot: one in memory, or a file
    /// without a log of its own. States that are equal may be one snapshot.
    func makeSnapshot() throws -> (any RowSnapshot)?
    /// Ends all snapshots that are held of the store.
    func endSnapshots()
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
    public func update(_ batch: BatchUpdate) throws -> [RowID]? { nil }

    public func writing<Result>(_ body: (any RowWriting) throws -> Result) throws -> Result {
        try body(self)
    }

    public func readingOneState<Result>(
        _ body: (any RowReading) throws -> Result
    ) throws -> Result {
        try body(self)
    }

    public func makeSnapshot() throws -> (any RowSnapshot)? { nil }
    public func endSnapshots() {}
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
    /// What a transformable attribute's bytes stand for, for stores that evaluate predicates over
    /// values; without it they are bytes.
    package var transformed: (@Sendable (Data, NSAttributeDescription) -> Any?)?

    public init(entity: Int32) { self.entity = entity }
}
