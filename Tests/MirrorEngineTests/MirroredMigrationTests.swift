import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import Persistence
import Platform
import RecordWire
import SQLiteStore
import Stores
import Testing

/// A mirrored store that a program migrates in any way it may: nothing is sent twice, what was
/// agreed on stays, and only what changed is sent.
@Suite struct MirroredMigrationTests {
    let world: VersionedWorld
    let old: Device
    let new: Device
    let note: RowID

    init() throws {
        world = try VersionedWorld()
        (old, new, note) = try world.neighbours(hasTag: true)
    }

    @Test(arguments: MigrationWay.allCases)
    func whatWasAgreedOnStaysAndNothingIsSent(_ way: MigrationWay) throws {
        let agreed = try world.agreement(old)
        let migrated = try world.migrated(old, way)
        #expect(try world.agreement(migrated) == agreed)
        let result = try migrated.sync()
        #expect(result.exported == 0 && result.imported.received == 0)
        #expect(try new.sync().imported.received == 0)
        #expect(try migrated.mirrored.conflicts().isEmpty)
        let row = try world.titled("t", migrated)
        #expect(try migrated.value(row, "subtitle") == .text("s"))
        #expect(try migrated.target(row, "binder") == migrated.only("Binder"))
        #expect(try migrated.members(row, "labels") == [migrated.only("Tag")])
        #expect(try migrated.members(migrated.only("Tag"), "pinned") == [row])
    }

    @Test(arguments: MigrationWay.allCases)
    func whatWaitedIsSentOnce(_ way: MigrationWay) throws {
        try old.set(note, "title", .text("u"))
        let tag = try old.insert("Tag", ["label": .text("y")])
        try old.pair(note, "tags", with: tag)
        try old.delete(old.only("TodoNote"))
        let migrated = try world.migrated(old, way)
        #expect(try migrated.sync().exported == 4)
        #expect(try migrated.sync().exported == 0)
        try world.settle(new, migrated)
        let row = try world.titled("u", new)
        #expect(try new.members(row, "labels").count == 2)
        #expect(try new.rows("TodoNote").isEmpty && migrated.rows("TodoNote").isEmpty)
        #expect(try migrated.mirrored.conflicts().isEmpty)
    }

    @Test(arguments: MigrationWay.allCases)
    func editsAfterwardsAreSentAlone(_ way: MigrationWay) throws {
        let migrated = try world.migrated(old, way)
        try migrated.set(world.titled("t", migrated), "mood", .text("merry"))
        #expect(try migrated.sync().exported == 1)
        let sent = migrated.requests.compactMap { request in
            if case .modifyRecords(let modify) = request { modify } else { nil }
        }
        #expect(sent.flatMap(\.operations).map { Set($0.record.fields.keys) } == [["CD_mood"]])
        try world.settle(new, migrated)
        #expect(try new.value(world.titled("t", new), "mood") == .text("merry"))
    }

    @Test func whatAStagesHandlerChangesIsSent() throws {
        let bare = try old.insert("Note", ["views": .integer(3)])
        try world.settle(old, new)
        #expect(try old.value(bare, "title") == .null)
        let migrated = try world.migrated(old, .staged)
        #expect(try migrated.sync().exported == 1)
        try world.settle(new, migrated)
        #expect(try new.rows("Note").count == 2)
        _ = try world.titled("staged", new)
    }

