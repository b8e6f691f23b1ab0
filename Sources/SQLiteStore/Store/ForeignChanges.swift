internal import Platform
internal import SQLiteDriver
internal import Stores

/// Notices what other connections write to the file, when asked. Used on the store's lane.
final class ForeignChanges {
    private let store: OpenStore
    private var seenVersion: Int64
    private var seenNumber: Int64

    init(_ store: OpenStore) throws {
        self.store = store
        seenVersion = try Self.version(of: store)
        seenNumber = try store.lastTransactionNumber()
    }

    /// SQLite's count of commits by other connections.
    private static func version(of store: OpenStore) throws -> Int64 {
        try store.connection.pragma("data_version")?.int64 ?? 0
    }

    func arePresent() throws -> Bool {
        let version = try Self.version(of: store)
        defer { seenVersion = version }
        return version != seenVersion
    }

    /// The history since the last call, the store's own saves included; nil when nobody else wrote.
    /// Empty where the file keeps none, or it was removed meanwhile.
    func transactions() throws -> [HistoryTransaction]? {
        guard try arePresent() else { return nil }
        do {
            let found = try store.history(after: seenNumber, limit: nil)
            seenNumber = max(seenNumber, found.last?.number ?? 0)
            return found
        } catch let error as StoreError where error.code == .historyExpired {
            seenNumber = try store.lastTransactionNumber()
            return []
        }
    }
}
