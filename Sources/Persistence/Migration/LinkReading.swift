internal import Foundation
internal import ObjectModel
internal import Predicates
internal import Stores

/// Reads with few questions what the links of a batch of new objects are made of.
struct LinkReading {
    private let manager: NSMigrationManager
    private let mapping: NSEntityMapping
    /// The relationships of the new objects that get a value.
    private let names: [String]
    private let sourceKeys: [String]
    private let targets: [LinkTarget]

    init(of mapping: NSEntityMapping, _ manager: NSMigrationManager) {
        self.manager = manager
        self.mapping = mapping
        let source = manager.sourceEntity(for: mapping)?.relationshipsByName ?? [:]
        let destination = manager.destinationEntity(for: mapping)?.relationshipsByName ?? [:]
        let properties = (mapping.relationshipMappings ?? []).filter {
            $0.valueExpression != nil && $0.name.map { destination[$0] != nil } ?? false
        }
        names = properties.compactMap(\.name)
        var targets: [LinkTarget] = []
        var keys: Set<String> = []
        for node in properties.compactMap(\.valueExpression?.node) {
            _ = node.mapExpressions { node in
                if let target = LinkTarget(node) { targets.append(target) }
                if let key = Self.sourceKey(of: node), source[key] != nil { keys.insert(key) }
                return node
            }
        }
        self.targets = targets.filter { keys.contains($0.key) }
        sourceKeys = keys.sorted()
    }

    private static func sourceKey(of node: ExpressionNode) -> String? {
        if case .path(from: .variable(NSMigrationSourceObjectKey), let path) = node {
            return path.first
        }
        return node.keyOfMigrationSource
    }

    /// The objects of new rows, and what must be held so that it is not read again.
    func read(_ rows: [RowID]) throws -> (made: [NSManagedObject], beside: [NSManagedObject]) {
        guard let work = manager.work else { return ([], []) }
        guard !names.isEmpty else { return (work.destination.objects(rows), []) }
        let made = try work.destination.read(rows, prefetching: names)
        let former = manager.work?.associations.firstSources(mapping.name ?? "", of: rows) ?? []
        var beside = try work.source.read(former, prefetching: sourceKeys)
        let sources = beside
        for target in targets {
            let ends = sources.flatMap { object in
                object.entity.relationshipsByName[target.key] == nil
                    ? [] : object.objectIDs(forRelationshipNamed: target.key).compactMap(\.rowID)
            }
            let found =
                manager.work?.associations.destinations(
                    target.mapping, of: Array(Set(ends)).sorted()) ?? []
            beside += try work.destination.read(Array(Set(found)).sorted())
        }
        return (made, beside)
    }
}
