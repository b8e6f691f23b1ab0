public import Foundation
internal import Stores

/// Asks for a part of the history, or removes one. Source: Apple, NSPersistentHistoryChangeRequest.
///
/// SQLite and in-memory stores keep history unless opened with `NSPersistentHistoryTrackingKey`
/// false.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    enum Bound {
        case token(NSPersistentHistoryToken?)
        case date(Date)
    }

    private(set) final var bound: Bound = .token(nil)
    private(set) final var isDeletion = false
    /// The form of the result.
    open var resultType: NSPersistentHistoryResultType = .transactionsAndChanges

    public required override init() { super.init() }

    private static func make(_ bound: Bound, isDeletion: Bool) -> Self {
        let request = self.init()
        request.bound = bound
        request.isDeletion = isDeletion
        if isDeletion { request.resultType = .statusOnly }
        return request
    }

    /// The transactions after a token; all of them for nil.
    open class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self {
        make(.token(token), isDeletion: false)
    }

    /// The transactions after another one.
    open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
        make(.token(transaction?.token), isDeletion: false)
    }

    /// The transactions after a moment.
    open class func fetchHistory(after date: Date) -> Self { make(.date(date), isDeletion: false) }

    /// The transactions, or the changes with their transactions, that a request chooses; it is made
    /// with `NSPersistentHistoryTransaction.fetchRequest` or `NSPersistentHistoryChange`'s. Its
    /// predicate, sort order of transactions, offset and limit count. One over changes is answered
    /// with changes.
    open class func fetchHistory(
        withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>
    ) -> Self {
        let request = make(.token(nil), isDeletion: false)
        request.fetchRequest = fetchRequest
        return request
    }

    /// What is chosen of the history besides its beginning or end; nil for all. A deletion ends
    /// before the first transaction that is not chosen, since a history has no gaps. Cost: the
    /// history after the beginning is read and looked at in memory.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

    /// Removes the transactions before a token's; all of them for nil.
    open class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self {
        make(.token(token), isDeletion: true)
    }

    /// Removes the transactions before another one.
    open class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
        make(.token(transaction?.token), isDeletion: true)
    }

    /// Removes the transactions before a moment.
    open class func deleteHistory(before date: Date) -> Self { make(.date(date), isDeletion: true) }

    /// The token the request was made with.
    open var token: NSPersistentHistoryToken? {
        if case .token(let token) = bound { return token }
        return nil
    }

    // MARK: Doing it

    func run(_ coordinator: NSPersistentStoreCoordinator) throws -> NSPersistentHistoryResult {
        let stores = affectedStores ?? coordinator.persistentStores
        if isDeletion {
            for store in stores { try delete(in: store) }
            return NSPersistentHistoryResult(NSNumber(value: true), type: .statusOnly)
        }
        var found = try stores.flatMap { store in
            try transactions(of: store).map { (store: store, transaction: $0) }
        }
        var type = resultType
        if let fetchRequest {
            let choice = try HistoryChoice(fetchRequest)
            found = try choice.chosen(of: found)
            if choice.isOfChanges && type == .transactionsAndChanges { type = .changesOnly }
        }
        return NSPersistentHistoryResult(present(found, as: type), type: type)
    }

    private func transactions(of store: NSPersistentStore) throws -> [HistoryTransaction] {
        switch bound {
        case .token(let token):
            let number = token.map { $0.numbers[store.identifier] ?? 0 } ?? 0
            return try store.rowStore.history(after: number, limit: nil)
        case .date(let date):
            return try store.rowStore.history(after: 0, limit: nil).filter { $0.date > date }
        }
    }

    private func delete(in store: NSPersistentStore) throws {
        if let fetchRequest { return try delete(chosenBy: fetchRequest, in: store) }
        let rows = store.rowStore
        switch bound {
        case .token(nil): try rows.deleteHistory(upTo: try rows.lastTransactionNumber())
        case .token(let token?):
            if let number = token.numbers[store.identifier] {
                try rows.deleteHistory(upTo: number - 1)
            }
        case .date(let date):
            let older = try rows.history(after: 0, limit: nil).prefix { $0.date < date }
            if let last = older.last { try rows.deleteHistory(upTo: last.number) }
        }
    }

    private func delete(
        chosenBy request: NSFetchRequest<any NSFetchRequestResult>, in store: NSPersistentStore
    ) throws {
        let older = try store.rowStore.history(after: 0, limit: nil).prefix { transaction in
            switch bound {
            case .token(nil): true
            case .token(let token?): transaction.number < token.numbers[store.identifier] ?? 0
            case .date(let date): transaction.date < date
            }
        }
        let chosen = try HistoryChoice(request).chosen(of: older.map { (store, $0) })
        let numbers = Set(chosen.map(\.transaction.number))
        if let last = older.prefix(while: { numbers.contains($0.number) }).last {
            try store.rowStore.deleteHistory(upTo: last.number)
        }
    }

    private func present(
        _ found: [HistoryChoice.Found], as resultType: NSPersistentHistoryResultType
    ) -> Any {
        switch resultType {
        case .statusOnly: return NSNumber(value: true)
        case .count: return NSNumber(value: found.count)
        case .transactionsOnly, .transactionsAndChanges:
            return found.map {
                NSPersistentHistoryTransaction(
                    $1, store: $0, withChanges: resultType == .transactionsAndChanges)
            }
        case .changesOnly:
            return found.flatMap { store, transaction in
                transaction.changes.map { NSPersistentHistoryChange($0, store: store) }
            }
        case .objectIDs:
            var seen = Set<NSManagedObjectID>()
            return found.flatMap { store, transaction in
                transaction.changes.map { store.id(for: $0.id) }
            }.filter { seen.insert($0).inserted }
        }
    }
}
