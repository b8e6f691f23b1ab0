import CoreData
import Foundation

// What is compared.
extension GraphWalk {
    /// Compares all that a context shows with a graph.
    func compare(_ context: NSManagedObjectContext, _ graph: OracleGraph, _ when: String) {
        do {
            var found: Set<Int> = []
            for root in plan.roots {
                let request = NSFetchRequest<NSManagedObject>(entityName: root)
                for object in try context.fetch(request) {
                    let tag = object.value(forKey: "tag") as? Int ?? 0
                    if !found.insert(tag).inserted { blame("\(tag) is found twice, \(when)") }
                    compare(picture(of: object), graph.picture(of: tag), tag, when)
                }
            }
            let missing = Set(graph.live).symmetricDifference(found)
            if !missing.isEmpty { blame("\(missing.sorted()) are found or missing, \(when)") }
        } catch {
            blame("comparing \(when) threw \(error)")
        }
    }

    private func compare(_ found: [String], _ wanted: [String], _ tag: Int, _ when: String) {
        guard found != wanted else { return }
        let differences = zip(found, wanted).filter { $0 != $1 }.map { "\($0) for \($1)" }
        blame("\(tag) \(when): \(differences.joined(separator: ", "))")
    }

    func picture(of object: NSManagedObject) -> [String] {
        let entity = object.entity.name ?? ""
        var lines = [entity]
        for attribute in plan.attributes(of: entity) {
            let value = GraphValue(object.value(forKey: attribute.name), attribute.type)
            lines.append("\(attribute.name)=\(value?.text ?? "nil")")
        }
        for link in plan.links(of: entity) {
            let ends = ends(link, of: object)
            lines.append("\(link.name)→\(link.isOrdered ? ends : ends.sorted())")
        }
        return lines
    }

    func ends(_ link: GraphPlan.Link, of object: NSManagedObject) -> [Int] {
        let members: [NSManagedObject] =
            switch object.value(forKey: link.name) {
            case let one as NSManagedObject: [one]
            case let set as Set<NSManagedObject>: Array(set)
            case let ordered as NSOrderedSet: ordered.array as? [NSManagedObject] ?? []
            default: []
            }
        // A fault learns only when it is read that its row, or its parent's object, is gone.
        return members.compactMap { member in
            let tag = member.value(forKey: "tag") as? Int
            return member.isDeleted ? nil : tag ?? 0
        }
    }

    // MARK: Requests

