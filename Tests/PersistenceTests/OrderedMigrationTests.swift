import CoreData
import Foundation
import Testing

/// Migrations by mapping models keep the order of members.
@Suite struct OrderedMigrationTests {
    static let files = LightweightMigrationTests.files

    private func version(_ extra: [NSPropertyDescription]) -> NSManagedObjectModel {
        VersionDraft.model { draft in
            draft.entity("List", [text("name")] + extra)
            draft.entity("Item", [text("name")])
            draft.entity("Photo", below: "Item")
            draft.entity("Note", below: "Item")
            draft.link("List", "items", .ordered, "Item", "list", .one)
        }
    }

    private let names = (0..<12).map { "i\($0)" }

    private func fill(_ bench: MigrationBench, _ model: NSManagedObjectModel) throws {
        try bench.fill(model) { context in
            let list = context.make("List", ["name": "L"])
            let entities = ["Note", "Photo", "Item"]
            let items = names.enumerated().map { place, name in
                context.make(entities[place % 3], ["name": name])
            }
            list.setValue(NSOrderedSet(array: items), forKey: "items")
        }
    }

    private func mapping(
        _ old: NSManagedObjectModel, _ new: NSManagedObjectModel, of entities: [String]
    ) -> NSMappingModel {
        let model = NSMappingModel()
        model.entityMappings = entities.map { name in
            var links: [String: String] = [:]
            if name == "List" {
                links["items"] =
                    "FUNCTION($manager, 'destinationInstancesForSourceRelationshipNamed:"
                    + "sourceInstances:', 'items', $source.items)"
            }
            return .transforming(
                name, name, ["name": "$source.name"], relationships: links, from: old, to: new)
        }
        return model
    }

    private static let all = ["List", "Item", "Photo", "Note"]

    /// Also by a manager of a class of the program's own, which answers the function itself.
    @Test(arguments: files, [true, false])
    func membersOfSeveralEntitiesKeepTheirOrder(_ kind: StoreKind, _ isOwn: Bool) throws {
        let (old, new) = (version([]), version([text("note")]))
        let (bench, made) = (try MigrationBench(kind), try MigrationBench(kind))
        try fill(bench, old)
        let manager =
            isOwn
            ? OwnMigration(sourceModel: old, destinationModel: new)
            : NSMigrationManager(sourceModel: old, destinationModel: new)
        try manager.migrateStore(
            from: bench.url, type: .init(rawValue: kind.type),
            mapping: mapping(old, new, of: Self.all), to: made.url,
            type: .init(rawValue: kind.type))
        try made.open(new, options: [:]) { context throws in
            #expect(try context.one("List", "L").names("items") == names)
        }
    }
}

private final class OwnMigration: NSMigrationManager, @unchecked Sendable {
    // @unchecked: used by one migration, on its thread.
}
