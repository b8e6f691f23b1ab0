import CoreData
import Foundation
import Platform
import SQLiteDriver
import Testing

@testable import Persistence

/// What another program saves while a store is read for its migration, or after it.
@Suite struct MigrationBesideSavesTests {
    private static func version(_ name: String) -> NSManagedObjectModel {
        VersionDraft.model { $0.entity(name, [text("name")], from: "Person") }
    }
    private let old = version("Person")
    private let new = version("Being")

    /// Does something when a point is reached, so often.
    private final class Meanwhile: FaultPoints, @unchecked Sendable {
        // @unchecked: used by one migration, on its thread.
        private let point: String
        private var times: Int
        private let deed: (Int) throws -> Void

        init(at point: String, times: Int = 1, _ deed: @escaping (Int) throws -> Void) {
            (self.point, self.times, self.deed) = (point, times, deed)
        }

        func reach(_ name: String) throws {
            guard name == point, times > 0 else { return }
            times -= 1
            try deed(times)
        }
    }

    private func migrate(_ bench: MigrationBench, _ faults: any FaultPoints) throws {
        var platform = Environment.system
        platform.faults = faults
        let mapping = NSMappingModel()
        mapping.entityMappings = [
            .transforming("Person", "Being", ["name": "$source.name"], from: old, to: new)
        ]
        try ProgressiveMigration(
            storeAt: bench.url, type: .init(rawValue: bench.kind.type),
            versions: ModelVersions(
                [.init(name: "1", model: old), .init(name: "2", model: new)],
                mappings: [mapping]),
            options: [:], platform: platform
        ).run()
    }

    /// A kind of file, and when it is saved to.
    private static let moments: [(StoreKind, [String: String], String)] = [
        (.xml, [:], "migrate.filled"), (.xml, [:], "replace.staged"),
        (.binary, [:], "migrate.filled"), (.binary, [:], "replace.staged"),
        (.sqlite, [:], "migrate.filled"),
        (.sqlite, ["journal_mode": "DELETE"], "migrate.filled"),
    ]

    private func options(_ pragmas: [String: String]) -> [AnyHashable: Any] {
        var options = MigrationBench.migrating
        if !pragmas.isEmpty { options[NSSQLitePragmasOption] = pragmas }
        return options
    }

    /// The store is read again; where others go on and on, the migration gives up.
    @Test(arguments: moments, [1, 2, 3])
    func whatIsSavedMeanwhileIsNotLost(
        moment: (kind: StoreKind, pragmas: [String: String], point: String), times: Int
    ) throws {
        let (kind, pragmas, point) = moment
        let bench = try MigrationBench(kind)
        let options = options(pragmas)
        try bench.open(old, options: options) { context in
            _ = context.make("Person", ["name": "early"])
            try context.save()
        }
        let meanwhile = Meanwhile(at: point, times: times) { rest in
            try bench.open(self.old, options: options) { context in
                _ = context.make("Person", ["name": "late \(rest)"])
                try context.save()
            }
        }
        if times == 3 {
            let error = try cocoaError { try migrate(bench, meanwhile) }
            let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
            #expect(cause?.code == NSPersistentStoreTimeoutError)
        }
        try migrate(bench, meanwhile)
        #expect(bench.names == ["store.\(kind.rawValue)"])
        let late = (0..<times).map { "late \($0)" }
        try bench.open(new, options: options) { context throws in
            #expect(try context.all("Being").map { $0.string("name") } == ["early"] + late)
        }
    }

    private static func copyAndCancel(_ kind: StoreKind) throws {
        let model = version("Person")
        let bench = try MigrationBench()
        try bench.fill(model) { _ = $0.make("Person", ["name": "early"]) }
        var platform = Environment.system
        platform.faults = Meanwhile(at: "migrate.filled") { _ in
            withUnsafeCurrentTask { $0?.cancel() }
        }
        let coordinator = NSPersistentStoreCoordinator(model: model, platform: platform)
        let store = try coordinator.addPersistentStore(
            ofType: bench.kind.type, configurationName: nil, at: bench.url, options: nil)
        let place = bench.folder.appendingPathComponent("copy")
        #expect(throws: CancellationError.self) {
            try coordinator.migratePersistentStore(
                store, to: place, options: nil, withType: kind.type)
        }
        #expect(bench.names.filter { $0.contains("copy") } == [])
        #expect(coordinator.persistentStores == [store])
    }

    /// Until it is in its place: after that it would stay, and be called a trace of nothing.
    @Test(arguments: [StoreKind.sqlite, .xml, .binary])
    func aCopyThatIsCancelledWhileItIsWrittenTakesNoPlace(_ kind: StoreKind) async throws {
        try await Task { try Self.copyAndCancel(kind) }.value
    }

    /// Pages of another size are replaced without a log.
    @Test func whatIsSavedMeanwhileToPagesOfAnotherSizeIsNotLost() throws {
        let bench = try MigrationBench()
        try bench.fill(old) { _ = $0.make("Person", ["name": "early"]) }
        try Connection(path: bench.url.path, access: .readWrite).script(
            "PRAGMA journal_mode = DELETE; PRAGMA page_size = 1024; VACUUM; "
                + "PRAGMA journal_mode = WAL")
        let meanwhile = Meanwhile(at: "migrate.filled") { _ in
            try bench.fill(self.old) { _ = $0.make("Person", ["name": "late"]) }
        }
        try migrate(bench, meanwhile)
        try bench.open(new) { context throws in
            #expect(try context.all("Being").map { $0.string("name") } == ["early", "late"])
        }
    }

    /// A store that is open elsewhere would write rows under the numbers of the old entities.
    @Test(arguments: [false, true], StoreKind.allCases.filter { $0 != .memory })
    func aStoreOpenedBeforeItsMigrationSavesNoMore(isMapped: Bool, kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        try bench.fill(old) { _ = $0.make("Person", ["name": "early"]) }
        try bench.open(old) { context in
            let mine = try context.one("Person", "early")
            #expect(mine.string("name") == "early")
            if isMapped {
                try migrate(bench, NoFaults())
            } else {
                try bench.open(new) { _ in }
            }
            mine.setValue("changed", forKey: "name")
            _ = context.make("Person", ["name": "late"])
            let error = try cocoaError { try context.save() }
            let codes = [
                NSPersistentStoreIncompatibleVersionHashError, NSPersistentStoreTimeoutError,
            ]
            #expect(codes.contains(error.code), "\(error)")
            #expect(context.hasChanges)
        }
        try bench.open(new) { context throws in
            #expect(try context.all("Being").map { $0.string("name") } == ["early"])
        }
    }

    /// The new version has another entity before it: its rows have other numbers.
    @Test func aRowIsNotWrittenUnderAnotherEntitysNumber() throws {
        let bench = try MigrationBench()
        let wide = VersionDraft.model { draft in
            draft.entity("Address", [text("name")])
            draft.entity("Person", [text("name")])
        }
        try bench.fill(old) { _ = $0.make("Person", ["name": "early"]) }
        try bench.open(old) { context in
            try bench.open(wide) { _ in }
            _ = context.make("Person", ["name": "late"])
            let error = try cocoaError { try context.save() }
            #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
        }
        #expect(try bench.value("SELECT count(DISTINCT Z_ENT) FROM ZPERSON")?.int64 == 1)
    }
}
