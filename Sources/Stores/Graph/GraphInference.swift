internal import Foundation
public import ObjectModel

extension StoredGraph {
    /// A model made of what the objects show, for a look at a file without its model.
    ///
    /// `spellings` are names of entities as the model has them; XML stores spell them in capitals.
    /// What no object has a value for is not known. An entity whose objects stand where another's
    /// are expected is taken for a subentity of that one.
    public func inferredModel(spellings: [String]) -> NSManagedObjectModel {
        GraphInference(self, spellings: spellings).model()
    }
}

/// Gathers what the objects of a file show of their entities. Names are keyed in lower case.
private struct GraphInference {
    private struct Link: Equatable {
        var destination: String
        var isToMany: Bool
    }

    private struct Shape {
        var types: [String: String] = [:]
        var links: [String: Link] = [:]
        var hasObjects = false
    }

    /// One link between two objects, by their keys.
    private struct Pair: Hashable {
        var owner: Int64
        var target: Int64
        var reversed: Pair { Pair(owner: target, target: owner) }
    }

    /// A relationship where it is declared.
    private struct End: Hashable {
        var entity: String
        var name: String
    }

    private var shapes: [String: Shape] = [:]
    private var spellings: [String: String] = [:]
    private var parents: [String: String] = [:]
    private var inverses: [End: End] = [:]

    init(_ graph: StoredGraph, spellings: [String]) {
        for name in spellings { add(name) }
        let homes = Dictionary(graph.objects.map { ($0.key, $0.entity.lowercased()) }) { $1 }
        for object in graph.objects {
            add(object.entity)
            note(object)
            for link in object.relationships {
                add(link.destination)
                for key in link.targets {
                    place(homes[key], below: link.destination.lowercased())
                }
            }
        }
        for parent in Set(parents.values).sorted() { lift(to: parent) }
        findInverses(graph)
    }

    private mutating func add(_ name: String) {
        let key = name.lowercased()
        guard shapes[key] == nil else { return }
        shapes[key] = Shape()
        spellings[key] = name
    }

    private mutating func note(_ object: StoredObject) {
        let key = object.entity.lowercased()
        shapes[key]?.hasObjects = true
        for attribute in object.attributes {
            shapes[key]?.types[attribute.name] = attribute.type
        }
        for link in object.relationships where shapes[key]?.types[link.name] == nil {
            shapes[key]?.links[link.name] = Link(
                destination: link.destination.lowercased(), isToMany: link.maxCount != 1)
        }
    }

    // MARK: Inheritance

    /// Takes an entity for a kind of another, unless they are so the other way round.
    private mutating func place(_ entity: String?, below parent: String) {
        guard let entity, entity != parent, parents[entity] == nil,
            !lineage(of: parent).contains(entity)
        else { return }
        parents[entity] = parent
    }

    /// The entity and those above it, nearest first.
    private func lineage(of entity: String) -> [String] {
        var line = [entity]
        while let parent = parents[line[line.count - 1]] { line.append(parent) }
        return line
    }

    /// What all subentities of an entity without objects have alike is the entity's own.
    private mutating func lift(to parent: String) {
        let below = parents.filter { $0.value == parent }.compactMap { shapes[$0.key] }
        guard shapes[parent]?.hasObjects == false, let first = below.first else { return }
        shapes[parent]?.types = first.types.filter { type in
            below.allSatisfy { $0.types[type.key] == type.value }
        }
        shapes[parent]?.links = first.links.filter { link in
            below.allSatisfy { $0.links[link.key] == link.value }
        }
    }

    /// The topmost entity that has a relationship, seen from one of its kinds.
    private func end(_ name: String, of entity: String) -> End {
        let owner = lineage(of: entity).last { shapes[$0]?.links[name] != nil }
        return End(entity: owner ?? entity, name: name)
    }

    // MARK: Inverses

    /// Two relationships are inverse where each link of one is a link of the other the other way,
    /// and no third is so.
    private mutating func findInverses(_ graph: StoredGraph) {
        var pairs: [End: Set<Pair>] = [:]
        for object in graph.objects {
            for link in object.relationships {
                let end = end(link.name, of: object.entity.lowercased())
                let found = link.targets.map { Pair(owner: object.key, target: $0) }
                pairs[end, default: []].formUnion(found)
            }
        }
        let ends = Dictionary(grouping: pairs.keys) { pairs[$0] ?? [] }
        for (end, own) in pairs where !own.isEmpty {
            let others = ends[Set(own.map(\.reversed))] ?? []
            guard others.count == 1, ends[own]?.count == 1 else { continue }
            inverses[end] = others[0]
        }
    }

    // MARK: The model

    func model() -> NSManagedObjectModel {
        var entities: [String: NSEntityDescription] = [:]
        for (key, name) in spellings {
            let entity = NSEntityDescription()
            entity.name = name
            entities[key] = entity
        }
        for (key, parent) in parents.sorted(by: { $0.key < $1.key }) {
            guard let entity = entities[key] else { continue }
            entities[parent]?.subentities.append(entity)
        }
        for (key, entity) in entities {
            entity.declaredProperties = (attributes(of: key) + relationships(of: key, entities))
                .sorted { $0.name < $1.name }
        }
        for (end, other) in inverses {
            let relationship = entities[end.entity]?.relationshipsByName[end.name]
            relationship?.inverseRelationship =
                entities[other.entity]?.relationshipsByName[other.name]
        }
        let model = NSManagedObjectModel()
        model.entities = entities.sorted { $0.key < $1.key }.map(\.value)
        return model
    }

    /// Names that an entity above has as well are inherited.
    private func isInherited(_ name: String, by entity: String) -> Bool {
        lineage(of: entity).dropFirst().contains {
            shapes[$0]?.types[name] != nil || shapes[$0]?.links[name] != nil
        }
    }

    private func attributes(of key: String) -> [NSPropertyDescription] {
        (shapes[key]?.types ?? [:]).filter { !isInherited($0.key, by: key) }.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.isOptional = true
            attribute.attributeType =
                StoredType(rawValue: type)?.attributeType ?? .stringAttributeType
            return attribute
        }
    }

    private func relationships(
        of key: String, _ entities: [String: NSEntityDescription]
    ) -> [NSPropertyDescription] {
        (shapes[key]?.links ?? [:]).filter { !isInherited($0.key, by: key) }.map { name, link in
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.isOptional = true
            relationship.maxCount = link.isToMany ? 0 : 1
            relationship.destinationEntity = entities[link.destination]
            return relationship
        }
    }
}

extension StoredType {
    /// The attribute type whose values are written so.
    fileprivate var attributeType: NSAttributeType {
        switch self {
        case .string: .stringAttributeType
        case .int16: .integer16AttributeType
        case .int32: .integer32AttributeType
        case .int64: .integer64AttributeType
        case .bool: .booleanAttributeType
        case .float: .floatAttributeType
        case .double: .doubleAttributeType
        case .decimal: .decimalAttributeType
        case .date: .dateAttributeType
        case .binary, .transformable: .binaryDataAttributeType
        case .uuid: .UUIDAttributeType
        case .uri: .URIAttributeType
        }
    }
}
