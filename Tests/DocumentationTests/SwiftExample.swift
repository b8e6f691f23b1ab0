import CoreData
import Foundation
import MirrorEngine
import MirrorTransport
import RecordWire

/// A container whose first store is mirrored with a record service.
struct MirroredContainer {
    let container: NSPersistentContainer
    let session: MirrorSession

    /// `container` has loaded its stores. Throws `MirrorError` for a store that cannot be mirrored.
    init(
        _ container: NSPersistentContainer, service: URL, authority: URL?, credentials: Credentials,
        progress: @escaping @Sendable (String) -> Void
    ) throws {
        let store = container.persistentStoreCoordinator.persistentStores[0]
        // The store's own name for this device, made up once and kept in the store.
        let target = RecordTarget(
            container: "iCloud.local.diptych", deviceID: try MirrorSession.deviceID(of: store))
        var channel = ChannelConfiguration(
            serviceURL: service, target: target, credentials: credentials)
        channel.authorityFile = authority
        // Conflicting titles wait for the reader; of everything else the service's value is kept.
        var policy = MergePolicy(standard: .remote, deletion: .keepEdited)
        policy.set(.error, entity: "Book", property: "title")
        session = try MirrorSession(
            mirroring: store,
            to: MirrorDestination(service: service.absoluteString, container: target.container),
            through: CurlChannel(configuration: channel), policy: policy,
            observe: { step in progress(Self.words(for: step)) })
        self.container = container
    }

    private static func words(for step: SyncProgress) -> String {
        switch step {
        case .importing(let records): "\(records) more records came"
        case .exporting(_, let done, let total): "\(done) of \(total) records are sent"
        case .waiting(let seconds, let reason): "next try in \(seconds) s: \(reason ?? "asked to")"
        }
    }

    /// One round. Returns whether store and service are equal now; false: try again later, or ask
    /// `session.store.status()` why not.
    func sync() async throws -> Bool {
        do {
            _ = try await session.sync()
            return try session.store.status()?.isInSync ?? false
        } catch let error as MirrorError where [.offline, .throttled].contains(error.code) {
            return false
        }
    }

    /// What waits for a decision: each with its object and both titles.
    func openQuestions() throws -> [ConflictEntry] {
        try session.store.conflicts(waitingOnly: true)
    }

    /// Decides one of them; the next round sends it.
    func decide(_ question: ConflictEntry, taking side: ConflictSide) throws {
        try session.store.resolve(conflict: question.id, taking: side)
    }
}
