internal import Foundation
internal import Stores

// Requests of any kind.
extension NSPersistentStoreCoordinator {
    /// Runs a request: a fetch returns an array, any other request its result object.
    ///
    /// Call it on the context's queue. Throws what the request's kind throws, and 134091 for a kind
    /// that is not known. Cost: that of the request; see each kind.
    public final func execute(
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
    /// Runs a request of any kind and returns its result; a fetch gives an
    /// `NSAsynchronousFetchResult` that is over already, as with Apple.
    ///
    /// Call it on the context's queue. Batch and history requests go to the stores, also from a
    /// child context: the history names the author of the context at the end of its parents. Throws
    /// 134060 without a coordinator, and what the request's kind throws. Cost: that of the request.
    @discardableResult
    public final func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult
    {
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
