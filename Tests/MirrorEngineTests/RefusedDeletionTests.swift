import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import Stores
import Testing

/// What a device deletes that is not its user's to delete comes back as the service has it.
@Suite struct RefusedDeletionTests {
    let service: SimulatedService
    let a: Device
    let b: Device

    init() throws {
        service = try Device.service()
        a = try Device(1, service)
        b = try Device(2, service)
        let folder = try a.insert("Folder", ["name": .text("f")])
        let note = try a.insert(
            "Note", ["title": .text("old"), "price": .decimal(1.5), "views": .integer(2)])
        let tag = try a.insert("Tag", ["label": .text("t")])
        let cover = try a.insert("Cover", ["image": .data(Data([1, 2]))])
        try a.link(note, "folder", folder, order: 10)
        try a.link(note, "cover", cover)
        try a.link(cover, "note", note)
        try a.pair(note, "tags", with: tag)
        for _ in 0..<2 { for device in [a, b] { #expect(try device.sync().error == nil) } }
        b.refuseAll()
    }

    /// As a context deletes it, which clears what leads to it.
    private func deleteNote() throws -> (row: RowID, name: String) {
        let row = try b.only("Note")
        let name = try #require(try b.mirrored.recordName(of: row))
        try b.link(b.only("Cover"), "note", nil)
        try b.delete(row)
        try b.sync()
        #expect(try b.rows("Note").isEmpty)
        return (row, name)
    }

    private func expectWhole(_ device: Device, title: String = "old") throws {
        let row = try device.only("Note")
        #expect(try device.rows("Note").count == 1)
        #expect(try device.value(row, "title") == .text(title))
        #expect(try device.value(row, "price") == .decimal(1.5))
        #expect(try device.target(row, "folder") == device.only("Folder"))
        #expect(try device.target(row, "cover") == device.only("Cover"))
        #expect(try device.target(device.only("Cover"), "note") == row)
        #expect(try device.members(row, "tags") == [device.only("Tag")])
    }

    @Test func anObjectComesBackUnderItsNameWithItsLinksAndNothingIsSent() throws {
        let (row, name) = try deleteNote()
        let refused = try b.mirrored.refusedDeletions()
        #expect(refused.map(\.recordName) == [name] && refused.first?.row == row)
        #expect(refused.first?.reason == "ACCESS_DENIED: The record is another user's.")
        let sent = b.sendings
        let restored = try b.mirrored.restore(refusedDeletionOf: name)
        #expect(restored.recordName == name && restored.linksLost == 0)
        #expect(restored.way == .tookBackDeletion && restored.row == row)
        #expect(try b.mirrored.status()?.isInSync == true)
        #expect(try b.mirrored.refusedDeletions().isEmpty)
        try expectWhole(b)
        try b.sync()
        #expect(b.sendings == sent)
        #expect(try b.mirrored.status()?.isInSync == true)
        // It lives on as any other: what the owner changes arrives.
        try a.set(a.only("Note"), "title", .text("newer"))
        try a.sync()
        try b.sync()
        try expectWhole(b, title: "newer")
    }

    @Test func anEditThatArrivedMeanwhileComesWithItAndNoCopyIsMade() throws {
        let (_, name) = try deleteNote()
        try a.set(a.only("Note"), "title", .text("edited"))
        try a.sync()
        try b.sync()
        let line = try #require(try b.mirrored.conflicts().first { $0.property == "title" })
        let restored = try b.mirrored.restore(objectOfConflict: line.id)
        #expect(restored.recordName == name && restored.way == .tookBackDeletion)
        try expectWhole(b, title: "edited")
        let told = try #require(try b.mirrored.conflicts().first { $0.id == line.id })
        #expect(told.winner == "remote" && told.rule == ConflictEntry.handRule)
        for device in [b, a] { try device.sync() }
        try expectWhole(a, title: "edited")
        #expect(try b.mirrored.status()?.isInSync == true)
    }

    @Test func whatWasDeletedTogetherComesBackTogether() throws {
        let (_, note) = try deleteNote()
        for entity in ["Cover", "Folder", "Tag"] { try b.delete(b.only(entity)) }
        try b.sync()
        #expect(try b.mirrored.refusedDeletions().count == 4)
        // Alone it has nobody to be linked with, until the others are there too.
        #expect(try b.mirrored.restore(refusedDeletionOf: note).linksLost == 3)
        #expect(try b.target(b.only("Note"), "folder") == nil)
        let others = try b.mirrored.restoreRefusedDeletions()
        #expect(others.count == 3 && others.allSatisfy { $0.linksLost == 0 })
        try expectWhole(b)
        #expect(try b.mirrored.status()?.isInSync == true)
        #expect(try b.mirrored.restoreRefusedDeletions().isEmpty)
    }

    @Test func anEditOfAnotherObjectStaysRefused() throws {
        let (_, name) = try deleteNote()
        try b.set(b.only("Cover"), "image", .data(Data([9])))
        try b.sync()
        try b.mirrored.restore(refusedDeletionOf: name)
        let status = try #require(try b.mirrored.status())
        #expect(status.refusals.count == 1 && status.pending.total == 1)
        #expect(try b.value(b.only("Cover"), "image") == .data(Data([9])))
        #expect(try b.target(b.only("Cover"), "note") == b.only("Note"))
        let sent = b.sendings
        try b.sync()
        #expect(b.sendings == sent)
    }

    @Test func aLinkThatWasGivenToAnotherMeanwhileStaysThere() throws {
        let (_, name) = try deleteNote()
        let other = try b.insert("Note", ["title": .text("own")])
        try b.link(other, "cover", b.only("Cover"))
        try b.link(b.only("Cover"), "note", other)
        try b.mirrored.restore(refusedDeletionOf: name)
        #expect(try b.rows("Note").count == 2)
        let ends = try b.rows("Note").compactMap { try b.target($0.id, "cover") }
        #expect(ends.count == 1)
    }

    @Test func aDeletionThatNobodyRefusedIsNotTakenBack() throws {
        let row = try b.only("Note")
        let name = try #require(try b.mirrored.recordName(of: row))
        for _ in 0..<2 {
            let error = #expect(throws: MirrorError.self) {
                try b.mirrored.restore(refusedDeletionOf: name)
            }
            #expect(error?.code == .noRefusedDeletion)
            if try !b.rows("Note").isEmpty { try b.delete(row) }
        }
        #expect(try b.rows("Note").isEmpty)
        #expect(try b.mirrored.status()?.pending.deletes == 1)
    }

    @Test func aKeyThatAnotherHasMeanwhileIsToldAndNothingComesBack() throws {
        let model = SampleModel.make(uniqueLabels: true)
        let service = try Device.service()
        let (a, b) = (try Device(3, service, model: model), try Device(4, service, model: model))
        try a.insert("Tag", ["label": .text("k")])
        for device in [a, b] { try device.sync() }
        b.refuseAll()
        let name = try #require(try b.mirrored.recordName(of: b.only("Tag")))
        try b.delete(b.only("Tag"))
        try b.sync()
        let own = try b.insert("Tag", ["label": .text("k")])
        let error = #expect(throws: MirrorError.self) {
            try b.mirrored.restore(refusedDeletionOf: name)
        }
        #expect(error?.code == .keyTaken)
        #expect(try b.rows("Tag").map(\.id) == [own])
        #expect(try b.mirrored.refusedDeletions().map(\.recordName) == [name])
    }

