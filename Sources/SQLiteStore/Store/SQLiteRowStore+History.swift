internal import Foundation
internal import Platform
public import Stores

extension SQLiteRowStore {
    // MARK: Reading and removing

    public func history(_ query: HistoryQuery) throws -> [HistoryTransaction] {
        try read { try $0.history(query) }
    }

    /// Removes a stretch with each transaction of the database, so that no other writer waits long;
    /// what a failure leaves is a shorter history, without gaps.
    @discardableResult
    public func deleteHistory(_ extent: HistoryExtent) throws -> HistoryRemoval {
        try permission.check(path: open.path)
        var removal = try removing { try $0.begin(extent) } ?? HistoryPurge.none
        while !removal.isDone {
            guard let next = try removing({ try $0.goOn(removal) }) else { break }
            removal = next
        }
        return removal.done
    }

    private func removing(
        _ body: (HistoryPurge) throws -> HistoryPurge.Progress
    ) throws -> HistoryPurge.Progress? {
        try write { transaction in
            guard open.history != nil else { return nil }
            return try body(HistoryPurge(connection: transaction.connection, keys: open.keys))
        }
    }

    public func historyConsumers() throws -> [HistoryConsumer] {
        try read { try HistoryConsumers(connection: $0.connection).all() }
    }

    /// Begins a history where there is none: a consumer waits for it.
    public func setHistoryConsumer(_ name: String, lastSeen number: Int64) throws {
        if !keepsHistory { try beginHistory() }
        try write { try $0.setHistoryConsumer(name, lastSeen: number, at: platform.clock.now()) }
    }

    public func removeHistoryConsumer(_ name: String) throws {
        try write { try $0.removeHistoryConsumer(name) }
    }

    public func lastTransactionNumber() throws -> Int64 {
        try read { try $0.lastTransactionNumber() }
    }

    // MARK: Beginning

    /// Lets saves write history from now on, for a reader that needs it; nothing where they do
    /// already. Throws `.readOnly` for a store that must not be written, or whose options forbid
    /// it. Cost: makes the tables of the history, in one transaction.
    public func beginHistory() throws {
        try permission.check(path: open.path)
        guard permission.tracksHistory != false else {
            throw WritePermission.wouldLeaveGap(path: open.path)
        }
        try lock.run { try StoreError.mapping(path: open.path) { try turnHistoryOn() } }
    }

    /// Under the lock, outside of a transaction.
    func turnHistoryOn() throws {
        guard !open.writesHistory else { return }
        try open.beginHistory()
        historyIsOn.withLock { $0 = true }
    }
}
