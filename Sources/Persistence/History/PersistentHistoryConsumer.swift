public import Foundation
internal import Stores

/// One who reads a store's history: an app, an extension, the mirror. Without counterpart at Apple.
///
/// Each has a mark, the last transaction it has seen. History that some consumer has not seen is
/// not removed, whoever asks for it; so nobody finds a gap, and the mirror never has to send all of
/// a store again.
public struct PersistentHistoryConsumer: Sendable, Hashable {
    /// What the consumer calls itself, for example its transaction author.
    public let name: String
    /// The number of the last transaction it has seen, 0 for none.
    public let lastTransactionNumber: Int64
    /// When it said so.
    public let date: Date
}

/// What `purgeHistory(before:in:)` did.
public struct PersistentHistoryPurge: Sendable, Hashable {
    /// How many transactions were removed.
    public internal(set) var transactionCount = 0
    /// How many changes went with them.
    public internal(set) var changeCount = 0
    /// The names of the consumers that have not seen all that was to go; it stayed for them.
    public internal(set) var waitingConsumers: [String] = []

    /// Where there was nothing to remove.
    public static let nothing = PersistentHistoryPurge()
}

extension NSPersistentStoreCoordinator {
    /// Notes how far a consumer has seen the history of the stores that `token` names; it never
    /// goes back. With nil it has seen nothing yet of any of the coordinator's stores: whoever is
    /// to read the history registers so before the first purge.
    ///
    /// Any queue; one small transaction for each store. Throws 134091 where no store keeps history,
    /// 134501 for a token of other stores, and a store's errors. Cost: a transaction for each
    /// store.
    public final func setHistoryConsumer(
        _ name: String, lastSeen token: NSPersistentHistoryToken?
    ) throws {
        try translating {
            let stores = try HistoryRequestRun.historyStores(of: self)
            try HistoryRequestRun.check(token, stores)
            for store in stores {
                let number = token.map { $0.numbers[store.identifier] } ?? 0
                guard let number else { continue }
                try store.rowStore.setHistoryConsumer(name, lastSeen: number)
            }
        }
    }

    /// Forgets a consumer in all of the coordinator's stores: what it has not seen may go. For one
    /// that was uninstalled. Throws 134091 where no store keeps history, 134030 where one may not
    /// be written, and a store's errors. Cost: a transaction for each store.
    public final func removeHistoryConsumer(_ name: String) throws {
        try translating {
            for store in try HistoryRequestRun.historyStores(of: self) {
                try store.rowStore.removeHistoryConsumer(name)
            }
        }
    }

    /// The consumers of a store's history, sorted by name; a mirrored store's mirror is one of
    /// them. Throws 134091 for a store that cannot keep history, and its errors. Cost: one
    /// statement.
    public final func historyConsumers(
        of store: NSPersistentStore
    ) throws -> [PersistentHistoryConsumer] {
        try translating {
            try store.rowStore.historyConsumers().map {
                PersistentHistoryConsumer(
                    name: $0.name, lastTransactionNumber: $0.lastSeen, date: $0.date)
            }
        }
    }

    /// Removes the history before a moment, all of it for nil, as far as every consumer has seen
    /// it, and says what stayed for whom.
    ///
    /// Any queue. Cost: in proportion to what is removed, however large the store; other writers
    /// wait for a thousand transactions at a time. Throws 134091 where no store keeps history, and
    /// a store's errors; what is then left has no gap.
    @discardableResult
    public final func purgeHistory(
        before date: Date? = nil, in stores: [NSPersistentStore]? = nil
    ) throws -> PersistentHistoryPurge {
        try translating {
            var purge = PersistentHistoryPurge()
            var waiting: Set<String> = []
            for store in try stores ?? HistoryRequestRun.historyStores(of: self) {
                let removal = try store.rowStore.deleteHistory(date.map { .before($0) } ?? .all)
                purge.transactionCount += removal.transactions
                purge.changeCount += removal.changes
                waiting.formUnion(removal.heldBy)
            }
            purge.waitingConsumers = waiting.sorted()
            return purge
        }
    }
}
