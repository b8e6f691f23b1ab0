internal import Foundation

/// Reads an XML store; types come from the file itself.
struct XMLGraphReader {
    private var scanner: MarkupScanner
    private var graph = StoredGraph(identifier: "", lastKey: 0)
    /// What the relationships call each object, and the key it got.
    private var keys: [String: Int64] = [:]
    private var names: [String] = []
    private var links: [[[Substring]]] = []

    /// Reads `data`, the contents of the file at `path`; or only what stands before the objects.
    static func read(
        _ data: Data, path: String, headOnly: Bool = false
    ) throws -> StoredGraph {
        var reader = XMLGraphReader(scanner: try MarkupScanner(data, path: path))
        try reader.readDatabase(headOnly: headOnly)
        if headOnly { return reader.graph }
        try reader.assignKeys()
        try reader.resolveLinks()
        return reader.graph
    }

    private init(scanner: MarkupScanner) { self.scanner = scanner }

    private mutating func readDatabase(headOnly: Bool) throws {
        guard let root = try scanner.nextTag(), root.name == "database" else {
            throw StoreError(
                .notAStore, "The XML file is no store; its root element is not <database>.",
                fields: ["path": scanner.path])
        }
        var hasInfo = false
        while let tag = try scanner.nextTag() {
            switch tag.name {
            case "databaseInfo":
                try readInfo()
                hasInfo = true
                if headOnly { return }
            case "object": try readObject(tag.attributes)
            default: throw scanner.broken("<\(tag.name)> is no part of a store")
            }
        }
        guard hasInfo else { throw scanner.broken("it has no <databaseInfo>") }
    }

    // MARK: The head

    private mutating func readInfo() throws {
        while let tag = try scanner.nextTag() {
            switch tag.name {
            case "UUID": graph.identifier = try trimmedText(of: tag.name)
            case "nextObjectID":
                let text = try trimmedText(of: tag.name)
                guard let number = Int64(text), number >= 0, number < .max / 2 else {
                    throw scanner.broken("nextObjectID is no number")
                }
                graph.lastKey = number
            case "metadata": try readMetadata()
            default: _ = try scanner.textToEnd(of: tag.name)
            }
        }
        guard !graph.identifier.isEmpty else { throw scanner.broken("it has no UUID") }
    }

    private mutating func readMetadata() throws {
        while let list = try scanner.nextTag() {
            guard list.name == "plist" else { throw scanner.broken("its metadata is no plist") }
            while let tag = try scanner.nextTag() {
                guard let values = try XMLPropertyList.value(tag.name, &scanner) as? [String: Any]
                else { throw scanner.broken("its metadata is no dictionary") }
                graph.metadata = values
            }
        }
    }

    private mutating func trimmedText(of name: String) throws -> String {
        try scanner.textToEnd(of: name).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    // MARK: Objects

    private mutating func readObject(_ facts: [String: String]) throws {
        guard let entity = facts["type"], !entity.isEmpty, let name = facts["id"], !name.isEmpty
        else { throw scanner.broken("an <object> has no type or no id") }
        var object = StoredObject(entity: entity, key: 0)
        var targets: [[Substring]] = []
        while let tag = try scanner.nextTag() {
            switch tag.name {
            case "attribute": object.attributes.append(try readAttribute(tag.attributes))
            case "relationship":
                object.relationships.append(try relationship(tag.attributes))
                targets.append(
                    tag.attributes["idrefs"]?.split(whereSeparator: \.isWhitespace) ?? [])
                _ = try scanner.textToEnd(of: tag.name)
            default: throw scanner.broken("<\(tag.name)> is no part of an object")
            }
        }
        graph.objects.append(object)
        names.append(name)
        links.append(targets)
    }

    private mutating func readAttribute(_ facts: [String: String]) throws -> StoredAttribute {
        guard let name = facts["name"], let type = facts["type"] else {
            throw scanner.broken("an <attribute> has no name or no type")
        }
        let text = try scanner.textToEnd(of: "attribute")
        // A type this program does not know is kept as the text it is.
        let known = StoredType(rawValue: type.lowercased()) ?? .string
        let isText = known == .string || known == .uri
        guard let value = known.value(isText ? XMLText.unescaped(text) : text) else {
            throw scanner.broken("the attribute \(name) holds no value of type \(type)")
        }
        return StoredAttribute(name: name, type: type, value: value)
    }

    private func relationship(_ facts: [String: String]) throws -> StoredRelationship {
        let counts = facts["type"]?.split(separator: "/").map { Int($0) } ?? []
        guard let name = facts["name"], counts.count == 2, let least = counts[0],
            let most = counts[1], least >= 0, most >= 0
        else { throw scanner.broken("a <relationship> has no name, or no type such as 0/1") }
        return StoredRelationship(
            name: name, minCount: least, maxCount: most, destination: facts["destination"] ?? "")
    }

    // MARK: Keys

    /// `z102` has the key 102; an object of any other name gets a key after all others.
    private mutating func assignKeys() throws {
        for (index, name) in names.enumerated() {
            guard let key = Self.key(in: name) else { continue }
            graph.objects[index].key = key
            graph.lastKey = max(graph.lastKey, key)
        }
        for (index, name) in names.enumerated() {
            if graph.objects[index].key == 0 {
                graph.lastKey += 1
                graph.objects[index].key = graph.lastKey
            }
            guard keys.updateValue(graph.objects[index].key, forKey: name) == nil else {
                throw scanner.broken("two objects have the id \(name)")
            }
        }
    }

    private static func key(in name: String) -> Int64? {
        guard name.first == "z", name.dropFirst().first != "0",
            name.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }),
            let key = Int64(name.dropFirst()), key < .max / 2
        else { return nil }
        return key
    }

    private mutating func resolveLinks() throws {
        for (index, targets) in links.enumerated() {
            for (place, names) in targets.enumerated() {
                graph.objects[index].relationships[place].targets = try names.map { name in
                    if let key = keys[String(name)] { return key }
                    throw scanner.broken("a relationship leads to \(name), which is no object")
                }
            }
        }
    }
}
