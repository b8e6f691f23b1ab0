import Foundation
import MirrorEngine
import MirrorTestKit
import RecordWire
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// A store that starts over with its service, or with another.
@Suite struct ResetTests {
    let service: SimulatedService
    let a: Device
    let b: Device
    let folder: RowID
    let note: RowID
    let doomed: RowID

    /// Two devices that hold the same: a folder, two notes, a pair.
    init() throws {
        service = try Device.service()
        a = try Device(1, service)
        b = try Device(2, service)
        folder = try a.insert("Folder", ["name": .text("f")])
        note = try a.insert("Note", ["title": .text("one"), "views": .integer(1)])
        doomed = try a.insert("Note", ["title": .text("doomed")])
        let tag = try a.insert("Tag")
        try a.link(note, "folder", folder, order: 2048)
        try a.pair(note, "tags", with: tag)
        try a.sync()
        try b.sync()
    }

    private func records(_ service: SimulatedService) throws -> Int {
        try service.records(inZone: a.mirrored.settings.zoneName).count
    }

    /// A round goes on after a reset only with what it reads: what it sent before, whose answer
    /// counts nowhere now, may have been edited by others since.
    @Test(arguments: [ServiceDialect.extended, .plain])
    func aRoundReadsTheZoneAfterAResetBeforeItSends(dialect: ServiceDialect) throws {
        let service = try Device.service(dialect)
        let policy = MergePolicy(deletion: .keepEdited)
        let a = try Device(1, service, policy: policy)
        let b = try Device(2, service, policy: policy)
        let folder = try a.insert("Folder", ["name": .text("new")])
        a.intercept = { request in
            guard case .modifyRecords = request else { return nil }
            a.intercept = { _ in nil }
            let reply = try service.handle(request, from: a.mirrored.deviceID())
            try b.sync()
            try b.set(b.only("Folder"), "name", .text("edited"))
            try b.sync()
            try a.delete(folder)
            try a.mirrored.reset()
            return reply
        }
        try settle([a, b])
        for device in [a, b] {
            #expect(try device.value(device.only("Folder"), "name") == .text("edited"))
        }
    }

    /// A note is made and deleted, the service loses both, and a late copy of the request that made
    /// it brings it back there.
    private func bringBackDeleted(_ device: Device, _ service: SimulatedService) throws {
        let note = try device.insert("Note", ["title": .text("old")])
        var copies: [RecordRequest] = []
        device.intercept = { request in
            if case .modifyRecords = request { copies.append(request) }
            return nil
        }
        try device.sync()
        device.intercept = { _ in nil }
        try device.delete(note)
        try service.lose()
        try device.sync()
        let id = try device.mirrored.deviceID()
        for copy in copies { _ = try? service.handle(copy, from: id) }
    }

    /// What was deleted here while the service lost it is deleted again where a late copy of the
    /// request that made it brings it back.
    @Test(arguments: [ServiceDialect.extended, .plain])
    func aLateCopyOfWhatWasDeletedIsDeletedAgain(dialect: ServiceDialect) throws {
        let service = try Device.service(dialect)
        let a = try Device(1, service)
        try bringBackDeleted(a, service)
        try settle([a])
        #expect(try a.rows("Note").isEmpty)
        let zone = a.mirrored.settings.zoneName
        #expect(try service.records(inZone: zone).values.allSatisfy(\.deleted))
    }

