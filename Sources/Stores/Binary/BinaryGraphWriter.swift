internal import Foundation
internal import ObjectModel

/// Writes a binary store: for each entity its properties once, then the values of each object.
struct BinaryGraphWriter {
    private var archive = ArchiveWriting()

    static func data(_ graph: StoredGraph) throws -> Data {
        var writer = BinaryGraphWriter()
        return try writer.data(graph)
    }

    private mutating func data(_ graph: StoredGraph) throws -> Data {
        guard let metadata = archive.value(graph.metadata) else {
            throw StoreError(
                .invalidValue,
                "The metadata holds a value that no property list can hold, nests deeper than "
                    + "\(ArchiveReading.depthMax), or has more than "
                    + "\(ArchiveReading.metadataValuesMax) values; remove some.")
        }
        var groups: [String: [StoredObject]] = [:]
        for object in graph.objects { groups[object.entity, default: []].append(object) }
        let entities = groups.sorted { $0.key < $1.key }.map { entity($0.key, $0.value) }
        let root = archive.dictionary([
            (BinaryKey.format, archive.plain(.integer(BinaryKey.currentFormat))),
            (BinaryKey.identifier, archive.plain(.string(graph.identifier))),
            (BinaryKey.lastKey, archive.plain(.integer(graph.lastKey))),
            (BinaryKey.metadata, metadata),
            (BinaryKey.entities, archive.array(entities)),
        ])
        return try archive.data(root: root)
    }

    private mutating func entity(_ name: String, _ objects: [StoredObject]) -> Int {
        let attributes = columns(objects.lazy.flatMap(\.attributes)) { $0.name }
        let relationships = columns(objects.lazy.flatMap(\.relationships)) { $0.name }
        let attributeSlots = slots(attributes.map(\.name))
        let relationshipSlots = slots(relationships.map(\.name))
        let heads = (attributes.map { head($0) }, relationships.map { head($0) })
        let keys = objects.map { archive.plain(.integer($0.key)) }
        let values = objects.map { object in
            var row = Array(repeating: ArchiveWriting.null, count: attributes.count)
            for attribute in object.attributes {
                if let slot = attributeSlots[attribute.name] { row[slot] = value(attribute) }
            }
            return archive.array(row)
        }
        let links = objects.map { object in
            var row = Array(repeating: ArchiveWriting.null, count: relationships.count)
            for link in object.relationships where !link.targets.isEmpty {
                guard let slot = relationshipSlots[link.name] else { continue }
                row[slot] = archive.array(link.targets.map { archive.plain(.integer($0)) })
            }
            return archive.array(row)
        }
        return archive.dictionary([
            (BinaryKey.name, archive.name(name)),
            (BinaryKey.attributes, archive.array(heads.0)),
            (BinaryKey.relationships, archive.array(heads.1)),
            (BinaryKey.keys, archive.array(keys)),
            (BinaryKey.values, archive.array(values)),
            (BinaryKey.links, archive.array(links)),
        ])
    }

    /// One of each name, in name order.
    private func columns<Property>(
        _ properties: some Sequence<Property>, name: (Property) -> String
    ) -> [Property] {
        var found: [String: Property] = [:]
        for property in properties where found[name(property)] == nil {
            found[name(property)] = property
        }
        return found.sorted { $0.key < $1.key }.map(\.value)
    }

    private func slots(_ names: [String]) -> [String: Int] {
        Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private mutating func head(_ attribute: StoredAttribute) -> Int {
        archive.dictionary([
            (BinaryKey.name, archive.name(attribute.name)),
            (BinaryKey.type, archive.name(attribute.type)),
        ])
    }

    private mutating func head(_ relationship: StoredRelationship) -> Int {
        archive.dictionary([
            (BinaryKey.name, archive.name(relationship.name)),
            (BinaryKey.minCount, archive.plain(.integer(Int64(relationship.minCount)))),
            (BinaryKey.maxCount, archive.plain(.integer(Int64(relationship.maxCount)))),
            (BinaryKey.destination, archive.name(relationship.destination)),
        ])
    }

    private mutating func value(_ attribute: StoredAttribute) -> Int {
        switch attribute.value {
        case .null: ArchiveWriting.null
        case .integer(let integer): archive.plain(.integer(integer))
        case .double(let real), .date(let real): archive.plain(.real(real))
        case .text(let text), .uri(let text): archive.plain(.string(text))
        case .data(let data): archive.plain(.data(data))
        case .uuid(let uuid): archive.plain(.data(withUnsafeBytes(of: uuid.uuid) { Data($0) }))
        case .decimal:
            archive.plain(.string(StoredType.text(of: attribute.value, as: attribute.type)))
        }
    }
}
