import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import Persistence
import Predicates
import RecordWire
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Migrations that make a new file: what a mirror and its service agreed on follows the objects.
@Suite struct MappedMigrationTests {
    let world: VersionedWorld
    let old: Device
    let new: Device
    let note: RowID

    init() throws {
        world = try VersionedWorld()
        (old, new, note) = try world.neighbours(hasTag: true)
    }

    private func noteWithValues(_ device: Device) throws -> RowID {
        try #require(
            try device.rows("Note").first { try device.value($0.id, "subtitle") == .text("s") }
        ).id
    }

    @Test func nothingIsSentOrReceivedAgain() throws {
        let mapped = try world.mapped(old)
        let result = try mapped.sync()
        #expect(result.exported == 0 && result.imported.received == 0)
        let row = try noteWithValues(mapped)
        #expect(row.key != note.key)
        #expect(try mapped.value(row, "headline") == .text("t"))
        #expect(try mapped.target(row, "binder") == mapped.only("Binder"))
        #expect(try mapped.members(row, "labels") == [mapped.only("Tag")])
        #expect(try new.sync().imported.received == 0)
        #expect(try mapped.mirrored.conflicts().isEmpty)
    }

    @Test func whatWaitedIsSentAndNoMore() throws {
        try old.set(note, "title", .text("u"))
        let tag = try old.insert("Tag", ["label": .text("y")])
        try old.pair(note, "tags", with: tag)
        try old.delete(old.only("TodoNote"))
        let mapped = try world.mapped(old)
        #expect(try mapped.sync().exported == 4)
        try world.settle(new, mapped)
        #expect(try new.value(noteWithValues(new), "headline") == .text("u"))
        #expect(try new.members(noteWithValues(new), "labels").count == 2)
        #expect(try new.rows("TodoNote").isEmpty)
    }

    @Test func editsAfterTheMigrationAreSentAlso() throws {
        try old.set(note, "title", .text("u"))
        let mapped = try world.mapped(old)
        let row = try #require(
            try mapped.rows("Note").first { try mapped.value($0.id, "headline") == .text("u") })
        try mapped.set(row.id, "views", .integer(9))
        try mapped.delete(mapped.only("Tag"))
        try world.settle(mapped, new)
        try mapped.set(row.id, "views", .integer(10))
        try world.settle(mapped, new)
        #expect(try new.value(noteWithValues(new), "views") == .integer(10))
        #expect(try new.value(noteWithValues(new), "headline") == .text("u"))
        #expect(try new.rows("Tag").isEmpty)
    }

    @Test func aMappingThatChangesValuesSendsThem() throws {
        let mapping = try world.inferred()
        let notes = try #require(
            mapping.entityMappings?.first { $0.destinationEntityName == "TodoNote" })
        let views = try #require(notes.attributeMappings?.first { $0.name == "views" })
        views.valueExpression = NSExpression(forConstantValue: 7)
        let mapped = try world.mapped(old, by: mapping)
        #expect(try mapped.sync().exported == 1)
        let sent = mapped.requests.compactMap { request in
            if case .modifyRecords(let modify) = request { modify } else { nil }
        }
        #expect(sent.flatMap(\.operations).map { Set($0.record.fields.keys) } == [["CD_views"]])
        try world.settle(new, mapped)
        #expect(try new.value(new.only("TodoNote"), "views") == .integer(7))
    }

    @Test func aValueThatSomebodyGaveStandsBeforeAComputedOne() throws {
        let mapping = try world.inferred()
        for entity in mapping.entityMappings ?? [] {
            let subtitle = entity.attributeMappings?.first { $0.name == "subtitle" }
            subtitle?.valueExpression = NSExpression(forConstantValue: "computed")
        }
        let mapped = try world.mapped(old, by: mapping)
        try world.settle(mapped, new)
        #expect(try mapped.value(noteWithValues(mapped), "headline") == .text("t"))
        #expect(try new.value(new.only("TodoNote"), "subtitle") == .text("computed"))
        let logged = try mapped.mirrored.conflicts()
        #expect(logged.map(\.rule) == ["migration"] && logged.map(\.property) == ["subtitle"])
    }

    @Test func whatAMappingLeavesOutIsNotDeletedElsewhere() throws {
        let mapping = try world.inferred()
        mapping.entityMappings = mapping.entityMappings?.filter { $0.sourceEntityName != "Tag" }
        let mapped = try world.mapped(old, by: mapping)
        try world.settle(mapped, new)
        #expect(try new.rows("Tag").count == 1 && mapped.rows("Tag").count == 1)
    }

    @Test func aDecisionThatWaitsAndAnAnswerThatWasLostFollow() throws {
        try old.set(note, "title", .text("u"))
        old.intercept = { [service = world.service, old] request in
            guard case .modifyRecords = request else { return nil }
            _ = try service.handle(request, from: try old.mirrored.deviceID())
            throw MirrorError(.stopped, "killed")
        }
        _ = try old.sync()
        let mapped = try world.mapped(old)
        try world.settle(mapped, new)
        #expect(try mapped.mirrored.conflicts().isEmpty)
        #expect(try new.value(noteWithValues(new), "headline") == .text("u"))
    }

    // MARK: When edits were made

    private static let latest = MergePolicy(standard: .latest)

    /// Devices whose latest edit wins, with a note that both have edited, the older one at a
    /// moment.
    private func edited(
        at seconds: Double
    ) throws -> (world: VersionedWorld, old: Device, new: Device) {
        let world = try VersionedWorld()
        let old = try world.device(policy: Self.latest)
        let new = try world.device(isLater: true, policy: Self.latest)
        let note = try old.insert("Note", ["title": .text("t")])
        try world.settle(old, new)
        old.clock.advance(seconds: seconds)
        new.clock.advance(seconds: 200)
        try old.set(note, "title", .text("old"))
        try new.set(new.only("Note"), "headline", .text("new"))
        try new.sync()
        return (world, old, new)
    }

    @Test(arguments: [(100.0, "new"), (300, "old")])
    func editsThatNoRoundHadSeenKeepTheirTimes(_ seconds: Double, _ winner: String) throws {
        let (world, old, new) = try edited(at: seconds)
        let mapped = try world.mapped(old, policy: Self.latest)
        try world.settle(mapped, new)
        for device in [mapped, new] {
            #expect(try device.value(device.only("Note"), "headline") == .text(winner))
        }
    }

    /// The next version has the note's headline under a third name.
    @Test(arguments: [true, false], [(100.0, "new"), (300, "old")])
    func timesOutliveTheNextMigrationAlso(
        _ isMapped: Bool, _ expected: (seconds: Double, winner: String)
    ) throws {
        let (world, old, new) = try edited(at: expected.seconds)
        let third = SampleModel.makeLater()
        if let note = third.entitiesByName["Note"] {
            SampleModel.rename("headline", to: "heading", in: note)
        }
        let mapped = try world.mapped(old, policy: Self.latest)
        let next =
            isMapped
            ? try world.mapped(mapped, to: third, policy: Self.latest)
            : try world.updated(mapped, to: third, policy: Self.latest)
        try world.settle(next, new)
        #expect(try next.value(next.only("Note"), "heading") == .text(expected.winner))
        #expect(try new.value(new.only("Note"), "headline") == .text(expected.winner))
    }

    @Test func timesAreAskedOnce() throws {
        let (world, old, new) = try edited(at: 300)
        let mapped = try world.mapped(old, policy: Self.latest)
        try world.settle(mapped, new)
        let left = try mapped.store.read {
            try $0.connection.value("SELECT count(*) FROM ADIPTYCHUNSEENEDIT")
        }
        #expect(left == 0)
    }

    @Test func anImportIsNoEditToBeTimed() throws {
        let (world, old, new) = try edited(at: 100)
        try old.sync()
        let mapped = try world.mapped(old, policy: Self.latest)
        let unseen = try mapped.store.read {
            try $0.connection.value(
                "SELECT count(*) FROM ADIPTYCHUNSEENEDIT WHERE ZAUTHOR IS NOT "
                    + "'NSCloudKitMirroringDelegate.import'")
        }
        #expect(unseen == 0)
        try world.settle(mapped, new)
        #expect(try mapped.value(mapped.only("Note"), "headline") == .text("new"))
    }
}
