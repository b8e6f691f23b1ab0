/// What a store does with the history of its saves.
///
/// Queue: any thread, as the store's. Every function throws `StoreError`: `.unsupported` where the
/// store keeps none, and the failures of its file. Cost: one statement each, unless it says
/// otherwise.
public protocol HistoryKeeping {
    /// Whether saves write history.
    var keepsHistory: Bool { get }
    /// Whether nothing can be saved because it would leave a gap in a history that is there.
    var isClosedToWriting: Bool { get }
    /// Whether a store of this kind can keep history at all.
    var mayKeepHistory: Bool { get }
    /// The transactions that a query names, oldest first. Throws `.historyExpired` where some that
    /// came after its beginning were removed. Cost: O(transactions and changes that are returned).
    func history(_ query: HistoryQuery) throws -> [HistoryTransaction]
    /// Removes the oldest transactions, as far as `extent` goes and every consumer has seen them.
    /// Cost: in proportion to what is removed.
    @discardableResult func deleteHistory(_ extent: HistoryExtent) throws -> HistoryRemoval
    /// The number of the newest transaction, 0 when there is none.
    func lastTransactionNumber() throws -> Int64
    /// Those who read the history, sorted by name.
    func historyConsumers() throws -> [HistoryConsumer]
    /// Notes that a consumer has seen the history up to and with a number, 0 for nothing yet. It
    /// never goes back.
    func setHistoryConsumer(_ name: String, lastSeen number: Int64) throws
    /// Forgets a consumer: what it has not seen may go.
    func removeHistoryConsumer(_ name: String) throws
}

extension HistoryKeeping {
    /// True, for stores that can be told to keep one.
    public var mayKeepHistory: Bool { true }
    /// False, for stores whose history can have no gap.
    public var isClosedToWriting: Bool { false }

    /// The transactions after `number` with their changes, oldest first, at most `limit`. Throws
    /// `.historyExpired` where some of them were removed.
    public func history(after number: Int64, limit: Int?) throws -> [HistoryTransaction] {
        var query = HistoryQuery(after: number)
        query.limit = limit
        return try history(query)
    }
}

/// A store that keeps no history: whatever asks for it throws `historyRefusal`. Queue: any, as
/// every `RowStore`.
public protocol HistorylessStore: RowStore {
    /// Why there is none, and what to do.
    var historyRefusal: StoreError { get }
}

extension HistorylessStore {
    public var keepsHistory: Bool { false }
    public var mayKeepHistory: Bool { false }

    public func history(_ query: HistoryQuery) throws -> [HistoryTransaction] {
        throw historyRefusal
    }
    @discardableResult
    public func deleteHistory(_ extent: HistoryExtent) throws -> HistoryRemoval {
        throw historyRefusal
    }
    public func lastTransactionNumber() throws -> Int64 { throw historyRefusal }
    public func historyConsumers() throws -> [HistoryConsumer] { throw historyRefusal }
    public func setHistoryConsumer(_ name: String, lastSeen number: Int64) throws {
        throw historyRefusal
    }
    public func removeHistoryConsumer(_ name: String) throws { throw historyRefusal }
}
