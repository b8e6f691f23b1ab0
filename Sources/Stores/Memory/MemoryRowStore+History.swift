internal import Foundation
internal import Platform

extension MemoryRowStore {
    public func history(_ query: HistoryQuery) throws -> [HistoryTransaction] {
        try tables.withLock { tables in
            let oldest = tables.history.first?.number ?? tables.lastTransaction + 1
            guard query.after <= 0 || oldest - 1 <= query.after else {
                throw StoreError(
                    .historyExpired,
                    "The history after this token was removed; fetch everything instead.",
                    fields: ["after": "\(query.after)", "oldest": "\(oldest)"])
            }
            var later = tables.history.drop { $0.number <= query.lowest }
            if let since = query.since { later = later.filter { $0.date > since }[...] }
            if let limit = query.limit { later = later.prefix(limit) }
            guard !query.includesChanges else { return Array(later) }
            return later.map { transaction in
                var bare = transaction
                bare.changes = []
                return bare
            }
        }
    }

    @discardableResult
    public func deleteHistory(_ extent: HistoryExtent) throws -> HistoryRemoval {
        tables.withLock { tables in
            let asked = tables.history.prefix { transaction in
                switch extent {
                case .all: true
                case .upTo(let number): transaction.number <= number
                case .before(let date): transaction.date < date
                }
            }
            guard let last = asked.last?.number else { return HistoryRemoval() }
            let holders = tables.consumers.values.filter { $0.lastSeen < last }
            let bound = holders.map(\.lastSeen).min() ?? last
            let removed = asked.prefix { $0.number <= bound }
            var removal = HistoryRemoval()
            removal.transactions = removed.count
            removal.changes = removed.reduce(0) { $0 + $1.changes.count }
            removal.heldBy = holders.map(\.name).sorted()
            tables.history.removeFirst(removed.count)
            return removal
        }
    }

    public func historyConsumers() throws -> [HistoryConsumer] {
        tables.withLock { $0.consumers.values.sorted { $0.name < $1.name } }
    }

    public func setHistoryConsumer(_ name: String, lastSeen number: Int64) throws {
        guard keepsHistory else {
            throw StoreError(
                .unsupported,
                "The store keeps no history; open it with NSPersistentHistoryTrackingKey.")
        }
        let now = platform.clock.now()
        tables.withLock { tables in
            let known = tables.consumers[name]?.lastSeen ?? 0
            tables.consumers[name] = HistoryConsumer(
                name: name, lastSeen: max(known, number), date: now)
        }
    }

    public func removeHistoryConsumer(_ name: String) throws {
        tables.withLock { _ = $0.consumers.removeValue(forKey: name) }
    }
}
