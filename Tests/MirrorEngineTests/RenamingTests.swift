import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteStore
import Stores
import Testing

/// Entities, attributes, to-ones and to-manys under new names, on devices side by side.
@Suite struct RenamingTests {
    let world: VersionedWorld
    let old: Device
    let new: Device

    init() throws {
        world = try VersionedWorld()
        old = try world.device()
        new = try world.device(isLater: true)
    }

    @Test func renamedThingsAreTheSameOnBothSides() throws {
        let folder = try old.insert("Folder", ["name": .text("f")])
        let note = try old.insert("Note", ["title": .text("t")])
        let tag = try old.insert("Tag")
        try old.link(note, "folder", folder, order: 1024)
        try old.pair(note, "tags", with: tag)
        try world.settle(old, new)
        let row = try new.only("Note")
        #expect(try new.value(row, "headline") == .text("t"))
        #expect(try new.target(row, "binder") == new.only("Binder"))
        #expect(try new.members(row, "labels") == [new.only("Tag")])

        let binder = try new.insert("Binder", ["name": .text("g")])
        let other = try new.insert("Tag")
        try new.set(row, "headline", .text("u"))
        try new.link(row, "binder", binder, order: 1024)
        try new.pair(row, "labels", with: other)
        try new.pair(row, "labels", with: new.only("Tag"), adding: false)
        try world.settle(new, old)
        #expect(try old.value(note, "title") == .text("u"))
        let target = try #require(try old.target(note, "folder"))
        #expect(try old.value(target, "name") == .text("g"))
        #expect(try old.members(note, "tags").count == 1)
        #expect(try old.members(note, "tags") != [tag])
    }

    @Test func anUpdateSendsNothingOfWhatIsRenamed() throws {
        let folder = try old.insert("Folder", ["name": .text("f")])
        let note = try old.insert("Note", ["title": .text("t")])
        try old.link(note, "folder", folder, order: 1024)
        try old.pair(note, "tags", with: old.insert("Tag"))
        try world.settle(old, new)
        let updated = try world.updated(old)
        #expect(try updated.sync().exported == 0)
        try updated.set(updated.only("Note"), "headline", .text("u"))
        #expect(try updated.sync().exported == 1)
        let fields = try world.record("CD_Note").fields
        #expect(fields["CD_title"] == .some(.string("u")) && fields["CD_headline"] == nil)
    }

    @Test func linksThatWaitFindTheirTargetsAfterTheUpdate() throws {
        let folder = try new.insert("Binder", ["name": .text("f")])
        let note = try new.insert("Note", ["headline": .text("t")])
        try new.link(note, "binder", folder, order: 1024)
        try new.sync()
        let zone = try world.service.records(inZone: new.mirrored.settings.zoneName)
        let missing = try #require(zone.values.first { $0.recordType == "CD_Folder" })
        old.intercept = { [service = world.service] request in
            guard case .zoneChanges = request,
                case .zoneChanges(var pages) = try service.handle(request, from: "o")
            else { return nil }
            pages[0].records.removeAll { $0.recordName == missing.recordName }
            return .zoneChanges(pages)
        }
        try old.sync()
        #expect(try old.target(old.only("Note"), "folder") == nil)
        let updated = try world.updated(old)
        let present = try updated.mirrored.prepare(container: "test")
        let request = PageRequest(token: present.token, toldWriteIDs: true, marks: present.marks)
        _ = try updated.mirrored.apply([missing], to: request)
        #expect(try updated.target(updated.only("Note"), "binder") == updated.only("Binder"))
        try world.settle(updated, new)
        #expect(try new.target(note, "binder") == folder)
    }

    @Test func conflictsThatWaitAreDecidedUnderTheNewName() throws {
        let policy = MergePolicy(standard: .error)
        let old = try world.device(policy: policy)
        let note = try old.insert("Note", ["title": .text("t")])
        try world.settle(old, new)
        try old.set(note, "title", .text("a"))
        try new.set(new.only("Note"), "headline", .text("b"))
        try new.sync()
        try old.sync()
        let updated = try world.updated(old, policy: policy)
        try updated.sync()
        let waiting = try updated.mirrored.conflicts(waitingOnly: true)
        #expect(waiting.map(\.property) == ["headline"])
        #expect(try updated.value(updated.only("Note"), "headline") == .text("a"))
        try updated.mirrored.resolve(conflict: waiting[0].id, taking: .remote)
        try world.settle(updated, new)
        #expect(try updated.value(updated.only("Note"), "headline") == .text("b"))
    }

