import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import Predicates
import RecordService
import SQLiteStore
import Stores
import Testing

/// Objects that a selection keeps here, and which meet another's of the same unique key.
@Suite struct OutsideTwinTests {
    let service: SimulatedService
    let a: Device
    let b: Device

    init() throws {
        service = try Device.service()
        let model = SampleModel.make(uniqueLabels: true)
        var selection = SyncSelection()
        selection.include(entity: "Tag", where: NSPredicate(format: "label != 'x'"))
        a = try Device(1, service, model: model, selecting: .given(selection))
        b = try Device(2, service, model: model)
    }

    private func label(_ device: Device) throws -> AttributeValue? {
        try device.value(device.only("Tag"), "label")
    }

    /// Nobody else knows the name of the one that was never sent, whichever is smaller.
    @Test(arguments: [true, false])
    func anObjectThatWasNeverSentTakesTheNameThatArrives(isOlder: Bool) throws {
        if isOlder {
            try a.insert("Tag", ["label": .text("x")])
            try a.sync()
        }
        b.clock.advance(seconds: 60)
        try b.insert("Tag", ["label": .text("x")])
        try b.sync()
        a.clock.advance(seconds: 120)
        if !isOlder { try a.insert("Tag", ["label": .text("x")]) }
        try settle([a, b, a])
        let status = try #require(try a.mirrored.status())
        #expect(status.isInSync && status.pending.total == 0, "\(status.pending)")
        #expect(status.keptHere == 1)
        // They are one: an edit of the one is seen in the other.
        try b.set(b.only("Tag"), "label", .text("y"))
        try settle([b, a])
        #expect(try label(a) == .text("y") && label(b) == .text("y"))
        try a.set(a.only("Tag"), "label", .text("z"))
        try settle([a, b])
        #expect(try label(a) == .text("z") && label(b) == .text("z"))
    }

    /// Two objects here become one by an edit that arrives.
    @Test(arguments: [true, false])
    func anObjectThatWasNeverSentIsTakenIn(isOlder: Bool) throws {
        if isOlder {
            try a.insert("Tag", ["label": .text("x")])
            try a.sync()
        }
        b.clock.advance(seconds: 60)
        let tag = try b.insert("Tag", ["label": .text("between")])
        try settle([b, a])
        a.clock.advance(seconds: 120)
        if !isOlder { try a.insert("Tag", ["label": .text("x")]) }
        try b.set(tag, "label", .text("x"))
        try settle([b, a, b, a])
        let status = try #require(try a.mirrored.status())
        #expect(status.isInSync && status.pending.total == 0, "\(status.pending)")
        #expect(try label(a) == .text("x") && label(b) == .text("x"))
        try b.set(b.only("Tag"), "label", .text("y"))
        try settle([b, a])
        #expect(try label(a) == .text("y") && label(b) == .text("y"))
    }

    /// What is deleted here alone comes again with what it is linked with.
    @Test func whatComesAgainHasItsPairs() throws {
        let tag = try b.insert("Tag", ["label": .text("w")])
        let note = try b.insert("Note", ["title": .text("n")])
        try b.pair(note, "tags", with: tag)
        try settle([b, a])
        try a.set(a.only("Tag"), "label", .text("x"))
        try settle([a, b])
        #expect(try label(b) == .text("w") && a.mirrored.status()?.keptHere == 1)
        try a.delete(a.only("Tag"))
        try settle([a, b])
        #expect(try b.rows("Tag").count == 1 && a.rows("Tag").isEmpty)
        #expect(try b.members(note, "tags") == [tag])
        try b.set(tag, "label", .text("y"))
        try settle([b, a])
        #expect(try a.members(a.only("Note"), "tags") == [a.only("Tag")])
        #expect(try a.mirrored.status()?.isInSync == true)
    }

    /// A member whose owner here is outside keeps the one that others gave it.
    @Test(arguments: 0..<8 as Range<UInt64>)
    func anOwnerThatIsOutsideTakesNothingFromOthers(seed: UInt64) throws {
        var selection = SyncSelection()
        selection.include(entity: "Tag", where: NSPredicate(format: "label != 'x'"))
        let a = try Device(
            10 + seed, service, model: SampleModel.make(), selecting: .given(selection))
        let b = try Device(30 + seed, service, model: SampleModel.make())
        let note = try b.insert("Note")
        try settle([b, a])
        let mine = try a.insert("Tag", ["label": .text("x")])
        try a.pair(mine, "pinned", with: a.only("Note"))
        let theirs = try b.insert("Tag", ["label": .text("y")])
        try b.pair(theirs, "pinned", with: note)
        try settle([a, b, a, b])
        #expect(try b.members(theirs, "pinned") == [note])
        #expect(try a.members(mine, "pinned").isEmpty)
        let status = try #require(try a.mirrored.status())
        #expect(status.isInSync && status.pending.total == 0)
        #expect(try a.mirrored.conflicts().map(\.rule) == ["oneOwner"])
    }
}
