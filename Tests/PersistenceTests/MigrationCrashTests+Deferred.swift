import CoreData
import FaultFiles
import Foundation
import SQLiteDriver
import Testing

/// What a lightweight migration left for later, struck at each deed of doing it.
extension MigrationCrashTests {
    private static let key = NSPersistentStoreDeferredLightweightMigrationOptionKey

    /// Goes without a table, columns, a to-many's table; gains an index.
    private struct Work {
        let old = VersionDraft.model { draft in
            draft.entity("Person", [text("name"), text("note")])
            draft.entity("Zone", [text("name")])
            draft.entity("Tag", [text("name")])
            draft.link("Person", "zone", .one, "Zone", "members", .many)
            draft.link("Person", "tags", .many, "Tag", "people", .many)
        }
        let new = VersionDraft.model { draft in
            draft.entity("Person", [text("name")])
            draft.entity("Tag", [text("name")])
            let element = NSFetchIndexElementDescription(
                property: draft.entities["Person"]?.attributesByName["name"] ?? .init(),
                collationType: .binary)
            draft.entities["Person"]?.indexes = [
                NSFetchIndexDescription(name: "byName", elements: [element])
            ]
        }

        /// A store whose work is left.
        func prepare() throws -> MigrationBench {
            let bench = try MigrationBench()
            try bench.fill(old) { context in
                let (zone, tag) = (
                    context.make("Zone", ["name": "Z"]), context.make("Tag", ["name": "T"])
                )
                for place in 0..<12 {
                    _ = context.make(
                        "Person",
                        ["name": "p\(place)", "note": "n", "zone": zone, "tags": Set([tag])])
                }
            }
            let options = MigrationBench.migrating.merging([MigrationCrashTests.key: true]) { $1 }
            try bench.open(new, options: options) { _ in }
            return bench
        }

        func finish(_ bench: MigrationBench) throws {
            try bench.open(new, options: [:]) { context throws in
                try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
            }
        }

        /// Opens as the new version with all its rows, whatever is left; goes on; is fresh.
        func expectWhole(_ bench: MigrationBench, _ deed: Int) throws {
            let connection = try Connection(path: bench.url.path, access: .readWrite)
            #expect(
                try connection.value("PRAGMA integrity_check")?.string == "ok", "deed \(deed)")
            let list = try connection.value(
                "SELECT count(*) FROM sqlite_master WHERE name = 'ADIPTYCHDEFERRED'")
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: NSSQLiteStoreType, at: bench.url)
            let isTold = metadata[MigrationCrashTests.key] as? Bool ?? false
            #expect(isTold == (list == 1), "deed \(deed)")
            try bench.open(new, options: [:]) { context throws in
                let people = try context.all("Person")
                #expect(people.count == 12, "deed \(deed)")
                #expect(people.first?.string("name") == "p0", "deed \(deed)")
            }
            try finish(bench)
            try bench.expectFreshShape(new)
        }
    }

    @Test(arguments: [FaultFileSystem.Fault.failing, .losingUnsynced, .full])
    func workForLaterOutlivesEachDeed(_ fault: FaultFileSystem.Fault) throws {
        let faults = FaultFileSystem.shared
        let work = Work()
        let origin = try work.prepare()
        var struck = 0
        for deed in stride(from: 1, to: 2_000, by: fault == .full ? 4 : 3) {
            let bench = try MigrationBench()
            try origin.copy(to: bench.folder)
            faults.begin(bench.folder, fault, at: deed)
            let isDone = (try? work.finish(bench)) != nil
            let left = try MigrationBench()
            try bench.copy(to: left.folder)
            let (_, hasStruck) = faults.end(bench.folder)
            #expect(isDone || hasStruck, "deed \(deed)")
            try work.expectWhole(left, deed)
            guard hasStruck else { break }
            struck += 1
        }
        #expect(struck > 5)
    }
}
