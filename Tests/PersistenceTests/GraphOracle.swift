import CoreData
import Foundation

/// A graph of plain dictionaries, which does what the documentation says of objects, links and
/// deletions. Objects are known by their tags.
struct OracleGraph {
    struct Object {
        let entity: String
        var values: [String: GraphValue] = [:]
        var ones: [String: Int] = [:]
        var manys: [String: [Int]] = [:]
        var isDeleted = false
        /// To-ones that lead to rows which are gone, by a rule that does nothing.
        var dangling: Set<String> = []

        /// Without what changes nothing.
        var hasLinks: Bool { !ones.isEmpty || manys.contains { !$0.value.isEmpty } }
    }

    let plan: GraphPlan
    private(set) var objects: [Int: Object] = [:]
    /// Those that the graph's context made since its last save: their deletion leaves nothing.
    var fresh: Set<Int> = []

    init(_ plan: GraphPlan) { self.plan = plan }

    var live: [Int] { objects.filter { !$0.value.isDeleted }.keys.sorted() }
    func live(of entity: String) -> [Int] {
        live.filter { plan.isKind(objects[$0]?.entity ?? "", of: entity) }
    }
    func isLive(_ tag: Int) -> Bool { objects[tag]?.isDeleted == false }

    private func link(_ name: String, of tag: Int) -> GraphPlan.Link? {
        objects[tag].flatMap { plan.link(name, of: $0.entity) }
    }

    // MARK: Edits

    mutating func insert(_ tag: Int, _ entity: String) {
        var object = Object(entity: entity)
        for attribute in plan.attributes(of: entity) {
            object.values[attribute.name] = attribute.initial
        }
        object.values["tag"] = GraphValue(Int64(tag), .integer64AttributeType)
        objects[tag] = object
        fresh.insert(tag)
    }

    mutating func set(_ name: String, of tag: Int, to value: GraphValue?) {
        objects[tag]?.values[name] = value
    }

    /// Sets a to-one; both ends follow, and former partners let go.
    mutating func point(_ name: String, of tag: Int, to target: Int?) {
        let former = objects[tag]?.ones[name]
        objects[tag]?.dangling.remove(name)
        guard former != target, let link = link(name, of: tag) else { return }
        objects[tag]?.ones[name] = target
        guard let inverse = link.inverse else { return }
        if let former { release(tag, from: inverse, of: former) }
        if let target { take(tag, into: inverse, of: target) }
    }

    mutating func add(_ member: Int, to name: String, of tag: Int) {
        guard let link = link(name, of: tag), append(member, to: name, of: tag) else { return }
        if let inverse = link.inverse { take(tag, into: inverse, of: member) }
    }

    mutating func remove(_ member: Int, from name: String, of tag: Int) {
        guard let link = link(name, of: tag), objects[tag]?.manys[name]?.contains(member) == true
        else { return }
        objects[tag]?.manys[name]?.removeAll { $0 == member }
        if let inverse = link.inverse { release(tag, from: inverse, of: member) }
    }

    mutating func set(_ name: String, of tag: Int, toMembers wanted: [Int]) {
        for member in objects[tag]?.manys[name] ?? [] where !wanted.contains(member) {
            remove(member, from: name, of: tag)
        }
        for member in wanted { add(member, to: name, of: tag) }
        objects[tag]?.manys[name] = wanted
    }

    private mutating func append(_ member: Int, to name: String, of tag: Int) -> Bool {
        guard objects[tag]?.manys[name]?.contains(member) != true else { return false }
        objects[tag]?.manys[name, default: []].append(member)
        return true
    }

    /// One end takes the other that points at it now; it lets go of whom it had.
    private mutating func take(_ tag: Int, into name: String, of other: Int) {
        guard let link = link(name, of: other) else { return }
        if link.isMany {
            _ = append(tag, to: name, of: other)
            return
        }
        let former = objects[other]?.ones[name]
        guard former != tag else { return }
        objects[other]?.dangling.remove(name)
        objects[other]?.ones[name] = tag
        if let former, let inverse = link.inverse { release(other, from: inverse, of: former) }
    }

    private mutating func release(_ tag: Int, from name: String, of other: Int) {
        if objects[other]?.ones[name] == tag { objects[other]?.ones[name] = nil }
        objects[other]?.manys[name]?.removeAll { $0 == tag }
    }

    // MARK: Deleting

    mutating func delete(_ tag: Int) {
        guard let object = objects[tag], !object.isDeleted else { return }
        objects[tag]?.isDeleted = true
        for link in plan.links(of: object.entity)
        where ![.denyDeleteRule, .noActionDeleteRule].contains(link.rule) || fresh.contains(tag) {
            for end in ends(link, of: object) where isLive(end) {
                if let inverse = link.inverse { release(tag, from: inverse, of: end) }
                if link.rule == .cascadeDeleteRule { delete(end) }
            }
        }
    }

