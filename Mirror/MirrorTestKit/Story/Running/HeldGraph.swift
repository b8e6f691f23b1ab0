internal import MirrorEngine
internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// All that a device or the service holds, with the names of properties instead of slots: holders
/// with different models can be compared.
struct HeldGraph {
    enum Property: Equatable {
        case value(AttributeValue, NSAttributeType)
        case link(String?)
        case members([String], isOrdered: Bool)

        /// Members without an order on both sides are the same in any.
        static func == (one: Property, other: Property) -> Bool {
            switch (one, other) {
            case (.value(let left, _), .value(let right, _)): return left == right
            case (.link(let left), .link(let right)): return left == right
            case (.members(let left, let ordered), .members(let right, let alsoOrdered)):
                return ordered && alsoOrdered ? left == right : left.sorted() == right.sorted()
            default: return false
            }
        }
    }

    struct Object {
        let entity: String
        var properties: [String: Property] = [:]
    }

    /// By record name; by row where an object has none yet.
    var objects: [String: Object] = [:]
    /// Where the objects of the story are.
    var keys: [String: String] = [:]

    /// Itself without links to objects that are not in it.
    var closed: HeldGraph {
        var graph = self
        for (name, object) in objects {
            graph.objects[name]?.properties = object.properties.mapValues { property in
                switch property {
                case .value: property
                case .link(let key): .link(key.flatMap { objects[$0] == nil ? nil : $0 })
                case .members(let keys, let isOrdered):
                    .members(keys.filter { objects[$0] != nil }, isOrdered: isOrdered)
                }
            }
        }
        return graph
    }

    /// The handle that stands for an object: the first of those that do.
    func handles(of key: String, among known: [String]) -> [String] {
        known.filter { keys[$0] == key }
    }

    func property(_ property: StoryProperty) -> Property? {
        keys[property.handle].flatMap { objects[$0]?.properties[property.name] }
    }

    func count(of entity: String, in model: NSManagedObjectModel) -> Int {
        guard let description = model.entitiesByName[entity] else { return 0 }
        return objects.values.count { object in
            model.entitiesByName[object.entity]?.isKindOf(entity: description) ?? false
        }
    }

    /// What `other` holds otherwise, in sentences about objects by their handles; at most a few.
    func differences(
        from other: HeldGraph, named names: (mine: String, theirs: String), _ handles: [String]
    ) -> [String] {
        var lines: [String] = []
        for key in Set(objects.keys).union(other.objects.keys).sorted() {
            let name = self.name(of: key, handles) ?? other.name(of: key, handles) ?? key
            guard let mine = objects[key], let theirs = other.objects[key] else {
                let holder = objects[key] == nil ? names.theirs : names.mine
                lines.append("Only \(holder) has \(name).")
                continue
            }
            for (property, value) in mine.properties.sorted(by: { $0.key < $1.key }) {
                guard let their = theirs.properties[property], their != value else { continue }
                lines.append(
                    "\(name).\(property) is \(text(value, handles)) on \(names.mine) and "
                        + "\(other.text(their, handles)) on \(names.theirs).")
            }
        }
        return lines
    }

    /// What an object is called: a handle, else a part of its record's name.
    private func name(of key: String, _ handles: [String]) -> String? {
        self.handles(of: key, among: handles).first
    }

    // MARK: Text

    func text(_ property: Property, _ handles: [String]) -> String {
        func called(_ key: String) -> String { name(of: key, handles) ?? String(key.suffix(8)) }
        switch property {
        case .value(let value, let type): return StoryValue.text(value, type)
        case .link(let key): return key.map(called) ?? "nothing"
        case .members(let keys, let isOrdered):
            let names = keys.map(called)
            return names.isEmpty
                ? "nothing" : (isOrdered ? names : names.sorted()).joined(separator: " ")
        }
    }

    /// The story's objects in the order in which they were made, then those that others made.
    func held(_ handles: [String]) -> [StoryHeldObject] {
        var seen: Set<String> = []
        var order: [String] = []
        for handle in handles {
            if let key = keys[handle], seen.insert(key).inserted { order.append(key) }
        }
        order += objects.keys.filter { !seen.contains($0) }.sorted()
        return order.compactMap { key in
            guard let object = objects[key] else { return nil }
            let names = self.handles(of: key, among: handles)
            return StoryHeldObject(
                handles: names.isEmpty ? ["\(object.entity) \(key.suffix(8))"] : names,
                entity: object.entity, values: values(of: object, handles))
        }
    }

    private func values(
        of object: Object, _ handles: [String]
    ) -> [(property: String, text: String)] {
        object.properties.sorted { $0.key < $1.key }.compactMap { name, property in
            let text = text(property, handles)
            return text == "nothing" ? nil : (name, text)
        }
    }
}

// MARK: A device

extension HeldGraph {
    /// Reads a device's store.
    init(_ device: ManagedDevice, store name: String, _ known: StoryObjects) throws {
        self.init()
        try device.mirrored.store.read { transaction in
            let ledger = try device.ledger(in: transaction)
            func key(_ row: RowID) throws -> String {
                try ledger?.knownName(of: row)
                    ?? "\(transaction.layout.entity(row.entity)?.name ?? "")/p\(row.key)"
            }
            for entity in transaction.layout.entities where !entity.entity.isAbstract {
                var query = RowQuery(entity: entity.number)
                query.includesSubentities = false
                for row in try transaction.rows(matching: query) {
                    objects[try key(row.id)] = try Self.object(
                        row, entity, device.mirrored.settings.mapping, transaction, key)
                }
            }
            for handle in known.handles {
                guard let row = try known.row(of: handle, in: name, transaction, ledger) else {
                    continue
                }
                keys[handle] = try key(row)
            }
        }
    }

    private static func object(
        _ row: Row, _ entity: EntityLayout, _ mapping: RecordMapping,
        _ transaction: StoreTransaction, _ key: (RowID) throws -> String
    ) throws -> Object {
        var object = Object(entity: entity.name)
        for (slot, value) in zip(entity.attributes, mapping.attributes(of: row)) {
            object.properties[slot.name] = .value(value, slot.attribute.attributeType)
        }
        for (relationship, link) in zip(entity.toOnes, row.toOnes) {
            object.properties[relationship.name] = .link(try link.map { try key($0.target) })
        }
        for (slot, relationship) in entity.toManys.enumerated() {
            let members = try transaction.members(of: row.id, toMany: slot)
            object.properties[relationship.name] = .members(
                try members.map { try key($0.target) }, isOrdered: relationship.isOrdered)
        }
        return object
    }
}
