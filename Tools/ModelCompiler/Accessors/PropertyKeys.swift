internal import ObjectModel

/// The keys that a class's properties have in the models and in the sources of a target.
struct PropertyKeys {
    /// All keys, by the last component of the class's name.
    private var all: [String: Set<String>] = [:]
    private var toMany: [String: Set<String>] = [:]

    init(models: [NSManagedObjectModel], members: [ManagedMember]) {
        for entity in models.flatMap(\.entities) {
            let name = entity.managedObjectClassName.split(separator: ".").last.map(String.init)
            for property in entity.properties {
                let isToMany = (property as? NSRelationshipDescription)?.isToMany == true
                add(property.name, to: name ?? "", isToMany: isToMany)
            }
        }
        for member in members {
            guard case .property(let type) = member.kind else { continue }
            add(member.name, to: member.owner.last ?? "", isToMany: Self.isCollection(type))
        }
    }

    private mutating func add(_ key: String, to name: String, isToMany: Bool) {
        all[name, default: []].insert(key)
        if isToMany { toMany[name, default: []].insert(key) }
    }

    private static func isCollection(_ type: TypeExpression) -> Bool {
        switch type {
        case .optional(let wrapped): isCollection(wrapped)
        case .array: true
        case .named(let components):
            ["NSSet", "NSOrderedSet", "Set", "Array"].contains(components.last?.name ?? "")
        case .dictionary, .existential: false
        }
    }

    /// The key that `primitiveTitle` stands for, which is `title`; nil where the name is a key of
    /// its own or leads to none.
    func primitiveKey(of member: ManagedMember) -> String? {
        let prefix = "primitive"
        guard member.name.hasPrefix(prefix) else { return nil }
        let own = all[member.owner.last ?? ""] ?? []
        let rest = String(member.name.dropFirst(prefix.count))
        return own.first { Self.capitalized($0) == rest && !rest.isEmpty }
    }

    /// The to-many relationship whose name stands in an accessor as `name`.
    func toManyKey(named name: String, of member: ManagedMember) -> String? {
        toMany[member.owner.last ?? ""]?.sorted().first { Self.capitalized($0) == name }
    }

    private static func capitalized(_ key: String) -> String {
        key.prefix(1).uppercased() + key.dropFirst()
    }
}
