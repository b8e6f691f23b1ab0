internal import Foundation
internal import ObjectModel
internal import Predicates
internal import SQLiteStore
internal import Stores

/// Ends a mapped migration that read a value whose file is gone: the new store would have no value
/// in its place, and not even the file's name.
struct MissingValueStop: Error {
    let row: RowID
    let slot: Int

    /// What the caller is told. Cost: reads the row's column once more.
    func refusal(from rows: any RowStore) throws -> NSError {
        let entity = rows.layout.entity(row.entity)
        let name = try (rows as? SQLiteRowStore)?.externalFile(of: row, slot: slot)
        return MigrationErrors.refused(
            UpgradeRefusal(
                reason: .missingFile(name ?? ""), entity: entity?.name,
                subject: entity?.attributes[slot].name ?? ""))
    }
}

/// The attributes of the old version whose values mappings hand on or compute with. Those of any
/// other may be gone: the new version does without them.
struct AttributesRead {
    /// What expressions name, of whatever entity: paths lead to related objects.
    private var names: Set<String> = []
    /// Of these a policy may read all.
    private var entities: Set<String> = []
    private let model: NSManagedObjectModel

    init(_ mappings: [NSEntityMapping], _ manager: NSMigrationManager) {
        model = manager.sourceModel
        for mapping in mappings { add(mapping, manager) }
    }

    private mutating func add(_ mapping: NSEntityMapping, _ manager: NSMigrationManager) {
        if MigrationPolicies.isOwn(mapping), let entity = mapping.sourceEntityName {
            entities.insert(entity)
        }
        guard let properties = mapping.attributeMappings else {
            // All that both versions have.
            let entity = manager.destinationEntity(for: mapping)
            names.formUnion((entity?.attributesByName ?? [:]).keys)
            return
        }
        for property in properties + (mapping.relationshipMappings ?? []) {
            _ = property.valueExpression?.node.mapExpressions { node in
                names.formUnion(Self.keys(of: node))
                return node
            }
        }
    }

    /// The keys that an expression itself names; a text may be the argument of `valueForKey:`.
    private static func keys(of node: ExpressionNode) -> [String] {
        switch node {
        case .keyPath(let path), .path(from: _, let path): path
        case .constant(let text as String): text.split(separator: ".").map(String.init)
        case .constant, .evaluatedObject, .variable, .function, .aggregate, .subquery,
            .conditional, .unionSet, .intersectSet, .minusSet:
            []
        }
    }

    func include(_ attribute: String, of entity: String) -> Bool {
        if names.contains(attribute) { return true }
        var level = model.entitiesByName[entity]
        while let present = level {
            if entities.contains(present.name ?? "") { return true }
            level = present.superentity
        }
        return false
    }
}

extension StoreMigration {
    /// Makes the migration stop where the source reads a value that it lacks and mappings want.
    func stopAtMissingValues(of source: NSPersistentStore, _ mappings: [NSEntityMapping]) {
        let read = AttributesRead(mappings, manager)
        let layout = source.rowStore.layout
        source.noteMissing = { [weak manager] row in
            guard let entity = layout.entity(row.id.entity),
                let slot = row.missing.first(where: {
                    read.include(entity.attributes[$0].name, of: entity.name)
                })
            else { return }
            manager?.stop(because: MissingValueStop(row: row.id, slot: slot))
        }
    }
}
