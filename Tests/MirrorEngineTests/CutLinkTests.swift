import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import Stores
import Testing

/// A link that goes with the object it leads to was cut by nobody: it is no edit that a deletion
/// could meet.
@Suite struct CutLinkTests {
    private struct Pair {
        let a: Device
        let b: Device
        let folder: RowID
        let note: RowID
        let cover: RowID

        init(_ deletion: DeletionRule) throws {
            let service = try Device.service()
            let policy = MergePolicy(deletion: deletion)
            a = try Device(1, service, policy: policy)
            b = try Device(2, service, policy: policy)
            folder = try a.insert("Folder", ["name": .text("f")])
            note = try a.insert("Note", ["title": .text("n")])
            cover = try a.insert("Cover", ["image": .data(Data([1]))])
            try a.link(note, "folder", folder, order: 10)
            try a.link(note, "cover", cover)
            try a.link(cover, "note", note)
            try settle()
        }

        func settle() throws {
            for _ in 0..<4 { for device in [a, b] { #expect(try device.sync().error == nil) } }
        }

        func expectNothing(of entities: [String]) throws {
            try settle()
            for device in [a, b] {
                for entity in entities { #expect(try device.rows(entity).isEmpty, "\(entity)") }
                #expect(try device.mirrored.conflicts().isEmpty)
            }
        }

        /// Deletes an object as a context does: what points at it lets go.
        func deleteLettingGo(of folder: RowID, from note: RowID, on device: Device) throws {
            try device.link(note, "folder", nil)
            try device.delete(folder)
        }
    }

    @Test(arguments: [DeletionRule.deleteWins, .keepEdited])
    func aTreeThatNobodyEditedGoesWhole(deletion: DeletionRule) throws {
        let pair = try Pair(deletion)
        try pair.a.delete(pair.note)
        try pair.a.delete(pair.folder)
        try pair.a.delete(pair.cover)
        try pair.expectNothing(of: ["Folder", "Note", "Cover"])
    }

    @Test(arguments: [DeletionRule.deleteWins, .keepEdited])
    func whatWasDeletedAfterItsParentGoes(deletion: DeletionRule) throws {
        let pair = try Pair(deletion)
        try pair.deleteLettingGo(of: pair.folder, from: pair.note, on: pair.a)
        try pair.a.sync()
        try pair.a.delete(pair.note)
        try pair.a.delete(pair.cover)
        try pair.a.sync()
        try pair.expectNothing(of: ["Folder", "Note", "Cover"])
    }

    /// The other's record says that the link was let go with its target: no edit of the object.
    @Test(arguments: [DeletionRule.deleteWins, .keepEdited])
    func whatLetGoOfItsParentElsewhereStaysDeletedHere(deletion: DeletionRule) throws {
        let pair = try Pair(deletion)
        let (folder, note) = (try pair.b.only("Folder"), try pair.b.only("Note"))
        try pair.deleteLettingGo(of: folder, from: note, on: pair.b)
        try pair.b.sync()
        try pair.a.delete(pair.cover)
        try pair.a.delete(pair.note)
        try pair.expectNothing(of: ["Folder", "Note"])
    }

    @Test func aLinkThatWasMovedStillCountsAsAnEdit() throws {
        let pair = try Pair(.keepEdited)
        let other = try pair.b.insert("Folder", ["name": .text("g")])
        try pair.b.link(pair.b.only("Note"), "folder", other, order: 10)
        try pair.a.delete(pair.note)
        try pair.a.delete(pair.folder)
        try pair.a.sync()
        try pair.settle()
        for device in [pair.a, pair.b] {
            #expect(try device.target(device.only("Note"), "folder") == device.only("Folder"))
        }
        #expect(try pair.b.mirrored.conflicts().contains { $0.property == "folder" })
    }

    /// A tree of which each object was edited is put together again, whichever comes first.
    @Test(arguments: [["Folder", "Note", "Cover"], ["Cover", "Note", "Folder"]])
    func aTreeComesBackWithItsLinksInAnyOrder(order: [String]) throws {
        let pair = try Pair(.deleteWins)
        try pair.a.delete(pair.note)
        try pair.a.delete(pair.folder)
        try pair.a.delete(pair.cover)
        try pair.a.sync()
        let b = pair.b
        try b.set(b.only("Folder"), "name", .text("F"))
        try b.set(b.only("Note"), "title", .text("N"))
        try b.set(b.only("Cover"), "image", .data(Data([2])))
        try pair.settle()
        for entity in order {
            let line = try b.mirrored.conflicts().first {
                $0.entity == entity && $0.winner == "remote"
            }
            try b.mirrored.restore(objectOfConflict: #require(line).id)
        }
        try pair.settle()
        for device in [pair.a, b] {
            let note = try device.only("Note")
            #expect(try device.target(note, "folder") == device.only("Folder"))
            #expect(try device.target(note, "cover") == device.only("Cover"))
            #expect(try device.target(device.only("Cover"), "note") == note)
            #expect(try device.value(note, "title") == .text("N"))
        }
    }

    /// Its neighbours may move an object within a list: that keeps none that is deleted elsewhere.
    @Test(arguments: [true, false]) func aPlaceInAListIsNoEdit(isDeleterFirst: Bool) throws {
        let pair = try Pair(.keepEdited)
        try pair.a.delete(pair.note)
        let here = try pair.b.only("Note")
        try pair.b.link(here, "folder", pair.b.only("Folder"), order: 5_000)
        for device in isDeleterFirst ? [pair.a, pair.b] : [pair.b, pair.a] { try device.sync() }
        try pair.expectNothing(of: ["Note"])
    }

    /// A note was sent before the cover that it leads to; both are deleted before the cover is.
    @Test(arguments: [ServiceDialect.extended, .plain])
    func whatIsKeptDoesNotLeadToWhatWasNeverSent(dialect: ServiceDialect) throws {
        let service = try Device.service(dialect)
        let policy = MergePolicy(deletion: .keepEdited)
        let a = try Device(1, service, policy: policy) { $0.batchRecordsMax = 1 }
        let b = try Device(2, service, policy: policy)
        let note = try a.insert("Note", ["title": .text("n")])
        let cover = try a.insert("Cover")
        try a.link(note, "cover", cover)
        try a.link(cover, "note", note)
        a.intercept = { request in
            guard case .modifyRecords = request else { return nil }
            _ = try service.handle(request, from: "lost")
            throw Missing(name: "answer")
        }
        _ = try? a.sync()
        a.intercept = { _ in nil }
        try b.sync()
        try #require(try b.rows("Note").count == 1 && b.rows("Cover").isEmpty)
        try a.delete(note)
        try a.delete(cover)
        try b.set(b.only("Note"), "title", .text("kept"))
        try a.sync()
        for _ in 0..<3 { for device in [b, a] { #expect(try device.sync().error == nil) } }
        for device in [a, b] {
            #expect(try device.value(device.only("Note"), "title") == .text("kept"))
            #expect(try device.target(device.only("Note"), "cover") == nil)
        }
        let zone = a.mirrored.settings.zoneName
        let record = try service.records(inZone: zone).values.first { $0.recordType == "CD_Note" }
        #expect(record?.fields["CD_cover"] == nil)
        #expect(try b.mirrored.status()?.isInSync == true)
    }
}
