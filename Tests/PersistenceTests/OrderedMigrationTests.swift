import CoreData
import Foundation
import Testing

/// Migrations by mapping models keep orders, and lose nothing that no mapping names.
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

    @Test(arguments: files) func objectsWithoutAMappingStopAMigration(_ kind: StoreKind) throws {
        let (old, new) = (version([]), version([text("note")]))
        let bench = try MigrationBench(kind)
        try fill(bench, old)
        func run(_ entities: [String], removing removed: [String] = []) throws {
            let model = mapping(old, new, of: entities)
            for name in removed {
                let removal = NSEntityMapping()
                removal.name = "Remove\(name)"
                removal.mappingType = .removeEntityMappingType
                removal.sourceEntityName = name
                model.entityMappings.append(removal)
            }
            try ProgressiveMigration(
                storeAt: bench.url, type: .init(rawValue: kind.type),
                versions: ModelVersions(
                    [.init(name: "1", model: old), .init(name: "2", model: new)],
                    mappings: [model])
            ).run()
        }
        let error = try cocoaError { try run(["List", "Item", "Photo"]) }
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        #expect(cause.code == NSMigrationMissingMappingModelError)
        #expect(cause.userInfo["entity"] as? String == "Note")
        try bench.open(old, options: [:]) { context throws in
            #expect(try context.all("Item").count == 12)
        }
        try run(["List", "Item", "Photo"], removing: ["Note"])
        try bench.open(new, options: [:]) { context throws in
            #expect(try context.all("Item").count == 8)
        }
    }
}

private final class OwnMigration: NSMigrationManager, @unchecked Sendable {
    // @unchecked: used by one migration, on its thread.
}
