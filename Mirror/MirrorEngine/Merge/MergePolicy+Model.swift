internal import ObjectModel
package import Stores

extension MergePolicy {
    /// The key in a model's userInfo that names a rule, so that it can be set in Xcode's editor.
    public static let userInfoKey = "MirrorMerge"

    /// This policy with the rules that the model's userInfo names, where none was set in code.
    package func reading(_ layout: ModelLayout) throws -> MergePolicy {
        var policy = self
        for entity in layout.entities {
            if let rule = try Self.rule(in: entity.entity.userInfo, of: entity.name) {
                policy.setIfAbsent(rule, entity: entity.name, property: nil)
            }
            for property in entity.entity.properties {
                let owner = "\(entity.name).\(property.name)"
                if let rule = try Self.rule(in: property.userInfo, of: owner) {
                    policy.setIfAbsent(rule, entity: entity.name, property: property.name)
                }
            }
        }
        return policy
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
