import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import Stores
import Testing

/// The log tells what a deletion took along, and brings the object back.
@Suite struct RestoringTests {
    let service: SimulatedService
    let a: Device
    let b: Device
    let note: RowID
    let folder: RowID

    init() throws {
        service = try Device.service()
        a = try Device(1, service)
        b = try Device(2, service)
        folder = try a.insert("Folder", ["name": .text("f")])
        note = try a.insert(
            "Note", ["title": .text("old"), "price": .decimal(1.5), "views": .integer(2)])
        let tag = try a.insert("Tag", ["label": .text("t")])
        let cover = try a.insert("Cover", ["image": .data(Data([1, 2]))])
        try a.link(note, "folder", folder, order: 10)
        try a.link(note, "cover", cover)
        try a.link(cover, "note", note)
        try a.pair(note, "tags", with: tag)
        try settle()
    }

    private func settle() throws {
        for _ in 0..<4 { for device in [a, b] { #expect(try device.sync().error == nil) } }
    }

    private func log(_ device: Device) throws -> [ConflictEntry] {
        try device.mirrored.conflicts()
    }

    private func expectWhole(_ title: String) throws {
        for device in [a, b] {
            let row = try device.only("Note")
            #expect(try device.value(row, "title") == .text(title))
            #expect(try device.value(row, "price") == .decimal(1.5))
            #expect(try device.value(row, "views") == .integer(2))
            #expect(try device.target(row, "folder") == device.only("Folder"))
            #expect(try device.target(row, "cover") == device.only("Cover"))
            #expect(try device.target(device.only("Cover"), "note") == row)
            #expect(try device.members(row, "tags") == [device.only("Tag")])
        }
    }

    @Test func anEditedObjectThatAnotherDeletedComesBackWithItsLinks() throws {
        try a.delete(note)
        try a.sync()
        try b.set(b.only("Note"), "title", .text("edited"))
        try settle()
        #expect(try b.rows("Note").isEmpty)
        let line = try #require(try log(b).first { $0.property == "title" })
        let restored = try b.mirrored.restore(objectOfConflict: line.id)
        #expect(restored.linksLost == 0 && restored.recordName != line.recordName)
        try settle()
        try expectWhole("edited")
        let moved = try #require(try log(b).first { $0.id == line.id })
        #expect(moved.recordName == restored.recordName && moved.rule == ConflictEntry.handRule)
        #expect(moved.winner == "local")
        // It is there now: nothing more to restore.
        let error = #expect(throws: MirrorError.self) {
            try b.mirrored.restore(objectOfConflict: line.id)
        }
        #expect(error?.code == .unknownConflict)
    }

    @Test func anObjectThatWasDeletedHereAndEditedElsewhereComesBackAsItWasEdited() throws {
        try b.set(b.only("Note"), "title", .text("edited"))
        try b.sync()
        try a.delete(note)
        try settle()
        let line = try #require(try log(a).first { $0.property == "title" })
        #expect(line.winner == "local")
        #expect(try line.remoteDevice == b.mirrored.deviceID())
        #expect(try line.localDevice == a.mirrored.deviceID())
        try a.mirrored.restore(objectOfConflict: line.id)
        try settle()
        for device in [a, b] {
            #expect(try device.value(device.only("Note"), "title") == .text("edited"))
            #expect(try device.members(device.only("Note"), "tags") == [device.only("Tag")])
        }
    }

    @Test func aPairMadeWithADeletedObjectIsLoggedAndComesBack() throws {
        try a.delete(note)
        try a.sync()
        let tag = try b.insert("Tag", ["label": .text("new")])
        try b.pair(b.only("Note"), "tags", with: tag)
        try settle()
        let line = try #require(try log(b).first { $0.property == "tags" })
        #expect(line.entity == "Note" && line.winner == "remote" && line.rule == "deleteWins")
        #expect(line.local != nil && line.base == nil && line.remote == nil)
        try b.mirrored.restore(objectOfConflict: line.id)
        try settle()
        for device in [a, b] {
            #expect(try device.members(device.only("Note"), "tags").count == 2)
        }
    }

    @Test func aLinkMadeToADeletedObjectIsLoggedOnBothSides() throws {
        try a.delete(folder)
        try a.sync()
        let other = try b.insert("Note", ["title": .text("other")])
        try b.link(other, "folder", b.only("Folder"), order: 20)
        try settle()
        let line = try #require(try log(b).first { $0.property == "folder" })
        #expect(line.local != nil && line.winner == "remote")
        try b.mirrored.resolve(conflict: line.id, taking: .remote)
        try settle()
        #expect(try a.rows("Folder").isEmpty && b.rows("Folder").isEmpty)
    }

    @Test func aPairThatArrivesForADeletedObjectIsLogged() throws {
        let tag = try b.insert("Tag", ["label": .text("new")])
        try b.pair(b.only("Note"), "tags", with: tag)
        try b.sync()
        try a.delete(note)
        try settle()
        let line = try #require(try log(a).first { $0.property == "tags" })
        #expect(line.remote != nil && line.winner == "local")
        #expect(try line.remoteDevice == b.mirrored.deviceID())
    }

    @Test func whatIsGoneOrTakenIsToldAndTheRestComesBack() throws {
        try a.delete(note)
        try a.sync()
        try b.set(b.only("Note"), "title", .text("edited"))
        try settle()
        try b.delete(b.only("Folder"))
        let line = try #require(try log(b).first { $0.property == "title" })
        #expect(try b.mirrored.restore(objectOfConflict: line.id).linksLost == 1)
        try settle()
        #expect(try a.target(a.only("Note"), "folder") == nil)
        #expect(try a.members(a.only("Note"), "tags").count == 1)
    }

    @Test func aKeyThatAnotherHasMeanwhileIsToldAndNothingIsMade() throws {
        let model = SampleModel.make(uniqueLabels: true)
        let service = try Device.service()
        let (a, b) = (try Device(3, service, model: model), try Device(4, service, model: model))
        let tag = try a.insert("Tag", ["label": .text("k")])
        try a.sync()
        try b.sync()
        let own = try b.only("Tag")
        try a.delete(tag)
        try a.sync()
        let note = try b.insert("Note")
        try b.pair(note, "tags", with: own)
        try b.sync()
        try b.insert("Tag", ["label": .text("k")])
        let line = try #require(try b.mirrored.conflicts().last)
        let error = #expect(throws: MirrorError.self) {
            try b.mirrored.restore(objectOfConflict: line.id)
        }
        #expect(error?.code == .keyTaken)
        #expect(try b.rows("Tag").count == 1)
    }