    @Test func aLargeValueComesWithTheNextRound() throws {
        let service = try Device.service()
        let a = try Device(5, service, assetsAbove: 8)
        let b = try Device(6, service, assetsAbove: 8)
        let image = AttributeValue.data(Data(repeating: 7, count: 600))
        let cover = try a.insert("Cover", ["image": image])
        let note = try a.insert("Note", ["title": .text("n")])
        try a.link(note, "cover", cover)
        try a.link(cover, "note", note)
        for device in [a, b] { #expect(try device.sync().error == nil) }
        b.refuseAll()
        let name = try #require(try b.mirrored.recordName(of: b.only("Cover")))
        try b.link(b.only("Note"), "cover", nil)
        try b.delete(b.only("Cover"))
        try b.sync()
        let sent = b.sendings
        #expect(try b.mirrored.restore(refusedDeletionOf: name).way == .comesWithNextRound)
        #expect(try b.rows("Cover").isEmpty)
        try b.sync()
        #expect(try b.value(b.only("Cover"), "image") == image)
        #expect(try b.target(b.only("Note"), "cover") == b.only("Cover"))
        #expect(try b.target(b.only("Cover"), "note") == b.only("Note"))
        #expect(b.sendings == sent)
        #expect(try b.mirrored.status()?.isInSync == true)
    }
}
