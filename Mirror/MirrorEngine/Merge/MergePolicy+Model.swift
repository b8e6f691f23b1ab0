internal import ObjectModel
package import Stores

extension MergePolicy {
    /// The key in a model's userInfo that names a rule, so that it can be set in Xcode's editor.
    public static let userInfoKey = "MirrorMerge"

    /// This policy with the rules that the model's userInfo names, where none was set in code.
    /// Heirs have their parents' rules and elements their composites', the nearest's first.
    package func reading(_ layout: ModelLayout) throws -> MergePolicy {
        var policy = self
        for entity in layout.entities {
            policy.inherit(from: self, entity)
            try policy.read(entity)
        }
        return policy
    }

    private mutating func inherit(from policy: MergePolicy, _ entity: EntityLayout) {
        let line = entity.entity.line.map { $0.name ?? "" }
        let names = entity.attributes.map(\.name) + entity.toOnes.map(\.name)
        for property in names {
            let rule = Self.composites(around: property).lazy.compactMap { name in
                line.lazy.compactMap { policy.ownRule(entity: $0, property: name) }.first
            }.first
            if let rule { setIfAbsent(rule, entity: entity.name, property: property) }
        }
        let rule = line.lazy.compactMap { policy.ownRule(entity: $0, property: nil) }.first
        if let rule { setIfAbsent(rule, entity: entity.name, property: nil) }
    }

    private mutating func read(_ entity: EntityLayout) throws {
        for ancestor in entity.entity.line {
            for property in ancestor.properties {
                let owner = "\(property.entity.name ?? "").\(property.name)"
                try read(property, named: property.name, owner, of: entity.name, within: nil)
            }
        }
        for ancestor in entity.entity.line {
            if let rule = try Self.rule(in: ancestor.userInfo, of: ancestor.name ?? "") {
                setIfAbsent(rule, entity: entity.name, property: nil)
            }
        }
    }

    /// Takes the rule of a property, or that of the composite it is an element of.
    private mutating func read(
        _ property: NSPropertyDescription, named name: String, _ owner: String,
        of entity: String, within composite: MergeRule?
    ) throws {
        let rule = try Self.rule(in: property.userInfo, of: owner) ?? composite
        if let rule { setIfAbsent(rule, entity: entity, property: name) }
        guard let whole = property as? NSCompositeAttributeDescription else { return }
        for element in whole.elements {
            try read(
                element, named: "\(name).\(element.name)", "\(owner).\(element.name)",
                of: entity, within: rule)
        }
    }

    /// An element's name, and those of the composites that it is in, the nearest first.
    private static func composites(around name: String) -> [String] {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.indices.reversed().map { parts[...$0].joined(separator: ".") }
    }

    /// The names of an entity's properties under the rule `latest`.
    func timedProperties(of entity: EntityLayout) -> Set<String> {
        let names = entity.attributes.map(\.name) + entity.toOnes.map(\.name)
        return Set(
            names.filter {
                rule(entity: entity.name, property: $0).name == MergeRule.latest.name
            })
    }

    /// The slots of an entity's integers under the rule `counter`.
    func countedSlots(of entity: EntityLayout) -> [Int] {
        entity.attributes.indices.filter { slot in
            let attribute = entity.attributes[slot]
            return AttributeCoding.range(of: attribute.attribute.attributeType) != nil
                && !(attribute.attribute is NSDerivedAttributeDescription)
                && rule(entity: entity.name, property: attribute.name).name
                    == MergeRule.counter.name
        }
    }

    private static func rule(in userInfo: [AnyHashable: Any]?, of owner: String) throws
        -> MergeRule?
    {
        guard let word = userInfo?[userInfoKey] as? String else { return nil }
        guard let rule = MergeRule(name: word) else {
            throw MirrorError(
                .storeNotMirrorable,
                "The model's userInfo of \(owner) names the merge rule '\(word)', which is none. "
                    + "Use one of \(MergeRule.names.joined(separator: ", ")).",
                fields: ["owner": owner])
        }
        return rule
    }
}

extension NSEntityDescription {
    /// The entity and its ancestors, the nearest first.
    fileprivate var line: [NSEntityDescription] { [self] + (superentity?.line ?? []) }
}
