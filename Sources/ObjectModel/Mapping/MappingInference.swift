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

    init(from source: [NSEntityDescription], to destination: [NSEntityDescription]) throws {
        self.source = Self.inOrder(source)
        self.destination = Self.inOrder(destination)
        for entity in self.destination {
            guard let name = entity.name, let origin = origin(of: entity) else { continue }
            let former = origin.name ?? ""
            if let other = outcomes[former] {
                throw InferenceRefusal(
                    reason: "Two entities (\(other.name ?? "") and \(name)) come from one; give "
                        + "one of them another renaming identifier, or write a mapping model",
                    entity: former)
            }
            origins[name] = origin
            outcomes[former] = entity
        }
    }

    var removed: [NSEntityDescription] { source.filter { outcomes[$0.name ?? ""] == nil } }

    func matches() throws -> [EntityMatch] {
        try destination.map { entity in
            let origin = origins[entity.name ?? ""]
            return EntityMatch(
                source: origin, destination: entity,
                attributes: try attributes(of: entity, from: origin),
                relationships: try relationships(of: entity, from: origin))
        }
    }

    // MARK: Who belongs to whom

    private func origin(of entity: NSEntityDescription) -> NSEntityDescription? {
        let identifier = entity.renamingIdentifier ?? entity.name ?? ""
        if let renamed = source.first(where: { ($0.renamingIdentifier ?? $0.name) == identifier }) {
            return renamed
        }
        if let named = source.first(where: { $0.name == identifier }) { return named }
        // The name counts where nobody else asks for it by an identifier.
        let isClaimed = destination.contains {
            $0 !== entity && $0.renamingIdentifier == entity.name
        }
        return isClaimed ? nil : source.first { $0.name == entity.name }
    }

    private func origin<Property: NSPropertyDescription>(
        of property: Property, in entity: NSEntityDescription, among candidates: [Property]
    ) -> Property? {
        let identifier = property.renamingIdentifier ?? property.name
        if let renamed = candidates.first(where: {
            ($0.renamingIdentifier ?? $0.name) == identifier
        }) {
            return renamed
        }
        if let named = candidates.first(where: { $0.name == identifier }) { return named }
        let isClaimed = entity.properties.contains {
            $0 !== property && $0.renamingIdentifier == property.name
        }
        return isClaimed ? nil : candidates.first { $0.name == property.name }
    }

    // MARK: Attributes

    private func attributes(
        of entity: NSEntityDescription, from origin: NSEntityDescription?
    ) throws -> [PropertyMatch<NSAttributeDescription>] {
        let former = Self.stored(NSAttributeDescription.self, of: origin)
        return try Self.stored(NSAttributeDescription.self, of: entity).map { attribute in
            let found = self.origin(of: attribute, in: entity, among: former)
            if let found, !(attribute is NSDerivedAttributeDescription),
                !Self.isCompatible(found, attribute)
            {
                throw InferenceRefusal(
                    reason: "Source and destination attribute types are incompatible",
                    entity: entity.name ?? "", property: attribute.name)
            }
            return PropertyMatch(source: found, destination: attribute)
        }
    }

    /// Equal types, or a wider type of the same kind of number.
    private static func isCompatible(
        _ former: NSAttributeDescription, _ present: NSAttributeDescription
    ) -> Bool {
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
    ) throws -> [PropertyMatch<NSRelationshipDescription>] {
        let former = Self.stored(NSRelationshipDescription.self, of: origin)
        return try Self.stored(NSRelationshipDescription.self, of: entity).map { relationship in
            let found = self.origin(of: relationship, in: entity, among: former)
            return PropertyMatch(
                source: try found.flatMap { try checked($0, relationship, in: entity) },
                destination: relationship)
        }
    }

    /// The older relationship; nil where none of the objects it led to can be a member now.
    private func checked(
        _ former: NSRelationshipDescription, _ present: NSRelationshipDescription,
        in entity: NSEntityDescription
    ) throws -> NSRelationshipDescription? {
        guard let end = former.destinationEntity, let wanted = present.destinationEntity else {
            return nil
        }
        let outcomes = source.filter { $0.isKindOf(entity: end) }
            .compactMap { self.outcomes[$0.name ?? ""] }
        // No object that it led to is one that it may lead to now.
        guard outcomes.contains(where: { $0.isKindOf(entity: wanted) }) else { return nil }
        guard present.isToMany || !former.isToMany else {
            throw InferenceRefusal(
                reason: "A to-many relationship cannot become a to-one relationship",
                entity: entity.name ?? "", property: present.name)
        }
        return former
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