    /// Every device that migrates computes it, some long after others were edited.
    @Test func whatAStagesHandlerComputesGivesWayToWhatSomebodyGave() throws {
        let bare = try old.insert("Note", ["views": .integer(3)])
        try world.settle(old, new)
        #expect(try old.value(bare, "title") == .null)
        let other = try #require(
            try new.rows("Note").first { try new.value($0.id, "views") == .integer(3) })
        try new.set(other.id, "headline", .text("given"))
        try world.settle(new)
        let migrated = try world.migrated(old, .staged)
        try world.settle(migrated, new)
        for device in [migrated, new] { _ = try world.titled("given", device) }
        #expect(try migrated.mirrored.conflicts().map(\.rule) == ["migration"])
        #expect(try migrated.mirrored.conflicts().map(\.winner) == ["remote"])
    }

    @Test func anEditOfWhatAStagesHandlerComputedIsAnEdit() throws {
        try old.insert("Note", ["views": .integer(3)])
        try world.settle(old, new)
        let other = try #require(
            try new.rows("Note").first { try new.value($0.id, "views") == .integer(3) })
        try new.set(other.id, "headline", .text("given"))
        try world.settle(new)
        let migrated = try world.migrated(old, .staged)
        try migrated.set(world.titled("staged", migrated), "headline", .text("mine"))
        try world.settle(migrated, new)
        for device in [migrated, new] { _ = try world.titled("mine", device) }
        #expect(try migrated.mirrored.conflicts().map(\.rule) == ["local"])
    }

    /// Somebody removed the history that the mirror had not seen. What differs may be an edit.
    @Test(arguments: [MigrationWay.onOpening, .deferred])
    func aHistoryThatIsGoneHoldsNothingUpAndTakesNoEditBack(_ way: MigrationWay) throws {
        try old.set(note, "title", .text("mine"))
        try old.loseHistory()
        try new.set(world.titled("t", new), "headline", .text("given"))
        try world.settle(new)
        let migrated = try world.migrated(old, way)
        try world.settle(migrated, new)
        for device in [migrated, new] { _ = try world.titled("mine", device) }
        #expect(try migrated.mirrored.conflicts().map(\.rule) == ["local"])
    }

    @Test func whatIsDroppedLaterIsNoEdit() throws {
        let migrated = try world.migrated(old, .deferred)
        #expect(try migrated.sync().exported == 0)
        while try migrated.store.finishDeferredWork() {}
        try migrated.set(world.titled("t", migrated), "views", .integer(5))
        #expect(try migrated.sync().exported == 1)
        #expect(try world.agreement(migrated).count == world.agreement(new).count)
    }

    // MARK: Struck on the way

    /// Points that a mapped migration passes with the ledger in its hands.
    static let points = [
        "handOn.copied", "handOn.beforeCommit", "migrate.filled", "replace.locked",
        "replace.staged", "replace.swapped",
    ]

    @Test(arguments: [MigrationWay.mapped, .parts], points)
    func aFaultLeavesTheOldLedgerOrTheNewOne(_ way: MigrationWay, _ point: String) throws {
        try old.set(note, "title", .text("u"))
        let agreed = try world.agreement(old)
        let file = try #require(world.file(of: old))
        #expect(throws: (any Error).self) {
            try world.migrated(old, way, faults: Strike(point: point))
        }
        let isNew = try world.isLater(file)
        #expect(isNew == (point == "replace.swapped"))
        let left = try world.open(file, isNew ? world.later : world.former)
        #expect(try world.agreement(left) == agreed)
        let migrated = isNew ? left : try world.migrated(left, way)
        #expect(try migrated.sync().exported == 1)
        try world.settle(new, migrated)
        _ = try world.titled("u", new)
        #expect(try migrated.mirrored.conflicts().isEmpty)
    }

    /// Copies the store when a point is passed, as a killed process would leave it.
    private struct Photograph: FaultPoints {
        let point: String
        let file: URL
        let copy: URL
        func reach(_ name: String) throws {
            guard name == point else { return }
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.copyItem(
                    atPath: file.path + suffix, toPath: copy.path + suffix)
            }
        }
    }

    @Test(arguments: [MigrationWay.mapped, .parts], points)
    func aKilledProcessLeavesTheOldLedgerOrTheNewOne(_ way: MigrationWay, _ point: String) throws {
        try old.set(note, "title", .text("u"))
        let agreed = try world.agreement(old)
        let file = try #require(world.file(of: old))
        let copy = file.deletingLastPathComponent().appendingPathComponent("left.sqlite")
        _ = try world.migrated(
            old, way, faults: Photograph(point: point, file: file, copy: copy))
        try #require(FileManager.default.fileExists(atPath: copy.path))
        let isNew = try world.isLater(copy)
        let left = try world.open(copy, isNew ? world.later : world.former)
        #expect(try world.agreement(left) == agreed)
        let migrated = isNew ? left : try world.migrated(left, way)
        #expect(try migrated.sync().exported == 1)
        try world.settle(new, migrated)
        _ = try world.titled("u", new)
    }
}
