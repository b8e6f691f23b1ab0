import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import SQLiteStore
import Stores
import Testing

/// Changes of a model of which its version hashes say nothing: the app opens its store without a
/// migration, and the mirror notices all the same.
@Suite struct SilentModelChangeTests {
    private static func model(
        _ adjust: (NSEntityDescription, NSEntityDescription) -> Void = { _, _ in }
    ) -> NSManagedObjectModel {
        let item = SampleModel.entity(
            "Item",
            [
                SampleModel.attribute("label", .stringAttributeType),
                SampleModel.attribute("value", .integer64AttributeType),
                SampleModel.attribute("note", .stringAttributeType),
            ])
        let box = SampleModel.entity("Box", [SampleModel.attribute("size", .stringAttributeType)])
        SampleModel.connect(item, "box", many: false, box, "items", many: true)
        SampleModel.connect(item, "others", many: true, box, "mates", many: true)
        adjust(item, box)
        let model = NSManagedObjectModel()
        model.entities = [item, box]
        return model
    }

    private static let keys = try? SealingKeys([
        SealingKey(secret: Data(repeating: 3, count: 32))
    ])

    private func world(
        _ adjust: (NSEntityDescription, NSEntityDescription) -> Void
    ) throws -> VersionedWorld {
        let world = try VersionedWorld(from: Self.model(), to: Self.model(adjust))
        try #require(world.former.versionHashesDigest == world.later.versionHashesDigest)
        return world
    }

    /// The app with the later model over the store as it is.
    private func relaunched(
        _ device: Device, _ world: VersionedWorld, keys: SealingKeys? = nil
    ) throws -> Device {
        try world.open(try #require(world.file(of: device)), world.later, keys: keys)
    }

    @Test func aDefaultThatComesLaterChangesNoValue() throws {
        let world = try world { item, _ in item.attributesByName["value"]?.defaultValue = 2 }
        let (a, b) = (try world.device(), try world.device())
        try a.insert("Item", ["label": .text("x")])
        try world.settle(a, b)
        let later = try relaunched(b, world)
        let fresh = try world.device(isLater: true)
        try world.settle(later, fresh)
        #expect(try later.value(later.only("Item"), "value") == .null)
        #expect(try fresh.value(fresh.only("Item"), "value") == .null)
    }

    @Test func aDefaultThatGoesLeavesWhatStoodForIt() throws {
        let former = Self.model { item, _ in item.attributesByName["value"]?.defaultValue = 2 }
        let world = try VersionedWorld(from: former, to: Self.model())
        let (a, b) = (try world.device(), try world.device(isLater: true))
        try b.insert("Item", ["label": .text("x")])
        try world.settle(b, a)
        #expect(try a.value(a.only("Item"), "value") == .integer(2))
        let later = try relaunched(a, world)
        try world.settle(later, b)
        #expect(
            try later.value(later.only("Item"), "value") == b.value(b.only("Item"), "value"))
    }

    @Test func aNameForRecordsThatIsGivenLaterLosesNoEditOfOthers() throws {
        let world = try world { item, _ in
            item.attributesByName["value"]?.userInfo = ["MirrorName": "amount"]
            item.relationshipsByName["box"]?.userInfo = ["MirrorName": "crate"]
            item.relationshipsByName["others"]?.userInfo = ["MirrorName": "crates"]
        }
        let (a, b) = (try world.device(), try world.device())
        let item = try a.insert("Item", ["label": .text("x"), "value": .integer(1)])
        try a.insert("Box", ["size": .text("s")])
        try world.settle(a, b)
        let later = try relaunched(b, world)
        try later.set(later.only("Item"), "value", .integer(7))
        try later.link(later.only("Item"), "box", later.only("Box"))
        try later.pair(later.only("Item"), "others", with: later.only("Box"))
        try world.settle(later, a)
        #expect(try a.value(item, "value") == .integer(7), "under the name that it knows")
        let second = try relaunched(a, world)
        let fresh = try world.device(isLater: true)
        try world.settle(second, later, fresh)
        for device in [second, later, fresh] {
            let row = try device.only("Item")
            #expect(try device.value(row, "value") == .integer(7))
            #expect(try device.target(row, "box") == device.only("Box"))
            #expect(try device.members(row, "others") == [device.only("Box")])
        }
    }

    @Test func anEntityThatIsNamedLaterIsSentUnderThatName() throws {
        let world = try world { item, _ in item.userInfo = ["MirrorName": "Thing"] }
        let (a, b) = (try world.device(), try world.device())
        try world.settle(a, b)
        let later = try relaunched(b, world)
        try later.insert("Item", ["label": .text("new")])
        try world.settle(later, a)
        #expect(try a.rows("Item").isEmpty)
        let second = try relaunched(a, world)
        try world.settle(second, later)
        #expect(try second.value(second.only("Item"), "label") == .text("new"))
    }

    /// The command takes the model that the file has.
    @Test func theFileHasTheModelOfTheAppFromThenOn() throws {
        let world = try world { item, _ in
            item.attributesByName["value"]?.userInfo = ["MirrorName": "amount"]
        }
        let device = try world.device()
        try device.insert("Item", ["label": .text("x"), "value": .integer(1)])
        try world.settle(device)
        let later = try relaunched(device, world)
        try world.settle(later)
        let file = try #require(world.file(of: later))
        let kept = try #require(try SQLiteRowStore.cachedModel(at: file))
        #expect(
            kept.entitiesByName["Item"]?.attributesByName["value"]?.userInfo?["MirrorName"]
                as? String == "amount")
        // Nothing is compared anew where the model is as it was.
        #expect(try relaunched(later, world).sync().exported == 0)
    }

    @Test func anAttributeIsSealedLaterUnderAnotherName() throws {
        let world = try world { item, _ in
            item.attributesByName["note"]?.allowsCloudEncryption = true
            item.attributesByName["note"]?.userInfo = ["MirrorName": "sealedNote"]
        }
        let keys = try #require(Self.keys)
        let (a, b) = (try world.device(), try world.device())
        let item = try a.insert("Item", ["label": .text("x"), "note": .text("open")])
        try world.settle(a, b)
        let later = try relaunched(b, world, keys: keys)
        let fresh = try world.open(
            world.folder.appendingPathComponent("fresh.sqlite"), world.later, keys: keys)
        try a.set(item, "label", .text("edited by the older version"))
        try a.sync()
        try world.settle(later, fresh, a)
        for device in [later, fresh] {
            #expect(try device.value(device.only("Item"), "note") == .text("open"))
            #expect(
                try device.value(device.only("Item"), "label")
                    == .text("edited by the older version"))
            #expect(try device.mirrored.status()?.refusals.isEmpty == true)
        }
        #expect(try world.record("CD_Item").fields["CD_note"] == nil)
    }

    /// A field under the former name that holds another type is another field.
    @Test func anotherTypeUnderAnotherNamePutsNothingAside() throws {
        let later = Self.model { item, _ in
            item.attributesByName["value"]?.attributeType = .stringAttributeType
            item.attributesByName["value"]?.userInfo = ["MirrorName": "text"]
        }
        let world = try VersionedWorld(from: Self.model(), to: later)
        let (old, new) = (try world.device(), try world.device(isLater: true))
        let item = try old.insert("Item", ["label": .text("x"), "value": .integer(7)])
        try world.settle(old, new)
        #expect(try new.value(new.only("Item"), "label") == .text("x"))
        #expect(try new.value(new.only("Item"), "value") == .null)
        try old.set(item, "value", .integer(8))
        try world.settle(old, new)
        #expect(try new.mirrored.status()?.keptForLater.isEmpty == true)
    }
}