    /// Others edit what a late copy brought back before the deletion can go there.
    @Test(arguments: [ServiceDialect.extended, .plain], DeletionRule.allCases)
    func anEditOfALateCopyThatIsToBeDeletedIsLoggedOrKept(
        dialect: ServiceDialect, rule: DeletionRule
    ) throws {
        let service = try Device.service(dialect)
        let (a, b) = (
            try Device(1, service, policy: MergePolicy(deletion: rule)),
            try Device(2, service, policy: MergePolicy(deletion: rule))
        )
        try bringBackDeleted(a, service)
        a.intercept = { request in
            if case .modifyRecords = request { throw Missing(name: "service") }
            return nil
        }
        _ = try? a.sync()
        if rule == .deleteWins { #expect(try a.rows("Note").isEmpty) }
        try b.sync()
        try b.set(b.only("Note"), "title", .text("edited"))
        try b.sync()
        _ = try? a.sync()
        a.intercept = { _ in nil }
        try settle([a, b])
        for device in [a, b] {
            #expect(try device.rows("Note").count == (rule == .keepEdited ? 1 : 0))
            #expect(try device.mirrored.status()?.isInSync == true)
        }
        if rule == .deleteWins {
            let lines = try a.mirrored.conflicts().filter { $0.property == "title" }
            #expect(lines.map(\.remote).contains(.string("edited")))
        }
    }

    /// What another process had asked for before the reset may be of another user's zone.
    @Test func whatWasAskedForBeforeAResetIsNotApplied() throws {
        let store = try Device(3, service)
        let zone = try store.mirrored.prepare(container: "test")
        let whole = ZoneChanges.Zone(zoneID: store.mirrored.settings.zoneID, syncToken: nil)
        guard
            case .zoneChanges(let pages) = try service.handle(
                .zoneChanges(ZoneChanges(zones: [whole])), from: "x")
        else {
            Issue.record("The service gave no page.")
            return
        }
        let page = try #require(pages.first)
        let request = PageRequest(token: zone.token, toldWriteIDs: true, marks: zone.marks)
        #expect(zone.token == nil && !page.records.isEmpty)
        #expect(try store.mirrored.reset())
        #expect(try store.mirrored.apply(page, to: request) == nil)
        #expect(try store.mirrored.apply(page.records, to: request) == nil)
        #expect(try store.rows("Note").isEmpty)
        try settle([store, a])
        #expect(try store.rows("Note").count == 2)
    }

    @Test func theSameServiceGetsNothingTwice() throws {
        let before = try records(service)
        #expect(try a.mirrored.reset())
        #expect(try a.mirrored.status()?.isInSync == false)
        #expect(try a.mirrored.status()?.pending.total == 0)
        let result = try a.sync()
        #expect(result.isInSync && result.exported == 0)
        #expect(try records(service) == before)
        #expect(try a.rows("Note").count == 2)
        #expect(try a.members(note, "tags").count == 1)
        #expect(try a.mirrored.conflicts().isEmpty)
        #expect(try b.sync().imported.received == 0)
    }

    @Test(arguments: [MergeRule.remote, .local])
    func editsThatWaitOutliveAReset(rule: MergeRule) throws {
        let a = try Device(3, service, policy: MergePolicy(standard: rule))
        try a.sync()
        let rows = try a.rows("Note")
        let titles = try rows.map { try a.value($0.id, "title") }
        let note = rows[try #require(titles.firstIndex(of: .text("one")))].id
        let doomed = rows[try #require(titles.firstIndex(of: .text("doomed")))].id
        try a.set(note, "title", .text("edited here"))
        try a.delete(doomed)
        try a.insert("Note", ["title": .text("new")])
        let there = try #require(
            try b.rows("Note").first { try b.value($0.id, "title") == .text("one") }
        ).id
        try b.set(there, "views", .integer(7))
        try b.sync()
        try a.mirrored.reset()
        #expect(try a.sync().isInSync)
        try b.sync()
        for device in [a, b] {
            let notes = try device.rows("Note")
            let titles = try notes.map { try device.value($0.id, "title") }
            #expect(Set(titles) == [.text("edited here"), .text("new")])
            let edited = try #require(titles.firstIndex(of: .text("edited here")))
            #expect(try device.value(notes[edited].id, "views") == .integer(7))
            #expect(try device.members(notes[edited].id, "tags").count == 1)
            #expect(try device.target(notes[edited].id, "folder") == device.only("Folder"))
        }
        #expect(try a.mirrored.conflicts().isEmpty)
    }

    @Test func aFreshServiceGetsEverything() throws {
        let before = try records(service)
        try a.set(note, "title", .text("edited"))
        try a.delete(doomed)
        try a.mirrored.reset()
        let fresh = try Device.service()
        a.service = fresh
        #expect(try a.sync().isInSync)
        #expect(try records(fresh) == before - 1)
        let c = try Device(4, fresh)
        try c.sync()
        let arrived = try c.only("Note")
        #expect(try c.value(arrived, "title") == .text("edited"))
        #expect(try c.value(arrived, "views") == .integer(1))
        #expect(try c.target(arrived, "folder") == c.only("Folder"))
        #expect(try c.members(arrived, "tags") == [c.only("Tag")])
    }

    @Test func aDamagedBaseIsMended() throws {
        try a.set(note, "title", .text("edited"))
        _ = try a.store.write {
            try $0.connection.run(
                "UPDATE ANSCKRECORDMETADATAENCODEDRECORDASSET SET ZBINARYDATA = x'00'")
        }
        _ = try a.mirrored.analyse()
        #expect(throws: MirrorError.self) { _ = try a.mirrored.nextBatch() }
        try a.mirrored.reset()
        #expect(try a.sync().isInSync)
        try b.sync()
        for device in [a, b] {
            let titles = try device.rows("Note").map { try device.value($0.id, "title") }
            #expect(titles.count == 2)
            #expect(Set(titles) == [.text("edited"), .text("doomed")])
        }
    }

    /// A process was killed while a batch was under way, and its copy here is cut short or altered.
    @Test(arguments: [
        "x''", "x'00'", "x'0105'", "substr(ZRECORDS, 1, length(ZRECORDS) - 1)",
        "substr(ZRECORDS, 1, 9) || x'FFFFFF7F'", "x'01' || substr(ZRECORDS, 6)",
    ])
    func aDamagedCopyOfWhatWasSentIsMended(damage: String) throws {
        try a.set(note, "title", .text("edited"))
        _ = try a.mirrored.analyse()
        #expect(try a.mirrored.nextBatch().items.count == 1)
        let count = try a.store.write {
            try $0.connection.run("UPDATE ADIPTYCHBATCH SET ZRECORDS = \(damage)")
            return $0.connection.changes
        }
        #expect(count == 1)
        let error = #expect(throws: MirrorError.self) { _ = try a.mirrored.nextBatch() }
        #expect(error?.code == .ledgerDamaged)
        try a.mirrored.reset()
        #expect(try a.sync().isInSync)
        try b.sync()
        let titles = try b.rows("Note").map { try b.value($0.id, "title") }
        #expect(Set(titles) == [.text("edited"), .text("doomed")])
    }

    @Test func aStoreThatWasNeverSyncedHasNothingToForget() throws {
        #expect(try Device(9, service).mirrored.reset() == false)
    }
}
