import Foundation
import MirrorEngine
import MirrorTestKit
import RecordWire
import Stores
import Testing

/// An object keeps its entity, whatever a record under its name says.
@Suite struct OtherEntityTests {
    let pair: WatchedPair
    var a: Device { pair.a }
    var b: Device { pair.b }
    var stranger: Stranger { pair.stranger }

    init() throws { pair = try WatchedPair() }

    private func name(_ row: RowID) throws -> String {
        try #require(try a.mirrored.recordName(of: row))
    }

    /// Makes the record called `name` one of another entity: of another type by making it anew.
    private func replace(_ name: String, with entity: String?) throws {
        guard entity != "Tag" else {
            try stranger.delete(name, type: "CD_Note")
            return try stranger.write(Record(name, "Tag", ["CD_label": .string("y")]))
        }
        var record = Record(name, entity ?? "Note", ["CD_title": .string("y")])
        if entity == nil { record.fields.removeValue(forKey: "CD_entityName") }
        try stranger.write(record)
    }

    @Test(arguments: [nil, "Note", "Tag"] as [String?])
    func aRecordOfAnotherEntityIsPutAsideWithItsReason(entity: String?) throws {
        let todo = try a.insert("TodoNote", ["title": .text("x"), "isDone": .integer(1)])
        let folder = try a.insert("Folder", ["name": .text("f")])
        try settle([a, b])
        let (name, folderName) = try (name(todo), name(folder))
        try replace(name, with: entity)
        try stranger.write(Record(folderName, "Folder", ["CD_name": .string("g")]))
        for device in [a, b] {
            let result = try device.sync()
            #expect(result.error == nil && result.exported == 0)
            #expect(try device.rows("Note").isEmpty && device.rows("Tag").isEmpty)
            let row = try device.only("TodoNote")
            #expect(try device.value(row, "title") == .text("x"))
            #expect(try device.value(row, "isDone") == .integer(1))
            #expect(try device.value(device.only("Folder"), "name") == .text("g"))
            let status = try #require(try device.mirrored.status())
            #expect(status.keptForLater.map(\.recordName) == [name])
            #expect(status.refusals.map(\.recordName) == [name] && !status.isInSync)
            #expect(status.refusals.first?.reason.contains("entity") == true)
        }
        // Once it is of the object's entity again, it is read as any other.
        if entity == "Tag" { try stranger.delete(name, type: "CD_Tag") }
        try stranger.write(Record(name, "TodoNote", root: "Note", ["CD_title": .string("z")]))
        for device in [a, b] {
            #expect(try device.sync().error == nil)
            #expect(try device.value(device.only("TodoNote"), "title") == .text("z"))
            let status = try #require(try device.mirrored.status())
            #expect(status.keptForLater.isEmpty && status.isInSync)
        }
    }

    /// Not even an edit that was made here meanwhile goes over it.
    @Test func nothingIsWrittenOverARecordOfAnotherEntity() throws {
        let note = try a.insert("Note", ["title": .text("x")])
        try a.sync()
        let name = try name(note)
        try stranger.write(Record(name, "TodoNote", root: "Note", ["CD_title": .string("y")]))
        try a.set(note, "title", .text("z"))
        for _ in 0..<3 { #expect(try a.sync().error == nil) }
        #expect(try a.value(note, "title") == .text("z"))
        let kept = try #require(try stranger.record(name))
        #expect(kept.fields["CD_title"] == .some(.string("y")))
        #expect(try a.mirrored.status()?.keptForLater.map(\.recordName) == [name])
    }

    /// A deletion that is taken back brings the object as the service has it.
    @Test func aDeletedObjectComesBackAsOneOfTheRecordsEntity() throws {
        let todo = try a.insert("TodoNote", ["title": .text("x"), "isDone": .integer(1)])
        try settle([a, b])
        let name = try name(todo)
        b.refuseAll()
        try b.delete(b.only("TodoNote"))
        try b.sync()
        try stranger.write(Record(name, "Note", ["CD_title": .string("y")]))
        #expect(try b.sync().error == nil)
        let restored = try b.mirrored.restore(refusedDeletionOf: name)
        #expect(try restored.recordName == name && restored.row == b.only("Note"))
        #expect(try b.rows("TodoNote").isEmpty)
        #expect(try b.value(b.only("Note"), "title") == .text("y"))
        #expect(try b.sync().error == nil)
    }
}
