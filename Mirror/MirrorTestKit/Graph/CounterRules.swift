internal import MirrorEngine
internal import ObjectModel
internal import Stores

/// Which attributes devices add to rather than replace: numbers whose own rule, or whose entity's,
/// is the counter's, be it set in code or named by the model.
///
/// Where the counter's rule is the standard one, for want of another, edits replace values all the
/// same: what becomes of that is for the rule to settle.
struct CounterRules {
    private let policy: MergePolicy

    /// A model that names a rule which is none has the rules of the code alone; the engine refuses
    /// it.
    init(_ policy: MergePolicy, _ layout: ModelLayout) {
        var named = policy
        named.standard = .local
        self.policy = (try? named.reading(layout)) ?? named
    }

    /// `property` is the attribute's name, or that of an element within its composite.
    func include(_ attribute: NSAttributeDescription, _ property: String, of entity: String) -> Bool
    {
        policy.rule(entity: entity, property: property).name == MergeRule.counter.name
            && StoryValue.number(1, attribute.attributeType) != nil
            && !(attribute is NSDerivedAttributeDescription)
    }

    func include(_ slot: EntityLayout.AttributeSlot, of entity: EntityLayout) -> Bool {
        include(slot.attribute, slot.name, of: entity.name)
    }
}
