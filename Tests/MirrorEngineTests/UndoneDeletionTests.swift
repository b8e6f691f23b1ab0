import Foundation
import MirrorEngine
import MirrorTestKit
import RecordWire
import SQLiteStore
import Stores
import Testing

/// Undo, as a store sees it: a deletion that was saved and taken back is a new row under the old
/// key, and an insertion that was taken back is a deletion.
@Suite struct UndoneDeletionTests {
    let service: SimulatedService
    let a: Device
    let b: Device
    let note: RowID
    let folder: RowID
    let tag: RowID

    /// A note in a folder, with a tag, that both devices have.
    init() throws {
        service = try Device.service()
        a = try Device(1, service)
        b = try Device(2, service)
        note = try a.insert("Note", ["title": .text("t"), "views": .integer(3)])
        folder = try a.insert("Folder", ["name": .text("f")])
        tag = try a.insert("Tag")
        try a.link(note, "folder", folder, order: 1024)
        try a.pair(note, "tags", with: tag)
        try a.sync()
        try b.sync()
    }

    /// Stores a deleted row again under its key, as a context saves what was undone.
    private func revive(_ row: Row, on device: Device) throws {
        var changes = ChangeSet()
        changes.inserts = [row]
        _ = try device.store.save(changes)
        try device.pair(row.id, "tags", with: tag)
    }

    private func settle() throws {
        for _ in 0..<3 {
            try a.sync()
            try b.sync()
        }
    }

    /// The note is on both devices, whole and once.
    private func expectNote(_ title: String = "t", views: Int64 = 3) throws {
        for device in [a, b] {
            #expect(try device.rows("Note").count == 1)
            let row = try device.only("Note")
            #expect(try device.value(row, "title") == .text(title))
            #expect(try device.value(row, "views") == .integer(views))
            #expect(try device.target(row, "folder") == device.only("Folder"))
            #expect(try device.members(row, "tags") == [device.only("Tag")])
            #expect(try device.mirrored.conflicts().isEmpty)
        }
        #expect(try a.sync().exported == 0)
        #expect(try b.sync().exported == 0)
    }

    @Test(arguments: [false, true])
    func aDeletionTakenBackLosesNothing(isSyncedBetween: Bool) throws {
        let row = try #require(try a.store.row(note))
        try a.delete(note)
        if isSyncedBetween { try settle() }
        try revive(row, on: a)
        try settle()
        try expectNote()
        #expect(try a.only("Note") == note)
        // What comes later is of the same object.
        try b.set(b.only("Note"), "views", .integer(4))
        try b.sync()
        try a.set(note, "title", .text("u"))
        try settle()
        try expectNote("u", views: 4)
    }

    @Test(arguments: [false, true])
    func anEditAfterTheUndoTravels(isSyncedBetween: Bool) throws {
        let row = try #require(try a.store.row(note))
        try a.delete(note)
        if isSyncedBetween { try a.sync() }
        try revive(row, on: a)
        try a.set(note, "title", .text("u"))
        try settle()
        try expectNote("u")
    }

    /// The other device edits the object while it is deleted here.
    @Test func anEditOfTheOtherDeviceSurvivesAnUndoneDeletion() throws {
        let row = try #require(try a.store.row(note))
        try a.delete(note)
        try revive(row, on: a)
        try b.set(b.only("Note"), "views", .integer(4))
        try b.sync()
        try settle()
        #expect(try a.rows("Note").count == 1 && b.rows("Note").count == 1)
        for device in [a, b] {
            #expect(try device.value(device.only("Note"), "views") == .integer(4))
            #expect(try device.value(device.only("Note"), "title") == .text("t"))
        }
    }

    /// The deletion was looked at, and not sent, when it is taken back.
    @Test func aDeletionThatWaitsIsTakenBack() throws {
        let row = try #require(try a.store.row(note))
        try a.delete(note)
        while try a.mirrored.analyse().moreWaiting {}
        try revive(row, on: a)
        try b.set(b.only("Note"), "views", .integer(4))
        try b.sync()
        try settle()
        try expectNote(views: 4)
    }

    /// What became of a deletion before it was undone.
    enum Telling: CaseIterable {
        case requestLost, replyLost, answered
    }

