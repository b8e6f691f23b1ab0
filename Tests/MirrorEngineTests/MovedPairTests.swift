import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteStore
import Stores
import Testing

/// A many-to-many relationship that has another place in the newer version of the model: its links
/// are the same on both sides, and after the update.
@Suite struct MovedPairTests {
    enum Move: CaseIterable {
        /// A parent of the owner declares it; the older version has that entity, too.
        case ownersParent
        /// The same with a parent that is new.
        case newParent
        /// It leads to a parent of the member.
        case membersParent
        /// It got an inverse.
        case inverse
    }

    private static func model(_ move: Move, isLater: Bool) -> NSManagedObjectModel {
        let note = SampleModel.entity(
            "Note", [SampleModel.attribute("title", .stringAttributeType)])
        let tag = SampleModel.entity("Tag", [SampleModel.attribute("label", .stringAttributeType)])
        let (paper, item) = (SampleModel.entity("Paper", []), SampleModel.entity("Item", []))
        let hasPaper = move != .newParent || isLater
        if hasPaper { paper.subentities = [note] }
        item.subentities = [tag]
        switch (move, isLater) {
        case (.ownersParent, true), (.newParent, true):
            SampleModel.connect(paper, "tags", many: true, tag, "notes", many: true)
        case (.membersParent, true):
            SampleModel.connect(note, "tags", many: true, item, "notes", many: true)
        case (.inverse, false):
            let tags = NSRelationshipDescription()
            tags.name = "tags"
            tags.maxCount = 0
            tags.destinationEntity = tag
            note.properties += [tags]
        default: SampleModel.connect(note, "tags", many: true, tag, "notes", many: true)
        }
        let model = NSManagedObjectModel()
        model.entities = [note, tag, item] + (hasPaper ? [paper] : [])
        return model
    }

    private static func world(_ move: Move) throws -> VersionedWorld {
        try VersionedWorld(
            from: model(move, isLater: false), to: model(move, isLater: true))
    }

    /// Four notes, each with a tag of its own.
    private static func fill(_ device: Device) throws {
        for number in 1...4 {
            let tag = try device.insert("Tag", ["label": .text("t\(number)")])
            let note = try device.insert("Note", ["title": .text("n\(number)")])
            try device.pair(note, "tags", with: tag)
        }
    }

    private static func row(
        _ device: Device, _ entity: String, _ property: String, _ text: String
    ) throws -> RowID {
        let row = try device.rows(entity).first {
            try device.value($0.id, property) == .text(text)
        }
        guard let row else { throw Missing(name: text) }
        return row.id
    }

    private static func note(_ number: Int, _ device: Device) throws -> RowID {
        try row(device, "Note", "title", "n\(number)")
    }

    private static func tag(_ number: Int, _ device: Device) throws -> RowID {
        try row(device, "Tag", "label", "t\(number)")
    }

    private static func change(
        _ device: Device, _ note: Int, _ tag: Int, adding: Bool = true
    ) throws {
        try device.pair(
            self.note(note, device), "tags", with: self.tag(tag, device), adding: adding)
    }

    /// The tags of the four notes.
    private static func links(_ device: Device) throws -> [[Int]] {
        let tags = try (1...4).map { try tag($0, device) }
        return try (1...4).map { number in
            try device.members(note(number, device), "tags")
                .compactMap { member in tags.firstIndex(of: member).map { $0 + 1 } }.sorted()
        }
    }

    @Test(arguments: Move.allCases) func linksAreTheSameOnBothSides(_ move: Move) throws {
        let world = try Self.world(move)
        let (old, new) = (try world.device(), try world.device(isLater: true))
        try Self.fill(old)
        try world.settle(old, new)
        #expect(try Self.links(new) == [[1], [2], [3], [4]])
        try Self.change(new, 1, 1, adding: false)
        try Self.change(new, 2, 1)
        try world.settle(new, old)
        #expect(try Self.links(old) == [[], [1, 2], [3], [4]])
        try Self.change(old, 3, 3, adding: false)
        try world.settle(old, new)
        #expect(try Self.links(new) == [[], [1, 2], [], [4]])
        let updated = try world.updated(old)
        #expect(try updated.sync().exported == 0)
        #expect(try Self.links(updated) == [[], [1, 2], [], [4]])
        let fresh = try world.device(isLater: true)
        try world.settle(fresh, updated, new)
        for device in [fresh, updated, new] {
            #expect(try Self.links(device) == [[], [1, 2], [], [4]])
            #expect(try device.mirrored.status()?.keptForLater.isEmpty == true)
            #expect(try device.mirrored.conflicts().isEmpty)
        }
    }

    @Test(arguments: Move.allCases) func whatWasTakenOutStaysOut(_ move: Move) throws {
        let world = try Self.world(move)
        let (old, other) = (try world.device(), try world.device())
        try Self.fill(old)
        try world.settle(old, other)
        let updated = try world.updated(other)
        #expect(try updated.sync().exported == 0)
        try Self.change(updated, 1, 1, adding: false)
        try world.settle(updated)
        try Self.change(old, 3, 3, adding: false)
        let last = try world.updated(old)
        try world.settle(last, updated)
        for device in [last, updated] {
            #expect(try Self.links(device) == [[], [2], [], [4]])
        }
    }

    /// An end that only the newer version allows.
    @Test func aPairThatTheOlderVersionCannotHaveWaitsWithoutARefusal() throws {
        let world = try Self.world(.membersParent)
        let (old, new) = (try world.device(), try world.device(isLater: true))
        try Self.fill(old)
        try world.settle(old, new)
        let item = try new.insert("Item")
        try new.pair(Self.note(1, new), "tags", with: item)
        try world.settle(new, old)
        #expect(try Self.links(old) == [[1], [2], [3], [4]])
        #expect(try old.mirrored.status()?.isInSync == true)
        let updated = try world.updated(old)
        try world.settle(updated, new)
        for device in [updated, new] {
            #expect(try device.members(Self.note(1, device), "tags").count == 2)
        }
    }

    /// The older version lets a tag be of one note alone.
    @Test func aMemberOfTwoStaysWithBoth() throws {
        let world = try Self.world(.inverse)
        let (old, new) = (try world.device(), try world.device(isLater: true))
        try Self.fill(old)
        try world.settle(old, new)
        try Self.change(new, 2, 1)
        try Self.change(new, 3, 1)
        try world.settle(new, old)
        #expect(try Self.links(old) == [[1], [2], [3], [4]])
        #expect(try Self.links(new) == [[1], [1, 2], [1, 3], [4]])
        #expect(try old.mirrored.conflicts().isEmpty)
        try Self.change(old, 4, 1)
        try world.settle(old, new)
        #expect(try Self.links(new) == [[], [1, 2], [1, 3], [1, 4]])
        let updated = try world.updated(old)
        try world.settle(updated, new)
        for device in [updated, new] {
            #expect(try Self.links(device) == [[], [1, 2], [1, 3], [1, 4]])
        }
    }
}
