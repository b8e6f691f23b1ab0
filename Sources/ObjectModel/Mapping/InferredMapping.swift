/// What becomes of each entity from one version of a model to the next, as far as it follows from
/// the two versions alone.
package struct InferredMapping: Sendable {
    /// One for each entity of the newer version, in order of their names.
    package let matches: [EntityMatch]
    /// The entities of the older version that nothing came of, in order of their names.
    package let removed: [NSEntityDescription]

    /// Infers what becomes of `source` in `destination`, the entities of two versions of a model.
    /// Throws `InferenceRefusal`. Cost: O(properties).
    package init(
        from source: [NSEntityDescription], to destination: [NSEntityDescription]
    ) throws {
        let attempt = Self.attempt(from: source, to: destination)
        if let first = attempt.refusals.first { throw first }
        self = attempt.mapping
    }

    private init(matches: [EntityMatch], removed: [NSEntityDescription]) {
        self.matches = matches
        self.removed = removed
    }

    /// The same without an error: what would become of everything, and all that forbids it.
    package static func attempt(
        from source: [NSEntityDescription], to destination: [NSEntityDescription]
    ) -> (mapping: InferredMapping, refusals: [InferenceRefusal]) {
        var inference = MappingInference(from: source, to: destination)
        let matches = inference.matches()
        return (InferredMapping(matches: matches, removed: inference.removed), inference.refusals)
    }

    /// What became of an entity of the older version; nil where it was removed.
    package func destination(of source: NSEntityDescription) -> NSEntityDescription? {
        matches.first { $0.source === source }?.destination
    }
}

/// An entity of the newer version, and where its objects come from.
package struct EntityMatch: Sendable {
    /// Nil for an entity that is new.
    package let source: NSEntityDescription?
    package let destination: NSEntityDescription
    /// One for each stored attribute, inherited ones included, in order of their names.
    package let attributes: [PropertyMatch<NSAttributeDescription>]
    /// One for each relationship, inherited ones included, in order of their names.
    package let relationships: [PropertyMatch<NSRelationshipDescription>]

    /// Whether the entity and all its properties are what they were.
    package var isUnchanged: Bool {
        source?.name == destination.name && source?.versionHash == destination.versionHash
    }

    /// The name that a property of the older version has now; nil where it is gone.
    package func name(ofFormer former: String) -> String? {
        attributes.first { $0.source?.name == former }?.destination.name
            ?? relationships.first { $0.source?.name == former }?.destination.name
    }
}

/// A property of the newer version, and where its values come from.
package struct PropertyMatch<Property: NSPropertyDescription>: Sendable {
    /// Nil for a property that is new.
    package let source: Property?
    package let destination: Property
}

/// Why a mapping cannot be inferred: the rule, and what broke it.
package struct InferenceRefusal: Error, Sendable {
    package let reason: String
    package let entity: String
    package var property: String?
}
