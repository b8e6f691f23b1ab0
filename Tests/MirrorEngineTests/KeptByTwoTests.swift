import Foundation
import MirrorEngine
import MirrorTestKit
import RecordWire
import Stores
import Testing

/// An object that was deleted, and that two other devices keep because each edited it: what the one
/// made anew meets the other's, and what either did since the deletion is there or in a log.
@Suite struct KeptByTwoTests {
    private static let dialects: [ServiceDialect] = [.extended, .plain]

    /// Both have read the deletion, and the second has not sent what it keeps.
    private struct World {
        let first: Device
        let second: Device

        init(_ dialect: ServiceDialect, rule: MergeRule = .local) throws {
            let service = try Device.service(dialect)
            var policy = MergePolicy(deletion: .keepEdited)
            policy.standard = rule
            policy.set(.counter, entity: "Note", property: "views")
            let deleter = try Device(1, service)
            first = try Device(2, service, policy: policy)
            second = try Device(3, service, policy: policy)
            let folder = try deleter.insert("Folder", ["name": .text("f")])
            let note = try deleter.insert(
                "Note", ["title": .text("old"), "views": .integer(5)])
            try deleter.link(note, "folder", folder)
            for device in [deleter, first, second] { try device.sync() }
            try first.set(first.only("Note"), "price", .decimal(3))
            try second.set(second.only("Note"), "rating", .double(0.5))
            try deleter.delete(note)
            try deleter.sync()
            for device in [first, second] { try keepUnsent(device) }
        }

        /// A round that reads the deletion, and whose sending comes to nothing.
        private func keepUnsent(_ device: Device) throws {
            device.intercept = { request in
                guard case .modifyRecords = request else { return nil }
                throw RecordError(.badRequest, "lost")
            }
            try device.sync()
            device.intercept = { _ in nil }
            #expect(try device.rows("Note").count == 1)
        }

        func settle() throws {
            for device in [first, second, first] { try device.sync() }
        }

        func values(_ property: String) throws -> [AttributeValue] {
            try [first, second].map { try $0.value($0.only("Note"), property) ?? .null }
        }

        func lines(_ property: String) throws -> [ConflictEntry] {
            try [first, second].flatMap { try $0.mirrored.conflicts() }
                .filter { $0.property == property && $0.rule != "keepEdited" }
        }
    }

    @Test(arguments: dialects)
    func whatTheSecondClearsStaysCleared(dialect: ServiceDialect) throws {
        let world = try World(dialect)
        let note = try world.second.only("Note")
        try world.second.set(note, "title", .null)
        try world.second.link(note, "folder", nil)
        try world.settle()
        #expect(try world.values("title") == [.null, .null])
        #expect(try world.lines("title").isEmpty)
        for device in [world.first, world.second] {
            #expect(try device.target(device.only("Note"), "folder") == nil)
        }
    }

    @Test(arguments: dialects)
    func whatTheSecondEditsTakesThePlaceOfWhatWasThere(dialect: ServiceDialect) throws {
        let world = try World(dialect, rule: .remote)
        try world.second.set(world.second.only("Note"), "title", .text("new"))
        try world.settle()
        #expect(try world.values("title") == [.text("new"), .text("new")])
        #expect(try world.lines("title").isEmpty)
    }

    @Test(arguments: dialects)
    func whatTheFirstClearsIsClearedOrInALog(dialect: ServiceDialect) throws {
        for rule in [MergeRule.local, .remote] {
            let world = try World(dialect, rule: rule)
            let note = try world.first.only("Note")
            try world.first.set(note, "title", .null)
            try world.settle()
            let kept = rule.name == MergeRule.local.name
            #expect(try Set(world.values("title")) == [kept ? .text("old") : .null])
            let line = try #require(try world.lines("title").first)
            #expect(line.winner == (kept ? "local" : "remote"))
            #expect(line.local == .string("old") && line.remote == nil)
        }
    }

    @Test(arguments: dialects)
    func bothClearingAndEditingIsAConflict(dialect: ServiceDialect) throws {
        let world = try World(dialect)
        try world.first.set(world.first.only("Note"), "title", .text("new"))
        try world.second.set(world.second.only("Note"), "title", .null)
        try world.settle()
        #expect(try world.values("title") == [.null, .null])
        let line = try #require(try world.lines("title").first)
        #expect(line.base == .string("old") && line.remote == .string("new"))
    }

    /// Nobody put the former text in twice.
    @Test(arguments: dialects)
    func aTextIsWhatTheFirstMadeOfIt(dialect: ServiceDialect) throws {
        let world = try World(dialect, rule: .text)
        try world.first.set(world.first.only("Note"), "title", .text("new"))
        try world.settle()
        #expect(try world.values("title") == [.text("new"), .text("new")])
        #expect(try world.lines("title").first?.local == .string("old"))
    }

    @Test(arguments: dialects, [[6, 7], [6, 5], [5, 7], [5, 5]])
    func aCountCountsOnce(dialect: ServiceDialect, counts: [Int64]) throws {
        let world = try World(dialect)
        for (device, count) in zip([world.first, world.second], counts) where count != 5 {
            try device.set(device.only("Note"), "views", .integer(count))
        }
        try world.settle()
        let sum = AttributeValue.integer(counts[0] + counts[1] - 5)
        #expect(try world.values("views") == [sum, sum])
    }
}
