internal import Foundation
internal import MirrorEngine
internal import Persistence
internal import Platform

/// Keeps one store of a container in sync by itself: after each save, and at intervals.
final class StoreMirror: Sendable {
    let session: MirrorSession
    let storeIdentifier: String
    let containerIdentifier: String
    private let signal = WakeSignal()
    private let sleeper: any Sleeper
    private let isPaused = Lock(false)
    /// What the session was doing last, to say of a failure whether it was an import or export.
    private let step: Lock<MirrorEvent.Kind>
    private let task = Lock<(any RunningTask)?>(nil)
    private let report: @Sendable (NSPersistentCloudKitContainer.Event) -> Void
    private let known: Lock<Set<UUID>>

    /// Seconds between rounds where nothing is saved here, and the longest wait after failures.
    private static let intervalSeconds = 30.0
    private static let firstRetrySeconds = 2.0

    init(
        _ store: NSPersistentStore, _ options: NSPersistentCloudKitContainerOptions,
        at address: RecordServiceAddress, sleeper: any Sleeper,
        report: @escaping @Sendable (NSPersistentCloudKitContainer.Event) -> Void
    ) throws {
        let step = Lock(MirrorEvent.Kind.setup)
        let events = try MirroredStore.known(of: store)?.events() ?? []
        known = Lock(Set(events.map(\.identifier)))
        let channel = try address.channel(
            container: options.containerIdentifier, deviceID: MirrorSession.deviceID(of: store))
        session = try MirrorSession(
            mirroring: store,
            to: MirrorDestination(
                service: address.url.absoluteString, container: options.containerIdentifier),
            through: channel, policy: options.mergePolicy,
            observe: { progress in
                switch progress {
                case .importing: step.withLock { $0 = .import }
                case .exporting: step.withLock { $0 = .export }
                case .waiting: break
                }
            })
        self.step = step
        self.sleeper = sleeper
        self.report = report
        storeIdentifier = store.identifier
        containerIdentifier = options.containerIdentifier
    }

    // MARK: Rounds

    /// One round, reported as events. Throws `CKError`.
    func sync() async throws -> SyncSummary {
        step.withLock { $0 = .import }
        let failure: any Error
        do {
            let summary = try await session.sync()
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

    func run(by runner: any TaskRunner) {
        task.withLock { task in
            task?.cancel()
            task = runner.run { [weak self] in
                var failures = 0
                while !Task.isCancelled, let self {
                    failures = await self.step(after: failures)
                }
            }
        }
    }

    /// Something was saved, or the app came back.
    func wake() { signal.send() }

    func pause() { isPaused.withLock { $0 = true } }

    func resume() {
        isPaused.withLock { $0 = false }
        wake()
    }

    func stop() { task.withLock { $0.take() }?.cancel() }

    /// A round and the wait after it. Returns how many rounds in a row have failed.
    private func step(after failures: Int) async -> Int {
        var failures = failures
        if !isPaused.withLock({ $0 }) {
            do {
                _ = try await sync()
                failures = 0
            } catch {
                failures += 1
            }
        }
        await signal.wait(atMostSeconds: Self.wait(after: failures), sleeper)
        return failures
    }

    private static func wait(after failures: Int) -> Double {
        guard failures > 0 else { return intervalSeconds }
        return min(intervalSeconds, firstRetrySeconds * Double(1 << min(failures - 1, 10)))
    }
}
