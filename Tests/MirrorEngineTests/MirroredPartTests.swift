import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import Persistence
import RecordWire
import SQLiteStore
import Stores
import Testing

/// A store of some entities of its model (a configuration) that gets others with an update: no
/// version hash tells, since the entities are as they were.
@Suite struct MirroredPartTests {
    private let world: VersionedWorld

    init() throws { world = try VersionedWorld() }

    /// The same two entities, of which the store mirrors those in the configuration.
    private static func model(_ names: [String]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = [
            SampleModel.entity("Note", [SampleModel.attribute("title", .stringAttributeType)]),
            SampleModel.entity("Label", [SampleModel.attribute("name", .stringAttributeType)]),
        ]
        let members = names.compactMap { model.entitiesByName[$0] }
        model.setEntities(members, forConfigurationName: "Cloud")
        return model
    }

    private func open(_ number: UInt64, _ model: NSManagedObjectModel) throws -> Device {
        try Device(
            number, world.service, model: model, file: file(number), configuration: "Cloud")
    }

    private func file(_ number: UInt64) -> URL {
        world.folder.appendingPathComponent("part\(number).sqlite")
    }

    private func migrate(
        _ number: UInt64, from old: NSManagedObjectModel, to new: NSManagedObjectModel
    ) throws {
        try SQLiteRowStore.upgrade(
            file(number), from: old, to: new, configuration: "Cloud",
            mapping: try InferredMapping(
                from: old.entities, to: new.entities(forConfigurationName: "Cloud") ?? []),
            defaults: { $0.storedDefault })
    }

    @Test func anEntityThatComesToTheStoreBringsWhatCameBefore() throws {
        let (small, large) = (Self.model(["Note"]), Self.model(["Note", "Label"]))
        #expect(small.versionHashesDigest == large.versionHashesDigest)
        let (old, new) = (try open(1, small), try open(2, large))
        try new.insert("Note", ["title": .text("n")])
        try new.insert("Label", ["name": .text("l")])
        try world.settle(new, old)
        #expect(try old.mirrored.status()?.keptForLater.map(\.reason) == [.unknownEntity])
        try migrate(1, from: small, to: large)
        let updated = try open(1, large)
        try world.settle(updated, new)
        #expect(try updated.value(updated.only("Label"), "name") == .text("l"))
        #expect(try updated.value(updated.only("Note"), "title") == .text("n"))
        #expect(try updated.mirrored.status()?.keptForLater.isEmpty == true)
    }

    @Test func anEntityThatLeavesTheStoreComesBackWithTheNextUpdate() throws {
        let (small, large) = (Self.model(["Note"]), Self.model(["Note", "Label"]))
        let (first, new) = (try open(1, large), try open(2, large))
        try new.insert("Label", ["name": .text("l")])
        try world.settle(new, first)
        try migrate(1, from: large, to: small)
        let without = try open(1, small)
        try world.settle(without, new)
        #expect(try new.rows("Label").count == 1)
        try new.set(new.only("Label"), "name", .text("edited"))
        try world.settle(new, without)
        try migrate(1, from: small, to: large)
        let again = try open(1, large)
        try world.settle(again, new)
        #expect(try again.value(again.only("Label"), "name") == .text("edited"))
        #expect(try new.rows("Label").count == 1)
    }
}
