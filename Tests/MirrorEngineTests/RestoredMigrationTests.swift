import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteStore
import Stores
import Testing

/// A store that is restored from a copy with unsent work, which was sent since: nothing is there
/// twice, and nothing that others did since is undone; also where an updated app opens it.
@Suite struct RestoredMigrationTests {
    /// How the restored copy is opened.
    enum Update: CaseIterable {
        /// By the same version.
        case none
        /// With a new attribute.
        case attribute
        /// With new entities, so that others have other numbers.
        case entities
        /// The same by a mapping model, which makes a new file.
        case mapped
    }

    /// What was made and not sent when the copy was made.
    enum Work: CaseIterable {
        case object, linkToNew, pairWithOld, pairOfNew
    }

    let world: VersionedWorld
    let other: Device

    init() throws {
        world = try VersionedWorld(to: VersionedWorld.between())
        other = try world.device()
    }

    /// The copy of a store with a note and a tag, and what `edit` made of it. All of that was sent
    /// from the store itself since.
    private func backup(in world: VersionedWorld, _ edit: (Device) throws -> Void) throws -> URL {
        let file = world.folder.appendingPathComponent("one.sqlite")
        let copy = world.folder.appendingPathComponent("copy.sqlite")
        do {
            let one = try world.open(file, world.former)
            // Keys that are not those which a new file would give.
            for _ in 0..<3 { try one.delete(one.insert("Note")) }
            try one.insert("Note", ["title": .text("t"), "views": .integer(1)])
            try one.insert("Tag", ["label": .text("x")])
            try world.settle(one, other)
            one.clock.advance(seconds: 60)
            try edit(one)
        }
        for suffix in ["", "-wal", "-shm"]
        where FileManager.default.fileExists(atPath: file.path + suffix) {
            try FileManager.default.copyItem(
                atPath: file.path + suffix, toPath: copy.path + suffix)
        }
        do {
            let one = try world.open(file, world.former)
            one.clock.advance(seconds: 120)
            try world.settle(one, other)
        }
        return copy
    }

    private func backup(_ edit: (Device) throws -> Void) throws -> URL {
        try backup(in: world, edit)
    }

    private func restored(_ copy: URL, _ update: Update) throws -> Device {
        let device = try world.open(copy, world.former)
        let restored =
            switch update {
            case .none: device
            case .attribute: try world.updated(device)
            case .entities: try world.updated(device, to: Self.later())
            case .mapped: try world.mapped(device, to: Self.later())
            }
        restored.clock.advance(seconds: 300)
        return restored
    }

    /// Its first entity moves the numbers of all.
    private static func later() -> NSManagedObjectModel {
        let model = SampleModel.makeLater()
        model.entities += [
            SampleModel.entity("Album", [SampleModel.attribute("name", .stringAttributeType)])
        ]
        return model
    }

    private func note(_ device: Device, _ title: String) throws -> RowID {
        let row = try device.rows("Note").first {
            try device.value($0.id, "title") == .text(title)
        }
        return try #require(row).id
    }

    private func counts(_ device: Device) throws -> [Int] {
        let folders = device.store.layout.entity(named: "Folder") == nil ? "Binder" : "Folder"
        return try [folders, "Note", "Tag", "TodoNote"].map { try device.rows($0).count }
    }

    private func make(_ work: Work, _ device: Device) throws {
        let (note, tag) = (try note(device, "t"), try device.only("Tag"))
        switch work {
        case .object: try device.insert("Note", ["title": .text("new")])
        case .linkToNew:
            let folder = try device.insert("Folder", ["name": .text("new")])
            try device.link(note, "folder", folder, order: 1024)
        case .pairWithOld:
            let made = try device.insert("TodoNote", ["title": .text("new")])
            try device.pair(made, "tags", with: tag)
            try device.pair(tag, "pinned", with: made)
        case .pairOfNew:
            let made = try device.insert("Tag", ["label": .text("new")])
            try device.pair(note, "tags", with: made)
        }
    }

    @Test(arguments: Update.allCases, Work.allCases)
    func whatWasMadeIsThereOnce(_ update: Update, _ work: Work) throws {
        let copy = try backup { try make(work, $0) }
        let wanted = try counts(other)
        let before = try other.mirrored.conflicts().count
        let device = try restored(copy, update)
        try world.settle(device, other)
        #expect(try counts(other) == wanted && counts(device) == wanted)
        #expect(try other.mirrored.conflicts().count == before)
        #expect(try device.mirrored.conflicts().isEmpty)
        #expect(try pairs(other) == (work == .pairWithOld ? 2 : work == .pairOfNew ? 1 : 0))
    }

    /// How many pairs the service has.
    private func pairs(_ device: Device) throws -> Int {
        try world.service.records(inZone: device.mirrored.settings.zoneName).values
            .count { $0.recordType == "CDMR" && !$0.deleted }
    }

    @Test(arguments: Update.allCases)
    func anObjectThatAnotherDeletedStaysAway(_ update: Update) throws {
        let copy = try backup { try make(.object, $0) }
        try other.delete(note(other, "new"))
        try world.settle(other)
        let device = try restored(copy, update)
        try world.settle(device, other)
        #expect(try other.rows("Note").count == 1 && device.rows("Note").count == 1)
    }

