internal import Foundation
internal import ObjectModel
internal import Predicates
internal import Stores

/// What a fetch request chooses of the history: transactions, or changes with their transactions.
struct HistoryChoice {
    typealias Found = (store: NSPersistentStore, transaction: HistoryTransaction)

    private let request: NSFetchRequest<any NSFetchRequestResult>
    let isOfChanges: Bool
    private let predicate: PredicateNode?

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
        predicate = request.predicate.map(node(of:))
    }

    func chosen(of found: [Found]) throws -> [Found] {
        let chosen = isOfChanges ? try withChosenChanges(found) : try transactions(found)
        let start = min(request.fetchOffset, chosen.count)
        let rest = chosen[start...]
        return Array(request.fetchLimit > 0 ? rest.prefix(request.fetchLimit) : rest)
    }

    private func transactions(_ found: [Found]) throws -> [Found] {
        let kept = try found.filter { one in
            try matches(
                NSPersistentHistoryTransaction(one.transaction, store: one.store, withChanges: true)
            )
        }
        return try sorted(kept)
    }

    /// Each transaction with its chosen changes; those without any are left out.
    private func withChosenChanges(_ found: [Found]) throws -> [Found] {
        try found.compactMap { one in
            let whole = NSPersistentHistoryTransaction(
                one.transaction, store: one.store, withChanges: true)
            var chosen = one
            let changes = zip(one.transaction.changes, whole.changes ?? [])
            chosen.transaction.changes = try changes.filter { try matches($0.1) }.map(\.0)
            return chosen.transaction.changes.isEmpty ? nil : chosen
        }
    }

    private func matches(_ object: any KeyValueReading) throws -> Bool {
        guard let predicate else { return true }
        return try evaluate(predicate, with: object)
    }

    private func sorted(_ found: [Found]) throws -> [Found] {
        let keys = (request.sortDescriptors ?? []).compactMap { key(of: $0) }
        guard !keys.isEmpty else { return found }
        let objects = found.map { one in
            (
                one,
                NSPersistentHistoryTransaction(
                    one.transaction, store: one.store, withChanges: false)
            )
        }
        return try objects.enumerated().sorted { left, right in
            for key in keys {
                let order = try key.order(left.element.1, right.element.1)
                if order != .orderedSame { return order == .orderedAscending }
            }
            return left.offset < right.offset
        }.map(\.element.0)
    }
}