    @Test func anObjectRestoredAfterTheUpdateHasItsRenamedLinks() throws {
        let (folder, note) = (try old.insert("Folder"), try old.insert("Note"))
        try old.link(note, "folder", folder, order: 1024)
        try old.pair(note, "tags", with: old.insert("Tag", ["label": .text("x")]))
        try world.settle(old, new)
        try new.delete(new.only("Note"))
        try new.delete(new.only("Binder"))
        try world.settle(new)
        try old.set(note, "title", .text("edited"))
        try old.set(folder, "name", .text("edited"))
        try world.settle(old)
        #expect(try old.rows("Note").isEmpty && old.rows("Folder").isEmpty)
        let updated = try world.updated(old)
        try world.settle(updated)
        for property in ["headline", "name"] {
            let line = try #require(
                try updated.mirrored.conflicts().first { $0.property == property })
            try updated.mirrored.restore(objectOfConflict: line.id)
        }
        try world.settle(updated, new)
        for device in [updated, new] {
            #expect(try device.members(device.only("Note"), "labels") == [device.only("Tag")])
            #expect(try device.target(device.only("Note"), "binder") == device.only("Binder"))
        }
    }

    @Test func timesOfEditsAreThoseOfOneProperty() throws {
        let policy = MergePolicy(standard: .latest)
        let (old, new) = (
            try world.device(policy: policy), try world.device(isLater: true, policy: policy)
        )
        let note = try old.insert("Note", ["title": .text("t")])
        try world.settle(old, new)
        old.clock.advance(seconds: 100)
        new.clock.advance(seconds: 200)
        try old.set(note, "title", .text("earlier"))
        try new.set(new.only("Note"), "headline", .text("later"))
        try new.sync()
        try world.settle(old, new)
        #expect(try old.value(note, "title") == .text("later"))
        let updated = try world.updated(old, policy: policy)
        updated.clock.advance(seconds: 300)
        new.clock.advance(seconds: 200)
        try updated.set(updated.only("Note"), "headline", .text("before"))
        try new.set(new.only("Note"), "headline", .text("last"))
        try updated.sync()
        try world.settle(new, updated)
        #expect(try updated.value(updated.only("Note"), "headline") == .text("last"))
    }

    /// Zones that were filled before fields had the names of identifiers.
    @Test func valuesUnderTheNewNameAreRead() throws {
        var record = Record(recordName: "n", recordType: "CD_Note")
        record.fields = [
            "CD_entityName": .string("Note"), "CD_headline": .string("h"),
        ]
        _ = try new.sync()
        let zone = ZoneID(zoneName: new.mirrored.settings.zoneName)
        let operations = [RecordOperation(.create, record)]
        _ = try world.service.handle(
            .modifyRecords(ModifyRecords(operations: operations, zoneID: zone)), from: "stranger")
        try new.sync()
        let note = try new.only("Note")
        #expect(try new.value(note, "headline") == .text("h"))
        try new.set(note, "headline", .null)
        try new.sync()
        let fresh = try world.device(isLater: true)
        try fresh.sync()
        #expect(try fresh.value(fresh.only("Note"), "headline") == .null)
    }

    @Test func aNameThatIsGivenAnewIsAnotherField() throws {
        let model = SampleModel.makeLater()
        model.entitiesByName["Note"]?.properties += [
            SampleModel.attribute("title", .stringAttributeType)
        ]
        let next = try world.open(world.folder.appendingPathComponent("next.sqlite"), model)
        let note = try old.insert("Note", ["title": .text("t")])
        try world.settle(old, next)
        #expect(try next.value(next.only("Note"), "headline") == .text("t"))
        #expect(try next.value(next.only("Note"), "title") == .null)
        try next.set(next.only("Note"), "title", .text("another"))
        try world.settle(next, old)
        #expect(try old.value(note, "title") == .text("t"))
    }
}