    /// What an object's link waits for comes while the object is deleted here, or after that.
    @Test(arguments: Telling.allCases, [false, true])
    func aLinkFindsWhatCameWhileItsObjectWasGone(_ telling: Telling, isLate: Bool) throws {
        let stranger = Stranger(service, beside: a)
        let name = try #require(try a.mirrored.recordName(of: note))
        var record = try #require(try stranger.record(name))
        record.fields["CD_folder"] = .string("later")
        try stranger.write(record)
        try a.sync()
        #expect(try a.target(note, "folder") == nil)
        let row = try #require(try a.store.row(note))
        try a.delete(note)
        let folder = Record("later", "Folder", ["CD_name": .string("l")])
        if !isLate { try stranger.write(folder) }
        a.intercept = { [service] request in
            guard case .modifyRecords = request, telling != .answered else { return nil }
            if telling == .replyLost { _ = try service.handle(request, from: "lost") }
            throw Missing(name: "service")
        }
        _ = try? a.sync()
        a.intercept = { _ in nil }
        try revive(row, on: a)
        try settle()
        if isLate { try stranger.write(folder) }
        try settle()
        for device in [a, b] {
            let folder = try #require(try device.target(device.only("Note"), "folder"))
            #expect(try device.value(folder, "name") == .text("l"))
        }
    }

    /// The reply to the deletion is lost, and the deletion is taken back before the next round.
    @Test func aLostReplyToTheDeletionDoesNotTakeTheObjectAway() throws {
        let row = try #require(try a.store.row(note))
        try a.delete(note)
        var isFirst = true
        a.intercept = { [service] request in
            guard case .modifyRecords = request, isFirst else { return nil }
            isFirst = false
            _ = try service.handle(request, from: try a.mirrored.deviceID())
            throw Missing(name: "reply")
        }
        _ = try? a.sync()
        try revive(row, on: a)
        try settle()
        try expectNote()
    }

    @Test(arguments: [false, true])
    func anInsertionTakenBackLeavesBothDevices(isRedone: Bool) throws {
        let new = try a.insert("Note", ["title": .text("new")])
        try a.pair(new, "tags", with: tag)
        let row = try #require(try a.store.row(new))
        try settle()
        #expect(try b.rows("Note").count == 2)
        try a.delete(new)
        if isRedone {
            try a.sync()
            try revive(row, on: a)
        }
        try settle()
        for device in [a, b] {
            #expect(try device.rows("Note").count == (isRedone ? 2 : 1))
            let members = try device.rows("Note")
                .map { try device.members($0.id, "tags").count }
            #expect(members.allSatisfy { $0 == 1 })
        }
    }

    /// The service refused the deletion before it was taken back: the object goes on as it was.
    @Test func aRefusedDeletionThatIsTakenBackKeepsTheName() throws {
        let name = try #require(try b.mirrored.recordName(of: b.only("Note")))
        let row = try #require(try b.store.row(b.only("Note")))
        let (theirs, other) = try (b.only("Tag"), b.only("Folder"))
        b.refuseAll()
        try b.delete(row.id)
        try b.sync()
        b.intercept = { _ in nil }
        var changes = ChangeSet()
        changes.inserts = [row]
        _ = try b.store.save(changes)
        try b.pair(row.id, "tags", with: theirs)
        try settle()
        #expect(try b.mirrored.recordName(of: row.id) == name)
        #expect(try b.target(row.id, "folder") == other)
        try expectNote()
    }

    /// Another links to the object while it is deleted here: it is back, and so is the link.
    @Test(arguments: [false, true])
    func aLinkThatCameMeanwhileFindsTheObject(isSent: Bool) throws {
        let row = try #require(try a.store.row(note))
        try a.delete(note)
        if isSent {
            // What deletes is lost on its way.
            a.intercept = { request in
                guard case .modifyRecords = request else { return nil }
                throw Missing(name: "network")
            }
            _ = try? a.sync()
            a.intercept = { _ in nil }
        } else {
            while try a.mirrored.analyse().moreWaiting {}
        }
        let cover = try b.insert("Cover", ["image": .data(Data([1]))])
        try b.link(cover, "note", b.only("Note"))
        try b.link(b.only("Note"), "cover", cover)
        try b.sync()
        // The page with the link is here before the undo.
        a.intercept = { request in
            guard case .modifyRecords = request else { return nil }
            throw Missing(name: "network")
        }
        _ = try? a.sync()
        a.intercept = { _ in nil }
        try revive(row, on: a)
        try settle()
        for device in [a, b] {
            let note = try device.only("Note")
            #expect(try device.rows("Note").count == 1)
            #expect(try device.target(device.only("Cover"), "note") == note)
        }
    }
}
