import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteStore
import Stores
import Testing

/// A renaming identifier that a version of the model takes away after the rename was shipped: no
/// version hash tells, and records call the property otherwise from then on.
@Suite struct LetGoNameTests {
    private let world: VersionedWorld
    private let (x, y): (Device, Device)

    init() throws {
        let later = SampleModel.makeLater()
        later.entitiesByName["Note"]?.attributesByName["headline"]?.renamingIdentifier = nil
        world = try VersionedWorld(from: SampleModel.makeLater(), to: later)
        (x, y) = (try world.device(), try world.device())
        for number in 1...3 {
            try x.insert(
                "Note",
                [
                    "headline": .text("v\(number)"), "views": .integer(Int64(number)),
                    "stars": .integer(3),
                ])
        }
        try world.settle(x, y)
    }

    private func relaunched(_ device: Device) throws -> Device {
        try world.open(try #require(world.file(of: device)), world.later)
    }

    private func note(_ number: Int, _ device: Device) throws -> RowID {
        let row = try device.rows("Note").first {
            try device.value($0.id, "views") == .integer(Int64(number))
        }
        guard let row else { throw Missing(name: "note \(number)") }
        return row.id
    }

    private func headlines(_ device: Device) throws -> [AttributeValue?] {
        try (1...3).map { try device.value(note($0, device), "headline") }
    }

    @Test func devicesAreEqualOnceAllAreUpdated() throws {
        let newer = try relaunched(y)
        try newer.set(note(2, newer), "headline", .text("newer"))
        try world.settle(newer, x)
        try x.set(note(3, x), "headline", .text("older"))
        try world.settle(x, newer)
        let updated = try relaunched(x)
        try world.settle(updated, newer)
        let fresh = try world.device(isLater: true)
        try world.settle(fresh, updated, newer)
        for device in [fresh, updated, newer] {
            #expect(try headlines(device) == [.text("v1"), .text("newer"), .text("older")])
        }
    }

    @Test func anEditByTheOlderVersionIsSeenByTheNewerOne() throws {
        let newer = try relaunched(y)
        try world.settle(newer, x)
        try x.set(note(3, x), "headline", .text("older"))
        try world.settle(x, newer)
        #expect(try headlines(newer) == [.text("v1"), .text("v2"), .text("older")])
        try x.set(note(1, x), "headline", .null)
        try world.settle(x, newer)
        #expect(try headlines(newer) == [.null, .text("v2"), .text("older")])
    }

    @Test func whatIsCalledOtherwiseIsTold() throws {
        let newer = try relaunched(y)
        let (former, present) = (x.mirrored.settings.mapping, newer.mirrored.settings.mapping)
        let told = former.namesLetGo(by: present)
        #expect(told.count == 1)
        #expect(
            told.first?.hasPrefix("headline of DraftNote, Note, TodoNote is called headline")
                == true)
        #expect(present.namesLetGo(by: former).isEmpty && former.namesLetGo(by: former).isEmpty)
    }
}
