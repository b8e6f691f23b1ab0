import CoreData
import Dispatch
import Foundation
import Platform
import Testing

@testable import Persistence

/// Nobody reads in the midst of a copy what the store itself does not show them.
@Suite struct PrivateCopyTests {
    private static let kinds = StoreKind.allCases.filter { $0 != .memory }
    private let first = VersionDraft.model { $0.entity("Person", [text("name")]) }
    private let second = VersionDraft.model { $0.entity("Being", [text("name")], from: "Person") }

    /// The files of a folder that others than their owner may read.
    private static func exposed(in folder: URL) -> Set<String> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return Set(
            names.filter { name in
                var facts = stat()
                return stat(folder.path + "/" + name, &facts) == 0
                    && facts.st_mode & S_IFMT == S_IFREG && facts.st_mode & 0o077 != 0
            })
    }

    /// Looks at a folder at each point of the work.
    private final class Watch: FaultPoints, @unchecked Sendable {
        // @unchecked: used by one copy, on its thread.
        private let folder: URL
        private(set) var points: Set<String> = []
        private(set) var exposed: Set<String> = []

        init(_ folder: URL) { self.folder = folder }

        func reach(_ name: String) throws {
            points.insert(name)
            for file in PrivateCopyTests.exposed(in: folder) { exposed.insert("\(name): \(file)") }
        }
    }

    private func filled(_ kind: StoreKind, count: Int = 10) throws -> MigrationBench {
        let bench = try MigrationBench(kind)
        let filling = String(repeating: "a secret ", count: 200)
        try bench.fill(first) { context in
            for index in 0..<count { _ = context.make("Person", ["name": "\(index) \(filling)"]) }
        }
        for name in bench.names { chmod(bench.folder.path + "/" + name, 0o600) }
        for suffix in ["-wal", "-shm"] { chmod(bench.url.path + suffix, 0o600) }
        #expect(Self.exposed(in: bench.folder).isEmpty)
        return bench
    }

    @Test(arguments: kinds, kinds)
    func aStoreOfAnotherTypeIsPrivateFromItsFirstByte(_ kind: StoreKind, _ other: StoreKind) throws
    {
        let bench = try filled(kind)
        let watch = Watch(bench.folder)
        var platform = Environment.system
        platform.faults = watch
        let coordinator = NSPersistentStoreCoordinator(model: first, platform: platform)
        let store = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: bench.url, options: nil)
        let place = bench.folder.appendingPathComponent("other")
        let made = try coordinator.migratePersistentStore(
            store, to: place, options: nil, withType: other.type)
        #expect(watch.points.isSuperset(of: ["store.beforePlacing", "migrate.filled"]))
        #expect(watch.exposed.isEmpty)
        #expect(Self.exposed(in: bench.folder).isEmpty)
        try coordinator.remove(made)
    }

    private func migrate(_ bench: MigrationBench, isMapped: Bool, _ watch: Watch) throws {
        var platform = Environment.system
        platform.faults = watch
        let mapping = NSMappingModel()
        mapping.entityMappings = [
            .transforming("Person", "Being", ["name": "$source.name"], from: first, to: second)
        ]
        try ProgressiveMigration(
            storeAt: bench.url, type: .init(rawValue: bench.kind.type),
            versions: ModelVersions(
                [.init(name: "1", model: first), .init(name: "2", model: second)],
                mappings: isMapped ? [mapping] : []),
            options: [:], platform: platform
        ).run()
    }

    @Test(arguments: kinds, [false, true])
    func aMigratedStoreIsPrivateFromItsFirstByte(_ kind: StoreKind, isMapped: Bool) throws {
        let bench = try filled(kind)
        let watch = Watch(bench.folder)
        try migrate(bench, isMapped: isMapped, watch)
        #expect(!watch.points.isEmpty)
        #expect(watch.exposed.isEmpty)
        #expect(Self.exposed(in: bench.folder).isEmpty)
    }

    @Test func aMappedMigrationLeavesNothingButTheStore() throws {
        let bench = try filled(.sqlite)
        try migrate(bench, isMapped: true, Watch(bench.folder))
        let found = try FileManager.default.contentsOfDirectory(atPath: bench.folder.path)
        #expect(found.filter { !$0.hasPrefix(bench.url.lastPathComponent) }.isEmpty)
    }

    /// Looks at a folder again and again, on a thread of its own, while `work` is done.
    private func exposed(in folder: URL, during work: () throws -> Void) throws -> Set<String> {
        let state = Lock<(isOver: Bool, names: Set<String>)>((false, []))
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !state.withLock({ $0.isOver }) {
                let names = Self.exposed(in: folder)
                state.withLock { $0.names.formUnion(names) }
            }
            ended.signal()
        }
        let result = Result { try work() }
        state.withLock { $0.isOver = true }
        ended.wait()
        try result.get()
        return state.withLock { $0.names }
    }

    @Test(arguments: kinds) func theCopyBeforeAMigrationIsPrivate(_ kind: StoreKind) throws {
        let bench = try filled(kind, count: 5_000)
        var options = MigrationBench.migrating
        options[NSPersistentStoreMigrationBackupOption] = true
        let names = try exposed(in: bench.folder) {
            try bench.open(second, options: options) { _ in }
        }
        #expect(names.isEmpty)
        #expect(bench.names.count == 2)
    }
}