    func ends(_ link: GraphPlan.Link, of object: Object) -> [Int] {
        link.isMany ? object.manys[link.name] ?? [] : object.ones[link.name].map { [$0] } ?? []
    }

    /// Forgets deleted objects, as a save does.
    mutating func commit() {
        let gone = Set(objects.filter(\.value.isDeleted).keys)
        objects = objects.filter { !$0.value.isDeleted }
        fresh = []
        for tag in objects.keys {
            for (name, end) in objects[tag]?.ones ?? [:] where gone.contains(end) {
                objects[tag]?.ones[name] = nil
                let hasInverse = link(name, of: tag)?.inverse != nil
                if hasInverse { objects[tag]?.dangling.insert(name) }
            }
            for name in (objects[tag]?.manys ?? [:]).keys {
                objects[tag]?.manys[name]?.removeAll(where: gone.contains)
            }
        }
    }

    /// The graph as it was at a former moment, when another one is stored.
    func returned(to former: OracleGraph, stored: OracleGraph) -> OracleGraph {
        var graph = former
        graph.objects = former.objects.filter { tag, object in
            !object.isDeleted || stored.objects[tag] != nil
        }
        for (tag, object) in stored.objects where graph.objects[tag] == nil {
            graph.objects[tag] = Object(
                entity: object.entity, values: object.values, isDeleted: true)
        }
        graph.fresh = Set(graph.live).subtracting(stored.objects.keys)
        return graph
    }

    /// Forgets changed values of an object.
    mutating func dropValues(of tag: Int, for stored: OracleGraph) {
        objects[tag]?.values = stored.objects[tag]?.values ?? [:]
    }

    /// Whether an object has the links that it has in another graph.
    func hasLinks(of tag: Int, asIn other: OracleGraph) -> Bool {
        guard let one = objects[tag], let two = other.objects[tag] else { return false }
        return one.ones == two.ones && one.dangling == two.dangling
            && one.manys.filter { !$0.value.isEmpty } == two.manys.filter { !$0.value.isEmpty }
    }

    /// Those that have a member by a to-many without inverse.
    func owners(of member: Int, by name: String) -> [Int] {
        objects.filter { $0.value.manys[name]?.contains(member) == true }.map(\.key)
    }

    // MARK: Rules

    enum Verdict { case valid, invalid, open }

    /// Whether a save must pass. Open where the rules of an object whose partner is deleted, but
    /// still linked, are not written down.
    func verdict(since stored: OracleGraph) -> Verdict {
        var verdict = Verdict.valid
        var codes: Set<String> = []
        for (tag, object) in objects {
            if object.isDeleted {
                guard stored.objects[tag] != nil else { continue }
                for link in plan.links(of: object.entity) where link.rule == .denyDeleteRule {
                    if ends(link, of: object).contains(where: isLive) { return .invalid }
                }
                continue
            }
            let root = plan.isKind(object.entity, of: "Alpha") ? "A" : "D"
            if let code = object.values["code"], !codes.insert(root + code.text).inserted {
                return .invalid
            }
            for link in plan.links(of: object.entity) {
                let all = ends(link, of: object)
                guard all.allSatisfy(isLive) else {
                    verdict = .open
                    continue
                }
                guard !object.dangling.contains(link.name) else {
                    verdict = .open
                    continue
                }
                let count = all.count
                if link.isMandatory && count == 0 { return .invalid }
                if count > 0 && count < link.minimum { return .invalid }
                if link.maximum > 0 && count > link.maximum { return .invalid }
            }
        }
        return verdict
    }

    // MARK: Comparing

    /// The object as text, one line each value and link; deleted partners do not count.
    func picture(of tag: Int) -> [String] {
        guard let object = objects[tag] else { return [] }
        var lines = [object.entity]
        for attribute in plan.attributes(of: object.entity) {
            lines.append("\(attribute.name)=\(object.values[attribute.name]?.text ?? "nil")")
        }
        for link in plan.links(of: object.entity) {
            let ends = ends(link, of: object).filter(isLive)
            lines.append("\(link.name)→\(link.isOrdered ? ends : ends.sorted())")
        }
        return lines
    }

    /// Takes over an order that no rule gives: where a member came from another end.
    mutating func adopt(order: [Int], of name: String, of tag: Int) {
        guard Set(order) == Set(objects[tag]?.manys[name] ?? []) else { return }
        objects[tag]?.manys[name] = order
    }
}
