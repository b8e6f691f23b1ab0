internal import Foundation
internal import MirrorEngine
internal import MirrorTransport
internal import Persistence
internal import Platform
internal import RecordWire

/// Keeps one store of a container in sync by itself: after each save, and at intervals.
final class StoreMirror: Sendable {
    let session: MirrorSession
    let storeIdentifier: String
    let containerIdentifier: String
    /// What the session was doing last, to say of a failure whether it was an import or export.
    private let step: Lock<MirrorEvent.Kind>
    private let scheduler = Lock<MirrorScheduler?>(nil)
    /// A second way to the service, for requests that wait.
    private let watching: any RecordChannel
    private let report: @Sendable (NSPersistentCloudKitContainer.Event) -> Void
    private let known: Lock<Set<UUID>>

    init(
        _ store: NSPersistentStore, _ options: NSPersistentCloudKitContainerOptions,
        at address: RecordServiceAddress,
        report: @escaping @Sendable (NSPersistentCloudKitContainer.Event) -> Void
    ) throws {
        let step = Lock(MirrorEvent.Kind.setup)
        let events = try MirroredStore.known(of: store)?.events() ?? []
        known = Lock(Set(events.map(\.identifier)))
        func channel() throws -> CurlChannel {
            try address.channel(
                container: options.containerIdentifier, deviceID: MirrorSession.deviceID(of: store))
        }
        watching = try channel()
        session = try MirrorSession(
            mirroring: store,
            to: MirrorDestination(
                service: address.url.absoluteString, container: options.containerIdentifier),
            through: try channel(), policy: options.mergePolicy,
            assetValueBytesMax: options.assetValueBytesMax,
            observe: { progress in
                switch progress {
                case .importing: step.withLock { $0 = .import }
                case .exporting: step.withLock { $0 = .export }
                case .waiting: break
                }
            })
        self.step = step
        self.report = report
        storeIdentifier = store.identifier
        containerIdentifier = options.containerIdentifier
    }

    // MARK: Rounds

    /// One round, reported as events. Throws `CKError`.
    func sync() async throws -> SyncSummary { try await reported { try await session.sync() } }

    /// Rounds until nothing waits that can go, reported as events. Throws `CKError`.
    func syncUntilQuiescent() async throws -> SyncSummary {
        try await reported { try await session.syncUntilQuiescent() }
    }

    private func reported(_ work: () async throws -> SyncSummary) async throws -> SyncSummary {
        step.withLock { $0 = .import }
        let failure: any Error
        do {
            let summary = try await work()
            tellEvents(failure: nil)
            return summary
        } catch {
            failure = error
        }
        let error = CKError(failure)
        try? session.store.logFailure(step.withLock { $0 }, message: error.message)
        tellEvents(failure: error)
        throw error
    }

    private func tellEvents(failure: CKError?) {
        // Events that cannot be read are told by the next round that can read them.
        let events = (try? session.store.events()) ?? []
        let new = known.withLock { known in
            let new = events.filter { !known.contains($0.identifier) }
            known = Set(events.map(\.identifier))
            return new
        }
        for event in new {
            report(.init(event, of: storeIdentifier, error: event.succeeded ? nil : failure))
        }
    }

    // MARK: By itself

    func run(by runner: any TaskRunner, _ sleeper: any Sleeper) {
        let scheduler = MirrorScheduler(
            session, watching: watching, sleeper: sleeper,
            round: { [weak self] in
                guard let self else { throw CancellationError() }
                return try await sync()
            })
        self.scheduler.withLock { $0 = scheduler }
        scheduler.start(by: runner)
    }

    func pause() { scheduler.withLock { $0 }?.pause() }

    func resume() { scheduler.withLock { $0 }?.resume() }

    func stop() { scheduler.withLock { $0.take() }?.stop() }
}
