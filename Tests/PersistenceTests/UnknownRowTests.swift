import CoreData
import Foundation
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Rows whose entity number no model has: nothing that makes another file of a store leaves them
/// out in silence.
@Suite struct UnknownRowTests {
    private func model(_ more: (inout VersionDraft) -> Void) -> NSManagedObjectModel {
        VersionDraft.model { draft in
            draft.entity("Person", [text("name")])
            draft.entity("Employee", [number("salary")], below: "Person")
            more(&draft)
        }
    }

    /// A store of three people, one of whom is of entity 77.
    private func damaged(_ old: NSManagedObjectModel) throws -> MigrationBench {
        let bench = try MigrationBench()
        try bench.fill(old) { context throws in
            for name in ["Ada", "Bob"] { _ = context.make("Person", ["name": name]) }
            _ = context.make("Employee", ["name": "Eve"])
        }
        try Connection(path: bench.url.path, access: .readWrite).run(
            "UPDATE ZPERSON SET Z_ENT = 77 WHERE ZNAME = 'Bob'")
        return bench
    }

    private func expectWhole(_ bench: MigrationBench) throws {
        #expect(try bench.value("SELECT count(*) FROM ZPERSON")?.int64 == 3)
        #expect(try bench.value("SELECT count(*) FROM ZPERSON WHERE Z_ENT = 77")?.int64 == 1)
    }

    private func expect(_ error: NSError) {
        let failure = error.userInfo[NSUnderlyingErrorKey] as? StoreError
        #expect(failure?.code == .corrupt || "\(error)".contains("1 row of the table"))
        #expect("\(error)".contains("would be lost"))
    }

    /// The table gets another name, and is made anew.
    @Test func anUpgradeRefusesThem() throws {
        let new = VersionDraft.model { draft in
            draft.entity("Human", [text("name"), number("n")], from: "Person")
            draft.entity("Employee", [number("salary")], below: "Human")
        }
        let bench = try damaged(model { _ in })
        let error = try cocoaError { try bench.open(new) { _ in } }
        expect(error)
        try expectWhole(bench)
        try Connection(path: bench.url.path, access: .readWrite).run(
            "UPDATE ZPERSON SET Z_ENT = (SELECT max(Z_ENT) FROM ZPERSON WHERE ZNAME = 'Ada') "
                + "WHERE Z_ENT = 77")
        try bench.open(new) { context throws in
            let people = try context.all("Human").compactMap { $0.string("name") }
            #expect(people == ["Ada", "Bob", "Eve"])
        }
    }

    /// A table that stays keeps them; unless their number becomes that of another entity.
    @Test(arguments: [77, 3]) func anUpgradeThatLeavesTheirTableKeepsThem(_ number: Int) throws {
        let bench = try damaged(model { _ in })
        try Connection(path: bench.url.path, access: .readWrite).run(
            "UPDATE ZPERSON SET Z_ENT = \(number) WHERE Z_ENT = 77")
        let new = model { draft in
            draft.entity("Worker", [text("more")], below: "Person")
        }
        if number == 3 {
            expect(try cocoaError { try bench.open(new) { _ in } })
        } else {
            try bench.open(new) { _ in }
            try expectWhole(bench)
        }
        #expect(try bench.value("SELECT count(*) FROM ZPERSON")?.int64 == 3)
    }

    @Test(arguments: [StoreKind.sqlite, .xml, .binary, .memory])
    func aMoveRefusesThem(_ kind: StoreKind) throws {
        let model = model { _ in }
        let bench = try damaged(model)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: bench.url)
        let place = bench.folder.appendingPathComponent("moved")
        let error = try cocoaError {
            try coordinator.migratePersistentStore(store, to: place, withType: kind.type)
        }
        expect(error)
        try expectWhole(bench)
        #expect(!FileManager.default.fileExists(atPath: place.path))
        #expect(coordinator.persistentStores == [store])
        let rows = try #require(store.rowStore as? SQLiteRowStore)
        #expect(throws: StoreError.self) { try rows.checkEntityNumbers() }
        try Connection(path: bench.url.path, access: .readWrite).run(
            "DELETE FROM ZPERSON WHERE Z_ENT = 77")
        try rows.checkEntityNumbers()
        try coordinator.migratePersistentStore(store, to: place, withType: kind.type)
    }

    @Test func aMigrationByAMappingModelRefusesThem() throws {
        let old = model { _ in }
        let new = VersionDraft.model { draft in
            draft.entity("Human", [text("name")], from: "Person")
            draft.entity("Employee", [number("salary")], below: "Human")
        }
        let bench = try damaged(old)
        let mapping = NSMappingModel()
        mapping.entityMappings = [
            .transforming("Person", "Human", ["name": "$source.name"], from: old, to: new),
            .transforming("Employee", "Employee", ["name": "$source.name"], from: old, to: new),
        ]
        let error = try cocoaError {
            try ProgressiveMigration(
                storeAt: bench.url, type: .sqlite,
                versions: ModelVersions(
                    [.init(name: "1", model: old), .init(name: "2", model: new)],
                    mappings: [mapping])
            ).run()
        }
        expect(error)
        try expectWhole(bench)
    }
}
