internal import Foundation
internal import ObjectModel
internal import Stores

/// Turns cache nodes into the objects of a graph, for the tables in memory.
struct CacheNodeGraph {
    private let layout: ModelLayout

    init(layout: ModelLayout) { self.layout = layout }

    func graph(of nodes: [RowID: NSAtomicStoreCacheNode], identifier: String) throws -> StoredGraph
    {
        var graph = StoredGraph(identifier: identifier, lastKey: 0)
        for (row, node) in nodes.sorted(by: { $0.key.key < $1.key.key }) {
            guard let entity = layout.entity(row.entity) else { continue }
            graph.objects.append(try object(node, row, entity))
            graph.lastKey = max(graph.lastKey, row.key)
        }
        return graph
    }

    private func object(
        _ node: NSAtomicStoreCacheNode, _ row: RowID, _ entity: EntityLayout
    ) throws -> StoredObject {
        var object = StoredObject(entity: entity.name, key: row.key)
        for place in entity.attributes {
            let given = try Self.value(place.name, of: entity) { node.value(forKey: $0) }
            guard let value = AttributeCoding.accept(given, for: place.attribute) else {
                throw Self.misfit(entity, place.name)
            }
            guard !value.isNull else { continue }
            object.attributes.append(
                StoredAttribute(name: place.name, type: "value", value: value))
        }
        for relationship in entity.toOnes + entity.toManys {
            var link = StoredRelationship(
                name: relationship.name, minCount: 0, maxCount: relationship.maxCount,
                destination: relationship.destinationEntity?.name ?? "")
            guard let targets = Self.rows(node.value(forKey: relationship.name)) else {
                throw Self.misfit(entity, relationship.name)
            }
            link.targets = targets.map(\.key)
            object.relationships.append(link)
        }
        return object
    }

    /// The value of a slot; one of a composite stands in the composite's dictionary. Throws where
    /// the store gives something else for the composite.
    static func value(
        _ name: String, of entity: EntityLayout, _ read: (String) -> Any?
    ) throws -> Any? {
        guard let dot = name.firstIndex(of: ".") else { return read(name) }
        let outer = String(name[..<dot])
        guard let given = read(outer), !(given is NSNull) else { return nil }
        guard let composite = given as? [String: Any] else { throw misfit(entity, outer) }
        return try value(String(name[name.index(after: dot)...]), of: entity) { composite[$0] }
    }

    /// The rows that a relationship's value leads to; nil for a value that is no link.
    static func rows(_ value: Any?) -> [RowID]? {
        switch value {
        case nil, is NSNull: []
        case let node as NSAtomicStoreCacheNode: row(node.objectID).map { [$0] }
        case let id as NSManagedObjectID: row(id).map { [$0] }
        case let object as NSManagedObject: row(object.objectID).map { [$0] }
        case let members as [Any]: all(members)
        case let members as NSOrderedSet: all(members.array)
        case let members as NSSet: all(members.allObjects)
        case let members as Set<AnyHashable>: all(members.map(\.base))
        default: nil
        }
    }

    private static func all(_ members: [Any]) -> [RowID]? {
        let found = members.compactMap { rows($0)?.first }
        return found.count == members.count ? found : nil
    }

    private static func row(_ id: NSManagedObjectID) -> RowID? { id.reservedRow }

    static func misfit(_ entity: EntityLayout, _ property: String) -> StoreError {
        StoreError(
            .invalidValue,
            "The store gave a value that the property cannot hold; check its type in the model.",
            fields: ["entity": entity.name, "property": property])
    }
}
