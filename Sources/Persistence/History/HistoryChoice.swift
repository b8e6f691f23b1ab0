internal import Foundation
internal import ObjectModel
internal import Predicates
internal import Stores

/// What a fetch request chooses of the history: transactions, or changes with their transactions.
struct HistoryChoice {
    typealias Found = (store: NSPersistentStore, transaction: HistoryTransaction)

    private let request: NSFetchRequest<any NSFetchRequestResult>
    let isOfChanges: Bool
    private var predicate: PredicateNode?

    /// Throws for a request over an entity that is none of the history's.
    init(_ request: NSFetchRequest<any NSFetchRequestResult>) throws {
        let name = request.entityName ?? HistoryEntities.transactionName
        guard let entity = HistoryEntities.entity(name),
            request.entity == nil || request.entity === entity
        else {
            throw PersistenceErrors.unsupported(
                "A request over the history is for NSPersistentHistoryTransaction or "
                    + "NSPersistentHistoryChange; make it with their fetchRequest.")
        }
        self.request = request
        isOfChanges = name == HistoryEntities.changeName
        predicate = request.predicate.map { node(of: $0).normalized }
    }

    /// The choice as it reads for one store: tokens are numbers of its transactions.
    func narrowed(to store: NSPersistentStore) -> HistoryChoice {
        var narrowed = self
        narrowed.predicate = predicate.map {
            HistoryPredicate(storeIdentifier: store.identifier).plain($0)
        }
        return narrowed
    }

    /// `query`, moved to where the first transaction that can be chosen is.
    func begin(_ query: HistoryQuery) -> HistoryQuery {
        guard let predicate else { return query }
        var query = query
        HistoryPredicate.narrow(&query, by: predicate)
        return query
    }

    /// Whether transactions must have their changes to be chosen.
    var looksAtChanges: Bool {
        isOfChanges || predicate?.keyPaths.contains { $0.first == "changes" } == true
            || predicate.map(HistoryPredicate.isOpaque) == true
    }

    /// Whether `count` chosen ones are all that the request can give.
    func isEnough(_ count: Int) -> Bool {
        request.fetchLimit > 0 && (request.sortDescriptors ?? []).isEmpty
            && count - request.fetchOffset >= request.fetchLimit
    }

    /// The chosen ones among transactions of a store, in their order.
    func chosen(
        of transactions: [HistoryTransaction], _ store: NSPersistentStore
    ) throws -> [Found] {
        try transactions.compactMap { transaction in
            try chosen(transaction, store).map { (store: store, transaction: $0) }
        }
    }

    /// The transaction, for a choice of changes with those alone; nil where nothing is chosen.
    private func chosen(
        _ transaction: HistoryTransaction, _ store: NSPersistentStore
    ) throws -> HistoryTransaction? {
        let whole = NSPersistentHistoryTransaction(transaction, store: store, withChanges: true)
        guard isOfChanges else { return try matches(whole) ? transaction : nil }
        var chosen = transaction
        // Changes do not hold their transaction, which a predicate may ask for.
        chosen.changes = try withExtendedLifetime(whole) {
            try zip(transaction.changes, whole.changes ?? []).filter { try matches($0.1) }
                .map(\.0)
        }
        return chosen.changes.isEmpty ? nil : chosen
    }

    private func matches(_ object: any KeyValueReading) throws -> Bool {
        guard let predicate else { return true }
        return try evaluate(predicate, with: object)
    }

    /// All that was chosen, in the request's order, without what its offset and limit leave out;
    /// `object` tells what the sort keys are read of.
    func arranged<Element>(
        _ found: [Element], by object: (Element) -> any KeyValueReading
    ) throws -> [Element] {
        let sorted = try sorted(found, by: object)
        let rest = sorted[min(request.fetchOffset, sorted.count)...]
        return Array(request.fetchLimit > 0 ? rest.prefix(request.fetchLimit) : rest)
    }

    private func sorted<Element>(
        _ found: [Element], by object: (Element) -> any KeyValueReading
    ) throws -> [Element] {
        let keys = (request.sortDescriptors ?? []).compactMap { key(of: $0) }
        guard !keys.isEmpty else { return found }
        return try found.map { ($0, object($0)) }.enumerated().sorted { left, right in
            for key in keys {
                let order = try key.order(left.element.1, right.element.1)
                if order != .orderedSame { return order == .orderedAscending }
            }
            return left.offset < right.offset
        }.map(\.element.0)
    }
}
