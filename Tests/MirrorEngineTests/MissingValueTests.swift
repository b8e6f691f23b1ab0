import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import SQLiteStore
import Stores
import Testing

/// A device that lost the file of a large value tells nobody that the value was cleared.
@Suite struct MissingValueTests {
    private final class Folder {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        init() throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }
        deinit { try? FileManager.default.removeItem(at: url) }
    }

    private static func model() -> NSManagedObjectModel {
        let name = NSAttributeDescription()
        name.name = "name"
        name.attributeType = .stringAttributeType
        let bytes = NSAttributeDescription()
        bytes.name = "bytes"
        bytes.attributeType = .binaryDataAttributeType
        bytes.allowsExternalBinaryDataStorage = true
        let photo = NSEntityDescription()
        photo.name = "Photo"
        photo.properties = [name, bytes]
        let model = NSManagedObjectModel()
        model.entities = [photo]
        return model
    }

    private let folder: Folder
    private let a: Device
    private let b: Device
    private let value = AttributeValue.data(Data(repeating: 7, count: 200_000))

    init() throws {
        folder = try Folder()
        let service = try Device.service()
        a = try Device(
            1, service, model: Self.model(), file: folder.url.appendingPathComponent("a.sqlite"))
        b = try Device(2, service, model: Self.model())
    }

    private func loseFiles() throws {
        let values = folder.url.appendingPathComponent(".a_SUPPORT/_EXTERNAL_DATA")
        for name in try FileManager.default.contentsOfDirectory(atPath: values.path) {
            try FileManager.default.removeItem(at: values.appendingPathComponent(name))
        }
    }

    private func bytes(_ device: Device) throws -> AttributeValue? {
        let row = try #require(try device.rows("Photo").first)
        let slot = try #require(device.store.layout.entity(row.id.entity)?.attributeSlot("bytes"))
        return row.attributes[slot]
    }

    @Test func anEditBesideALostFileDoesNotClearTheValueElsewhere() throws {
        let row = try a.insert("Photo", ["name": .text("one"), "bytes": value])
        try a.sync()
        try b.sync()
        #expect(try bytes(b) == value)
        try loseFiles()
        try a.set(row, "name", .text("two"))
        try a.sync()
        try b.sync()
        #expect(try bytes(b) == value)
        try b.set(try b.only("Photo"), "name", .text("three"))
        try b.sync()
        try a.sync()
        try a.sync()
        try b.sync()
        #expect(try bytes(b) == value)
    }

    @Test func aNewValueFromElsewhereTakesThePlaceOfALostOne() throws {
        try a.insert("Photo", ["name": .text("one"), "bytes": value])
        try a.sync()
        try b.sync()
        try loseFiles()
        let other = AttributeValue.data(Data(repeating: 9, count: 150_000))
        try b.set(try b.only("Photo"), "bytes", other)
        try b.sync()
        try a.sync()
        #expect(try a.mirrored.conflicts().isEmpty)
        #expect(try bytes(a) == other)
    }
}
