import CoreData
import Foundation

// Two contexts change the same objects.
extension GraphWalk {
    private enum Ending: CaseIterable { case error, store, object, overwrite, rollback, merge }

    /// Another context saves while the main one has changes of the same objects: they meet in the
    /// main context's save, or in a merge before it.
    ///
    /// Only attributes, and links from the one end of one-to-manys, so that no rule of deletion and
    /// no steal comes between: then each object is settled by itself.
    func race() throws {
        let ending = dice.pick(Ending.allCases) ?? .error
        tell("race, \(ending)")
        scratches = [:]
        let held = try hold()
        var mine = stored
        var theirs = stored
        let other = newContext()
        let contested = graph.live.filter { _ in dice.hits(40) }
        for tag in contested {
            if dice.hits(80) { contest(tag, in: main, &mine) }
            if dice.hits(80) { contest(tag, in: other, &theirs) }
        }
        var notices: [Notification] = []
        let keeping = Keeping()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) { keeping.notices.append($0) }
        try other.save()
        NotificationCenter.default.removeObserver(observer)
        notices = keeping.notices
        let former = stored
        stored = theirs
        checkHistory(since: former)
        if ending == .merge {
            for notice in notices { main.mergeChanges(fromContextDidSave: notice) }
        }
        settle(ending, base: former, mine: mine, theirs: theirs)
        _ = held.count
    }

    private final class Keeping: @unchecked Sendable {
        // @unchecked: filled by the thread that saves, read by the same.
        var notices: [Notification] = []
    }

    /// All objects, with their values and members, so that the context knows the state before.
    private func hold() throws -> [NSManagedObject] {
        compare(main, graph, "before a race")
        return graph.live.compactMap { object($0, in: main) }
    }

    private func contest(
        _ tag: Int, in context: NSManagedObjectContext, _ graph: inout OracleGraph
    ) {
        guard let object = object(tag, in: context), let entity = graph.objects[tag]?.entity else {
            return
        }
        for attribute in plan.attributes(of: entity)
        where !["tag", "code", "rank"].contains(attribute.name) {
            guard dice.hits(25) else { continue }
            let value = dice.hits(20) ? nil : GraphValue.drawn(attribute.type, for: kind, &dice)
            tell(
                "\(context === main ? "mine" : "theirs") \(tag).\(attribute.name) = "
                    + "\(value?.text ?? "nil")"
            )
            object.setValue(value?.raw, forKey: attribute.name)
            graph.set(attribute.name, of: tag, to: value)
        }
        for link in contestedLinks(of: entity) where dice.hits(40) {
            let target = dice.hits(25) ? nil : dice.pick(graph.live(of: link.target))
            tell("\(context === main ? "mine" : "theirs") \(tag).\(link.name) → \(target ?? 0)")
            object.setValue(target.flatMap { self.object($0, in: context) }, forKey: link.name)
            graph.point(link.name, of: tag, to: target)
        }
    }

    /// The one ends of one-to-manys without bounds.
    private func contestedLinks(of entity: String) -> [GraphPlan.Link] {
        plan.links(of: entity).filter { link in
            guard !link.isMany, !link.isMandatory, link.rule != .noActionDeleteRule,
                let inverse = link.inverse,
                let back = plan.link(inverse, of: link.target)
            else { return link.inverse == nil && !link.isMany }
            return back.isMany && back.minimum == 0 && back.maximum == 0
                && back.rule != .noActionDeleteRule
        }
    }

    // MARK: How it ends

    private func changed(_ tag: Int, _ base: OracleGraph, _ now: OracleGraph) -> Set<String> {
        guard let old = base.objects[tag], let new = now.objects[tag] else { return [] }
        let attributes = plan.attributes(of: new.entity).map(\.name)
            .filter { old.values[$0] != new.values[$0] }
        let ones = plan.links(of: new.entity).filter { !$0.isMany }.map(\.name)
            .filter { old.ones[$0] != new.ones[$0] }
        return Set(attributes + ones)
    }

    private func membersDiffer(_ tag: Int, _ base: OracleGraph, _ now: OracleGraph) -> Bool {
        (base.objects[tag]?.manys ?? [:]).filter { !$0.value.isEmpty }
            != (now.objects[tag]?.manys ?? [:]).filter { !$0.value.isEmpty }
    }

    private func settle(
        _ ending: Ending, base: OracleGraph, mine: OracleGraph, theirs: OracleGraph
    ) {
        let conflicts = base.live.filter {
            !changed($0, base, mine).isEmpty && !changed($0, base, theirs).isEmpty
        }
        // Members alone are no conflict, or the policy's affair where they are in order.
        let isOpen = base.live.contains { tag in
            (!changed(tag, base, mine).isEmpty || membersDiffer(tag, base, mine))
                && (!changed(tag, base, theirs).isEmpty || membersDiffer(tag, base, theirs))
        }
        var wanted = theirs
        for tag in base.live {
            adopt(tag, ending, conflicts.contains(tag), base, mine, into: &wanted)
        }
        if ending == .merge { compareWithoutOrder(main, wanted, "after a merge") }
        main.mergePolicy = policy(ending)
        defer { main.mergePolicy = NSMergePolicy.error }
        do {
            try main.save()
        } catch {
            let code = (error as NSError).code
            if ending != .error || (conflicts.isEmpty && !isOpen)
                || code != NSManagedObjectMergeError
            {
                blame("the save after a race threw \(error)")
            }
            main.rollback()
            main.refreshAllObjects()
            graph = stored
            return compareWithoutOrder(main, stored, "after a conflict")
        }
        if ending == .error, !conflicts.isEmpty { return blame("\(conflicts) passed as unchanged") }
        stored = wanted
        adoptOrders()
        graph = stored
        compare(newContext(), stored, "in a fresh context after a race")
        checkHistory(since: theirs)
        for tag in conflicts {
            if let object = object(tag, in: main) { compareRow(object, tag) }
        }
        main.refreshAllObjects()
        compare(main, graph, "after a race")
    }

    private func policy(_ ending: Ending) -> NSMergePolicy {
        switch ending {
        case .error, .merge: .error
        case .store: .mergeByPropertyStoreTrump
        case .object: .mergeByPropertyObjectTrump
        case .overwrite: .overwrite
        case .rollback: .rollback
        }
    }

    /// Lays what the main context changed of an object upon what the other one saved.
    private func adopt(
        _ tag: Int, _ ending: Ending, _ isConflict: Bool, _ base: OracleGraph, _ mine: OracleGraph,
        into wanted: inout OracleGraph
    ) {
        guard let object = mine.objects[tag] else { return }
        if isConflict, ending == .rollback { return }
        var names = changed(tag, base, mine)
        if isConflict, ending == .overwrite {
            names = Set(plan.attributes(of: object.entity).map(\.name))
            names.formUnion(plan.links(of: object.entity).filter { !$0.isMany }.map(\.name))
        }
        if isConflict, ending == .store { names.subtract(changed(tag, base, wanted)) }
        for attribute in plan.attributes(of: object.entity) where names.contains(attribute.name) {
            wanted.set(attribute.name, of: tag, to: object.values[attribute.name])
        }
        for link in contestedLinks(of: object.entity) where names.contains(link.name) {
            wanted.point(link.name, of: tag, to: object.ones[link.name])
        }
    }

    private func compareRow(_ object: NSManagedObject, _ tag: Int) {
        guard let entity = graph.objects[tag]?.entity else { return }
        let count = 1 + plan.attributes(of: entity).count
        let found = picture(of: object).prefix(count)
        let wanted = graph.picture(of: tag).prefix(count)
        if found != wanted { blame("\(tag) shows \(found), not \(wanted), after a conflict") }
    }

    /// Which of two sides' new members comes first in an ordered relationship is not written down.
    private func adoptOrders() {
        let fresh = newContext()
        for tag in stored.live {
            guard let entity = stored.objects[tag]?.entity, let object = object(tag, in: fresh)
            else {
                continue
            }
            for link in plan.links(of: entity) where link.isOrdered {
                stored.adopt(order: ends(link, of: object), of: link.name, of: tag)
            }
        }
    }

    private func compareWithoutOrder(
        _ context: NSManagedObjectContext, _ graph: OracleGraph, _ when: String
    ) {
        var unordered = graph
        for tag in graph.live {
            guard let entity = graph.objects[tag]?.entity, let object = object(tag, in: context)
            else {
                continue
            }
            for link in plan.links(of: entity) where link.isOrdered {
                unordered.adopt(order: ends(link, of: object), of: link.name, of: tag)
            }
        }
        compare(context, unordered, when)
    }
}
