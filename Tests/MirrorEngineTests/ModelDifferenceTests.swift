import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import Persistence
import Predicates
import RecordWire
import SQLiteStore
import Stores
import Testing

/// Attributes of another type, and entities that a version has no more.
@Suite struct ModelDifferenceTests {
    private static func model(_ type: NSAttributeType, hasBox: Bool = true) -> NSManagedObjectModel
    {
        let item = SampleModel.entity(
            "Item",
            [
                SampleModel.attribute("label", .stringAttributeType),
                SampleModel.attribute("value", type),
            ])
        let box = SampleModel.entity(
            "Box", [SampleModel.attribute("size", .integer64AttributeType)])
        let model = NSManagedObjectModel()
        model.entities = hasBox ? [item, box] : [item]
        return model
    }

    private func itemMapping() -> NSMappingModel {
        let item = NSEntityMapping()
        item.name = "items"
        item.mappingType = .transformEntityMappingType
        (item.sourceEntityName, item.destinationEntityName) = ("Item", "Item")
        let label = NSPropertyMapping()
        label.name = "label"
        label.valueExpression = NSExpression(format: "$source.label")
        item.attributeMappings = [label]
        let mapping = NSMappingModel()
        mapping.entityMappings = [item]
        return mapping
    }

    @Test func aValueOfAnotherTypeIsKeptAndTold() throws {
        let world = try VersionedWorld(
            from: Self.model(.integer64AttributeType), to: Self.model(.stringAttributeType))
        let (old, new) = (try world.device(), try world.device(isLater: true))
        try world.settle(new, old)
        try new.insert("Item", ["label": .text("n"), "value": .text("seven")])
        try old.insert("Box", ["size": .integer(1)])
        try world.settle(new, old)
        let status = try #require(try old.mirrored.status())
        #expect(status.keptForLater.map(\.reason) == [.unreadableField])
        #expect(status.refusals.count == 1 && !status.isInSync)
        #expect(try old.rows("Item").isEmpty && new.rows("Box").count == 1)
        // The service keeps one type for a field: the older device's record is refused, and told.
        let own = try old.insert("Item", ["label": .text("o"), "value": .integer(7)])
        try old.sync()
        #expect(try old.mirrored.status()?.refusals.count == 2)
        try old.set(old.only("Box"), "size", .integer(2))
        try world.settle(old, new)
        #expect(try new.value(new.only("Box"), "size") == .integer(2))

        let updated = try world.mapped(old, by: itemMapping())
        try world.settle(updated, new)
        #expect(try updated.mirrored.status()?.refusals.isEmpty == true)
        #expect(try updated.mirrored.status()?.keptForLater.isEmpty == true)
        let values = try updated.rows("Item").map { try updated.value($0.id, "value") }
        #expect(Set(values) == [.text("seven"), .null])
        #expect(try new.rows("Item").count == 2 && own.key > 0)
        #expect(try new.rows("Box").count == 1 && updated.rows("Box").count == 1)
    }

    @Test func anEntityThatIsGoneHereIsNotDeletedElsewhere() throws {
        let world = try VersionedWorld(
            from: Self.model(.integer64AttributeType),
            to: Self.model(.integer64AttributeType, hasBox: false))
        let (old, other) = (try world.device(), try world.device())
        try old.insert("Box", ["size": .integer(1)])
        try old.insert("Item", ["label": .text("x")])
        try world.settle(old, other)
        let updated = try world.updated(old)
        try updated.set(updated.only("Item"), "label", .text("y"))
        try world.settle(updated, other)
        #expect(try other.rows("Box").count == 1)
        try other.set(other.only("Box"), "size", .integer(2))
        try world.settle(other, updated)
        let again = try world.updated(updated, to: world.former)
        let result = try again.sync()
        #expect(result.exported == 0 && result.imported.received == 0)
        #expect(try again.value(again.only("Box"), "size") == .integer(2))
        #expect(try again.value(again.only("Item"), "label") == .text("y"))
    }

    @Test func aKeyGivenInTheModelNamesTheRecords() throws {
        let later = Self.model(.integer64AttributeType)
        let item = try #require(later.entitiesByName["Item"])
        item.propertiesByName["label"]?.userInfo = ["MirrorName": "label"]
        SampleModel.rename("label", to: "caption", in: item)
        item.propertiesByName["caption"]?.renamingIdentifier = "heading"
        let world = try VersionedWorld(from: Self.model(.integer64AttributeType), to: later)
        let (old, new) = (try world.device(), try world.device(isLater: true))
        try old.insert("Item", ["label": .text("x")])
        try world.settle(old, new)
        #expect(try new.value(new.only("Item"), "caption") == .text("x"))
    }
}
