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
    /// The store itself: a copy of its file that is open beside it has its identifier.
    private let place: ObjectIdentifier
    let address: RecordServiceAddress
    private let given: GivenOptions
    private let events: EventReport
    private let scheduler = Lock<MirrorScheduler?>(nil)
    /// A second way to the service, for requests that wait.
    private let watching: any RecordChannel
    /// A third, for what is asked beside the rounds.
    private let asking: any RecordChannel
    /// The record name of the signed-in user, once the service told it.
    private let user = Lock<String?>(nil)
    /// Called once the store's zone is shared no more.
    private let ended: @Sendable (StoreMirror) -> Void
    /// Called once something has waited for too long.
    private let stalled: @Sendable (Date) -> Void

    init(
        _ store: NSPersistentStore, _ options: NSPersistentCloudKitContainerOptions,
        at address: RecordServiceAddress, zone: ZoneID?,
        ended: @escaping @Sendable (StoreMirror) -> Void,
        stalled: @escaping @Sendable (Date) -> Void,
        report: @escaping @Sendable (NSPersistentCloudKitContainer.Event) -> Void
    ) throws {
        let events = try EventReport(of: store, post: report)
        func channel() throws -> CurlChannel {
            try address.channel(
                container: options.containerIdentifier, deviceID: MirrorSession.deviceID(of: store),
                database: Self.database(options, zone),
                bytesPerSecondMax: options.schedule.network.bytesPerSecondMax)
        }
        watching = try channel()
        asking = try channel()
        given = GivenOptions(options)
        self.address = address
        self.ended = ended
        self.stalled = stalled
        session = try MirrorSession(
            mirroring: store,
            to: MirrorDestination(
                service: address.url.absoluteString, container: options.containerIdentifier,
                zone: zone?.zoneName ?? options.zoneName, zoneOwner: zone?.ownerRecordName,
                isPublic: options.databaseScope == .public, environment: address.environment),
            through: try channel(), policy: options.mergePolicy, keys: options.sealingKeys,
            hidesIncompleteGraphs: options.hidesIncompleteGraphs, selection: options.selection,
            assetValueBytesMax: options.assetValueBytesMax,
            observe: { progress in
                switch progress {
                case .importing(let records): events.importing(records)
                case .exporting: events.begin(.export)
                case .waiting: break
                }
            })
        self.events = events
        storeIdentifier = store.identifier
        place = ObjectIdentifier(store)
    }

    func isOf(_ store: NSPersistentStore) -> Bool { place == ObjectIdentifier(store) }

    private static func database(
        _ options: NSPersistentCloudKitContainerOptions, _ zone: ZoneID?
    ) -> String {
        if options.databaseScope == .public { return "public" }
        return zone?.ownerRecordName == nil ? "private" : "shared"
    }

    var containerIdentifier: String { options.containerIdentifier }
    var options: NSPersistentCloudKitContainerOptions { given.options }
    /// Whether the zone is another user's.
    var isShared: Bool { session.store.zoneID.ownerRecordName != nil }
    var isPublic: Bool { options.databaseScope == .public }
    /// The record name of the signed-in user; nil before the first round of a store of the public
    /// database, and for others.
    var userName: String? { user.withLock { $0 } }

    // MARK: Rounds

    /// One round, reported as events. Throws `CKError`.
    func sync(
        reporting progress: RoundProgress = RoundProgress(), bytesMax: Int64? = nil,
        isAskedFor: Bool = true
    ) async throws -> SyncSummary {
        try await reported {
            try await session.sync(
                reporting: progress, bytesMax: bytesMax, isAskedFor: isAskedFor)
        }
    }

    /// Rounds until nothing waits that can go, reported as events. Throws `CKError`.
    func syncUntilQuiescent() async throws -> SyncSummary {
        try await reported { try await session.syncUntilQuiescent() }
    }

    private func reported(_ work: () async throws -> SyncSummary) async throws -> SyncSummary {
        try await events.round(of: session.store) {
            do {
                try await learnUser()
                let summary = try await work()
                events.end(session.store, failure: nil)
                return summary
            } catch {
                let failure = CKError(error)
                RoundIdentifier.$current.withValue(session.roundIdentifier) {
                    events.keep(failure, in: session.store)
                }
                events.end(session.store, failure: failure)
                if (error as? MirrorError)?.code == .shareEnded { ended(self) }
                throw failure
            }
        }
    }

    /// In the public database it counts who made a record.
    private func learnUser() async throws {
        guard isPublic, address.isSignedIn, userName == nil else { return }
        do {
            guard case .caller(let caller) = try await asking.send(.caller) else { return }
            user.withLock { $0 = caller.userRecordName }
        } catch {
            // No round begins then, which the status is to tell as if it had.
            if !(error is CancellationError), !Task.isCancelled {
                let failure = CKError(error)
                session.noteFailure(
                    failure.message, retryAfterSeconds: failure.retryAfterSeconds)
            }
            throw error
        }
    }

    /// Asks something beside the rounds. Throws `CKError`.
    func ask(_ request: RecordRequest) async throws -> RecordResponse {
        do {
            return try await asking.send(request)
        } catch {
            throw CKError(error)
        }
    }

    // MARK: By itself

    /// `isPaused` is asked once whoever pauses would find the scheduler.
    func run(by runner: any TaskRunner, _ sleeper: any Sleeper, isPaused: () -> Bool) {
        let scheduler = MirrorScheduler(
            session, watching: watching, plan: options.schedule, sleeper: sleeper,
            isMetered: { NSPersistentCloudKitContainer.networkIsMetered },
            round: { [weak self] bytesMax in
                guard let self else { throw CancellationError() }
                return try await sync(bytesMax: bytesMax, isAskedFor: false)
            },
            observe: { [stalled] event in
                if case .stalled(let since) = event { stalled(since) }
            })
        self.scheduler.withLock { $0 = scheduler }
        if isPaused() { scheduler.pause() }
        scheduler.start(by: runner)
    }

    func wake() { scheduler.withLock { $0 }?.wake() }

    func pause() { scheduler.withLock { $0 }?.pause() }

    func resume() { scheduler.withLock { $0 }?.resume() }

    func stop() { scheduler.withLock { $0.take() }?.stop() }

    /// Ends for good, a round under way as well: the store leaves its coordinator.
    func leave() {
        session.store.leave()
        stop()
    }
}
