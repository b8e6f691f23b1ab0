import Foundation
import MirrorEngine
import MirrorTestKit
import RecordWire
import Stores
import Testing

/// What a device knows of edits: when they were made, and which of them the service has.
@Suite struct EditKnowledgeTests {
    /// Under `latest`, an edit of nine o'clock is one of nine o'clock, whatever else was edited
    /// until the device looks at its history.
    @Test(arguments: ["Folder", "Tag", "Cover", "Note"])
    func anEarlyEditIsNotDatedByALaterOneOfAnotherObject(entity: String) throws {
        let service = try Device.service()
        let policy = MergePolicy(standard: .latest)
        let a = try Device(1, service, policy: policy)
        let b = try Device(2, service, policy: policy)
        let note = try a.insert("Note", ["title": .text("old")])
        try a.sync()
        try b.sync()
        try a.set(note, "title", .text("nine"))
        b.clock.advance(seconds: 60)
        try b.set(b.only("Note"), "title", .text("ten"))
        a.clock.advance(seconds: 120)
        try a.insert(entity)
        try a.sync()
        try b.sync()
        try a.sync()
        #expect(try a.value(note, "title") == .text("ten"))
    }

    /// What is saved while a round runs travels with its own time, not with that of the edit
    /// before.
    @Test func whatIsSavedDuringARoundTravelsWithItsTime() throws {
        let service = try Device.service()
        let a = try Device(1, service, policy: MergePolicy(standard: .latest))
        let note = try a.insert("Note", ["title": .text("old")])
        try a.sync()
        try a.set(note, "title", .text("first"))
        while try a.mirrored.analyse().moreWaiting {}
        a.clock.advance(seconds: 90)
        try a.set(note, "title", .text("second"))
        let batch = try a.mirrored.nextBatch()
        let item = try #require(batch.items.first)
        #expect(item.operation.record.fields["CD_title"] == .string("second"))
        let now = Int64(a.clock.now().timeIntervalSince1970 * 1_000)
        let time = try #require(EditTimes(item.operation.record).times["title"])
        #expect(abs(time.milliseconds - now) < 1_000)
    }

    /// An object whose making was taken without an answer, and which was then deleted here, was
    /// edited by nobody: `keepEdited` has nothing to keep.
    @Test func anUnansweredMakingIsNoEditOfAnother() throws {
        let service = try Device.service()
        let a = try Device(1, service, policy: MergePolicy(deletion: .keepEdited))
        let folder = try a.insert("Folder", ["name": .text("mine")])
        try loseAnswer(of: a)
        try a.delete(folder)
        try a.sync()
        #expect(try a.rows("Folder").isEmpty)
        #expect(try a.mirrored.conflicts().isEmpty)
    }

    /// The same object, deleted elsewhere: what was made here and is on the service is no edit that
    /// the deletion did not know of.
    @Test func anUnansweredMakingIsNoEditAgainstADeletion() throws {
        let service = try Device.service()
        let a = try Device(1, service, policy: MergePolicy(deletion: .keepEdited))
        let b = try Device(2, service)
        try a.insert("Folder", ["name": .text("mine")])
        try loseAnswer(of: a)
        try b.sync()
        try b.delete(b.only("Folder"))
        try b.sync()
        try a.sync()
        #expect(try a.rows("Folder").isEmpty)
    }

    /// An edit that clears a value is an edit, also where the making was never answered.
    @Test func aClearedValueIsKeptAgainstADeletion() throws {
        let service = try Device.service()
        let a = try Device(1, service, policy: MergePolicy(deletion: .keepEdited))
        let b = try Device(2, service)
        let folder = try a.insert("Folder", ["name": .text("mine")])
        try loseAnswer(of: a)
        try b.sync()
        try b.set(b.only("Folder"), "name", .null)
        try b.sync()
        try a.delete(folder)
        try a.sync()
        #expect(try a.rows("Folder").count == 1)
    }

    /// A round whose first batch the service takes, and whose answer never comes.
    private func loseAnswer(of device: Device) throws {
        device.intercept = { request in
            guard case .modifyRecords = request else { return nil }
            _ = try device.service.handle(request, from: device.mirrored.deviceID())
            throw RecordError(.badRequest, "The answer is lost.")
        }
        try device.sync()
        device.intercept = { _ in nil }
    }
}
