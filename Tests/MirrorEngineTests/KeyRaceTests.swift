import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteStore
import Stores
import Testing

/// Two processes over one store, of which one has a key that the other lacks: an app that was given
/// it, and a program that began its round before.
@Suite final class KeyRaceTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("key-race-\(UUID().uuidString)")
    private let service: SimulatedService
    private let rotated: SealingKeys
    private let other: Device

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        service = try Device.service()
        rotated = try SealingKeys(
            [1, 2].map { try SealingKey(secret: Data(repeating: $0, count: 32)) })
        other = try Device(1, service, model: SampleModel.make(sealed: true), keys: rotated)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func process(_ seed: UInt64, _ keys: SealingKeys?) throws -> Device {
        try Device(
            seed, service, model: SampleModel.make(sealed: true),
            file: folder.appendingPathComponent("store.sqlite"), keys: keys)
    }

    /// What was sealed stands, here and at the service, also once the object is edited.
    private func holds(_ title: String, _ seeing: Device) throws {
        try settle([seeing, other])
        #expect(try seeing.value(seeing.only("Note"), "title") == .text(title))
        try seeing.set(seeing.only("Note"), "rating", .double(5))
        try settle([seeing, other])
        for device in [seeing, other] {
            #expect(try device.value(device.only("Note"), "title") == .text(title))
        }
    }

    @Test func aPageIsNotAppliedWithoutAKeyThatAnotherProcessHas() throws {
        try other.insert("Note", ["title": .text("secret")])
        try other.sync()
        let (blind, seeing) = (try process(2, nil), try process(3, rotated))
        blind.intercept = { request in
            if case .zoneChanges = request {
                _ = try seeing.mirrored.prepare(container: "test")
            }
            return nil
        }
        let error = #expect(throws: MirrorError.self) { try blind.sync() }
        #expect(error?.code == .keyMissing)
        try holds("secret", seeing)
    }

    @Test func anAnswerIsNotMergedWithoutAKeyThatAnotherProcessHas() throws {
        let former = try SealingKeys([rotated.keys[0]])
        let note = try other.insert("Note", ["title": .null])
        try other.sync()
        let (blind, seeing) = (try process(2, former), try process(3, rotated))
        try blind.sync()
        try blind.set(blind.only("Note"), "title", .text("old"))
        try settle([blind, other])
        try blind.set(blind.only("Note"), "rating", .double(1))
        var isFirst = true
        blind.intercept = { [other] request in
            if case .modifyRecords = request, isFirst {
                isFirst = false
                _ = try seeing.mirrored.prepare(container: "test")
                try other.set(note, "title", .text("new"))
                try other.sync()
            }
            return nil
        }
        let error = #expect(throws: MirrorError.self) { try blind.sync() }
        #expect(error?.code == .keyMissing)
        try holds("new", seeing)
    }
}
