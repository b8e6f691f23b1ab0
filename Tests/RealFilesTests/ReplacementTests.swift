import Foundation
import ObjectModel
import Persistence
import Platform
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Stores that are replaced, moved and removed, and processes that die in between.
@Suite(.serialized) struct ReplacementTests {
    private let scratch: Scratch
    private var place: String { scratch.url("place.sqlite").path }
    private var source: String { scratch.url("source.sqlite").path }

    init() throws {
        scratch = try Scratch()
        try Self.fill(place, keys: 1...3, seed: 1)
        try Self.fill(source, keys: 2...6, seed: 2)
    }

    /// Large notes, one of them small, of one seed.
    private static func fill(_ path: String, keys: ClosedRange<Int64>, seed: UInt8) throws {
        let store = try TwoProcesses.open(path)
        for key in keys { try LargeNote.write(store, key: key, seed: seed) }
        try store.setMetadata(["seed": Int(seed)])
    }

    /// The seed of all notes at the place; checks that they are of one store, with all files.
    private func wholeSeed(of path: String) throws -> UInt8? {
        let store = try TwoProcesses.open(path)
        let layout = try #require(store.layout.entities.first)
        let rows = try store.rows(matching: RowQuery(entity: layout.number))
        let seeds = Set(rows.map { LargeNote.seed($0) })
        #expect(seeds.count <= 1)
        let seed = seeds.first ?? nil
        #expect(rows.count == [nil: 0, 1: 3, 2: 5][seed])
        let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        let support = scratch.url(".\(name)_SUPPORT").path
        let files = FileManager.default
        if files.fileExists(atPath: support) {
            #expect(try files.contentsOfDirectory(atPath: support) == ["_EXTERNAL_DATA"])
            let values = try files.contentsOfDirectory(atPath: support + "/_EXTERNAL_DATA")
            #expect(values.count == rows.count)
        }
        if let seed { #expect(try store.metadata()["seed"] as? Int == Int(seed)) }
        #expect(try store.read { try $0.connection.value("PRAGMA integrity_check") } == "ok")
        return seed
    }

    private static func coordinator(_ faults: any FaultPoints = NoFaults())
        -> NSPersistentStoreCoordinator
    {
        var platform = Environment.system
        platform.faults = faults
        return NSPersistentStoreCoordinator(model: TwoProcesses.model(), platform: platform)
    }

    private static func replace(
        _ place: String, with source: String, _ faults: any FaultPoints = NoFaults()
    ) throws {
        try coordinator(faults).replacePersistentStore(
            at: URL(fileURLWithPath: place),
            withPersistentStoreFrom: URL(fileURLWithPath: source), type: .sqlite)
    }

    // MARK: Replacing

    @Test func aReplacedStoreHasTheValuesOfItsSourceAndNoOthers() throws {
        let reading = try TwoProcesses.open(source)
        try Self.replace(place, with: source)
        #expect(try wholeSeed(of: place) == 2)
        #expect(try wholeSeed(of: source) == 2)
        #expect(try reading.identifier == TwoProcesses.open(place).identifier)
        try Self.replace(scratch.url("third.sqlite").path, with: source)
        #expect(try wholeSeed(of: scratch.url("third.sqlite").path) == 2)
        try Self.replace(source, with: source)
        #expect(try wholeSeed(of: source) == 2)
    }

    @Test(arguments: [
        "replace.locked", "external.halfWritten", "external.beforeRename", "replace.staged",
        "replace.swapped",
    ])
    func aCrashLeavesTheOldStoreOrTheNew(point: String) async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [place = place as String, source = source as String, point = point as String] in
            try Self.replace(place, with: source, DeadlyFaults(point: point))
        }
        #expect(try wholeSeed(of: place) == (point == "replace.swapped" ? 2 : 1))
        #expect(try wholeSeed(of: source) == 2)
        try Self.replace(place, with: source)
        #expect(try wholeSeed(of: place) == 2)
    }

    @Test(arguments: ["external.halfWritten", "external.beforeRename", "replace.staged"])
    func aCrashWherePlaceIsFreeLeavesItFree(point: String) async throws {
        let free = scratch.url("free.sqlite").path
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [free = free as String, source = source as String, point = point as String] in
            try Self.replace(free, with: source, DeadlyFaults(point: point))
        }
        #expect(!FileManager.default.fileExists(atPath: free))
        #expect(try wholeSeed(of: free) == nil, "a new, empty store clears the remains away")
        try Self.replace(free, with: source)
        #expect(try wholeSeed(of: free) == 2)
    }

    @Test(arguments: 1...8)
    func aKillAtAnyMomentLeavesOneOfThem(seed: Int) async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [place = place as String, source = source as String, seed = seed as Int] in
            var random = SeededRandomness(UInt64(seed))
            let microseconds = UInt32(random.next() % 60_000)
            Thread.detachNewThread {
                usleep(microseconds)
                kill(getpid(), SIGKILL)
            }
            while true { try Self.replace(place, with: source) }
        }
        #expect(try wholeSeed(of: place) != nil)
    }

    @Test func whatFailsWithoutACrashIsTakenBackAtOnce() throws {
        for point in ["replace.locked", "external.beforeRename", "replace.staged"] {
            #expect(throws: (any Error).self) {
                try Self.replace(place, with: source, FailingFaults(point: point))
            }
            let support = scratch.url(".place_SUPPORT").path
            let files = FileManager.default
            #expect(try files.contentsOfDirectory(atPath: support) == ["_EXTERNAL_DATA"])
            #expect(try files.contentsOfDirectory(atPath: support + "/_EXTERNAL_DATA").count == 3)
        }
        #expect(try wholeSeed(of: place) == 1)
    }

    @Test func aReaderElsewhereGoesOnWithTheOldStoreAndIsToldThen() throws {
        let reader = try TwoProcesses.open(place)
        let id = RowID(entity: try #require(reader.layout.entities.first).number, key: 1)
        try reader.read { transaction in
            #expect(try LargeNote.seed(transaction.row(id)) == 1)
            try Self.replace(place, with: source)
            #expect(try LargeNote.seed(transaction.row(id)) == 1)
        }
        let error = #expect(throws: StoreError.self) { try reader.row(id) }
        #expect(error?.code == .cannotOpen)
        #expect(try wholeSeed(of: place) == 2)
    }

    @Test func aStoreThatSomebodyWritesToIsNotReplaced() throws {
        let writer = try TwoProcesses.open(place)
        try writer.write { _ in
            let error = #expect(throws: (any Error).self) {
                try Self.coordinator().replacePersistentStore(
                    at: URL(fileURLWithPath: place),
                    destinationOptions: [NSPersistentStoreTimeoutOption: 0.1],
                    withPersistentStoreFrom: URL(fileURLWithPath: source), type: .sqlite)
            }
            #expect((error as NSError?)?.code == NSPersistentStoreTimeoutError)
        }
        #expect(try wholeSeed(of: place) == 1)
    }

    @Test func aDamagedStoreIsReplacedByItsBackup() throws {
        try Data(repeating: 7, count: 5000).write(to: URL(fileURLWithPath: place))
        try Data(repeating: 8, count: 5000).write(to: URL(fileURLWithPath: place + "-wal"))
        try Self.replace(place, with: source)
        #expect(try wholeSeed(of: place) == 2)
    }

    @Test func pagesOfAnotherSizeAreTakenOver() throws {
        let other = scratch.url("other.sqlite").path
        do {
            _ = try Self.coordinator().addPersistentStore(
                type: .sqlite, at: URL(fileURLWithPath: other),
                options: [NSSQLitePragmasOption: ["page_size": "8192"]])
        }
        try Self.replace(other, with: source)
        #expect(try wholeSeed(of: other) == 2)
    }

    private func mode(_ path: String) throws -> Int {
        let facts = try FileManager.default.attributesOfItem(atPath: path)
        return (facts[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }

    @Test func aCopyOfWhatNobodyMayWriteAndItsValuesAreTheirOwnersToWrite() throws {
        #expect(chmod(source, 0o444) == 0)
        let free = scratch.url("free.sqlite").path
        try Self.replace(free, with: source)
        #expect(try wholeSeed(of: free) == 2)
        #expect(try mode(free) == 0o644)
        let support = scratch.url(".free_SUPPORT").path
        #expect(try mode(support) == 0o755)
        #expect(try mode(support + "/_EXTERNAL_DATA") == 0o755)
    }

    @Test func theFileAtThePlaceKeepsItsAccess() throws {
        #expect(chmod(place, 0o600) == 0 && chmod(source, 0o640) == 0)
        try Self.replace(place, with: source)
        #expect(try mode(place) == 0o600)
        let free = scratch.url("free.sqlite").path
        try Self.replace(free, with: source)
        #expect(try mode(free) == 0o640)
        #expect(try mode(scratch.url(".free_SUPPORT").path) == 0o750)
    }

    // MARK: Removing

    @Test(arguments: ["destroy.marked", "destroy.emptied"])
    func aCrashInTheRemovalLeavesAllOrWhatTheNextStoreClears(point: String) async throws {
        do {
            // A log that is full when the process dies.
            await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as String] in
                let store = try TwoProcesses.open(place)
                try LargeNote.write(store, key: 3, seed: 1)
                withExtendedLifetime(store) { _ = kill(getpid(), SIGKILL) }
            }
        }
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [place = place as String, point = point as String] in
            try Self.coordinator(DeadlyFaults(point: point)).destroyPersistentStore(
                at: URL(fileURLWithPath: place), type: .sqlite)
        }
        #expect(try wholeSeed(of: place) == (point == "destroy.marked" ? 1 : nil))
        try Self.coordinator().destroyPersistentStore(
            at: URL(fileURLWithPath: place), type: .sqlite)
        #expect(SQLiteRowStore.isFree(URL(fileURLWithPath: place)))
        #expect(!FileManager.default.fileExists(atPath: scratch.url(".place_SUPPORT").path))
    }

    @Test func aStoreInUseIsRemovedOnlyByForce() throws {
        let url = URL(fileURLWithPath: place)
        let writer = try TwoProcesses.open(place)
        try writer.write { _ in
            let error = #expect(throws: (any Error).self) {
                try Self.coordinator().destroyPersistentStore(
                    at: url, type: .sqlite, options: [NSPersistentStoreTimeoutOption: 0.1])
            }
            #expect((error as NSError?)?.code == NSPersistentStoreTimeoutError)
            #expect(FileManager.default.fileExists(atPath: place))
            try Self.coordinator().destroyPersistentStore(
                at: url, type: .sqlite, options: [NSPersistentStoreForceDestroyOption: true])
            #expect(!FileManager.default.fileExists(atPath: place))
        }
    }

    @Test func aLogWithoutItsStoreIsNotPlayedIntoTheNext() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as String] in
            let store = try TwoProcesses.open(place)
            try LargeNote.write(store, key: 3, seed: 1)
            withExtendedLifetime(store) { _ = kill(getpid(), SIGKILL) }
        }
        #expect(FileManager.default.fileExists(atPath: place + "-wal"))
        try FileManager.default.removeItem(atPath: place)
        let store = try TwoProcesses.open(place)
        #expect(try LargeNote.seed(store, key: 3) == nil)
        #expect(try store.read { try $0.connection.value("PRAGMA integrity_check") } == "ok")
    }

    // MARK: Moving

    private static func migrate(
        _ source: String, to place: String, _ faults: any FaultPoints = NoFaults()
    ) throws {
        let coordinator = coordinator(faults)
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: URL(fileURLWithPath: source))
        try coordinator.migratePersistentStore(
            store, to: URL(fileURLWithPath: place), type: .sqlite)
    }

    @Test(arguments: ["migrate.filled", "migrate.valuesPlaced", "migrate.placed"])
    func aCrashInAMoveLeavesTheOldStoreAndNoHalfOfTheNew(point: String) async throws {
        let free = scratch.url("free.sqlite").path
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [free = free as String, source = source as String, point = point as String] in
            try Self.migrate(source, to: free, DeadlyFaults(point: point))
        }
        #expect(try wholeSeed(of: source) == 2)
        guard point != "migrate.placed" else {
            #expect(try wholeSeed(of: free) == 2)
            return
        }
        #expect(!FileManager.default.fileExists(atPath: free))
        try Self.migrate(source, to: free)
        #expect(try wholeSeed(of: free) == 2)
    }

    @Test func aMoveThatFailsLeavesNothing() throws {
        let before = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(throws: (any Error).self) {
            try Self.migrate(
                source, to: scratch.url("free.sqlite").path, FailingFaults(point: "migrate.filled"))
        }
        let after = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(Set(after).subtracting(before).allSatisfy { $0.hasPrefix("source.sqlite-") })
    }
}

/// Fails at a named point.
struct FailingFaults: FaultPoints {
    struct Failure: Error {}
    let point: String

    func reach(_ name: String) throws {
        if name == point { throw Failure() }
    }
}
