internal import Foundation

/// Reads a binary store, trusting nothing it says about itself.
struct BinaryGraphReader {
    private let archive: ArchiveReading
    private let root: [String: Int]
    /// The lists that were read. A list that stands in several places would grow when it is read.
    private var used: Set<Int> = []

    init(_ data: Data, path: String) throws {
        archive = try ArchiveReading(data, path: path)
        root = try archive.dictionary(archive.root)
        guard let format = root[BinaryKey.format] else {
            throw StoreError(
                .notAStore, "The file is a keyed archive, yet no binary store.",
                fields: ["path": path])
        }
        let number = try archive.integer(format)
        guard number == BinaryKey.currentFormat else {
            throw StoreError(
                .unsupported, "The binary store is of a newer format; use a newer version.",
                fields: ["path": path, "format": String(number)])
        }
    }

    /// Identifier and metadata.
    func head() throws -> StoredGraph {
        let lastKey = try archive.integer(root[BinaryKey.lastKey])
        guard lastKey >= 0, lastKey < .max / 2 else { throw archive.broken("a key is too large") }
        let identifier = try archive.string(root[BinaryKey.identifier])
        var graph = StoredGraph(identifier: identifier, lastKey: lastKey)
        guard let place = root[BinaryKey.metadata],
            let metadata = try archive.unfolded(place) as? [String: Any]
        else { throw archive.broken("its metadata is missing") }
        graph.metadata = metadata
        return graph
    }

    mutating func graph() throws -> StoredGraph {
        var graph = try head()
        for reference in try archive.array(root[BinaryKey.entities]) {
            try use(reference)
            graph.objects += try objects(of: archive.dictionary(reference))
        }
        graph.objects.sort { $0.key < $1.key }
        graph.lastKey = max(graph.lastKey, graph.objects.last?.key ?? 0)
        return graph
    }

    private mutating func use(_ reference: Int) throws {
        guard used.insert(reference).inserted else { throw archive.broken("its lists are shared") }
    }

    private mutating func list(_ reference: Int?) throws -> [Int] {
        try use(reference ?? 0)
        return try archive.array(reference)
    }

    private mutating func objects(of entity: [String: Int]) throws -> [StoredObject] {
        let name = try archive.string(entity[BinaryKey.name])
        let attributes = try list(entity[BinaryKey.attributes]).map(attributeHead)
        let heads = try list(entity[BinaryKey.relationships]).map(relationshipHead)
        let keys = try list(entity[BinaryKey.keys])
        let values = try list(entity[BinaryKey.values])
        let links = try list(entity[BinaryKey.links])
        guard keys.count == values.count, keys.count == links.count else {
            throw archive.broken("an entity has more keys than objects")
        }
        var objects: [StoredObject] = []
        objects.reserveCapacity(keys.count)
        for index in keys.indices {
            let key = try archive.integer(keys[index])
            guard key > 0, key < .max / 2 else { throw archive.broken("a key is out of bounds") }
            var object = StoredObject(entity: name, key: key)
            object.attributes = try row(values[index], attributes.count).enumerated().compactMap {
                try attribute(attributes[$0], $1)
            }
            for (slot, place) in try row(links[index], heads.count).enumerated() {
                object.relationships.append(try relationship(heads[slot], place))
            }
            objects.append(object)
        }
        return objects
    }

    private mutating func row(_ reference: Int, _ count: Int) throws -> [Int] {
        let members = try list(reference)
        guard members.count == count else {
            throw archive.broken("an object has more values than its entity has properties")
        }
        return members
    }

    // MARK: Properties

    private func attributeHead(_ reference: Int) throws -> (name: String, type: String) {
        let facts = try archive.dictionary(reference)
        return (
            try archive.string(facts[BinaryKey.name]), try archive.string(facts[BinaryKey.type])
        )
    }

    private func relationshipHead(_ reference: Int) throws -> StoredRelationship {
        let facts = try archive.dictionary(reference)
        let least = try archive.integer(facts[BinaryKey.minCount])
        let most = try archive.integer(facts[BinaryKey.maxCount])
        guard (0...Int64(Int32.max)).contains(least), (0...Int64(Int32.max)).contains(most) else {
            throw archive.broken("a relationship's bounds are out of bounds")
        }
        return StoredRelationship(
            name: try archive.string(facts[BinaryKey.name]), minCount: Int(least),
            maxCount: Int(most), destination: try archive.string(facts[BinaryKey.destination]))
    }

    private mutating func relationship(
        _ head: StoredRelationship, _ reference: Int
    ) throws -> StoredRelationship {
        guard reference != ArchiveWriting.null else { return head }
        var relationship = head
        relationship.targets = try list(reference).map { try archive.integer($0) }
        return relationship
    }

    private func attribute(
        _ head: (name: String, type: String), _ reference: Int
    ) throws -> StoredAttribute? {
        let type = StoredType(rawValue: head.type) ?? .string
        let value: AttributeValue
        switch (type, try archive.value(reference)) {
        case (_, .null): return nil
        case (.int16, .integer(let number)), (.int32, .integer(let number)),
            (.int64, .integer(let number)), (.bool, .integer(let number)):
            value = .integer(number)
        case (.double, .real(let real)), (.float, .real(let real)): value = .double(real)
        case (.date, .real(let seconds)): value = .date(seconds)
        case (.string, .string(let text)): value = .text(text)
        case (.uri, .string(let text)): value = .uri(text)
        case (.binary, .data(let data)), (.transformable, .data(let data)): value = .data(data)
        case (.uuid, .data(let data)) where data.count == 16:
            value = .uuid(UUID(uuid: data.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        case (.decimal, .string(let text)):
            guard let decimal = StoredType.decimal.value(text) else { fallthrough }
            value = decimal
        default:
            throw archive.broken("the attribute \(head.name) holds no value of type \(head.type)")
        }
        return StoredAttribute(name: head.name, type: head.type, value: value)
    }
}
