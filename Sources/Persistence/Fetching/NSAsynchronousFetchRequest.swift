public import Foundation
internal import Platform

/// Called on the context's queue when an asynchronous fetch is over. Source: Apple.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock =
    (NSAsynchronousFetchResult<any NSFetchRequestResult>) -> Void

/// What an asynchronous request brings, later. Source: Apple, NSPersistentStoreAsynchronousResult.
///
/// Queue: any thread may look at it, or cancel it.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
    // @unchecked: `state` has a lock, all else never changes.
    private struct State {
        var error: (any Error)?
        var result: [Any]?
    }

    private let state = Lock(State())
    /// Foundation's progress has no lock of its own; its handlers may ask for the result.
    private let progressLock = NSRecursiveLock()
    /// The context that the request was executed with.
    public final let managedObjectContext: NSManagedObjectContext
    /// How far the request is, counted in results; cancelling it cancels the request. It is a child
    /// of the progress that was current when the request was executed.
    public final let progress: Progress?

    init(_ context: NSManagedObjectContext, progress: Progress?) {
        managedObjectContext = context
        self.progress = progress
    }

    /// Why the request failed, once it has: the stores' failures, or 3072 where it was cancelled.
    public final var operationError: (any Error)? { state.withLock { $0.error } }

    /// Stops the request as soon as it can be. It is over then with an error; one that is over
    /// already is not changed.
    open func cancel() { progressLock.withLock { progress?.cancel() } }

    final var found: [Any]? { state.withLock { $0.result } }

    /// Whether somebody cancelled the request or its progress.
    final var isCancelled: Bool { progressLock.withLock { progress?.isCancelled ?? false } }

    /// Tells the progress.
    final func report(_ count: Int, of total: Int) {
        progressLock.withLock {
            progress?.totalUnitCount = Int64(max(total, 1))
            progress?.completedUnitCount = Int64(total == 0 ? 1 : count)
        }
    }

    final func finish(_ outcome: Result<[Any], any Error>) {
        state.withLock { state in
            switch outcome {
            case .success(let result): state.result = result
            case .failure(let error): state.error = error
            }
        }
        let count = found?.count ?? 0
        report(count, of: count)
    }
}

/// A fetch request that is run while the program goes on. Source: Apple,
/// NSAsynchronousFetchRequest.
///
/// `execute(_:)` returns its result at once, and throws only what the request itself says wrong
/// (134060). A context's stores are read beside its queue, and the objects are made on it; the
/// context needs no change for that. Requests for anything else than objects, for batches, through
/// a parent context, and where unsaved changes take part, run on the queue as a whole.
///
/// Queue: one at a time; run on the context's, on which the completion block is called, too.
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
    /// The request that is run.
    public final let fetchRequest: NSFetchRequest<ResultType>
    /// Called on the context's queue when the fetch is over.
    public final let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
    /// What the progress counts up to before the number of results is known; 0 for unknown.
    open var estimatedResultCount = 0

    /// Makes a request that hands its result to `blk`.
    public init(
        fetchRequest request: NSFetchRequest<ResultType>,
        completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) {
        fetchRequest = request
        completionBlock = blk
    }
}

/// What an asynchronous fetch found. Source: Apple, NSAsynchronousFetchResult. Queue: the objects
/// found are for the context's; the rest may be looked at anywhere.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult,
    @unchecked Sendable
{
    // @unchecked: see the superclass; a request is not changed once it is executed.

    /// The request that was executed.
    public final let fetchRequest: NSAsynchronousFetchRequest<ResultType>

    init(
        _ request: NSAsynchronousFetchRequest<ResultType>, in context: NSManagedObjectContext,
        progress: Progress?
    ) {
        fetchRequest = request
        super.init(context, progress: progress)
    }

    /// The results; nil before the fetch is over, and where it failed. They belong to the context's
    /// queue.
    public final var finalResult: [ResultType]? { found as? [ResultType] }
}

/// A request that goes on after `execute(_:)` returned.
protocol AsynchronousRequest: NSPersistentStoreRequest {
    func begin(in context: NSManagedObjectContext) throws -> NSPersistentStoreAsynchronousResult
}

extension NSAsynchronousFetchRequest: AsynchronousRequest {
    func begin(
        in context: NSManagedObjectContext
    ) throws -> NSPersistentStoreAsynchronousResult {
        // What the program does with the request meanwhile changes nothing.
        let request = NSFetchRequest<ResultType>()
        request.choice = fetchRequest.choice
        request.affectedStores = fetchRequest.affectedStores
        let reading = try SlicedReading(request, in: context)
        let estimate = Int64(estimatedResultCount > 0 ? estimatedResultCount : -1)
        let result = NSAsynchronousFetchResult(
            self, in: context, progress: Progress(totalUnitCount: estimate))
        let block = completionBlock
        let fetch = AsynchronousFetch(request, reading, result) { block?(result) }
        fetch.begin()
        return result
    }
}
