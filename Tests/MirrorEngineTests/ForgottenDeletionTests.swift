import Foundation
import MirrorEngine
import MirrorTestKit
import Platform
import RecordService
import RecordWire
import SQLiteStore
import Stores
import Testing

/// A device comes back after the service forgot deletions: it compares, loses nothing of its own,
/// and what was deleted stays deleted.
@Suite struct ForgottenDeletionTests {
    private let service: SimulatedService

    init() throws {
        var limits = ServiceLimits()
        limits.retention.deletionDaysMax = 0
        service = try SimulatedService(
            platform: Environment(
                clock: VirtualClock(), randomness: SeededRandomness(seed: 77), faults: NoFaults()),
            limits: limits)
    }

    /// A note in a folder, with a tag, on two devices.
    private func pair(_ rule: DeletionRule = .deleteWins) throws -> (a: Device, b: Device) {
        let policy = MergePolicy(deletion: rule)
        let a = try Device(1, service, policy: policy)
        let b = try Device(2, service, policy: policy)
        let folder = try a.insert("Folder", ["name": .text("f")])
        let note = try a.insert("Note", ["title": .text("t"), "views": .integer(1)])
        try a.link(note, "folder", folder, order: 1024)
        try a.pair(note, "tags", with: a.insert("Tag", ["label": .text("x")]))
        try settle([a, b], inSync: true)
        return (a, b)
    }

    private func forget() throws { try service.service.forgetOldDeletions() }

    @Test func whatWasDeletedGoesWithoutALine() throws {
        let (a, b) = try pair()
        try a.set(a.only("Note"), "title", .text("later"))
        try a.sync()
        try a.delete(a.only("Folder"))
        try a.delete(a.only("Note"))
        try a.sync()
        try forget()
        let own = try b.insert("Note", ["title": .text("own")])
        try b.pair(own, "tags", with: b.only("Tag"))
        try settle([b, a], inSync: true)
        for device in [a, b] {
            #expect(try device.rows("Folder").isEmpty)
            let note = try device.only("Note")
            #expect(try device.value(note, "title") == .text("own"))
            #expect(try device.members(note, "tags") == [device.only("Tag")])
            #expect(try device.mirrored.conflicts().isEmpty)
        }
    }

    @Test(arguments: [DeletionRule.deleteWins, .keepEdited])
    func anEditMeetsAForgottenDeletionByTheRule(_ rule: DeletionRule) throws {
        let (a, b) = try pair(rule)
        try a.delete(a.only("Note"))
        try a.sync()
        try forget()
        try b.set(b.only("Note"), "title", .text("edited"))
        try settle([b, a], inSync: true)
        let isKept = rule == .keepEdited
        for device in [a, b] {
            #expect(try device.rows("Note").count == (isKept ? 1 : 0))
            guard isKept else { continue }
            let note = try device.only("Note")
            #expect(try device.value(note, "title") == .text("edited"))
            #expect(try device.target(note, "folder") == device.only("Folder"))
        }
        #expect(try b.mirrored.conflicts().map(\.property) == ["title"])
    }

    @Test func aRemovedPairStaysRemovedAndADeletionOfBothIsOne() throws {
        let (a, b) = try pair()
        try a.pair(a.only("Note"), "tags", with: a.only("Tag"), adding: false)
        try a.delete(a.only("Folder"))
        try a.sync()
        try forget()
        try b.delete(b.only("Folder"))
        try b.set(b.only("Note"), "views", .integer(2))
        try settle([b, a], inSync: true)
        for device in [a, b] {
            #expect(try device.members(device.only("Note"), "tags").isEmpty)
            #expect(try device.value(device.only("Note"), "views") == .integer(2))
            #expect(try device.rows("Folder").isEmpty)
            #expect(try device.mirrored.conflicts().isEmpty)
        }
    }
}
