import Foundation
import MirrorEngine
import MirrorTestKit
import Stores
import Testing

/// What a store says of itself.
@Suite struct StatusTests {
    @Test func whatWaitsIsCountedByKind() throws {
        let device = try Device(1, Device.service())
        let kept = try device.insert("Note")
        let gone = try device.insert("Note")
        let tag = try device.insert("Tag")
        try device.sync()
        try device.insert("Folder")
        try device.set(kept, "title", .text("other"))
        try device.delete(gone)
        try device.pair(kept, "tags", with: tag)
        let pending = try #require(try device.mirrored.status()).pending
        #expect(pending.inserts == 1 && pending.deletes == 1 && pending.pairs == 1)
        #expect(pending.updates >= 1 && pending.total >= 4)
        try device.sync()
        #expect(try device.mirrored.status()?.pending.total == 0)
    }

    @Test func thatTheFirstImportIsDoneIsKeptInTheStore() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("StatusTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let service = try Device.service()
        let file = folder.appendingPathComponent("Store.sqlite")
        do {
            let device = try Device(1, service, file: file)
            #expect(try device.mirrored.status() == nil)
            _ = try device.mirrored.prepare(container: "test")
            #expect(try device.mirrored.status()?.initialImportCompleted == false)
            try device.sync()
        }
        let again = try Device(2, service, file: file)
        #expect(try again.mirrored.status()?.initialImportCompleted == true)
    }
}
