import Foundation
import MirrorEngine
import MirrorTestKit
import Platform
import RecordWire
import SQLiteStore
import Stores
import Testing

/// An app is updated while a version that the service lost is to be sent again, which has values
/// that only the later model knows: they are there, wherever they come from, and nobody cleared
/// them.
@Suite struct ReplayedUpdateTests {
    /// What became of the version before the update.
    enum Course: CaseIterable {
        case requestLost, replyLost
    }

    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("replayed-\(UUID().uuidString)")

    private func text(_ word: String, _ count: Int) -> AttributeValue {
        .text(String(repeating: "\(word) ", count: count))
    }

    /// `length` is how many words the values have: those of a hundred are assets.
    @Test(
        arguments: [(Course.requestLost, false), (.requestLost, true), (.replyLost, false)],
        [(1, true), (1, false), (100, true), (100, false)])
    func whatIsNewToTheUpdateStays(
        _ loss: (course: Course, isWhole: Bool), _ run: (length: Int, updatedFirst: Bool)
    ) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let host = try ServiceHost(in: folder)
        let world = try VersionedWorld(service: host.service)
        world.assetsAbove = 100
        let (old, new) = (try world.device(), try world.device(isLater: true))
        try old.insert("Note", ["title": text("title", run.length), "views": .integer(1)])
        try world.settle(old, new)
        try new.set(new.only("Note"), "subtitle", text("sub", run.length))
        try world.settle(new, old)
        let backup = try host.backup()
        try new.set(new.only("Note"), "mood", text("glad", run.length))
        try world.settle(new, old)
        try loss.isWhole ? host.service.lose() : host.service.restore(backup)
        old.intercept = { [service = host.service, old] request in
            guard case .modifyRecords = request else { return nil }
            if loss.course == .replyLost {
                _ = try service.handle(request, from: old.mirrored.deviceID())
            }
            throw MirrorError(.stopped, "killed")
        }
        _ = try? old.sync()
        let hasReplays = try old.store.read {
            try Ledger(connection: $0.connection, platform: .system).hasReplays()
        }
        #expect(hasReplays)
        let updated = try world.updated(old)
        try run.updatedFirst ? world.settle(updated, new) : world.settle(new, updated)
        for device in [updated, new] {
            let note = try device.only("Note")
            #expect(try device.value(note, "mood") == text("glad", run.length))
            #expect(try device.value(note, "subtitle") == text("sub", run.length))
            #expect(try device.value(note, "headline") == text("title", run.length))
            // Who makes the object anew without the contents cannot say that it knew of them.
            guard !(loss.isWhole && run.length > 1) else { continue }
            #expect(try device.mirrored.conflicts().isEmpty)
        }
    }
}
