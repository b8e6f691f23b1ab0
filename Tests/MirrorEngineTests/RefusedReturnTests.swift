import MirrorEngine
import MirrorTestKit
import RecordWire
import Stores
import Testing

/// An object that a device keeps since it was edited there, and that the service, which has it
/// deleted, will not take again: its user lets it go, and has what was edited in the log.
@Suite struct RefusedReturnTests {
    private let owner: Device
    private let guest: Device
    private let note: RowID

    init() throws {
        let service = try Device.service()
        owner = try Device(1, service)
        guest = try Device(2, service, policy: MergePolicy(deletion: .keepEdited))
        let row = try owner.insert("Note", ["title": .text("old"), "views": .integer(2)])
        let tag = try owner.insert("Tag", ["label": .text("t")])
        try owner.pair(row, "tags", with: tag)
        for _ in 0..<2 { for device in [owner, guest] { try device.sync() } }
        note = try guest.only("Note")
        try owner.delete(owner.only("Note"))
        try guest.set(note, "title", .text("mine"))
        try owner.sync()
        guest.refuseAll()
        try guest.sync()
    }

    @Test func itIsListedAndLetGo() throws {
        #expect(try guest.value(note, "title") == .text("mine"))
        let name = try #require(try guest.mirrored.recordName(of: note))
        let refused = try guest.mirrored.refusedEdits()
        #expect(refused.map(\.recordName) == [name] && refused.first?.entityName == "Note")
        let sent = guest.sendings
        let edit = try guest.mirrored.restore(refusedEditOf: name)
        #expect(edit.recordName == name && edit.staying.isEmpty)
        #expect(try guest.rows("Note").isEmpty)
        #expect(try guest.mirrored.status()?.isInSync == true)
        try guest.sync()
        #expect(guest.sendings == sent)
        #expect(try guest.mirrored.status()?.refusals.isEmpty == true)
    }

    @Test func whatWasEditedIsInTheLogAndTheObjectIsRestoredFromThere() throws {
        #expect(try guest.mirrored.restoreRefusedEdits().count == 1)
        let line = try #require(
            try guest.mirrored.conflicts().last {
                $0.property == "title" && $0.rule == ConflictEntry.handRule
            })
        #expect(line.local == .string("mine") && line.winner == "remote")
        guest.intercept = { _ in nil }
        try guest.mirrored.restore(objectOfConflict: line.id)
        for device in [guest, owner] { #expect(try device.sync().isInSync) }
        for device in [guest, owner] {
            #expect(try device.value(device.only("Note"), "title") == .text("mine"))
            #expect(try device.value(device.only("Note"), "views") == .integer(2))
        }
    }
}