    @Test func aConflictThatIsNotThereIsTold() throws {
        let error = #expect(throws: MirrorError.self) {
            try a.mirrored.restore(objectOfConflict: 99)
        }
        #expect(error?.code == .unknownConflict)
    }

    /// A log with a button "put back" for each line must not undo what was restored.
    @Test func aLinkIsPutBackToTheObjectThatWasRestored() throws {
        try a.delete(folder)
        try a.sync()
        let other = try b.insert("Note", ["title": .text("other")])
        try b.link(other, "folder", b.only("Folder"), order: 20)
        try b.set(b.only("Folder"), "name", .text("edited"))
        try settle()
        let line = try #require(try log(b).first { $0.property == "folder" && $0.base == nil })
        let early = #expect(throws: MirrorError.self) {
            try b.mirrored.resolve(conflict: line.id, taking: .local)
        }
        #expect(early?.code == .objectDeleted)
        let name = try #require(try log(b).first { $0.property == "name" })
        let restored = try b.mirrored.restore(objectOfConflict: name.id)
        try settle()
        try b.mirrored.resolve(conflict: line.id, taking: .local)
        #expect(try b.target(other, "folder") == restored.row)
        try settle()
        for device in [a, b] {
            let notes = try device.rows("Note")
                .filter { try device.value($0.id, "title") == .text("other") }
            let note = try #require(notes.first)
            #expect(try device.target(note.id, "folder") == device.only("Folder"))
        }
    }

    @Test func anObjectThatIsRestoredFindsTheOneThatWasRestoredBefore() throws {
        try a.delete(note)
        try a.sync()
        try a.delete(folder)
        try a.sync()
        try b.set(b.only("Folder"), "name", .text("edited"))
        try b.set(b.only("Note"), "title", .text("edited"))
        try settle()
        #expect(try b.rows("Folder").isEmpty && b.rows("Note").isEmpty)
        let lines = try log(b)
        let first = try #require(lines.first { $0.property == "name" })
        let restored = try b.mirrored.restore(objectOfConflict: first.id)
        let second = try #require(lines.first { $0.property == "title" })
        #expect(try b.mirrored.restore(objectOfConflict: second.id).linksLost == 0)
        #expect(try b.target(b.only("Note"), "folder") == restored.row)
    }
}
