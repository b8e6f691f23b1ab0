import Foundation
import MirrorEngine
import MirrorTestKit
import Platform
import RecordWire
import SQLiteStore
import Stores
import Testing

/// Devices with a service that hides every extension. (docs/MERGE.md §14)
@Suite struct PlainDialectTests {
    let service: SimulatedService
    let a: Device
    let b: Device

    init() throws {
        service = try Device.service(.plain)
        a = try Device(1, service)
        b = try Device(2, service)
    }

    private func settle() throws {
        for _ in 0..<3 { for device in [a, b] { #expect(try device.sync().error == nil) } }
    }

    private func loseAnswers(of device: Device) {
        device.intercept = { [service] request in
            guard case .modifyRecords = request else { return nil }
            _ = try service.handle(request, from: "lost")
            throw RecordError(.accessDenied, "The answer is lost.")
        }
    }

    private func title(_ device: Device) throws -> AttributeValue? {
        try device.value(device.only("Note"), "title")
    }

    /// The tombstone alone tells that the record had come.
    @Test(arguments: [DeletionRule.deleteWins, .keepEdited], [false, true])
    func aDeletionOfWhatWasSentWithoutAnAnswerMeetsNoEdit(
        rule: DeletionRule, isEdited: Bool
    ) throws {
        let policy = MergePolicy(deletion: rule)
        let c = try Device(3, service, policy: policy)
        let d = try Device(4, service, policy: policy)
        try c.insert("Note", ["title": .text("t"), "views": .integer(3)])
        loseAnswers(of: c)
        _ = try? c.sync()
        c.intercept = { _ in nil }
        if isEdited { try c.set(c.only("Note"), "title", .text("u")) }
        try d.sync()
        try d.delete(d.only("Note"))
        try d.sync()
        for _ in 0..<3 { for device in [c, d] { #expect(try device.sync().error == nil) } }
        let isKept = isEdited && rule == .keepEdited
        for device in [c, d] { #expect(try device.rows("Note").count == (isKept ? 1 : 0)) }
        #expect(try c.mirrored.conflicts().map(\.property) == (isEdited ? ["title"] : []))
    }

    @Test func noRequestCarriesAnExtension() throws {
        let note = try a.insert("Note", ["title": .text("a")])
        let tag = try a.insert("Tag")
        try a.pair(note, "tags", with: tag)
        try settle()
        try b.set(b.only("Note"), "title", .text("c"))
        try a.delete(tag)
        var isMet = false
        b.intercept = { [a] request in
            guard case .modifyRecords = request, !isMet else { return nil }
            isMet = true
            try a.set(note, "title", .text("b"))
            try a.sync()
            return nil
        }
        try settle()
        #expect(try title(a) == title(b))
        #expect((a.requests + b.requests).allSatisfy { $0.extensionsUsed.isEmpty })
        #expect(b.requests.contains { if case .lookupRecords = $0 { true } else { false } })
        #expect(try b.mirrored.conflicts().count == 1)
        #expect(try b.mirrored.waitingRequest(seconds: nil)?.extensionsUsed == [])
    }

    @Test func aBatchHasAsManyRecordsAsTheServiceTakes() throws {
        for number in 0..<450 { try a.insert("Tag", ["label": .text("\(number)")]) }
        try settle()
        #expect(try b.rows("Tag").count == 450)
        let counts = a.requests.compactMap {
            if case .modifyRecords(let modify) = $0 { modify.operations.count } else { nil }
        }
        #expect(counts == [200, 200, 50])
    }

    /// Another device counts upon a count whose answer was lost.
    @Test func aCountWhoseAnswerWasLostCountsOnce() throws {
        let note = try a.insert("Note", ["views": .integer(1)])
        try settle()
        try a.set(note, "views", .integer(3))
        loseAnswers(of: a)
        try a.sync()
        try b.sync()
        #expect(try b.value(b.only("Note"), "views") == .integer(3))
        try b.set(b.only("Note"), "views", .integer(4))
        try b.sync()
        a.intercept = { _ in nil }
        try a.set(note, "views", .integer(8))
        try settle()
        for device in [a, b] {
            #expect(try device.value(device.only("Note"), "views") == .integer(9))
        }
        #expect(try a.mirrored.conflicts().allSatisfy { $0.rule == "counter" })
    }

    @Test func anEditUponALostAnswerIsNoConflict() throws {
        let note = try a.insert("Note", ["title": .text("old")])
        try settle()
        try a.set(note, "title", .text("mine"))
        loseAnswers(of: a)
        try a.sync()
        try b.sync()
        try b.set(b.only("Note"), "title", .text("upon it"))
        try b.sync()
        a.intercept = { _ in nil }
        try settle()
        for device in [a, b] {
            #expect(try title(device) == .text("upon it"))
            #expect(try device.mirrored.conflicts().isEmpty)
        }
    }

    /// The record is deleted between a device's reading of the zone and its edit.
    @Test(arguments: DeletionRule.allCases)
    func whatWasDeletedIsNotMadeAgainButByRule(rule: DeletionRule) throws {
        let a = try Device(3, service, policy: MergePolicy(deletion: rule))
        let note = try a.insert("Note", ["title": .text("old")])
        try a.sync()
        try b.sync()
        try a.set(note, "title", .text("edited"))
        var isDeleted = false
        a.intercept = { [b] request in
            guard case .modifyRecords = request, !isDeleted else { return nil }
            isDeleted = true
            try b.delete(b.only("Note"))
            try b.sync()
            return nil
        }
        try a.sync()
        try b.sync()
        for device in [a, b] {
            #expect(try device.rows("Note").count == (rule == .keepEdited ? 1 : 0))
        }
        #expect(try a.mirrored.conflicts().map(\.rule) == [rule.rawValue])
    }

    /// The service does not find a record, and its changes do not say that it was deleted.
    @Test func whatTheServiceLostIsMadeAgain() throws {
        let note = try a.insert("Note", ["title": .text("old")])
        try settle()
        try a.set(note, "title", .text("edited"))
        var refused = 0
        a.intercept = { request in
            guard case .modifyRecords(let modify) = request,
                refused < 2, modify.operations.contains(where: { $0.kind == .update })
            else { return nil }
            refused += 1
            let name = modify.operations[0].record.recordName
            return .records(
                RecordsReply(results: [
                    .failure(RecordError(.notFound, "There is none.", recordName: name))
                ]))
        }
        #expect(try a.sync().error == nil)
        #expect(refused == 2)
        let last = a.requests.compactMap {
            if case .modifyRecords(let modify) = $0 { modify.operations.first?.kind } else { nil }
        }
        #expect(last.prefix(3) == [.create, .update, .update] && last.contains(.create))
        #expect(try title(a) == .text("edited"))
    }

    @Test func aLinkToADeletedObjectIsDroppedAndOneToAReturnedObjectStays() throws {
        let folder = try a.insert("Folder", ["name": .text("f")])
        try settle()
        let note = try b.insert("Note", ["title": .text("n")])
        try b.link(note, "folder", b.only("Folder"), order: 1_000)
        try a.delete(folder)
        try a.sync()
        try settle()
        #expect(try a.target(a.only("Note"), "folder") == nil)
        #expect(try b.target(note, "folder") == nil)
        #expect(try a.mirrored.status()?.isInSync == true)
    }

    @Test func whatWasKnownOfEpochsIsForgottenWithAPlainService() throws {
        let extended = try Device.service()
        let device = try Device(5, extended)
        try device.insert("Note")
        try device.sync()
        func line() throws -> EpochLine? {
            try device.store.read {
                try Ledger(connection: $0.connection, platform: .system).line()
            }
        }
        #expect(try line() != nil)
        _ = try device.mirrored.prepare(container: "test", dialect: .plain)
        #expect(try line() == nil)
        _ = try device.mirrored.prepare(container: "test", dialect: .extended)
        device.service = extended
        try device.set(device.only("Note"), "title", .text("after"))
        #expect(try device.sync().error == nil)
        #expect(try device.mirrored.status()?.isInSync == true)
    }
}

/// A service without epochs that was put back.
@Suite struct PlainRestoreTests {
    @Test func newerVersionsAreSentAgainByTheServicesClock() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-plain-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let clock = VirtualClock()
        let service = try SimulatedService(
            platform: Environment(
                clock: clock, randomness: SeededRandomness(seed: 99), faults: NoFaults()),
            folder: folder, dialect: .plain)
        let a = try Device(1, service)
        let b = try Device(2, service)
        let note = try a.insert("Note", ["title": .text("old")])
        try a.sync()
        try b.sync()
        let copy = try #require(try service.copy())
        clock.advance(seconds: 60)
        try a.set(note, "title", .text("new"))
        try a.sync()
        try b.sync()
        try service.restore(copy)
        for _ in 0..<3 { for device in [a, b] { #expect(try device.sync().error == nil) } }
        for device in [a, b] {
            #expect(try device.value(device.only("Note"), "title") == .text("new"))
        }
    }

    /// The service goes back after it took a record and before the device has read it there.
    @Test func aLossBetweenWritingAndReadingIsNoticed() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-plain-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let service = try SimulatedService(
            platform: Environment(
                clock: VirtualClock(), randomness: SeededRandomness(seed: 99), faults: NoFaults()),
            folder: folder, dialect: .plain)
        let (a, b) = (try Device(1, service), try Device(2, service))
        try a.insert("Note", ["title": .text("old")])
        try a.sync()
        try b.sync()
        let copy = try #require(try service.copy())
        try a.insert("Note", ["title": .text("new")])
        a.intercept = { request in
            guard case .modifyRecords = request else { return nil }
            let answer = try service.handle(request, from: "a")
            try service.restore(copy)
            a.intercept = { _ in nil }
            return answer
        }
        let result = try a.sync()
        #expect(result.error == nil && result.comparisons == 1)
        try b.sync()
        for device in [a, b] { #expect(try device.rows("Note").count == 2) }
    }
}
