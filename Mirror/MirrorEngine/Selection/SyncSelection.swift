public import Foundation
package import ObjectModel
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

    /// Whether nothing of an entity is sent or fetched.
    package func leavesOut(_ entity: NSEntityDescription) -> Bool {
        if case .nothing = rule(of: entity) { return true }
        return false
    }

    /// Whether all objects of an entity are sent.
    package func sendsAll(of entity: NSEntityDescription) -> Bool {
        if case .all = rule(of: entity) { return true }
        return false
    }

    /// The names of entities that have a rule.
    var entityNames: Set<String> { Set(rules.keys) }

    /// Tells one selection from another, and is kept in the store. Printed predicates have no line
    /// breaks of their own.
    var text: String {
        rules.sorted { $0.key < $1.key }
            .map { "\($0.key): \($0.value?.text ?? Self.nothing)" }.joined(separator: "\n")
    }

    private static let nothing = "nothing"
}

extension SyncSelection {
    /// Sends what meets the predicate of one of `parts`, all of an entity where it has none, and
    /// nothing of entities that are not named and are no subentities of these.
    package init(
        only parts: [(entity: String, predicate: NSPredicate?)], of model: NSManagedObjectModel
    ) {
        self.init()
        for entity in model.entities where entity.superentity == nil {
            if let name = entity.name { exclude(entity: name) }
        }
        for (entity, parts) in Dictionary(grouping: parts, by: \.entity) {
            let nodes = parts.map { node(of: $0.predicate ?? NSPredicate(value: true)) }
            include(entity: entity, where: (nodes.count == 1 ? nodes[0] : .or(nodes)).predicate)
        }
    }

    /// A selection as the store keeps it. Throws `PredicateFormatError` for a predicate that has no
    /// form to be read in.
    init(text: String) throws {
        self.init()
        for line in text.split(separator: "\n") {
            guard let colon = line.range(of: ": ") else { continue }
            let (entity, rule) = (String(line[..<colon.lowerBound]), line[colon.upperBound...])
            if rule == Self.nothing {
                exclude(entity: entity)
            } else {
                include(entity: entity, where: try NSPredicate.parse(String(rule)))
            }
        }
    }

    /// What each entity that has a rule of its own sends: nil for nothing.
    package var parts: [(entity: String, condition: String?)] {
        rules.sorted { $0.key < $1.key }.map { ($0.key, $0.value?.text) }
    }
}

/// Where a store's selection comes from.
package enum SelectionSource: Sendable {
    /// The store keeps the one of its last round.
    case remembered
    /// nil: everything.
    case given(SyncSelection?)
}
