public import Foundation
internal import ObjectModel
internal import Predicates

/// Which objects of a store are sent to the service; those that are not named are. (docs/MERGE.md
/// §16)
///
/// What is outside stays as it is, here and at the service: it is neither sent nor deleted there.
public struct SyncSelection: Sendable {
    /// What of an entity is sent; nil: nothing of it, and nothing of it is shown that others send.
    private var rules: [String: Condition?] = [:]

    struct Condition: @unchecked Sendable {
        // @unchecked: a tree of values that nobody changes.
        let node: PredicateNode
        let text: String
    }

    /// Everything.
    public init() {}

    /// Keeps the entity's objects, and those of its subentities, out: they are not sent, and those
    /// that come are kept aside, unseen, for a selection that has them.
    public mutating func exclude(entity: String) { rules[entity] = .some(nil) }

    /// Sends those objects of the entity and its subentities that meet the predicate. It is asked
    /// when an object was saved, and of all when the selection changes; so it is best about the
    /// object's own attributes.
    public mutating func include(entity: String, where predicate: NSPredicate) {
        rules[entity] = Condition(
            node: node(of: predicate), text: node(of: predicate).description)
    }

    /// What is asked of the objects of an entity: its own rule, or that of the entity above it.
    enum Rule {
        case all, nothing
        case matching(PredicateNode)
    }

    func rule(of entity: NSEntityDescription) -> Rule {
        var next: NSEntityDescription? = entity
        while let entity = next {
            if let rule = entity.name.flatMap({ rules[$0] }) {
                return rule.map { .matching($0.node) } ?? .nothing
            }
            next = entity.superentity
        }
        return .all
    }

    /// The names of entities that have a rule.
    var entityNames: Set<String> { Set(rules.keys) }

    /// Tells one selection from another.
    var text: String {
        rules.sorted { $0.key < $1.key }
            .map { "\($0.key): \($0.value?.text ?? "nothing")" }.joined(separator: "\n")
    }
}