    @Test(arguments: Update.allCases)
    func whatAnotherMadeOfANewObjectStays(_ update: Update) throws {
        let copy = try backup { try make(.object, $0) }
        try other.set(note(other, "new"), "title", .text("newer"))
        try world.settle(other)
        let device = try restored(copy, update)
        try world.settle(device, other)
        #expect(try other.rows("Note").count == 2)
        _ = try note(other, "newer")
    }

    @Test(arguments: Update.allCases)
    func anEditThatAnotherTookBackStaysTakenBack(_ update: Update) throws {
        let copy = try backup { try $0.set(note($0, "t"), "title", .text("u")) }
        try other.set(note(other, "u"), "title", .text("t"))
        try world.settle(other)
        let device = try restored(copy, update)
        try world.settle(device, other)
        _ = try note(other, "t")
    }

    /// A round had looked at the edit, and was offline.
    @Test(arguments: Update.allCases)
    func anEditThatWaitedAndWasTakenBackStaysTakenBack(_ update: Update) throws {
        let copy = try backup { device in
            try device.set(note(device, "t"), "title", .text("u"))
            _ = try device.mirrored.prepare(container: "test")
            while try device.mirrored.analyse().moreWaiting {}
        }
        try other.set(note(other, "u"), "title", .text("t"))
        try world.settle(other)
        let device = try restored(copy, update)
        try world.settle(device, other)
        _ = try note(other, "t")
    }

    @Test(arguments: Update.allCases)
    func aPairThatAnotherRemovedStaysAway(_ update: Update) throws {
        let copy = try backup { try $0.pair(note($0, "t"), "tags", with: $0.only("Tag")) }
        try other.pair(note(other, "t"), "tags", with: other.only("Tag"), adding: false)
        try world.settle(other)
        let device = try restored(copy, update)
        try world.settle(device, other)
        #expect(try other.members(note(other, "t"), "tags").isEmpty)
        #expect(try pairs(other) == 0)
    }

    /// The store went on editing the list before it sent the pair.
    @Test func aLaterEditOfTheListLeavesThePairItsName() throws {
        let file = world.folder.appendingPathComponent("one.sqlite")
        _ = try backup { device in
            let note = try note(device, "t")
            try device.pair(note, "tags", with: device.only("Tag"))
            let kept = world.folder.appendingPathComponent("kept.sqlite")
            for suffix in ["", "-wal", "-shm"]
            where FileManager.default.fileExists(atPath: file.path + suffix) {
                try FileManager.default.copyItem(
                    atPath: file.path + suffix, toPath: kept.path + suffix)
            }
            try device.pair(note, "tags", with: device.insert("Tag", ["label": .text("y")]))
        }
        let tag = try #require(
            try other.rows("Tag").first { try other.value($0.id, "label") == .text("x") }
        ).id
        try other.pair(note(other, "t"), "tags", with: tag, adding: false)
        try world.settle(other)
        let device = try restored(world.folder.appendingPathComponent("kept.sqlite"), .none)
        try world.settle(device, other)
        #expect(try other.members(note(other, "t"), "tags").count == 1)
    }

    /// The history is looked at in stretches, and what an object of the first leads to was made in
    /// the last.
    @Test func aTargetThatWasMadeMuchLaterIsThereOnce() throws {
        let copy = try backup { device in
            let made = try device.insert("Note", ["title": .text("new")])
            for index in 0..<600 {
                try device.set(note(device, "t"), "rating", .double(Double(index)))
            }
            try device.pair(made, "tags", with: device.insert("Tag", ["label": .text("new")]))
        }
        let device = try restored(copy, .none)
        try world.settle(device, other)
        #expect(try other.rows("Tag").count == 2 && other.rows("Note").count == 2)
    }

    // MARK: Counts

    @Test(arguments: [Update.none, .attribute, .entities])
    func aCountCountsOnce(_ update: Update) throws {
        let copy = try backup { try $0.set(note($0, "t"), "views", .integer(2)) }
        try other.set(note(other, "t"), "views", .integer(3))
        try world.settle(other)
        let device = try restored(copy, update)
        try world.settle(device, other)
        #expect(try other.value(note(other, "t"), "views") == .integer(3))
    }

    @Test func aCountOfARenamedCounterCountsOnce() throws {
        let later = SampleModel.make()
        let entity = try #require(later.entitiesByName["Note"])
        SampleModel.rename("views", to: "seen", in: entity)
        let copy = try backup { try $0.set(note($0, "t"), "views", .integer(2)) }
        try other.set(note(other, "t"), "views", .integer(3))
        try world.settle(other)
        let device = try world.updated(world.open(copy, world.former), to: later)
        try world.settle(device, other)
        #expect(try other.value(note(other, "t"), "views") == .integer(3))
    }

    // MARK: What a migration adds

    /// The attribute without a value has a default in the later version, so that the absence is
    /// said: that is no part of the edit.
    @Test func anEditThatWasTakenBackStaysSoBesideANewDefault() throws {
        let later = SampleModel.make()
        let entity = try #require(later.entitiesByName["Note"])
        entity.attributesByName["rating"]?.defaultValue = 2.5
        entity.properties += [SampleModel.attribute("subtitle", .stringAttributeType)]
        let copy = try backup { try $0.set(note($0, "t"), "title", .text("u")) }
        try other.set(note(other, "u"), "title", .text("t"))
        try world.settle(other)
        let device = try world.updated(world.open(copy, world.former), to: later)
        try world.settle(device, other)
        _ = try note(other, "t")
        #expect(try device.value(note(device, "t"), "rating") == .null)
        #expect(try other.value(note(other, "t"), "rating") == .null)
    }
}
