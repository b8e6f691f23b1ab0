import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteStore
import Stores
import Testing

/// A sealed value of a property that a device's version does not know, of an object that goes on
/// under another name there: it is in the row once the device is updated.
@Suite struct LaterSealTests {
    /// The earlier version has a sealed attribute too, so that no key is new to the later one.
    private static func model(isLater: Bool) -> NSManagedObjectModel {
        let model = SampleModel.make()
        model.entitiesByName["Note"]?.attributesByName["title"]?.allowsCloudEncryption = true
        guard isLater else { return model }
        let secret = SampleModel.attribute("secret", .stringAttributeType)
        secret.allowsCloudEncryption = true
        model.entitiesByName["Note"]?.properties += [secret]
        return model
    }

    enum Course: CaseIterable {
        case unsent, unanswered, sent, sentTwice
    }

    private let world: VersionedWorld
    private let keys: SealingKeys
    private let a: Device
    private let b: Device

    init() throws {
        world = try VersionedWorld(from: Self.model(isLater: false), to: Self.model(isLater: true))
        keys = try SealingKeys([SealingKey(secret: Data(repeating: 1, count: 32))])
        a = try world.open(world.folder.appendingPathComponent("a"), world.later, keys: keys)
        b = try world.open(world.folder.appendingPathComponent("b"), world.former, keys: keys)
        try a.insert("Note", ["title": .text("t"), "secret": .text("s")])
        try world.settle(a, b)
    }

    /// The note is deleted on all devices, and its deletion undone.
    private func deleteAndUndo() throws {
        let row = try #require(try b.rows("Note").first)
        try b.delete(row.id)
        try world.settle(b, a)
        #expect(try a.rows("Note").isEmpty)
        var changes = ChangeSet()
        changes.inserts = [row]
        _ = try b.store.save(changes)
    }

    /// What becomes of the object before it is updated.
    private func bringBack(_ course: Course) throws {
        try deleteAndUndo()
        switch course {
        case .unsent: break
        case .unanswered:
            b.intercept = { [world, b] request in
                guard case .modifyRecords = request else { return nil }
                _ = try world.service.handle(request, from: b.mirrored.deviceID())
                throw Missing(name: "answer")
            }
            _ = try? b.sync()
        case .sent: try b.sync()
        case .sentTwice:
            try b.sync()
            try deleteAndUndo()
            try b.sync()
        }
    }

    @Test(arguments: Course.allCases)
    func whatIsCarriedIsInTheRowAfterAnUpdate(course: Course) throws {
        try bringBack(course)
        let later = try world.updated(b, keys: keys)
        try world.settle(later, a)
        for device in [a, later] {
            #expect(try device.value(device.only("Note"), "secret") == .text("s"))
            #expect(try device.mirrored.conflicts().isEmpty)
        }
    }

    /// The key comes with the update, to a device that had none.
    @Test(arguments: [false, true], [false, true])
    func aKeyThatComesWithAnUpdateOpensAll(isBack: Bool, byMapping: Bool) throws {
        let c = try world.open(world.folder.appendingPathComponent("c"), world.former)
        try world.settle(c)
        if isBack {
            let row = try #require(try c.rows("Note").first)
            try c.delete(row.id)
            try world.settle(c, a)
            var changes = ChangeSet()
            changes.inserts = [row]
            _ = try c.store.save(changes)
            c.intercept = { _ in throw Missing(name: "service") }
            _ = try? c.sync()
        }
        let file = try #require(
            try byMapping ? world.file(of: world.mapped(c)) : world.file(of: c))
        let later =
            try byMapping
            ? world.open(file, world.later, keys: keys) : world.updated(c, keys: keys)
        try world.settle(later, a, b)
        for device in [a, later] {
            #expect(try device.value(device.only("Note"), "title") == .text("t"))
            #expect(try device.value(device.only("Note"), "secret") == .text("s"))
            #expect(try device.mirrored.conflicts().isEmpty)
        }
    }

    @Test(arguments: Course.allCases)
    func whatIsClearedAfterAnUpdateIsCarriedNoMore(course: Course) throws {
        try bringBack(course)
        let later = try world.updated(b, keys: keys)
        later.intercept = { _ in throw Missing(name: "service") }
        _ = try? later.sync()
        later.intercept = { _ in nil }
        #expect(try later.value(later.only("Note"), "secret") == .text("s"))
        try later.set(later.only("Note"), "secret", .null)
        try world.settle(later, a)
        for device in [a, later] {
            #expect(try device.value(device.only("Note"), "secret") == .null)
            #expect(try device.mirrored.conflicts().isEmpty)
        }
    }
}
