import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import Persistence
import Predicates
import RecordWire
import SQLiteStore
import Stores
import Testing

/// Migrations that make a new file: what a mirror and its service agreed on follows the objects.
@Suite struct MappedMigrationTests {
    let world: VersionedWorld
    let old: Device
    let new: Device
    let note: RowID

    /// Notes in a folder, with tags, that both devices have; one has a subtitle that only the newer
    /// device knows. Keys are not those that a new file would give.
    init() throws {
        world = try VersionedWorld()
        old = try world.device()
        new = try world.device(isLater: true)
        for number in 0..<5 {
            try old.delete(old.insert("Note", ["views": .integer(Int64(number))]))
        }
        note = try old.insert("Note", ["title": .text("t"), "views": .integer(1)])
        try old.insert("TodoNote", ["title": .text("todo"), "isDone": .integer(1)])
        let folder = try old.insert("Folder", ["name": .text("f")])
        let tag = try old.insert("Tag", ["label": .text("x")])
        try old.link(note, "folder", folder, order: 1024)
        try old.pair(note, "tags", with: tag)
        try old.pair(tag, "pinned", with: note)
        try world.settle(old, new)
        try new.set(new.only("Note"), "subtitle", .text("s"))
        try world.settle(new, old)
    }

    private func noteWithValues(_ device: Device) throws -> RowID {
        try #require(
            try device.rows("Note").first { try device.value($0.id, "subtitle") == .text("s") }
        ).id
    }

    @Test func nothingIsSentOrReceivedAgain() throws {
        let mapped = try world.mapped(old)
        let result = try mapped.sync()
        #expect(result.exported == 0 && result.imported.received == 0)
        let row = try noteWithValues(mapped)
        #expect(row.key != note.key)
        #expect(try mapped.value(row, "headline") == .text("t"))
        #expect(try mapped.target(row, "binder") == mapped.only("Binder"))
        #expect(try mapped.members(row, "labels") == [mapped.only("Tag")])
        #expect(try new.sync().imported.received == 0)
        #expect(try mapped.mirrored.conflicts().isEmpty)
    }

    @Test func whatWaitedIsSentAndNoMore() throws {
        try old.set(note, "title", .text("u"))
        let tag = try old.insert("Tag", ["label": .text("y")])
        try old.pair(note, "tags", with: tag)
        try old.delete(old.only("TodoNote"))
        let mapped = try world.mapped(old)
        #expect(try mapped.sync().exported == 4)
        try world.settle(new, mapped)
        #expect(try new.value(noteWithValues(new), "headline") == .text("u"))
        #expect(try new.members(noteWithValues(new), "labels").count == 2)
        #expect(try new.rows("TodoNote").isEmpty)
    }

    @Test func editsAfterTheMigrationAreSentAlso() throws {
        try old.set(note, "title", .text("u"))
        let mapped = try world.mapped(old)
        let row = try #require(
            try mapped.rows("Note").first { try mapped.value($0.id, "headline") == .text("u") })
        try mapped.set(row.id, "views", .integer(9))
        try mapped.delete(mapped.only("Tag"))
        try world.settle(mapped, new)
        try mapped.set(row.id, "views", .integer(10))
        try world.settle(mapped, new)
        #expect(try new.value(noteWithValues(new), "views") == .integer(10))
        #expect(try new.value(noteWithValues(new), "headline") == .text("u"))
        #expect(try new.rows("Tag").isEmpty)
    }

    @Test func aMappingThatChangesValuesSendsThem() throws {
        let mapping = try world.inferred()
        let notes = try #require(
            mapping.entityMappings?.first { $0.destinationEntityName == "TodoNote" })
        let views = try #require(notes.attributeMappings?.first { $0.name == "views" })
        views.valueExpression = NSExpression(forConstantValue: 7)
        let mapped = try world.mapped(old, by: mapping)
        #expect(try mapped.sync().exported == 1)
        let sent = mapped.requests.compactMap { request in
            if case .modifyRecords(let modify) = request { modify } else { nil }
        }
        #expect(sent.flatMap(\.operations).map { Set($0.record.fields.keys) } == [["CD_views"]])
        try world.settle(new, mapped)
        #expect(try new.value(new.only("TodoNote"), "views") == .integer(7))
    }

    @Test func aValueThatSomebodyGaveStandsBeforeAComputedOne() throws {
        let mapping = try world.inferred()
        for entity in mapping.entityMappings ?? [] {
            let subtitle = entity.attributeMappings?.first { $0.name == "subtitle" }
            subtitle?.valueExpression = NSExpression(forConstantValue: "computed")
        }
        let mapped = try world.mapped(old, by: mapping)
        try world.settle(mapped, new)
        #expect(try mapped.value(noteWithValues(mapped), "headline") == .text("t"))
        #expect(try new.value(new.only("TodoNote"), "subtitle") == .text("computed"))
        let logged = try mapped.mirrored.conflicts()
        #expect(logged.map(\.rule) == ["migration"] && logged.map(\.property) == ["subtitle"])
    }

    @Test func whatAMappingLeavesOutIsNotDeletedElsewhere() throws {
        let mapping = try world.inferred()
        mapping.entityMappings = mapping.entityMappings?.filter { $0.sourceEntityName != "Tag" }
        let mapped = try world.mapped(old, by: mapping)
        try world.settle(mapped, new)
        #expect(try new.rows("Tag").count == 1 && mapped.rows("Tag").count == 1)
    }

    @Test func aDecisionThatWaitsAndAnAnswerThatWasLostFollow() throws {
        try old.set(note, "title", .text("u"))
        old.intercept = { [service = world.service, old] request in
            guard case .modifyRecords = request else { return nil }
            _ = try service.handle(request, from: try old.mirrored.deviceID())
            throw MirrorError(.stopped, "killed")
        }
        _ = try old.sync()
        let mapped = try world.mapped(old)
        try world.settle(mapped, new)
        #expect(try mapped.mirrored.conflicts().isEmpty)
        #expect(try new.value(noteWithValues(new), "headline") == .text("u"))
    }

    @Test func aCoordinatorMigratesAMirroredStoreByMapping() throws {
        let file = try #require(world.file(of: old))
        try old.set(note, "title", .text("u"))
        let parts = try [["Note", "TodoNote"], ["Folder", "Tag", "Cover"]].map { names in
            let mapping = try world.inferred()
            mapping.entityMappings = mapping.entityMappings?.filter { entity in
                names.contains(entity.sourceEntityName ?? "")
            }
            return mapping
        }
        let draft = file.deletingLastPathComponent().appendingPathComponent("whole.sqlite")
        let manager = NSMigrationManager(sourceModel: world.former, destinationModel: world.later)
        let whole = try world.inferred()
        try manager.migrateStore(
            from: file, type: .sqlite, mapping: whole, to: draft, type: .sqlite)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: world.later)
        try coordinator.replacePersistentStore(
            at: file, withPersistentStoreFrom: draft, type: .sqlite)
        let mapped = try world.open(file, world.later)
        #expect(try mapped.sync().exported == 1)
        #expect(parts.count == 2)
    }
}
