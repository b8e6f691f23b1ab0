import Foundation
import MirrorEngine
import MirrorTestKit
import RecordWire
import SQLiteStore
import Stores
import Testing

/// Two processes over one store: what one asked for comes when the other knows better by now.
@Suite final class LateAnswerTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("late-answer-\(UUID().uuidString)")
    private var service: SimulatedService
    private var other: Device
    private var slow: Device
    private var quick: Device

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("store.sqlite")
        service = try Device.service()
        other = try Device(1, service)
        slow = try Device(2, service, file: file)
        quick = try Device(3, service, file: file)
    }

    /// Devices that have a note, with a service of a dialect.
    private func begin(_ dialect: ServiceDialect = .extended) throws {
        if dialect == .plain {
            let file = folder.appendingPathComponent("plain.sqlite")
            service = try Device.service(.plain)
            other = try Device(1, service)
            slow = try Device(2, service, file: file)
            quick = try Device(3, service, file: file)
        }
        try other.insert("Note", ["title": .text("t"), "rating": .double(1)])
        try other.sync()
        try slow.sync()
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The first request of a kind arrives after `first`, and its answer when `then` is done; those
    /// that send something go out after `send`.
    private func delay(
        _ isMeant: @escaping (RecordRequest) -> Bool, first: @escaping () throws -> Void = {},
        then: @escaping () throws -> Void, before send: @escaping () throws -> Void = {}
    ) throws {
        var isMet = false
        slow.intercept = { [self, service] request in
            if isSending(request) { try send() }
            guard isMeant(request), !isMet else { return nil }
            isMet = true
            try first()
            let answer = try service.handle(request, from: "slow")
            try then()
            return answer
        }
        defer { slow.intercept = { _ in nil } }
        try slow.sync()
        #expect(isMet)
    }

    private func isSending(_ request: RecordRequest) -> Bool {
        if case .modifyRecords = request { true } else { false }
    }

    private func isLookingUp(_ request: RecordRequest) -> Bool {
        if case .lookupRecords = request { true } else { false }
    }

    private func isFetching(_ request: RecordRequest) -> Bool {
        if case .zoneChanges = request { true } else { false }
    }

    private func expect(title: String, rating: Double) throws {
        for device in [slow, other] {
            try device.sync()
            #expect(try device.value(device.only("Note"), "title") == .text(title))
            #expect(try device.value(device.only("Note"), "rating") == .double(rating))
        }
        #expect(try slow.mirrored.conflicts().isEmpty)
    }

    /// Another device's edit, which the service has before the request.
    private func editElsewhere() throws {
        try other.set(other.only("Note"), "title", .text("u"))
        try other.sync()
    }

    @Test func aLateConflictPutsNothingBack() throws {
        try begin()
        try slow.set(slow.only("Note"), "rating", .double(2))
        try delay(isSending, first: editElsewhere) { [quick] in try quick.sync() }
        #expect(try slow.value(slow.only("Note"), "rating") == .double(2))
        try expect(title: "u", rating: 2)
    }

    @Test func aLatePagePutsNothingBack() throws {
        try begin()
        try editElsewhere()
        try delay(isFetching) { [quick] in
            try quick.sync()
            try quick.set(quick.only("Note"), "rating", .double(2))
            try quick.sync()
        }
        try expect(title: "u", rating: 2)
    }

    @Test func aLateConflictBringsNothingBackThatWasDeleted() throws {
        try begin()
        try slow.set(slow.only("Note"), "rating", .double(2))
        try delay(isSending, first: editElsewhere) { [other, quick] in
            try other.delete(other.only("Note"))
            try other.sync()
            try quick.sync()
        }
        for device in [slow, other] {
            try device.sync()
            #expect(try device.rows("Note").isEmpty)
        }
        #expect(try slow.mirrored.conflicts().map(\.property) == ["rating"])
    }

    /// A plain service's conflict names no record: it is looked up.
    @Test func aLateLookUpPutsNothingBack() throws {
        try begin(.plain)
        try slow.set(slow.only("Note"), "price", .decimal(7))
        var isEdited = false
        try delay(isLookingUp) { [other, quick] in
            try other.set(other.only("Note"), "rating", .double(3))
            try other.sync()
            try quick.sync()
        } before: { [self] in
            guard !isEdited else { return }
            isEdited = true
            try editElsewhere()
        }
        #expect(try slow.value(slow.only("Note"), "rating") == .double(3))
        try expect(title: "u", rating: 3)
    }
}
