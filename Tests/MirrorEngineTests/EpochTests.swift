import Foundation
import MirrorEngine
import MirrorTestKit
import Platform
import RecordWire
import SQLiteStore
import Stores
import Testing

/// The service, a zone or a store goes back to an older state: what any device holds comes back,
/// and what was deleted stays deleted.
@Suite final class EpochTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("epochs-\(UUID().uuidString)")
    let host: ServiceHost
    let a: Device
    let b: Device
    let note: RowID

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        host = try ServiceHost(in: folder)
        a = try Device(1, host.service, policy: MergePolicy(standard: .local))
        b = try Device(2, host.service, policy: MergePolicy(standard: .local))
        note = try a.insert("Note", ["title": .text("old"), "views": .integer(3)])
        try a.sync()
        try b.sync()
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func noteB() throws -> RowID { try b.only("Note") }

    private func titles(_ device: Device) throws -> Set<String> {
        Set(
            try device.rows("Note").compactMap { row in
                if case .text(let text)? = try device.value(row.id, "title") { text } else { nil }
            })
    }

    // MARK: Backups of the service

    @Test(arguments: [true, false])
    func editsAndObjectsOfTheLostTimeComeBack(aFirst: Bool) throws {
        let backup = try host.backup()
        try a.set(note, "title", .text("new"))
        try a.insert("Note", ["title": .text("added")])
        try b.insert("Note", ["title": .text("of b")])
        try settle([a, b], inSync: true)
        try host.service.restore(backup)
        try settle(aFirst ? [a, b] : [b, a])
        for device in [a, b] { #expect(try titles(device) == ["new", "added", "of b"]) }
        #expect(try host.titles() == ["new", "added", "of b"])
        #expect(try a.mirrored.conflicts().isEmpty && b.mirrored.conflicts().isEmpty)
    }

    @Test(arguments: [true, false])
    func aServiceThatHasCountedPastTheOldTokensIsNoticed(bWroteBefore: Bool) throws {
        let backup = try host.backup()
        try a.insert("Note", ["title": .text("lost")])
        try a.sync()
        if bWroteBefore { try b.sync() }
        try host.service.restore(backup)
        // A third device writes until the counter has passed what was lost.
        let c = try Device(3, host.service)
        for index in 0..<5 { try c.insert("Note", ["title": .text("c\(index)")]) }
        try c.sync()
        try settle([b, a, c], inSync: true)
        let all: Set<String> = ["old", "lost", "c0", "c1", "c2", "c3", "c4"]
        for device in [a, b, c] { #expect(try titles(device) == all) }
        #expect(try a.rows("Note").count == 7)
    }

    @Test(arguments: [true, false])
    func whatWasDeletedInTheLostTimeStaysDeleted(deleterFirst: Bool) throws {
        let backup = try host.backup()
        try a.delete(note)
        try a.sync()
        if !deleterFirst { try b.sync() }
        try host.service.restore(backup)
        try settle(deleterFirst ? [a, b] : [b, a])
        #expect(try a.rows("Note").isEmpty && b.rows("Note").isEmpty)
        #expect(try host.titles().isEmpty)
    }

    @Test func aDeletionWinsOverADeviceThatFillsTheServiceAgain() throws {
        let backup = try host.backup()
        try a.set(note, "title", .text("edited"))
        try settle([a, b], inSync: true)
        try a.delete(note)
        try a.sync()
        try host.service.restore(backup)
        try settle([b, a], inSync: true)
        #expect(try a.rows("Note").isEmpty && b.rows("Note").isEmpty)
        #expect(try host.titles().isEmpty)
    }

    /// The backup lacks the object: who fills the service again sends it, and then the edit.
    @Test(arguments: [DeletionRule.deleteWins, .keepEdited])
    func anEditAfterTheLossMeetsALostDeletionByTheRule(_ rule: DeletionRule) throws {
        let policy = MergePolicy(standard: .local, deletion: rule)
        let c = try Device(3, host.service, policy: policy)
        let d = try Device(4, host.service, policy: policy)
        try settle([c, d], inSync: true)
        let backup = try host.backup()
        let made = try c.insert("Note", ["title": .text("made")])
        try settle([c, d], inSync: true)
        let row = try #require(
            d.rows("Note").first { try d.value($0.id, "title") == .text("made") })
        try c.delete(made)
        try c.sync()
        try host.service.restore(backup)
        try d.set(row.id, "title", .text("edited"))
        try settle([d, c], inSync: true)
        let isKept = rule == .keepEdited
        for device in [c, d] {
            #expect(try titles(device) == (isKept ? ["old", "edited"] : ["old"]))
        }
        guard !isKept else { return }
        let lines = try c.mirrored.conflicts().filter { $0.property == "title" }
        #expect(lines.map(\.remote) == [.string("edited")])
    }

    @Test(arguments: [true, false])
    func countsOfTheLostTimeAreCountedOnce(aFirst: Bool) throws {
        let backup = try host.backup()
        try a.set(note, "views", .integer(5))
        try settle([a, b], inSync: true)
        try host.service.restore(backup)
        try a.set(note, "views", .integer(6))
        try b.set(noteB(), "views", .integer(7))
        try settle(aFirst ? [a, b] : [b, a])
        #expect(try a.value(note, "views") == .integer(8))
        #expect(try b.value(noteB(), "views") == .integer(8))
    }

    @Test(arguments: [true, false])
    func aDeviceThatKnowsTheNewerLostVersionWins(newerFirst: Bool) throws {
        let backup = try host.backup()
        try a.set(note, "title", .text("first"))
        try settle([a, b], inSync: true)
        try a.set(note, "title", .text("second"))
        try a.sync()
        try host.service.restore(backup)
        try settle(newerFirst ? [a, b] : [b, a])
        #expect(try titles(a) == ["second"] && titles(b) == ["second"])
        #expect(try a.mirrored.conflicts().isEmpty && b.mirrored.conflicts().isEmpty)
    }

    /// The answer was lost to what the service took, another device took it in, and the service
    /// lost it: what is sent again is this device's own, upon which it has edited since.
    @Test(arguments: [(true, true), (true, false), (false, false)])
    func aWriteWithoutAnAnswerIsKnownWhenItIsSentAgain(isNew: Bool, isEditedThere: Bool) throws {
        let policy = MergePolicy(standard: .remote)
        let c = try Device(3, host.service, policy: policy)
        let d = try Device(4, host.service, policy: policy)
        try settle([c, d], inSync: true)
        let backup = try host.backup()
        let row = try isNew ? c.insert("Note", ["views": .integer(3)]) : c.only("Note")
        try c.set(row, "title", .text("sent"))
        try c.set(row, "views", .integer(5))
        c.intercept = { [host] request in
            guard case .modifyRecords = request else { return nil }
            _ = try host.service.handle(request, from: c.mirrored.deviceID())
            throw Missing(name: "reply")
        }
        _ = try? c.sync()
        c.intercept = { _ in nil }
        try d.sync()
        try host.service.restore(backup)
        try c.set(row, "title", .text("later"))
        try c.set(row, "views", .integer(6))
        if isEditedThere {
            let there = try d.rows("Note").first { try d.value($0.id, "title") == .text("sent") }
            try d.set(#require(there).id, "views", .integer(7))
        }
        try settle([d, c], inSync: true)
        for device in [c, d] {
            let titles = try self.titles(device)
            #expect(titles == (isNew ? ["old", "later"] : ["later"]))
            let own = try device.rows("Note")
                .first { try device.value($0.id, "title") == .text("later") }
            let views = try device.value(#require(own).id, "views")
            #expect(views == .integer(isEditedThere ? 8 : 6))
            #expect(try device.mirrored.conflicts().filter { $0.property == "title" }.isEmpty)
        }
    }

    @Test func aServiceRestoredTwiceLosesNothing() throws {
        let first = try host.backup()
        try a.insert("Note", ["title": .text("one")])
        try settle([a, b], inSync: true)
        let second = try host.backup()
        try b.insert("Note", ["title": .text("two")])
        try settle([b, a], inSync: true)
        try host.service.restore(second)
        try a.sync()
        try a.insert("Note", ["title": .text("three")])
        try a.sync()
        try host.service.restore(first)
        try settle([b, a], inSync: true)
        for device in [a, b] { #expect(try titles(device) == ["old", "one", "two", "three"]) }
    }

    @Test func aRestoreInTheMiddleOfARoundIsNoticed() throws {
        let backup = try host.backup()
        try a.set(note, "title", .text("second"))
        try settle([a, b], inSync: true)
        try a.set(note, "views", .integer(4))
        var isDone = false
        a.intercept = { [host] request in
            guard case .modifyRecords = request, !isDone else { return nil }
            isDone = true
            try host.service.restore(backup)
            return nil
        }
        try settle([a, b], inSync: true)
        #expect(try titles(a) == ["second"] && titles(b) == ["second"])
        #expect(try b.value(noteB(), "views") == .integer(4))
        #expect(try a.mirrored.conflicts().isEmpty)
    }

    @Test func theEpochOfAnAnswerIsKnownWithoutAnotherRead() throws {
        let known = try line(of: a)?.epochs.count ?? 0
        try a.set(note, "title", .text("second"))
        var isSent = false
        a.intercept = { [host] request in
            if isSent { throw Missing(name: "network") }
            guard case .modifyRecords = request else { return nil }
            isSent = true
            try host.service.kill()
            return nil
        }
        try a.sync()
        #expect(try line(of: a)?.epochs.count == known + 1)
    }

    private func line(of device: Device) throws -> EpochLine? {
        let platform = device.mirrored.settings.platform
        return try device.store.read {
            try Ledger(connection: $0.connection, platform: platform).line()
        }
    }

    @Test func theRoundSaysThatTheServiceWentBack() throws {
        let backup = try host.backup()
        try a.insert("Note", ["title": .text("added")])
        try a.sync()
        try host.service.restore(backup)
        let result = try a.sync()
        #expect(result.comparisons == 1 && result.imported.sentAgain == 1)
        #expect(result.notices.count == 1)
        #expect(try a.sync().notices.isEmpty)
    }

    // MARK: Nothing is left

    @Test(arguments: [true, false])
    func aServiceMadeAnewIsFilledByAllDevices(aFirst: Bool) throws {
        try a.insert("Note", ["title": .text("only a")])
        try a.sync()
        try b.insert("Note", ["title": .text("only b")])
        let tag = try b.insert("Tag", ["label": .text("t")])
        try b.pair(noteB(), "tags", with: tag)
        try b.sync()
        try host.service.lose()
        try settle(aFirst ? [a, b] : [b, a])
        for device in [a, b] {
            #expect(try titles(device) == ["old", "only a", "only b"])
            #expect(try device.rows("Tag").count == 1)
        }
        let old = try #require(
            try a.rows("Note").first { try a.value($0.id, "title") == .text("old") })
        #expect(try a.members(old.id, "tags").count == 1)
        #expect(try host.titles() == ["old", "only a", "only b"])
    }

    @Test func aZoneThatWasDeletedIsFilledAgain() throws {
        try a.insert("Note", ["title": .text("only a")])
        try a.sync()
        let zone = ZoneID(zoneName: a.mirrored.settings.zoneName)
        _ = try host.service.handle(.modifyZones([ZoneOperation(.delete, zone)]), from: "x")
        try settle([b, a], inSync: true)
        for device in [a, b] { #expect(try titles(device) == ["old", "only a"]) }
        #expect(try host.titles() == ["old", "only a"])
    }

    // MARK: Copies of a store

    @Test func aCopiedStoreTakesANameOfItsOwnAndLosesNoEdit() throws {
        let file = folder.appendingPathComponent("one.sqlite")
        do {
            let one = try Device(5, host.service, file: file)
            try one.sync()
            let row = try one.only("Note")
            // Sent, and its answer lost: both copies will hold it as under way.
            try one.set(row, "views", .integer(5))
            one.intercept = { [host] request in
                guard case .modifyRecords = request else { return nil }
                _ = try host.service.handle(request, from: "one")
                throw RecordError(.badRequest, "lost")
            }
            try one.sync()
            try one.insert("Note", ["title": .text("unsent")])
        }
        let copy = folder.appendingPathComponent("two.sqlite")
        try copyStore(file, to: copy)
        let one = try Device(6, host.service, file: file)
        let two = try Device(7, host.service, file: copy)
        let rowOne = try #require(try one.rows("Note").first).id
        try one.set(rowOne, "views", .integer(6))
        try two.set(rowOne, "views", .integer(7))
        try settle([one, two, a, b], inSync: true)
        for device in [a, b, one, two] {
            #expect(try titles(device) == ["old", "unsent"])
            #expect(try device.rows("Note").count == 2)
        }
        // 3, and 2 that both copies hold, and 1 and 2 of one each.
        #expect(try a.value(note, "views") == .integer(8))
        #expect(try one.mirrored.deviceID() != two.mirrored.deviceID())
    }

    @Test func aStoreRestoredFromAnOlderCopyIsHealed() throws {
        let file = folder.appendingPathComponent("one.sqlite")
        let backup = folder.appendingPathComponent("backup.sqlite")
        do {
            let one = try Device(5, host.service, file: file)
            try one.sync()
            // Not yet sent when the copy is made, sent afterwards.
            try one.set(try one.only("Note"), "views", .integer(4))
            try one.insert("Note", ["title": .text("made")])
        }
        try copyStore(file, to: backup)
        do {
            let one = try Device(6, host.service, file: file)
            try one.sync()
            let row = try #require(
                try one.rows("Note").first { try one.value($0.id, "title") == .text("old") }
            ).id
            try one.set(row, "title", .text("later"))
            try one.sync()
        }
        try copyStore(backup, to: file)
        let one = try Device(7, host.service, file: file)
        try settle([one, a, b], inSync: true)
        for device in [a, b, one] {
            #expect(try titles(device) == ["later", "made"])
            #expect(try device.rows("Note").count == 2)
        }
        #expect(try a.value(note, "views") == .integer(4))
    }

    private func copyStore(_ file: URL, to other: URL) throws {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: other.path + suffix)
            if FileManager.default.fileExists(atPath: file.path + suffix) {
                try FileManager.default.copyItem(
                    atPath: file.path + suffix, toPath: other.path + suffix)
            }
        }
    }
}

/// A service over a file that can be copied and put back.
struct ServiceHost {
    let service: SimulatedService

    /// The service keeps its files in `folder`.
    init(in folder: URL) throws {
        service = try SimulatedService(
            platform: Environment(
                clock: VirtualClock(), randomness: SeededRandomness(seed: 99), faults: NoFaults()),
            folder: folder)
    }

    /// Copies the data as they are now.
    func backup() throws -> URL { try #require(try service.copy()) }

    /// The titles of all notes it has.
    func titles() throws -> Set<String> {
        let records = try service.records(inZone: "com.apple.coredata.cloudkit.zone")
        return Set(
            records.values.compactMap { record in
                if case .string(let text)? = record.fields["CD_title"] ?? nil { text } else { nil }
            })
    }
}
