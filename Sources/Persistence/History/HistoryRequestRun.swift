internal import Foundation
internal import Stores

/// Carries a history request out.
struct HistoryRequestRun {
    let request: NSPersistentHistoryChangeRequest
    let coordinator: NSPersistentStoreCoordinator

    func run() throws -> NSPersistentHistoryResult {
        let stores = try stores()
        guard !request.isDeletion else {
            for store in stores { try delete(in: store) }
            return NSPersistentHistoryResult(NSNumber(value: true), type: .statusOnly)
        }
        if case .token(let token) = request.bound { try Self.check(token, stores) }
        let outcome = try fetched(from: stores)
        // Afterwards, so that nobody removes anything between the two.
        if case .token(let token?) = request.bound {
            for store in stores where token.numbers[store.identifier] == 0 {
                try Self.checkStart(of: store)
            }
        }
        return outcome
    }

    private func fetched(from stores: [NSPersistentStore]) throws -> NSPersistentHistoryResult {
        guard let fetch = request.fetchRequest else {
            let found = try stores.flatMap { store in
                try transactions(of: store).map { (store: store, transaction: $0) }
            }
            return result(present(found))
        }
        let choice = try HistoryChoice(fetch)
        let found = try chosen(by: choice, in: stores)
        guard choice.isOfChanges else {
            return result(
                present(
                    try choice.arranged(found) {
                        NSPersistentHistoryTransaction(
                            $0.transaction, store: $0.store, withChanges: false)
                    }))
        }
        return changesResult(try choice.arranged(changes(of: found)) { $0 })
    }

    private func result(_ value: Any) -> NSPersistentHistoryResult {
        NSPersistentHistoryResult(value, type: request.resultType)
    }

    private func stores() throws -> [NSPersistentStore] {
        try request.affectedStores ?? Self.historyStores(of: coordinator)
    }

    /// The stores that may keep history. Throws where there are only others.
    static func historyStores(
        of coordinator: NSPersistentStoreCoordinator
    ) throws -> [NSPersistentStore] {
        let able = coordinator.persistentStores.filter(\.rowStore.mayKeepHistory)
        guard able.isEmpty, !coordinator.persistentStores.isEmpty else { return able }
        throw PersistenceErrors.unsupported(
            "None of the coordinator's stores can keep history; migrate to a SQLite store.")
    }

    /// A token that names none of the stores came from others: it says nothing about these.
    static func check(_ token: NSPersistentHistoryToken?, _ stores: [NSPersistentStore]) throws {
        guard let token, !token.numbers.isEmpty, !stores.isEmpty,
            !stores.contains(where: { token.numbers[$0.identifier] != nil })
        else { return }
        let missing = token.numbers.keys.sorted().joined(separator: ", ")
        throw PersistenceErrors.make(
            PersistenceErrors.historyTokenOfOtherStores,
            "The history token is of a store that is not here, perhaps of a file that was replaced "
                + "since; fetch everything, and go on with a new token.",
            ["Reason": "Store - (\(missing)) not found in token"])
    }

    /// Who has a token of before the first transaction knows none of those that were removed; a
    /// query without a beginning, for which stores take it, is one for what there is.
    private static func checkStart(of store: NSPersistentStore) throws {
        var query = HistoryQuery()
        query.limit = 1
        query.includesChanges = false
        let first = try store.rowStore.history(query).first?.number
        let isWhole = try first.map { $0 == 1 } ?? (store.rowStore.lastTransactionNumber() == 0)
        guard !isWhole else { return }
        throw StoreError(
            .historyExpired, "The history after this token was removed; fetch everything instead.",
            fields: ["after": "0", "oldest": first.map { "\($0)" } ?? "none"])
    }

    // MARK: Reading

    private func query(_ store: NSPersistentStore) -> HistoryQuery {
        var query = HistoryQuery()
        switch request.bound {
        case .token(let token): query.after = token?.numbers[store.identifier] ?? 0
        case .date(let date): query.since = date
        }
        query.includesChanges = ![.transactionsOnly, .count, .statusOnly].contains(
            request.resultType)
        return query
    }

    private func transactions(of store: NSPersistentStore) throws -> [HistoryTransaction] {
        try store.rowStore.history(query(store))
    }

