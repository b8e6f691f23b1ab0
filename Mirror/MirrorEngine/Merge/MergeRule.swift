public import Persistence
public import RecordWire

/// Who wins where a property was changed on both sides (MERGE.md).
public enum MergeRule: Sendable {
    /// This device's value (`NSMergeByPropertyObjectTrumpMergePolicy`).
    case local
    /// The service's value (`NSMergeByPropertyStoreTrumpMergePolicy`).
    case remote
    /// The whole local object (`NSOverwriteMergePolicy`).
    case overwrite
    /// The whole remote record (`NSRollbackMergePolicy`).
    case rollback
    /// Neither: the conflict waits, and the object with it, until the app decides
    /// (`NSErrorMergePolicy`).
    case error
    /// The value that was edited later, by hybrid logical clocks; ties by device name.
    case latest
    /// Remote plus what this device added: for numbers.
    case counter
    /// The larger value.
    case max
    /// The smaller value.
    case min
    /// A three-way merge of texts: what either side put in is there, what either removed is gone.
    case text
    /// Sets of strings: what either side added is there, what either removed is gone. For texts
    /// with an element in each line, and transformables that archive an array or set of strings.
    case set
    /// What a merge policy makes of the object, as in a save: for an app that wants one rule for
    /// both. It is asked once for an object of which both sides changed attributes; one that throws
    /// lets the conflict wait. Links go by its `mergeType`. It is asked on a thread of the mirror
    /// about an object without context and links, and must neither fetch nor save.
    case policy(NSMergePolicy)
    /// What the closure answers: a value that the attribute can hold, or one of the names that it
    /// is asked about for a to-one; nil for no value, where the property is optional. Any other
    /// answer counts as none, and the store's rule decides.
    case custom(@Sendable (MergeQuestion) -> FieldValue?)

    /// The rule's word, as the model's userInfo key `MirrorMerge` and the command spell it.
    public var name: String {
        switch self {
        case .local: "local"
        case .remote: "remote"
        case .overwrite: "overwrite"
        case .rollback: "rollback"
        case .error: "error"
        case .latest: "latest"
        case .counter: "counter"
        case .max: "max"
        case .min: "min"
        case .text: "text"
        case .set: "set"
        case .policy: "policy"
        case .custom: "custom"
        }
    }

    /// The rule that does what a kind of Core Data's policies does.
    init(of type: NSMergePolicyType) {
        self =
            switch type {
            case .errorMergePolicyType: .error
            case .mergeByPropertyStoreTrumpMergePolicyType: .remote
            case .mergeByPropertyObjectTrumpMergePolicyType: .local
            case .overwriteMergePolicyType: .overwrite
            case .rollbackMergePolicyType: .rollback
            }
    }

    /// The rule of a word; nil for a word that is none.
    public init?(name: String) {
        let rules: [MergeRule] = [
            .local, .remote, .overwrite, .rollback, .error, .latest, .counter, .max, .min, .text,
            .set,
        ]
        guard let rule = rules.first(where: { $0.name == name }) else { return nil }
        self = rule
    }

    /// The words that can be chosen by name.
    public static let names = [
        "local", "remote", "overwrite", "rollback", "error", "latest", "counter", "max", "min",
        "text", "set",
    ]
}

/// What a custom rule is asked: one property's three values; nil is the absence of one.
public struct MergeQuestion: Sendable {
    public let entity: String
    public let property: String
    public let base: FieldValue?
    public let local: FieldValue?
    public let remote: FieldValue?
}

/// What happens when one side deleted the object and the other edited it.
public enum DeletionRule: String, Sendable, CaseIterable {
    /// The object goes; the lost edits are logged.
    case deleteWins
    /// The object stays, or comes back, with the edits.
    case keepEdited
}

/// The rules of one store: a default, refined by entity and by property.
public struct MergePolicy: Sendable {
    public var standard: MergeRule
    public var deletion: DeletionRule
    private var rules: [String: MergeRule] = [:]

    public init(standard: MergeRule = .local, deletion: DeletionRule = .deleteWins) {
        self.standard = standard
        self.deletion = deletion
    }

    /// The policy of saves as the mirror's: one of Core Data's five as the rule that does the same,
    /// a subclass's as `MergeRule.policy`.
    public init(asking policy: NSMergePolicy, deletion: DeletionRule = .deleteWins) {
        let isOwn = type(of: policy) != NSMergePolicy.self
        self.init(
            standard: isOwn ? .policy(policy) : MergeRule(of: policy.mergeType),
            deletion: deletion)
    }

    /// Whether any rule asks a policy of the app's.
    var asksPolicies: Bool {
        ([standard] + rules.values).contains { if case .policy = $0 { true } else { false } }
    }

    /// Sets the rule of an entity, or of one of its properties. It is that of the entity's heirs
    /// and of a composite's elements, too, as far as they have none of their own.
    public mutating func set(_ rule: MergeRule, entity: String, property: String? = nil) {
        rules[Self.key(entity, property)] = rule
    }

    mutating func setIfAbsent(_ rule: MergeRule, entity: String, property: String?) {
        let key = Self.key(entity, property)
        if rules[key] == nil { rules[key] = rule }
    }

    /// What was set for an entity, or a property, by this very name.
    func ownRule(entity: String, property: String?) -> MergeRule? {
        rules[Self.key(entity, property)]
    }

    /// The rule for a property: its own, else its entity's, else the standard one. Those of parents
    /// and composites count once the policy is a store's.
    public func rule(entity: String, property: String) -> MergeRule {
        rules[Self.key(entity, property)] ?? rules[Self.key(entity, nil)] ?? standard
    }

    private static func key(_ entity: String, _ property: String?) -> String {
        property.map { "\(entity).\($0)" } ?? entity
    }
}
