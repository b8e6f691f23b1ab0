/// What an accessor of a to-many relationship does, told by its name and parameters.
struct CollectionAccessor {
    /// The call that does it, on the object itself.
    let call: String
    /// The names of the parameters in `call`, in order.
    let parameters: [String]

    /// The accessor that `member` declares. Throws where its name leads to no relationship.
    init(
        _ member: ManagedMember, _ parameters: [ManagedMember.Parameter], keys: PropertyKeys
    ) throws {
        let labels = parameters.map { $0.label ?? "_" }
        let pattern = Self.patterns.first { pattern in
            pattern.labels == labels && Self.relationship(member, pattern, keys) != nil
                && pattern.isForMany == Self.takesMany(parameters)
        }
        guard let pattern, let key = Self.relationship(member, pattern, keys) else {
            throw CompilerError(
                .unknownProperty,
                "the @NSManaged function “\(member.name)” leads to no to-many relationship of"
                    + " “\(member.owner.joined(separator: "."))”; expected addTo, removeFrom,"
                    + " insertInto or replace before the relationship's name", at: member.place)
        }
        call = pattern.call.split(separator: "KEY", omittingEmptySubsequences: false)
            .joined(separator: "\"\(key)\"")
        self.parameters = parameters.count == 1 ? ["a"] : ["a", "b"]
    }

    /// How accessors are spelled.
    private struct Pattern {
        var prefix: String
        var suffix = ""
        var labels: [String]
        var isForMany: Bool
        /// The call, with `a` and `b` for the parameters and KEY for the relationship.
        var call: String
    }

    private static func relationship(
        _ member: ManagedMember, _ pattern: Pattern, _ keys: PropertyKeys
    ) -> String? {
        guard member.name.hasPrefix(pattern.prefix), member.name.hasSuffix(pattern.suffix) else {
            return nil
        }
        let rest = member.name.dropFirst(pattern.prefix.count).dropLast(pattern.suffix.count)
        return keys.toManyKey(named: String(rest), of: member)
    }

    /// Whether a parameter is a collection.
    private static func takesMany(_ parameters: [ManagedMember.Parameter]) -> Bool {
        parameters.contains { parameter in
            switch parameter.type {
            case .array: true
            case .named(let components):
                ["NSSet", "NSOrderedSet", "Set", "Array", "NSIndexSet", "NSArray"].contains(
                    components.last?.name ?? "")
            case .optional, .dictionary, .existential: false
            }
        }
    }

    private static let patterns: [Pattern] = {
        var all: [Pattern] = []
        for (prefix, suffix) in [("addTo", ""), ("add", "Object"), ("add", "")] {
            all += both(
                prefix, suffix, ["_"], one: "addObject(a, toRelationshipNamed: KEY)",
                many: "addObjects(a, toRelationshipNamed: KEY)")
        }
        for (prefix, suffix) in [("removeFrom", ""), ("remove", "Object"), ("remove", "")] {
            all += both(
                prefix, suffix, ["_"], one: "removeObject(a, fromRelationshipNamed: KEY)",
                many: "removeObjects(a, fromRelationshipNamed: KEY)")
        }
        all += both(
            "insertInto", "", ["_", "at"], one: "insertObject(a, at: b, inRelationshipNamed: KEY)",
            many: "insertObjects(a, at: b, inRelationshipNamed: KEY)")
        all += both(
            "removeFrom", "", ["at"], one: "removeObject(at: a, fromRelationshipNamed: KEY)",
            many: "removeObjects(at: a, fromRelationshipNamed: KEY)")
        all += both(
            "replace", "", ["at", "with"],
            one: "replaceObject(at: a, with: b, inRelationshipNamed: KEY)",
            many: "replaceObjects(at: a, with: b, inRelationshipNamed: KEY)")
        return all
    }()

    private static func both(
        _ prefix: String, _ suffix: String, _ labels: [String], one: String, many: String
    ) -> [Pattern] {
        [false, true].map { isForMany in
            Pattern(
                prefix: prefix, suffix: suffix, labels: labels, isForMany: isForMany,
                call: isForMany ? many : one)
        }
    }
}