    /// A request with a predicate, two sort keys and bounds, over what is stored and pending.
    func fetchAtRandom(_ context: NSManagedObjectContext, _ graph: OracleGraph) throws {
        guard let entity = dice.pick(plan.entities)?.name else { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.includesSubentities = dice.hits(80)
        var tags = graph.live.filter { tag in
            let kind = graph.objects[tag]?.entity ?? ""
            return request.includesSubentities ? plan.isKind(kind, of: entity) : kind == entity
        }
        var text = ""
        if let (format, holds) = predicate(for: entity, graph) {
            request.predicate = NSPredicate(format: format)
            text = format
            tags = tags.filter(holds)
        }
        let isAscending = dice.hits(50)
        request.sortDescriptors = [
            NSSortDescriptor(key: "number", ascending: isAscending),
            NSSortDescriptor(key: "tag", ascending: dice.hits(50)),
        ]
        let isByCode = isWide && dice.hits(50)
        let isCodeAscending = isByCode && dice.hits(50)
        if isByCode {
            request.sortDescriptors?.insert(
                NSSortDescriptor(key: "code", ascending: isCodeAscending), at: dice.below(2))
        }
        let isCodeFirst = request.sortDescriptors?.first?.key == "code"
        let isTagAscending = request.sortDescriptors?.last?.ascending ?? true
        func number(_ tag: Int) -> Int {
            Int(graph.objects[tag]?.values["number"]?.text ?? "") ?? -99
        }
        func code(_ tag: Int) -> String { graph.objects[tag]?.values["code"]?.text ?? "" }
        tags.sort { left, right in
            let isCodeOther = isByCode && code(left) != code(right)
            let byCode = (code(left) < code(right)) == isCodeAscending
            if isCodeOther && isCodeFirst { return byCode }
            if number(left) != number(right) {
                return (number(left) < number(right)) == isAscending
            }
            return isCodeOther ? byCode : (left < right) == isTagAscending
        }
        if dice.hits(30) {
            request.fetchOffset = dice.below(4)
            tags = Array(tags.dropFirst(request.fetchOffset))
        }
        if dice.hits(40) {
            request.fetchLimit = 1 + dice.below(5)
            tags = Array(tags.prefix(request.fetchLimit))
        }
        if dice.hits(20) { request.fetchBatchSize = 2 }
        tell("fetch \(entity) \(text) \(request.fetchOffset)+\(request.fetchLimit)")
        let count = try context.count(for: request)
        let found = try context.fetch(request).map { $0.value(forKey: "tag") as? Int ?? 0 }
        if found != tags { blame("found \(found), not \(tags)") }
        if count != tags.count { blame("counted \(count), not \(tags.count)") }
    }

    private typealias Rule = (format: String, holds: (Int) -> Bool)

    private func predicate(for entity: String, _ graph: OracleGraph) -> Rule? {
        guard dice.hits(75), let first = clause(for: entity, graph) else { return nil }
        guard dice.hits(35), let second = clause(for: entity, graph) else { return first }
        return dice.hits(50)
            ? ("\(first.format) AND \(second.format)", { first.holds($0) && second.holds($0) })
            : ("\(first.format) OR \(second.format)", { first.holds($0) || second.holds($0) })
    }

    private func clause(for entity: String, _ graph: OracleGraph) -> Rule? {
        func number(_ tag: Int) -> Int? {
            graph.objects[tag]?.values["number"].flatMap { Int($0.text) }
        }
        func label(_ tag: Int) -> String? { graph.objects[tag]?.values["label"]?.text }
        let bound = dice.below(5) - 2
        switch dice.below(8) {
        case 0: return ("number >= \(bound)", { number($0).map { $0 >= bound } ?? false })
        case 1: return ("number == nil", { number($0) == nil })
        case 2: return ("number IN {1, \(bound)}", { [1, bound].contains(number($0)) })
        case 3: return ("label == 'ab'", { label($0) == "ab" })
        case 4: return ("label BEGINSWITH 'a'", { label($0)?.hasPrefix("a") ?? false })
        default: break
        }
        guard let link = dice.pick(plan.links(of: entity)) else { return nil }
        func ends(_ tag: Int) -> [Int] {
            graph.objects[tag].map { graph.ends(link, of: $0).filter(graph.isLive) } ?? []
        }
        // A partner that is deleted and still linked counts until the save; nothing says so.
        guard graph.objects.values.allSatisfy({ graph.ends(link, of: $0).allSatisfy(graph.isLive) })
        else { return nil }
        // Values of partners are those of the store, where only the partner changed.
        let isAsStored = graph.live(of: entity).flatMap(ends).allSatisfy {
            graph.objects[$0]?.values["number"] == stored.objects[$0]?.values["number"]
        }
        guard isAsStored else { return nil }
        guard graph.objects.values.allSatisfy({ !$0.dangling.contains(link.name) }) else {
            return nil
        }
        guard link.isMany else {
            return dice.hits(50)
                ? ("\(link.name) == nil", { ends($0).isEmpty })
                : ("\(link.name).number == \(bound)", { ends($0).contains { number($0) == bound } })
        }
        return dice.hits(50)
            ? ("\(link.name).@count > 1", { ends($0).count > 1 })
            : (
                "ANY \(link.name).number >= \(bound)",
                { tag in
                    ends(tag).contains { (number($0) ?? -99) >= bound }
                }
            )
    }

    // MARK: History

    /// The history names what came, changed and left since the last save.
    func checkHistory(since former: OracleGraph) {
        guard StoreKind.logging.contains(kind) else { return }
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        request.resultType = .transactionsAndChanges
        guard let result = try? main.execute(request) as? NSPersistentHistoryResult,
            let transactions = result.result as? [NSPersistentHistoryTransaction]
        else { return blame("the history cannot be read") }
        token = transactions.last?.token ?? token
        let changes = transactions.flatMap { $0.changes ?? [] }
        func tags(_ type: NSPersistentHistoryChangeType) -> [Int] {
            let named = changes.filter { $0.changeType == type }.map(\.changedObjectID)
            return ids.filter { named.contains($0.value) }.keys.sorted()
        }
        let came = stored.live.filter { former.objects[$0] == nil }
        let left = former.live.filter { stored.objects[$0] == nil }
        if tags(.insert) != came { blame("history inserts \(tags(.insert)), not \(came)") }
        if tags(.delete) != left { blame("history deletes \(tags(.delete)), not \(left)") }
        for tag in left { checkTombstone(of: tag, former, changes) }
        for tag in stored.live where former.objects[tag] != nil {
            checkUpdate(of: tag, former, changes)
        }
    }

    private func checkTombstone(
        of tag: Int, _ former: OracleGraph, _ changes: [NSPersistentHistoryChange]
    ) {
        guard let object = former.objects[tag],
            let change = changes.first(where: { $0.changedObjectID === ids[tag] })
        else { return }
        for attribute in plan.attributes(of: object.entity) where attribute.isKept {
            let kept = GraphValue(change.tombstone?[attribute.name], attribute.type)
            if kept?.text != object.values[attribute.name]?.text {
                let wanted = object.values[attribute.name]?.text ?? "nil"
                blame("the tombstone of \(tag) keeps \(kept?.text ?? "nil"), not \(wanted)")
            }
        }
    }

    private func checkUpdate(
        of tag: Int, _ former: OracleGraph, _ changes: [NSPersistentHistoryChange]
    ) {
        guard let old = former.objects[tag], let new = stored.objects[tag] else { return }
        let attributes = plan.attributes(of: new.entity).map(\.name)
            .filter { old.values[$0] != new.values[$0] }
        let links = plan.links(of: new.entity)
        let ones = links.filter { !$0.isMany && old.ones[$0.name] != new.ones[$0.name] }.map(\.name)
        let named = changes.filter {
            $0.changedObjectID === ids[tag] && $0.changeType == .update
        }.flatMap { ($0.updatedProperties ?? []).map(\.name) }
        // A link that is left dangling is no change of its row.
        let missing = Set(attributes + ones).subtracting(named).subtracting(new.dangling)
        if !missing.isEmpty { blame("history forgets \(missing.sorted()) of \(tag)") }
        let many = links.filter(\.isMany).map(\.name)
        // An equal value of a transformable may be archived in other bytes.
        let archived = plan.attributes(of: new.entity)
            .filter { $0.type == .transformableAttributeType }.map(\.name)
        let untrue = Set(named).subtracting(attributes + ones + many + archived + old.dangling)
        if !untrue.isEmpty { blame("history claims \(untrue.sorted()) of \(tag)") }
    }
}
