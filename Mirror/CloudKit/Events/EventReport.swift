internal import Foundation
internal import MirrorEngine
internal import Persistence
internal import Platform

/// Tells of a store's events: each once when it begins and once when it has ended.
final class EventReport: Sendable {
    private typealias Event = NSPersistentCloudKitContainer.Event

    /// What the session was doing last, to say of a failure whether it was an import or export.
    private let step = Lock(MirrorEvent.Kind.setup)
    /// The events that have ended and were told.
    private let told: Lock<Set<UUID>>
    /// Whether a round came to its end since the store was loaded.
    private let hasRun = Lock(false)
    private let storeIdentifier: String
    private let platform: Environment
    private let post: @Sendable (NSPersistentCloudKitContainer.Event) -> Void

    init(
        of store: NSPersistentStore, platform: Environment = .system,
        post: @escaping @Sendable (NSPersistentCloudKitContainer.Event) -> Void
    ) throws {
        let events = try MirroredStore.known(of: store)?.events() ?? []
        told = Lock(Set(events.map(\.identifier)))
        storeIdentifier = store.identifier
        self.platform = platform
        self.post = post
    }

    /// A round begins. What `work` does is told until `end` is called; what the first one since the
    /// store was loaded does begins with its setup, as apps wait for that.
    func round<Result>(
        of store: MirroredStore, _ work: () async throws -> Result
    ) async throws -> Result {
        step.withLock { $0 = .import }
        return try await RoundEvents.$current.withValue(RoundEvents()) {
            if !hasRun.withLock({ $0 }) { beginSetup(of: store) }
            return try await work()
        }
    }

    /// The store may have been set up when it was loaded first, and nobody was told yet.
    private func beginSetup(of store: MirroredStore) {
        let events = (try? store.events()) ?? []
        let setup = events.last { event in
            event.kind == .setup && told.withLock { $0.insert(event.identifier).inserted }
        }
        guard let setup else { return tellBeginning(of: .setup) }
        post(Event(setup.begun, of: storeIdentifier))
        post(Event(setup, of: storeIdentifier))
    }

    /// The round does something of a kind, for the first time or again.
    func begin(_ kind: MirrorEvent.Kind) {
        step.withLock { $0 = kind }
        endSetup()
        if kind == .export, !hasRun.withLock({ $0 }) { tellBeginning(of: .import) }
        tellBeginning(of: kind)
    }

    /// A page came, with so many records. The first round imports even where there are none.
    func importing(_ records: Int) {
        if records > 0 || !hasRun.withLock({ $0 }) { begin(.import) }
    }

    private func tellBeginning(of kind: MirrorEvent.Kind) {
        guard let begun = RoundEvents.current?.begin(kind, platform) else { return }
        post(Event(begun, of: storeIdentifier))
    }

    /// It has ended once something else begins.
    private func endSetup() {
        guard let setup = RoundEvents.current?.all.first(where: { $0.kind == .setup }),
            told.withLock({ $0.insert(setup.identifier).inserted })
        else { return }
        post(Event(setup, of: storeIdentifier, ended: platform.clock.now()))
    }

    /// The round is over: what it did is told, and what others did meanwhile.
    func end(_ store: MirroredStore, failure: CKError?) {
        if failure == nil, !hasRun.withLock({ $0 }) {
            begin(.import)
            hasRun.withLock { $0 = true }
        }
        let begun = RoundEvents.current?.all ?? []
        // Events that cannot be read are told by the next round that can read them.
        let events = (try? store.events()) ?? []
        let new = told.withLock { told in
            let new = events.filter { !told.contains($0.identifier) }
            let over = begun.filter { told.contains($0.identifier) }
            told = Set(events.map(\.identifier)).union(over.map(\.identifier))
            return new
        }
        let beginnings = Set(begun.map(\.identifier))
        for event in new {
            if !beginnings.contains(event.identifier) {
                post(Event(event.begun, of: storeIdentifier))
            }
            post(Event(event, of: storeIdentifier, error: event.succeeded ? nil : failure))
        }
        let ended = told.withLock { $0 }
        for event in begun where !ended.contains(event.identifier) {
            post(Event(event, of: storeIdentifier, ended: platform.clock.now(), error: failure))
        }
    }

    /// Keeps a failure as an event of what the round was doing.
    func keep(_ failure: CKError, in store: MirroredStore) {
        try? store.logFailure(
            step.withLock { $0 }, message: failure.message, code: failure.errorCode)
    }
}

extension MirrorEvent {
    fileprivate var begun: RoundEvents.Begun {
        RoundEvents.Begun(identifier: identifier, kind: kind, started: started)
    }
}
