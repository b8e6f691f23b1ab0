import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Each count counts once, through copies, lost answers and restores.
@Suite final class CountTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("counts-\(UUID().uuidString)")
    let host: ServiceHost
    let a: Device
    let b: Device
    let note: RowID

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        host = try ServiceHost(in: folder)
        a = try Device(1, host.service)
        b = try Device(2, host.service)
        note = try a.insert("Note", ["title": .text("n"), "views": .integer(3)])
        try a.sync()
        try b.sync()
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func noteB() throws -> RowID { try b.only("Note") }

    private func expect(_ views: Int64, _ devices: [Device]) throws {
        for device in devices {
            #expect(try device.value(device.only("Note"), "views") == .integer(views))
        }
    }

    private func loseAnswers(of device: Device) {
        device.intercept = { [host] request in
            guard case .modifyRecords = request else { return nil }
            _ = try host.service.handle(request, from: "lost")
            throw RecordError(.badRequest, "lost")
        }
    }

    /// The log has numbers of then; what was counted since stays.
    @Test func puttingBackOneSidesCountKeepsWhatCameSince() throws {
        try a.set(note, "views", .integer(5))
        try b.set(noteB(), "views", .integer(7))
        for device in [b, a, b] { try device.sync() }
        try expect(9, [a, b])
        let line = try #require(
            try a.mirrored.conflicts().last { $0.property == "views" && $0.winner == "merged" })
        try b.set(noteB(), "views", .integer(19))
        for device in [b, a] { try device.sync() }
        // Without the two that were counted here, and with the ten that came since.
        try a.mirrored.resolve(conflict: line.id, taking: .remote)
        try expect(17, [a])
        // Taking the same once more takes nothing further.
        try a.mirrored.resolve(conflict: line.id, taking: .remote)
        try expect(17, [a])
        try a.mirrored.resolve(conflict: line.id, taking: .local)
        try expect(15, [a])
        for device in [a, b] { try device.sync() }
        try expect(15, [a, b])
    }

    /// What was counted before anybody named counts is in the value that was sent.
    @Test func aCountUponAStartWithoutANameIsCountedOnce() throws {
        let c = try Device(9, host.service)
        try c.sync()
        let row = try c.insert("Note", ["title": .text("z"), "views": .integer(3)])
        try c.store.write { transaction in
            _ = try transaction.connection.run("DELETE FROM ADIPTYCHCOUNTLOG")
        }
        try c.set(row, "views", .integer(4))
        loseAnswers(of: c)
        #expect(try c.sync().error != nil)
        c.intercept = { _ in nil }
        try settle([c, a])
        #expect(try c.value(row, "views") == .integer(4))
    }

    // MARK: Copies

    /// Which copies count on before their first round, and which of them syncs first.
    @Test(arguments: [[1], [2], [1, 2]], [true, false])
    func aCountThatBothCopiesHoldCountsOnce(counting: [Int], firstLeads: Bool) throws {
        let file = folder.appendingPathComponent("one.sqlite")
        do {
            let one = try Device(5, host.service, file: file)
            try one.sync()
            try one.set(one.only("Note"), "views", .integer(5))
        }
        let copy = folder.appendingPathComponent("two.sqlite")
        try copyStore(file, to: copy)
        let one = try Device(6, host.service, file: file)
        let two = try Device(7, host.service, file: copy)
        one.clock.advance(seconds: 10)
        two.clock.advance(seconds: 20)
        if counting.contains(1) { try one.set(one.only("Note"), "views", .integer(6)) }
        if counting.contains(2) { try two.set(two.only("Note"), "views", .integer(9)) }
        try settle(firstLeads ? [one, two, a, b] : [two, one, a, b])
        let added = (counting.contains(1) ? 1 : 0) + (counting.contains(2) ? 4 : 0)
        try expect(5 + Int64(added), [a, b, one, two])
    }

    @Test func anObjectThatWasMadeAndNotSentCountsOnceInBothCopies() throws {
        let file = folder.appendingPathComponent("one.sqlite")
        let title = AttributeValue.text("made")
        do {
            let one = try Device(5, host.service, file: file)
            try one.sync()
            try one.insert("Note", ["title": title, "views": .integer(10)])
        }
        let copy = folder.appendingPathComponent("two.sqlite")
        try copyStore(file, to: copy)
        let one = try Device(6, host.service, file: file)
        let two = try Device(7, host.service, file: copy)
        two.clock.advance(seconds: 20)
        let made = { (device: Device) in
            try #require(
                try device.rows("Note").first { try device.value($0.id, "title") == title }
            )
            .id
        }
        try two.set(made(two), "views", .integer(12))
        try settle([one, two, a], inSync: true)
        for device in [a, one, two] {
            #expect(try device.value(made(device), "views") == .integer(12))
        }
    }

    // MARK: Restores

    /// A count is taken, its answer lost; another device reads it; the service goes back to before
    /// it, and the other device sends it again before the first hears of anything.
    @Test(arguments: [0, 2])
    func aCountThatAnotherSentAgainCountsOnce(since: Int64) throws {
        let backup = try host.backup()
        try a.set(note, "views", .integer(4))
        loseAnswers(of: a)
        try a.sync()
        a.intercept = { _ in nil }
        try b.sync()
        try expect(4, [b])
        try host.service.restore(backup)
        try b.sync()
        if since > 0 { try a.set(note, "views", .integer(4 + since)) }
        try settle([a, b], inSync: true)
        try expect(4 + since, [a, b])
    }

    /// Both counted upon a version of before the loss: one before it, one after.
    @Test(arguments: [true, false])
    func countsOfBeforeAndAfterALossAddUp(lostFirst: Bool) throws {
        try b.set(noteB(), "views", .integer(4))
        try settle([b, a], inSync: true)
        let backup = try host.backup()
        try a.set(note, "views", .integer(6))
        try a.sync()
        try host.service.restore(backup)
        try b.set(noteB(), "views", .integer(5))
        try settle(lostFirst ? [a, b] : [b, a])
        try expect(7, [a, b])
    }

    // MARK: What counts

    @Test func whatTheMirrorWritesIsNoCount() throws {
        try b.set(noteB(), "views", .integer(8))
        try settle([b, a], inSync: true)
        try a.store.read { transaction in
            for table in ["ADIPTYCHCOUNT", "ADIPTYCHCOUNTLOG", "ADIPTYCHQUIET"] {
                let count = try transaction.connection.value("SELECT count(*) FROM \(table)")
                #expect(count == 0, "\(table)")
            }
        }
    }

    @Test func manyCountsAreToldWithinABound() throws {
        for count in 1...40 {
            try a.set(note, "views", .integer(3 + Int64(count)))
            a.clock.advance(seconds: 1)
        }
        try settle([a, b], inSync: true)
        try expect(43, [a, b])
        let records = try host.service.records(inZone: "com.apple.coredata.cloudkit.zone")
        let record = try #require(records.values.first)
        #expect(CountOperations(record).operations.count == CountOperations.countsMax)
    }

    @Test func hostileCountsAreHarmless() throws {
        var record = Record(recordName: "n", recordType: "CD_Note")
        let amounts = ["views x 9223372036854775807", "views y 9223372036854775807", "views z", ""]
        record.fields["CD_countOperations"] = .string(amounts.joined(separator: ";"))
        #expect(CountOperations(record).operations.count == 2)
        record.fields["CD_countOperations"] = .int64(1)
        #expect(CountOperations(record).operations.isEmpty)
    }

    @Test func aSumThatTheTypeCannotHoldGivesWayToTheStandardRule() throws {
        let model = SampleModel.make()
        let small = SampleModel.attribute("small", .integer16AttributeType)
        small.userInfo = ["MirrorMerge": "counter"]
        model.entitiesByName["Tag"]?.properties += [small]
        let one = try Device(3, host.service, model: model)
        let two = try Device(4, host.service, model: model)
        let tag = try one.insert("Tag", ["small": .integer(32_000)])
        try settle([one, two], inSync: true)
        try one.set(tag, "small", .integer(32_700))
        try two.set(two.only("Tag"), "small", .integer(32_700))
        try settle([one, two], inSync: true)
        #expect(try one.value(tag, "small") == .integer(32_700))
        #expect(try two.value(two.only("Tag"), "small") == .integer(32_700))
    }

    private func copyStore(_ file: URL, to other: URL) throws {
        for suffix in ["", "-wal", "-shm"]
        where FileManager.default.fileExists(atPath: file.path + suffix) {
            try FileManager.default.copyItem(
                atPath: file.path + suffix, toPath: other.path + suffix)
        }
    }
}
