import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import Persistence
import Platform
import RecordWire
import SQLiteStore
import Stores
import Testing

/// A store that is not the one any more that a process keeps in sync: who has the new one is not
/// kept from it.
@Suite struct LeftStoreTests {
    private let service: SimulatedService
    private let folder: URL
    private let file: URL
    private let device: Device
    private let events = Lock<[ScheduleEvent]>([])
    private let isOver = Lock(false)

    init() throws {
        service = try Device.service()
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("LeftStoreTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        file = folder.appendingPathComponent("Store.sqlite")
        device = try Device(1, service, file: file)
    }

    private var rounds: Int {
        events.withLock { $0.count { if case .round = $0 { true } else { false } } }
    }

    /// Why the scheduler ended, if it did.
    private var end: StoreError? {
        guard isOver.withLock({ $0 }), case .failed(let error, .infinity) = events.withLock(\.last)
        else { return nil }
        return error as? StoreError
    }

    private func until(_ condition: () throws -> Bool) async throws {
        for _ in 0..<12_000 {
            if try condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try condition())
    }

    /// Keeps the store in sync while `body` does something to it.
    private func watching(_ body: (MirrorScheduler) async throws -> Void) async throws {
        let channel = HoldingChannel(service: service)
        let scheduler = MirrorScheduler(
            MirrorSession(mirrored: device.mirrored, container: "test", channel: channel),
            sleeper: Patient(), name: "test",
            observe: { [events] event in events.withLock { $0.append(event) } })
        let run = Task { [isOver] in
            await scheduler.run()
            isOver.withLock { $0 = true }
        }
        try await until { rounds == 1 }
        try await body(scheduler)
        run.cancel()
        await run.value
        try FileManager.default.removeItem(at: folder)
    }

    @Test func aMigrationByAnotherProgramEndsItAndTheTurnIsFree() async throws {
        try await watching { scheduler in
            let later = VersionedWorld.between()
            let coordinator = NSPersistentStoreCoordinator(model: later, platform: .system)
            let migrated = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: file,
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true,
                    NSInferMappingModelAutomaticallyOption: true,
                ])
            try coordinator.remove(migrated)
            let newer = try Device(3, service, model: later, file: file)
            try newer.insert("Note", ["caption": .text("of the new version")])
            scheduler.wake()
            try await until { end != nil }
            #expect(end?.code == .modelMismatch)
            #expect(try newer.mirrored.status()?.activity?.state == .stopped)
        }
    }

    @Test func anotherFileInItsPlaceEndsIt() async throws {
        try await watching { scheduler in
            try FileManager.default.moveItem(
                at: file, to: folder.appendingPathComponent("Former.sqlite"))
            scheduler.wake()
            try await until { end != nil }
            #expect(end?.code == .cannotOpen)
        }
    }
}

/// Waits until it is cancelled.
private struct Patient: Sleeper {
    func sleep(seconds: Double) async throws { try await Task.sleep(for: .seconds(86_400)) }
}
