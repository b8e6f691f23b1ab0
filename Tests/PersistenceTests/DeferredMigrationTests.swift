import CoreData
import Foundation
import SQLiteDriver
import Testing

/// What a lightweight migration leaves for later, and doing it piece by piece.
@Suite struct DeferredMigrationTests {
    private let first = VersionDraft.model { draft in
        draft.entity("Person", [text("name"), text("note"), text("remark")])
        draft.entity("Zone", [text("name")])
        draft.entity("Tag", [text("name")])
        draft.link("Person", "group", .one, "Zone", "members", .many)
        draft.link("Person", "tags", .many, "Tag", "people", .many)
    }
    /// Without note, remark, Zone and tags; with an index.
    private let second = VersionDraft.model { draft in
        draft.entity("Person", [text("name")])
        draft.entity("Tag", [text("name")])
        let element = NSFetchIndexElementDescription(
            property: draft.entities["Person"]?.attributesByName["name"] ?? .init(),
            collationType: .binary)
        draft.entities["Person"]?.indexes = [
            NSFetchIndexDescription(name: "byName", elements: [element])
        ]
    }

    private static let key = NSPersistentStoreDeferredLightweightMigrationOptionKey
    private static var deferring: [AnyHashable: Any] {
        MigrationBench.migrating.merging([key: true]) { $1 }
    }

    private func fill(_ bench: MigrationBench) throws {
        try bench.fill(first) { context in
            let group = context.make("Zone", ["name": "G"])
            let tag = context.make("Tag", ["name": "T"])
            for index in 0..<10 {
                _ = context.make(
                    "Person",
                    [
                        "name": "p\(index)", "note": "old note", "remark": "r", "group": group,
                        "tags": Set([tag]),
                    ])
            }
        }
    }

