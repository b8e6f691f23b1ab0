/// Infers a mapping by names and renaming identifiers.
///
/// Entities and properties of equal identifier belong together; a renaming identifier may also be
/// the plain name of the version before. Properties may move up and down the inheritance tree.
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
        for entity in self.destination {
            guard let name = entity.name, let origin = origin(of: entity) else { continue }
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

    // MARK: Who belongs to whom

    private func origin(of entity: NSEntityDescription) -> NSEntityDescription? {
        let identifier = entity.renamingIdentifier ?? ""
        if let renamed = source.first(where: { $0.renamingIdentifier == identifier }) {
            return renamed
        }
        if let named = source.first(where: { $0.name == identifier }) { return named }
        // The name counts where nobody else asks for it by an identifier.
        let isClaimed = destination.contains {
            $0 !== entity && $0.givenRenamingIdentifier == entity.name
        }
        return isClaimed ? nil : source.first { $0.name == entity.name }
    }

    private func origin<Property: NSPropertyDescription>(
        of property: Property, in entity: NSEntityDescription, among candidates: [Property]
    ) -> Property? {
        let identifier = property.renamingIdentifier
        if let renamed = candidates.first(where: { $0.renamingIdentifier == identifier }) {
            return renamed
        }
        if let named = candidates.first(where: { $0.name == identifier }) { return named }
        let isClaimed = entity.properties.contains {
            $0 !== property && $0.givenRenamingIdentifier == property.name
        }
        return isClaimed ? nil : candidates.first { $0.name == property.name }
    }

    // MARK: Attributes

    private mutating func attributes(
        of entity: NSEntityDescription, from origin: NSEntityDescription?
    ) -> [PropertyMatch<NSAttributeDescription>] {
        let former = Self.stored(NSAttributeDescription.self, of: origin)
        var matches: [PropertyMatch<NSAttributeDescription>] = []
        for attribute in Self.stored(NSAttributeDescription.self, of: entity) {
            let found = self.origin(of: attribute, in: entity, among: former)
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
        let former = Self.stored(NSRelationshipDescription.self, of: origin)
        return Self.stored(NSRelationshipDescription.self, of: entity).map { relationship in
            let found = self.origin(of: relationship, in: entity, among: former)
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
