/// Infers a mapping by names and renaming identifiers.
///
/// Entities and properties belong together as `FormerThings` says. Properties may move up and down
/// the inheritance tree.
struct MappingInference {
    private let source: [NSEntityDescription]
    private let destination: [NSEntityDescription]
    /// By the name of the newer entity.
    private var origins: [String: NSEntityDescription] = [:]
    /// By the name of the older entity.
    private var outcomes: [String: NSEntityDescription] = [:]
    /// The rules that forbid what the versions ask for, in the order in which they were met.
    private(set) var refusals: [InferenceRefusal] = []

    init(from source: [NSEntityDescription], to destination: [NSEntityDescription]) {
        self.source = Self.inOrder(source)
        self.destination = Self.inOrder(destination)
        let entities = FormerThings(self.source, of: self.destination)
        for entity in self.destination {
            guard let name = entity.name, let origin = entities.origin(of: entity) else {
                continue
            }
            let former = origin.name ?? ""
            if let other = outcomes[former] {
                refusals.append(
                    InferenceRefusal(
                        reason:
                            "Two entities (\(other.name ?? "") and \(name)) come from one; give "
                            + "one of them another renaming identifier, or write a mapping model",
                        entity: former))
                continue
            }
            origins[name] = origin
            outcomes[former] = entity
        }
    }

    var removed: [NSEntityDescription] { source.filter { outcomes[$0.name ?? ""] == nil } }

    mutating func matches() -> [EntityMatch] {
        var matches: [EntityMatch] = []
        for entity in destination {
            let origin = origins[entity.name ?? ""]
            matches.append(
                EntityMatch(
                    source: origin, destination: entity,
                    attributes: attributes(of: entity, from: origin),
                    relationships: relationships(of: entity, from: origin)))
        }
        return matches
    }

    // MARK: Attributes

    private mutating func attributes(
        of entity: NSEntityDescription, from origin: NSEntityDescription?
    ) -> [PropertyMatch<NSAttributeDescription>] {
        let present = Self.stored(NSAttributeDescription.self, of: entity)
        let former = FormerThings(
            Self.stored(NSAttributeDescription.self, of: origin), of: present)
        var matches: [PropertyMatch<NSAttributeDescription>] = []
        for attribute in present {
            let found = former.origin(of: attribute)
            if let found, !(attribute is NSDerivedAttributeDescription),
                !Self.isCompatible(found, attribute)
            {
                refusals.append(
                    InferenceRefusal(
                        reason: "Source and destination attribute types are incompatible",
                        entity: entity.name ?? "", property: attribute.name))
            }
            matches.append(PropertyMatch(source: found, destination: attribute))
        }
        return matches
    }

    /// Equal types, or a wider type of the same kind of number; so for each element of a composite.
    static func isCompatible(
        _ former: NSAttributeDescription, _ present: NSAttributeDescription
    ) -> Bool {
        if let former = former as? NSCompositeAttributeDescription,
            let present = present as? NSCompositeAttributeDescription
        {
            return present.elements.allSatisfy { element in
                present.origin(of: element, in: former).map { isCompatible($0, element) } ?? true
            }
        }
        if former.attributeType == present.attributeType { return true }
        let widths: [[NSAttributeType]] = [
            [.integer16AttributeType, .integer32AttributeType, .integer64AttributeType],
            [.floatAttributeType, .doubleAttributeType],
        ]
        return widths.contains { kinds in
            guard let old = kinds.firstIndex(of: former.attributeType),
                let new = kinds.firstIndex(of: present.attributeType)
            else { return false }
            return old < new
        }
    }

    // MARK: Relationships

    private func relationships(
        of entity: NSEntityDescription, from origin: NSEntityDescription?
    ) -> [PropertyMatch<NSRelationshipDescription>] {
        let present = Self.stored(NSRelationshipDescription.self, of: entity)
        let former = FormerThings(
            Self.stored(NSRelationshipDescription.self, of: origin), of: present)
        return present.map { relationship in
            let found = former.origin(of: relationship)
            return PropertyMatch(
                source: found.flatMap { leadsOn($0, to: relationship) ? $0 : nil },
                destination: relationship)
        }
    }

    /// Whether any of the objects that the older relationship led to can be a member now.
    private func leadsOn(
        _ former: NSRelationshipDescription, to present: NSRelationshipDescription
    ) -> Bool {
        guard let end = former.destinationEntity, let wanted = present.destinationEntity else {
            return false
        }
        return source.contains { entity in
            entity.isKindOf(entity: end)
                && outcomes[entity.name ?? ""]?.isKindOf(entity: wanted) ?? false
        }
    }

    // MARK: Order

    private static func inOrder(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
        entities.sorted { VersionHashing.precedes($0.name ?? "", $1.name ?? "") }
    }

    private static func stored<Property: NSPropertyDescription>(
        _ type: Property.Type, of entity: NSEntityDescription?
    ) -> [Property] {
        (entity?.propertiesByName.values ?? [:].values)
            .compactMap { $0.isTransient ? nil : $0 as? Property }
            .sorted { VersionHashing.precedes($0.name, $1.name) }
    }
}

extension NSAttributeDescription {
    /// Whether a lightweight migration brings the values of another version's attribute into this
    /// one.
    package func takesValues(of former: NSAttributeDescription) -> Bool {
        self is NSDerivedAttributeDescription || MappingInference.isCompatible(former, self)
    }
}
