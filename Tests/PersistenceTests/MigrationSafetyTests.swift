import CoreData
import Foundation
import Platform
import SQLiteDriver
import Testing

@testable import Persistence

/// A migration that ends in the middle leaves the store as it was.
@Suite struct MigrationSafetyTests {
    private let first = VersionDraft.model { draft in
        draft.entity("Person", [text("name"), text("note")])
        draft.entity("Group", [text("name")])
        draft.link("Person", "group", .one, "Group", "members", .many)
    }
    private let second = VersionDraft.model { draft in
        draft.entity("Being", [text("name"), number("size", optional: false, 1)], from: "Person")
        draft.entity("Group", [text("name")])
        draft.link("Being", "group", .many, "Group", "members", .many)
    }

    private func fill(_ bench: MigrationBench) throws {
        try bench.fill(first) { context throws in
            let group = context.make("Group", ["name": "G"])
            for index in 0..<200 {
                _ = context.make("Person", ["name": "p\(index)", "group": group])
            }
        }
    }

    private struct Strike: FaultPoints {
        struct Fault: Error {}
        let point: String
        func reach(_ name: String) throws { if name == point { throw Fault() } }
    }

    private func migrate(_ bench: MigrationBench, strikingAt point: String) throws {
        var platform = Environment.system
        platform.faults = Strike(point: point)
        let coordinator = NSPersistentStoreCoordinator(model: second, platform: platform)
        try coordinator.addPersistentStore(
            ofType: bench.kind.type, configurationName: nil, at: bench.url,
            options: MigrationBench.migrating)
    }

    @Test(arguments: [
        (StoreKind.sqlite, "upgrade.rows"), (.sqlite, "upgrade.beforeCommit"),
        (.xml, "migrate.filled"), (.binary, "migrate.filled"), (.xml, "replace.staged"),
    ])
    func aFaultLeavesTheOldStore(_ kind: StoreKind, _ point: String) throws {
        let bench = try MigrationBench(kind)
        try fill(bench)
        let error = try cocoaError { try migrate(bench, strikingAt: point) }
        #expect(error.code == NSMigrationError)
        #expect(bench.names == ["store.\(kind.rawValue)"])
        try bench.open(first, options: [:]) { context throws in
            #expect(try context.all("Person").count == 200)
            #expect(try context.one("Group", "G").names("members").count == 200)
        }
        try bench.open(second) { context throws in #expect(try context.all("Being").count == 200) }
    }

    /// Makes what lies beside the store garbage when the point is passed.
    private struct Damage: FaultPoints {
        let point: String
        let store: URL
        func reach(_ name: String) throws {
            guard name == point else { return }
            let folder = store.deletingLastPathComponent()
            for file in try FileManager.default.contentsOfDirectory(
                at: folder, includingPropertiesForKeys: nil)
            where file.lastPathComponent != store.lastPathComponent {
                try Data("no store".utf8).write(to: file)
            }
        }
    }

    /// What the new file's reader refuses is found out while the old file is still there.
    @Test(arguments: [StoreKind.xml, .binary])
    func aNewFileThatCannotBeReadTakesNoPlace(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        try fill(bench)
        var platform = Environment.system
        platform.faults = Damage(point: "migrate.filled", store: bench.url)
        let coordinator = NSPersistentStoreCoordinator(model: second, platform: platform)
        let error = try cocoaError {
            try coordinator.addPersistentStore(
                ofType: bench.kind.type, configurationName: nil, at: bench.url,
                options: MigrationBench.migrating)
        }
        #expect(error.code == NSMigrationError)
        #expect(bench.names == ["store.\(kind.rawValue)"])
        try bench.open(first, options: [:]) { context throws in
            #expect(try context.all("Person").count == 200)
        }
    }

    /// Copies the store's folder when the point is passed, as a killed process would leave it.
    private struct Photograph: FaultPoints {
        let point: String
        let folder: URL
        let copy: URL
        func reach(_ name: String) throws {
            guard name == point else { return }
            try FileManager.default.copyItem(at: folder, to: copy)
        }
    }

    @Test(arguments: [
        (StoreKind.sqlite, "upgrade.rows"), (.sqlite, "upgrade.beforeCommit"),
        (.xml, "migrate.filled"), (.xml, "replace.staged"), (.binary, "replace.staged"),
    ])
    func aKilledProcessLeavesTheOldStore(_ kind: StoreKind, _ point: String) throws {
        let (bench, twin) = (try MigrationBench(kind), try MigrationBench(kind))
        try fill(bench)
        let copy = twin.folder.appendingPathComponent("left")
        var platform = Environment.system
        platform.faults = Photograph(point: point, folder: bench.folder, copy: copy)
        let coordinator = NSPersistentStoreCoordinator(model: second, platform: platform)
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: bench.url,
            options: MigrationBench.migrating)
        let left = copy.appendingPathComponent(bench.url.lastPathComponent)
        try twin.open(first, at: left, options: [:]) { context throws in
            #expect(try context.all("Person").count == 200)
        }
        try twin.open(second, at: left) { context throws in
            #expect(try context.all("Being").count == 200)
        }
    }

    @Test func aFullDiskLeavesTheOldStore() throws {
        let bench = try MigrationBench()
        try fill(bench)
        let pages = try #require(try bench.value("PRAGMA page_count")?.int64)
        var options = MigrationBench.migrating
        options[NSSQLitePragmasOption] = ["max_page_count": "\(pages + 1)"]
        let error = try cocoaError { try bench.open(second, options: options) { _ in } }
        #expect(error.code == NSMigrationError)
        let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
        #expect(cause.code == NSPersistentStoreSaveError)
        try bench.open(first, options: [:]) { context throws in
            #expect(try context.all("Person").count == 200)
        }
    }

    @Test func aReadOnlyStoreIsNotMigrated() throws {
        let bench = try MigrationBench()
        try fill(bench)
        var options = MigrationBench.migrating
        options[NSReadOnlyPersistentStoreOption] = true
        let error = try cocoaError { try bench.open(second, options: options) { _ in } }
        #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test func whatOthersHaveOpenIsWaitedFor() throws {
        let bench = try MigrationBench()
        try fill(bench)
        let other = try Connection(path: bench.url.path, access: .readWrite)
        var options = MigrationBench.migrating
        options[NSPersistentStoreTimeoutOption] = 0
        try other.transaction {
            let error = try cocoaError { try bench.open(second, options: options) { _ in } }
            let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
            #expect(cause.code == NSPersistentStoreTimeoutError)
        }
        try bench.open(second) { context throws in #expect(try context.all("Being").count == 200) }
    }
}
