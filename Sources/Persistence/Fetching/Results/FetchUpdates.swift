internal import Platform

/// The results of a request at one time, and what changed since the element before.
public struct FetchUpdate: Sendable {
    /// All results, in order. Make objects of them with `context.object(with:)`.
    public let objectIDs: [NSManagedObjectID]
    /// Results whose values may have changed since the element before, among those that were there.
    public let updatedObjectIDs: Set<NSManagedObjectID>
    fileprivate let former: [NSManagedObjectID]

    /// What leads from the element before to this one; from nothing, for the first. Cost: a
    /// comparison of both lists, each time it is asked for.
    public var difference: CollectionDifference<NSManagedObjectID> {
        objectIDs.difference(from: former)
    }
}

/// The results of a request as they change; see `NSManagedObjectContext.updates(of:)`.
public struct FetchUpdates: AsyncSequence, Sendable {
    fileprivate let request: UncheckedTransfer<any FetchRequesting>
    fileprivate let context: NSManagedObjectContext

    /// Each iterator follows the context by itself.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(feed: FetchFeed(request, context))
    }

    /// Waits for the next state of the results.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let feed: FetchFeed

        /// The results: at once the first time and where they changed since, otherwise after the
        /// next change. Nil when the task was cancelled. Throws what the fetch throws, and ends.
        /// Cost: a fetch the first time; then what each event changed.
        public mutating func next() async throws -> FetchUpdate? { try await feed.next() }
    }
}

extension NSManagedObjectContext {
    /// The results of a request now and after each change of this context, without end: the
    /// sequence ends with the task that iterates.
    ///
    /// What changes is worked out as for `NSFetchedResultsController`. Nothing piles up: who is
    /// slow gets the newest results, with all that changed since the last. May be called from any
    /// queue; the request is copied, and must ask for objects or their IDs (134091). Without sort
    /// descriptors new objects come last.
    ///
    ///     for try await update in context.updates(of: request) { show(update.objectIDs) }
    public final func updates<T>(of request: NSFetchRequest<T>) -> FetchUpdates {
        let copy = NSFetchRequest<T>()
        copy.choice = request.choice
        copy.affectedStores = request.affectedStores
        return FetchUpdates(request: UncheckedTransfer(copy), context: self)
    }
}

/// What one iterator waits for.
private final class FetchFeed: @unchecked Sendable {
    // @unchecked: `tracked` and `observation` are used on the context's queue, `delivered` by the
    // one task that iterates; the mailbox has a lock.
    private let context: NSManagedObjectContext
    private let request: UncheckedTransfer<any FetchRequesting>
    private let mailbox = FetchMailbox()
    private var tracked: TrackedResults?
    private var observation: ContextObservation?
    private var hasBegun = false
    private var delivered: [NSManagedObjectID] = []

    init(_ request: UncheckedTransfer<any FetchRequesting>, _ context: NSManagedObjectContext) {
        self.request = request
        self.context = context
    }

    func next() async throws -> FetchUpdate? {
        if !hasBegun {
            hasBegun = true
            try await context.perform { try self.begin() }
        }
        guard let letter = try await mailbox.take() else { return nil }
        defer { delivered = letter.ids }
        return FetchUpdate(
            objectIDs: letter.ids, updatedObjectIDs: letter.changed.intersection(delivered),
            former: delivered)
    }

    /// On the context's queue.
    private func begin() throws {
        guard TrackedResults.canTrack(request.value) else {
            throw PersistenceErrors.unsupported(
                "Only results that are objects or their IDs can be followed; set the request's "
                    + "resultType.")
        }
        let tracked = TrackedResults(of: request.value, in: context)
        try tracked.fetch()
        self.tracked = tracked
        mailbox.put(ids(), changed: [])
        observation = ContextObservation(of: context) { [weak self] in self?.take($0) }
    }

    /// On the context's queue.
    private func take(_ event: ResultEvent) {
        do {
            guard let tracked, let change = try tracked.change(after: event) else { return }
            tracked.show(change.content)
            let steps = change.difference.updated + change.difference.moved
            let changed = steps.compactMap {
                (change.content.items[$0.new] as? NSManagedObject)?.objectID
            }
            mailbox.put(ids(), changed: changed)
        } catch {
            observation = nil
            mailbox.fail(error)
        }
    }

    private func ids() -> [NSManagedObjectID] {
        (tracked?.content?.items ?? []).compactMap { ($0 as? NSManagedObject)?.objectID }
    }
}

/// One place for the newest results, and for one who waits for them.
private final class FetchMailbox: Sendable {
    struct Letter: Sendable {
        var ids: [NSManagedObjectID]
        var changed: Set<NSManagedObjectID>
    }

    private typealias Waiter = CheckedContinuation<Letter?, any Error>

    private struct State {
        var letter: Letter?
        var failure: (any Error)?
        var waiter: Waiter?
        var isOver = false

        /// Takes what there is to hand over; nil where there is only waiting.
        mutating func take() -> Result<Letter?, any Error>? {
            if let failure {
                self.failure = nil
                isOver = true
                return .failure(failure)
            }
            if isOver { return .success(nil) }
            guard let letter else { return nil }
            self.letter = nil
            return .success(letter)
        }
    }

    private let state = Lock(State())

    /// Replaces what nobody took.
    func put(_ ids: [NSManagedObjectID], changed: [NSManagedObjectID]) {
        change { state in
            let known = state.letter?.changed ?? []
            state.letter = Letter(ids: ids, changed: known.union(changed))
        }
    }

    func fail(_ error: any Error) { change { $0.failure = error } }

    /// What was put; waits for it. Nil after the task was cancelled or a failure was told.
    func take() async throws -> Letter? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                change { $0.waiter = waiter }
            }
        } onCancel: {
            change { $0.isOver = true }
        }
    }

    /// Changes the state, and lets who waits go where there is something for him.
    private func change(_ body: (inout State) -> Void) {
        let handed = state.withLock { state -> (Waiter, Result<Letter?, any Error>)? in
            body(&state)
            guard let waiter = state.waiter, let result = state.take() else { return nil }
            state.waiter = nil
            return (waiter, result)
        }
        if let (waiter, result) = handed { waiter.resume(with: result) }
    }
}
