import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import Stores
import Testing

/// What a device edits that is not its user's to change is taken back as the service has it.
@Suite struct RefusedEditTests {
    let service: SimulatedService
    let a: Device
    let b: Device

    init() throws {
        service = try Device.service()
        let model = SampleModel.make(uniqueLabels: true)
        a = try Device(1, service, model: model)
        b = try Device(2, service, model: model)
        let folder = try a.insert("Folder", ["name": .text("f")])
        let note = try a.insert(
            "Note", ["title": .text("old"), "price": .decimal(1.5), "views": .integer(2)])
        let tag = try a.insert("Tag", ["label": .text("t")])
        try a.insert("Tag", ["label": .text("u")])
        try a.link(note, "folder", folder, order: 10)
        try a.pair(note, "tags", with: tag)
        for _ in 0..<2 { for device in [a, b] { #expect(try device.sync().error == nil) } }
        b.refuseAll()
    }

    private func tag(_ label: String) throws -> RowID {
        try #require(
            try b.rows("Tag").first { try b.value($0.id, "label") == .text(label) }
        ).id
    }

    private func name(_ row: RowID) throws -> String {
        try #require(try b.mirrored.recordName(of: row))
    }

    private func expectAsBefore(title: String = "old") throws {
        let note = try b.only("Note")
        #expect(try b.value(note, "title") == .text(title))
        #expect(try b.value(note, "price") == .decimal(1.5))
        #expect(try b.value(note, "views") == .integer(2))
        #expect(try b.target(note, "folder") == b.only("Folder"))
        #expect(try b.members(note, "tags") == [tag("t")])
    }

    @Test func anObjectIsAsTheServiceHasItAndNothingIsSent() throws {
        let note = try b.only("Note")
        try b.set(note, "title", .text("mine"))
        try b.set(note, "views", .integer(7))
        try b.link(note, "folder", nil)
        try b.sync()
        let refused = try b.mirrored.refusedEdits()
        #expect(refused.map(\.recordName) == [try name(note)] && refused[0].entityName == "Note")
        #expect(refused[0].reason == "ACCESS_DENIED: The record is another user's.")
        #expect(try b.mirrored.status()?.refusedEdits == refused)
        let sent = b.sendings
        let edit = try b.mirrored.restore(refusedEditOf: name(note))
        #expect(edit.row == note && edit.staying.isEmpty)
        try expectAsBefore()
        #expect(try b.mirrored.status()?.isInSync == true)
        try b.sync()
        #expect(b.sendings == sent)
        // It lives on as any other, and no count of then is told with what is sent later.
        b.intercept = { _ in nil }
        try a.set(a.only("Note"), "title", .text("newer"))
        try a.sync()
        try b.sync()
        try expectAsBefore(title: "newer")
        try b.set(note, "rating", .double(4))
        try a.set(a.only("Note"), "views", .integer(3))
        for device in [b, a, b] { #expect(try device.sync().isInSync) }
        for device in [a, b] {
            #expect(try device.value(device.only("Note"), "views") == .integer(3))
            #expect(try device.value(device.only("Note"), "rating") == .double(4))
        }
    }

    @Test func whatWasEditedIsInTheLogAndCanBePutBack() throws {
        let note = try b.only("Note")
        try b.set(note, "title", .text("mine"))
        try b.sync()
        try b.mirrored.restore(refusedEditOf: name(note))
        let line = try #require(try b.mirrored.conflicts().first { $0.property == "title" })
        #expect(line.rule == ConflictEntry.handRule && line.winner == "remote")
        #expect(line.local == .string("mine") && line.remote == .string("old"))
        b.intercept = { _ in nil }
        try b.mirrored.resolve(conflict: line.id, taking: .local)
        for device in [b, a] { try device.sync() }
        #expect(try a.value(a.only("Note"), "title") == .text("mine"))
    }

    @Test func aPairThatAnotherDeviceMadeTooStays() throws {
        try b.pair(b.only("Note"), "tags", with: tag("u"))
        try b.sync()
        let other = try #require(
            try a.rows("Tag").first { try a.value($0.id, "label") == .text("u") })
        try a.pair(a.only("Note"), "tags", with: other.id)
        try a.sync()
        try b.sync()
        try b.mirrored.restoreRefusedEdits()
        #expect(try b.members(b.only("Note"), "tags").count == 2)
        #expect(try b.mirrored.conflicts().filter { $0.property == "tags" }.isEmpty)
        b.intercept = { _ in nil }
        for device in [b, a, b] { #expect(try device.sync().isInSync) }
        for device in [a, b] {
            #expect(try device.members(device.only("Note"), "tags").count == 2)
        }
    }

    @Test func pairsThatWereRefusedGoAndThoseThatWereRemovedAreThereAgain() throws {
        let note = try b.only("Note")
        try b.pair(note, "tags", with: tag("u"))
        try b.pair(note, "tags", with: tag("t"), adding: false)
        try b.sync()
        #expect(try b.members(note, "tags") == [tag("u")])
        #expect(try b.mirrored.status()?.refusals.count == 2)
        let refused = try b.mirrored.refusedEdits()
        #expect(refused.map(\.row) == [note])
        #expect(refused[0].reason == "ACCESS_DENIED: The record is another user's.")
        let edits = try b.mirrored.restoreRefusedEdits()
        #expect(edits.map(\.row).contains(note))
        try expectAsBefore()
        #expect(try b.mirrored.status()?.isInSync == true)
        let lost = try b.mirrored.conflicts().filter { $0.property == "tags" }
        #expect(lost.map(\.rule) == [ConflictEntry.handRule])
        b.intercept = { _ in nil }
        for device in [b, a] { #expect(try device.sync().exported == 0) }
        #expect(try a.members(a.only("Note"), "tags").count == 1)
    }

    @Test func aMemberThatWasMovedIsAtItsFormerPlaceAgain() throws {
        let name = SampleModel.attribute("name", .stringAttributeType)
        let album = SampleModel.entity("Album", [])
        let song = SampleModel.entity("Song", [name])
        SampleModel.connect(
            album, "songs", many: true, ordered: true, song, "albums", many: true)
        let model = NSManagedObjectModel()
        model.entities = [album, song]
        let service = try Device.service()
        let owner = try Device(3, service, model: model)
        let guest = try Device(4, service, model: model)
        let row = try owner.insert("Album")
        for name in ["one", "two", "three"] {
            let song = try owner.insert("Song", ["name": .text(name)])
            try owner.pair(row, "songs", with: song)
        }
        for _ in 0..<2 { for device in [owner, guest] { try device.sync() } }
        func names() throws -> [AttributeValue?] {
            try guest.members(guest.only("Album"), "songs").map { try guest.value($0, "name") }
        }
        let before = try names()
        let songs = try guest.members(guest.only("Album"), "songs")
        guest.refuseAll()
        try guest.reorder(guest.only("Album"), "songs", [songs[2], songs[0], songs[1]])
        try guest.sync()
        #expect(try names() != before)
        #expect(try !guest.mirrored.restoreRefusedEdits().isEmpty)
        #expect(try names() == before)
        guest.intercept = { _ in nil }
        #expect(try guest.sync().exported == 0)
    }

    @Test func allAreTakenBackAtOnceAndOnesOwnStay() throws {
        let own = try b.insert("Note", ["title": .text("own")])
        for row in try b.rows("Tag") { try b.set(row.id, "label", .text("\(row.id.key)")) }
        try b.sync()
        #expect(try b.mirrored.restoreRefusedEdits().count == 2)
        let labels = try b.rows("Tag").map { try b.value($0.id, "label") }
        #expect(Set(labels) == [.text("t"), .text("u")])
        #expect(try b.value(own, "title") == .text("own"))
        // What the service would not take as new is nobody's edit.
        let status = try #require(try b.mirrored.status())
        #expect(status.refusals.count == 1 && status.refusedEdits.isEmpty)
        #expect(try b.mirrored.restoreRefusedEdits().isEmpty)
    }

    @Test func aKeyThatAnotherHasByNowIsToldAndNothingChanges() throws {
        let old = try tag("t")
        try b.set(old, "label", .text("v"))
        try b.sync()
        try b.insert("Tag", ["label": .text("t")])
        #expect {
            try b.mirrored.restoreRefusedEdits()
        } throws: { ($0 as? MirrorError)?.code == .keyTaken }
        #expect(try b.value(old, "label") == .text("v"))
        #expect(try b.mirrored.refusedEdits().count == 1)
        #expect(try b.mirrored.conflicts().isEmpty)
    }

    @Test func anEditThatNobodyRefusedIsNotTakenBack() throws {
        let note = try b.only("Note")
        try b.set(note, "title", .text("mine"))
        try b.sync()
        // Edited again, it is to be sent again.
        try b.set(note, "title", .text("once more"))
        for name in [try name(note), "nothing"] {
            #expect {
                try b.mirrored.restore(refusedEditOf: name)
            } throws: { ($0 as? MirrorError)?.code == .noRefusedEdit }
        }
        #expect(try b.value(note, "title") == .text("once more"))
    }

    /// An edit that waits for room, or behind a record whose large value has not come, goes by
    /// itself.
    @Test func whatWaitsIsNotTakenBack() throws {
        let note = try b.only("Note")
        b.refuseAll(.quotaExceeded, "The container is full.")
        try b.set(note, "title", .text("mine"))
        try b.sync()
        #expect(try b.mirrored.status()?.refusals.count == 1)
        #expect(try b.mirrored.restoreRefusedEdits().isEmpty)
        #expect(try b.value(note, "title") == .text("mine"))

        let service = try Device.service()
        let owner = try Device(3, service, assetsAbove: 100)
        let other = try Device(4, service, assetsAbove: 100)
        let cover = try owner.insert("Cover", ["image": .data(Data([1]))])
        for device in [owner, other] { try device.sync() }
        try owner.set(cover, "image", .data(Data(repeating: 7, count: 500)))
        try owner.sync()
        other.interceptDownload = { _ in throw Missing(name: "asset") }
        try other.sync()
        try other.set(other.only("Cover"), "image", .data(Data([2])))
        try other.sync()
        let status = try #require(try other.mirrored.status())
        #expect(status.refusals.map(\.reason)[0].hasPrefix("ASSET_MISSING"))
        #expect(status.pending.updates == 1)
        #expect(try other.mirrored.restoreRefusedEdits().isEmpty)
        #expect(try other.value(other.only("Cover"), "image") == .data(Data([2])))
    }

    @Test func aLargeValueThatOnlyTheServiceHasStays() throws {
        let service = try Device.service()
        let owner = try Device(3, service, assetsAbove: 100)
        let reader = try Device(4, service, assetsAbove: 100)
        let large = Data(repeating: 7, count: 500)
        try owner.insert("Cover", ["image": .data(large)])
        try owner.sync()
        try reader.sync()
        #expect(try reader.value(reader.only("Cover"), "image") == .data(large))
        reader.refuseAll()
        let cover = try reader.only("Cover")
        try reader.set(cover, "image", .data(Data([1])))
        try reader.sync()
        let edits = try reader.mirrored.restoreRefusedEdits()
        #expect(edits.map(\.staying) == [["image"]])
        #expect(try reader.value(cover, "image") == .data(Data([1])))
        #expect(try reader.mirrored.refusedEdits().count == 1)
    }
}