    private func isPending(_ bench: MigrationBench) throws -> Bool {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: bench.url)
        return metadata[Self.key] as? Bool ?? false
    }

    private func names(_ bench: MigrationBench) throws -> Set<String> {
        let connection = try Connection(path: bench.url.path, access: .readWrite)
        let columns = try connection.rows("SELECT name FROM pragma_table_info('ZPERSON')")
        let others = try connection.rows("SELECT name FROM sqlite_master WHERE name GLOB 'Z*'")
        return Set((columns + others).compactMap { $0[0].string })
    }

    @Test func whatNobodyReadsStaysUntilItIsDropped() throws {
        let bench = try MigrationBench()
        try fill(bench)
        try bench.open(second, options: Self.deferring) { context throws in
            #expect(try context.all("Person").count == 10)
            _ = context.make("Person", ["name": "new"])
            try context.save()
        }
        #expect(try isPending(bench))
        #expect(try names(bench).isSuperset(of: ["ZNOTE", "ZREMARK", "ZGROUP", "Z_FORMER_ZZONE"]))
        #expect(try !names(bench).contains("Z_Person_byName"))
        // Whoever opens it, with the option or without, sees that something is left.
        var count = 0
        try bench.open(second, options: [:]) { context throws in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let store = try #require(coordinator.persistentStores.first)
            #expect(store.metadata[Self.key] as? Bool == true)
            store.metadata = ["mine": 1]
            while store.metadata[Self.key] != nil, count < 20 {
                try coordinator.finishDeferredLightweightMigrationTask()
                count += 1
                #expect(try context.all("Person").count == 11)
                _ = context.make("Person", ["name": "late"])
                try context.save()
                context.delete(try context.one("Person", "late"))
                try context.save()
            }
            #expect(store.metadata["mine"] as? Int == 1)
            try coordinator.finishDeferredLightweightMigrationTask()
        }
        // Two attributes, a link, the table of zones, the table of pairs, an index.
        #expect(count == 6)
        #expect(try !isPending(bench))
        try bench.expectFreshShape(second)
    }

    @Test func allOfItIsDoneAtOnce() throws {
        let bench = try MigrationBench()
        try fill(bench)
        try bench.open(second, options: Self.deferring) { context throws in
            try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
            try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
            #expect(try context.all("Person").count == 10)
        }
        #expect(try !isPending(bench))
        try bench.expectFreshShape(second)
    }

    @Test func withoutTheOptionNothingIsLeft() throws {
        for kind in [StoreKind.sqlite, .xml] {
            let bench = try MigrationBench(kind)
            try fill(bench)
            let options = kind == .sqlite ? MigrationBench.migrating : Self.deferring
            try bench.open(second, options: options) { context throws in
                let store = context.persistentStoreCoordinator?.persistentStores.first
                #expect(store?.metadata[Self.key] == nil)
                #expect(try context.all("Person").count == 10)
                try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
            }
        }
    }

    /// A value that was removed does not come back with an attribute of the same name.
    @Test(arguments: [true, false]) func theNextVersionBeginsAnew(_ isDeferred: Bool) throws {
        let bench = try MigrationBench()
        try fill(bench)
        try bench.open(second, options: Self.deferring) { _ in }
        let third = VersionDraft.model { draft in
            draft.entity("Person", [text("name"), text("note")])
            draft.entity("Zone", [text("name")])
            draft.entity("Tag", [text("name")])
            draft.link("Person", "group", .one, "Zone", "members", .many)
            draft.link("Person", "tags", .many, "Tag", "people", .many)
        }
        let options = isDeferred ? Self.deferring : MigrationBench.migrating
        try bench.open(third, options: options) { context throws in
            #expect(try context.all("Person").count == 10)
            #expect(try context.all("Person").allSatisfy { $0.string("note") == nil })
            #expect(try context.all("Person").allSatisfy { $0.names("tags").isEmpty })
            #expect(try context.all("Zone").isEmpty)
            try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
        }
        try bench.expectFreshShape(third)
    }

    @Test func stagesLeaveWorkToo() throws {
        let bench = try MigrationBench()
        try fill(bench)
        let middle = VersionDraft.model { draft in
            draft.entity("Person", [text("name"), text("remark")])
            draft.entity("Tag", [text("name")])
        }
        func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
            NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
        }
        let custom = NSCustomMigrationStage(
            migratingFrom: reference(first), to: reference(middle))
        var options = Self.deferring
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager([
            custom,
            NSLightweightMigrationStage([middle, second].map(\.versionChecksum)),
        ])
        try bench.open(second, options: options) { context throws in
            #expect(try context.all("Person").count == 10)
        }
        #expect(try isPending(bench))
        let left = try names(bench)
        #expect(left.contains("ZREMARK"))
        #expect(!left.contains("ZNOTE"))
        try bench.open(second, options: [:]) { context throws in
            try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
        }
        try bench.expectFreshShape(second)
    }

    /// The list in the file may be a stranger's: what the model has stays.
    @Test func aListThatNamesWhatIsUsedDoesNoHarm() throws {
        let bench = try MigrationBench()
        try fill(bench)
        try bench.open(second, options: Self.deferring) { _ in }
        let lines = [
            "('ZPERSON', NULL, NULL)", "('ZPERSON', 'ZNAME', NULL)", "('ZPERSON', 'Z_PK', NULL)",
            "('Z_METADATA', NULL, NULL)", "('Z_METADATA', 'Z_PLIST', NULL)",
            "('ACHANGE', NULL, NULL)", "(NULL, NULL, 'nothing')", "(NULL, NULL, NULL)",
            "(x'00', 7, 1.5)",
        ]
        try Connection(path: bench.url.path, access: .readWrite).script(
            "INSERT INTO ADIPTYCHDEFERRED (ZTABLE, ZCOLUMN, ZINDEX) VALUES "
                + lines.joined(separator: ", "))
        try bench.open(second, options: [:]) { context throws in
            try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
            #expect(try context.all("Person").count == 10)
            #expect(try context.one("Person", "p3").string("name") == "p3")
        }
        #expect(try !isPending(bench))
        try bench.expectFreshShape(second)
    }

    @Test func aReadOnlyStoreKeepsItsWork() throws {
        let bench = try MigrationBench()
        try fill(bench)
        try bench.open(second, options: Self.deferring) { _ in }
        let options: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: true]
        try bench.open(second, options: options) { context throws in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let error = try cocoaError { try coordinator.finishDeferredLightweightMigration() }
            #expect(error.code == NSPersistentStoreSaveError)
        }
        #expect(try isPending(bench))
    }
}
