internal import Foundation
internal import Stores

// Requests of any kind.
extension NSPersistentStoreCoordinator {
    /// What `execute(_:with:)` does.
    final func run(
        _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext
    ) throws -> Any {
        switch request {
        case let fetch as any FetchRequesting: return try context.results(of: fetch)
        case let fetch as any AsynchronousRequest: return try fetch.begin(in: context)
        case let history as NSPersistentHistoryChangeRequest:
            return try translating {
                try HistoryRequestRun(request: history, coordinator: self).run()
            }
        case let batch as NSBatchInsertRequest: return try batch.run(context)
        case let batch as NSBatchUpdateRequest: return try batch.run(context)
        case let batch as NSBatchDeleteRequest: return try batch.run(context)
        case let other as any PersistentStoreRequestPerforming: return try other.perform(on: self)
        default:
            throw PersistenceErrors.unsupported(
                "Requests of type \(Swift.type(of: request)) are not available; use a fetch, "
                    + "history or batch request.")
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
    /// What `execute(_:)` does.
    final func run(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        if let fetch = request as? any FetchRequesting { return try fetch.result(in: self) }
        guard let coordinator = persistentStoreCoordinator else {
            throw PersistenceErrors.noCoordinator
        }
        let result = try coordinator.execute(request, with: self)
        guard let result = result as? NSPersistentStoreResult else {
            throw PersistenceErrors.unsupported(
                "Requests of type \(Swift.type(of: request)) have no result.")
        }
        return result
    }
}

/// A request of another module that brings its own way to be carried out. Queue: that of the
/// context which runs it. Not at Apple.
public protocol PersistentStoreRequestPerforming: NSPersistentStoreRequest {
    /// Carries the request out. Called on the queue of the context that runs it. Throws what the
    /// context's `execute(_:)` is to throw, best with a code of `CocoaError`. Cost: the request's
    /// own to say.
    func perform(on coordinator: NSPersistentStoreCoordinator) throws -> NSPersistentStoreResult
}
