internal import ObjectModel
internal import Stores

/// What the entities and properties of a model are called in records: names that stay where a
/// version of the model renames something, so that devices with older and newer versions meet.
///
/// The key is the renaming identifier, which keeps the first name, or what the userInfo says under
/// `MirrorName`; without either it is the name. Where a name was given up by one and taken by
/// another, the newcomer gets underscores after its own.
package struct RecordKeys: Sendable {
    /// The key in the userInfo of an entity or a property that names it in records.
    package static let userInfoKey = "MirrorName"

    private let entityKeys: [String: String]
    private let entityNames: [String: String]
    private let propertyKeys: [String: [String: String]]
    private let propertyNames: [String: [String: String]]

    init(layout: ModelLayout) {
        entityKeys = Self.keys(
            layout.entities.map { layout in
                let entity = layout.entity
                return (layout.name, entity.userInfo, entity.givenRenamingIdentifier)
            })
        entityNames = Dictionary(
            entityKeys.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
        propertyKeys = Dictionary(
            layout.entities.map { ($0.name, Self.keys(of: $0.entity)) },
            uniquingKeysWith: { first, _ in first })
        propertyNames = propertyKeys.mapValues { keys in
            Dictionary(keys.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
        }
    }

    func entity(_ name: String) -> String { entityKeys[name] ?? name }

    /// The name of the entity that records call `key`.
    func entityName(_ key: String) -> String? { entityNames[key] }

    /// The key of a property of an entity; of an element of a composite, `composite.element`.
    func property(_ name: String, of entity: String) -> String {
        let keys = propertyKeys[entity] ?? [:]
        if let key = keys[name] { return key }
        let path = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard path.count == 2, let key = keys[path[0]] else { return name }
        return "\(key).\(path[1])"
    }

    /// The property that records call `key`; the key itself for one that this version lacks.
    func propertyName(_ key: String, of entity: String) -> String {
        let names = propertyNames[entity] ?? [:]
        if let name = names[key] { return name }
        let path = key.split(separator: ".", maxSplits: 1).map(String.init)
        guard path.count == 2, let name = names[path[0]] else { return key }
        return "\(name).\(path[1])"
    }

    /// The key of a relationship, as the entity that declares it has it.
    func property(_ relationship: NSRelationshipDescription) -> String {
        property(relationship.name, of: relationship.entity.name ?? "")
    }

    /// The keys of an entity's properties, and of the elements of its composites by their paths.
    private static func keys(of entity: NSEntityDescription) -> [String: String] {
        let properties = entity.properties
        let own = keys(properties.map { ($0.name, $0.userInfo, $0.givenRenamingIdentifier) })
        return properties.reduce(into: own) { keys, property in
            guard let composite = property as? NSCompositeAttributeDescription else { return }
            let key = own[composite.name] ?? composite.name
            keys.merge(paths(below: composite, composite.name, key)) { $1 }
        }
    }

    private static func paths(
        below composite: NSCompositeAttributeDescription, _ name: String, _ key: String
    ) -> [String: String] {
        let elements = composite.elements
        let own = keys(elements.map { ($0.name, $0.userInfo, $0.givenRenamingIdentifier) })
        return elements.reduce(into: [:]) { paths, element in
            let path = "\(name).\(element.name)"
            let pathKey = "\(key).\(own[element.name] ?? element.name)"
            paths[path] = pathKey
            guard let inner = element as? NSCompositeAttributeDescription else { return }
            paths.merge(self.paths(below: inner, path, pathKey)) { $1 }
        }
    }

    private static func keys(
        _ named: [(name: String, userInfo: [AnyHashable: Any]?, identifier: String?)]
    ) -> [String: String] {
        var taken: Set<String> = []
        var keys: [String: String] = [:]
        let wanted = named.map { name, userInfo, identifier in
            (name: name, key: key(name, userInfo, identifier))
        }
        // Who says what it was called before comes first.
        let renamed = wanted.filter { $0.key != $0.name }.sorted { $0.name < $1.name }
        let others = wanted.filter { $0.key == $0.name }.sorted { $0.name < $1.name }
        for (name, key) in renamed + others {
            var key = key
            while !taken.insert(key).inserted { key += "_" }
            keys[name] = key
        }
        return keys
    }

    private static func key(
        _ name: String, _ userInfo: [AnyHashable: Any]?, _ identifier: String?
    ) -> String {
        let given = (userInfo?[userInfoKey] as? String) ?? identifier
        return given.flatMap { isKey($0) ? $0 : nil } ?? name
    }

    /// Whether a text can stand in the name of a field, as the names of properties can.
    private static func isKey(_ text: String) -> Bool {
        let isPlain = text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                || (0x61...0x7A).contains($0) || $0 == 0x5F || $0 >= 0x80
        }
        return isPlain && !text.isEmpty
    }
}