    private func chosen(
        by choice: HistoryChoice, in stores: [NSPersistentStore]
    ) throws -> [HistoryChoice.Found] {
        var (found, count) = ([HistoryChoice.Found](), 0)
        for store in stores {
            let narrowed = choice.narrowed(to: store)
            var query = narrowed.begin(query(store))
            query.includesChanges = query.includesChanges || choice.looksAtChanges
            query.limit = Self.pageSize
            while !choice.isEnough(count) {
                let page = try store.rowStore.history(query)
                let more = try narrowed.chosen(of: page, store)
                found += more
                count +=
                    choice.isOfChanges
                    ? more.reduce(0) { $0 + $1.transaction.changes.count } : more.count
                guard let last = page.last, page.count == Self.pageSize else { break }
                query.after = last.number
            }
        }
        return found
    }

    private static let pageSize = 500

    // MARK: Results

    private func present(_ found: [HistoryChoice.Found]) -> Any {
        switch request.resultType {
        case .statusOnly: NSNumber(value: true)
        case .count: NSNumber(value: found.count)
        case .transactionsOnly, .transactionsAndChanges:
            found.map {
                NSPersistentHistoryTransaction(
                    $1, store: $0, withChanges: request.resultType == .transactionsAndChanges)
            }
        case .changesOnly: changes(of: found)
        case .objectIDs: objectIDs(of: changes(of: found))
        }
    }

    /// The changes alone, each with its transaction.
    private func changes(of found: [HistoryChoice.Found]) -> [NSPersistentHistoryChange] {
        found.flatMap { store, transaction in
            let whole = NSPersistentHistoryTransaction(
                transaction, store: store, withChanges: false)
            return transaction.changes.map { change in
                let change = NSPersistentHistoryChange(change, store: store)
                change.alone = whole
                return change
            }
        }
    }

    /// Who asks for changes, and for no form of theirs, is answered with changes.
    private func changesResult(
        _ changes: [NSPersistentHistoryChange]
    ) -> NSPersistentHistoryResult {
        switch request.resultType {
        case .statusOnly: return result(NSNumber(value: true))
        case .count: return result(NSNumber(value: changes.count))
        case .objectIDs: return result(objectIDs(of: changes))
        case .transactionsAndChanges where request.hasResultType:
            let byTransaction = Dictionary(grouping: changes) {
                $0.transaction.map(ObjectIdentifier.init)
            }
            return result(
                transactions(of: changes).map {
                    NSPersistentHistoryTransaction(
                        $0, with: byTransaction[ObjectIdentifier($0)] ?? [])
                })
        case .changesOnly, .transactionsAndChanges:
            return NSPersistentHistoryResult(changes, type: .changesOnly)
        case .transactionsOnly: return result(transactions(of: changes))
        }
    }

    /// The transactions of changes, in the order of the first change of each.
    private func transactions(
        of changes: [NSPersistentHistoryChange]
    ) -> [NSPersistentHistoryTransaction] {
        var seen = Set<ObjectIdentifier>()
        return changes.compactMap(\.transaction).filter {
            seen.insert(ObjectIdentifier($0)).inserted
        }
    }

    private func objectIDs(of changes: [NSPersistentHistoryChange]) -> [NSManagedObjectID] {
        var seen = Set<NSManagedObjectID>()
        return changes.map(\.changedObjectID).filter { seen.insert($0).inserted }
    }

    // MARK: Removing

    private func delete(in store: NSPersistentStore) throws {
        if let fetch = request.fetchRequest {
            let last = try lastChosen(by: HistoryChoice(fetch).narrowed(to: store), in: store)
            if let last { try store.rowStore.deleteHistory(.upTo(last)) }
            return
        }
        switch request.bound {
        case .token(nil): try store.rowStore.deleteHistory(.all)
        case .token(let token?):
            guard let number = token.numbers[store.identifier] else { return }
            try store.rowStore.deleteHistory(.below(number))
        case .date(let date): try store.rowStore.deleteHistory(.before(date))
        }
    }

    /// The last of the oldest transactions that are all within the bound and chosen.
    private func lastChosen(
        by choice: HistoryChoice, in store: NSPersistentStore
    ) throws -> Int64? {
        var (query, last) = (HistoryQuery(), Int64?.none)
        query.limit = Self.pageSize
        while true {
            let page = try store.rowStore.history(query)
            let older = page.prefix { isBefore($0, in: store) }
            let chosen = Set(try choice.chosen(of: Array(older), store).map(\.transaction.number))
            let run = older.prefix { chosen.contains($0.number) }
            last = run.last?.number ?? last
            guard run.count == Self.pageSize, let end = page.last else { return last }
            query.above = end.number
        }
    }

    private func isBefore(
        _ transaction: HistoryTransaction, in store: NSPersistentStore
    ) -> Bool {
        switch request.bound {
        case .token(nil): true
        case .token(let token?): transaction.number < token.numbers[store.identifier] ?? 0
        case .date(let date): transaction.date < date
        }
    }
}
