internal import Foundation
internal import Stores

// Requests of any kind.
extension NSPersistentStoreCoordinator {
    /// Runs a request: a fetch returns an array, a history or batch request its result object.
    public final func execute(
        _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext
    ) throws -> Any {
        switch request {
        case let fetch as any FetchRequesting: return try context.results(of: fetch)
        case let history as NSPersistentHistoryChangeRequest:
            return try translating { try history.run(self) }
        case let batch as NSBatchDeleteRequest: return try batch.run(context)
        case let other as any PersistentStoreRequestPerforming: return try other.perform(on: self)
        default:
            throw PersistenceErrors.unsupported(
                "Requests of type \(Swift.type(of: request)) are not available; use a fetch, "
                    + "history or batch delete request.")
        }
    }

    /// The place up to which the stores' histories go now.
    public final func currentPersistentHistoryToken(
        fromStores stores: [Any]?
    ) -> NSPersistentHistoryToken? {
        let chosen = stores?.compactMap { $0 as? NSPersistentStore } ?? persistentStores
        var numbers: [String: Int64] = [:]
        for store in chosen where store.rowStore.keepsHistory {
            numbers[store.identifier] = try? store.rowStore.lastTransactionNumber()
        }
        return numbers.isEmpty ? nil : NSPersistentHistoryToken(numbers: numbers)
    }
}

extension NSManagedObjectContext {
    /// Runs a history or batch request.
    @discardableResult
    public final func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult
    {
        guard let coordinator = persistentStoreCoordinator else {
            throw PersistenceErrors.noCoordinator
        }
        let result = try coordinator.execute(request, with: self)
        guard let result = result as? NSPersistentStoreResult else {
            throw PersistenceErrors.unsupported("A fetch request is run with fetch(_:).")
        }
        return result
    }
}

/// A request of another module that brings its own way to be carried out.
public protocol PersistentStoreRequestPerforming: NSPersistentStoreRequest {
    /// Carries the request out. Called on the queue of the context that runs it.
    func perform(on coordinator: NSPersistentStoreCoordinator) throws -> NSPersistentStoreResult
}
