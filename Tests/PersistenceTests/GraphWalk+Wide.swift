import CoreData
import Foundation

// What only wide walks do.
extension GraphWalk {
    func wideStep() throws {
        switch dice.below(20) {
        case 0..<6: undo()
        case 6..<9: redo()
        case 9, 10: mend()
        case 11: scratch()
        case 12, 13: drop()
        case 14 where main.hasChanges: reset()
        case 15...16 where !main.hasChanges: withoutUndo { clash() }
        default: try pin()
        }
        if dice.hits(30) { compare(main, graph, "after a wide step") }
    }

    // MARK: Undo

    func beginUndo() {
        let manager = UndoManager()
        manager.groupsByEvent = false
        main.undoManager = manager
        undoable = ([], [])
    }

    func forgetUndo() {
        guard undoable != nil else { return }
        main.processPendingChanges()
        main.undoManager?.removeAllActions()
        undoable = ([], [])
    }

    /// Makes one group of what `work` does with the main context.
    func group(_ work: () throws -> Void) rethrows {
        guard undoable != nil else { return try work() }
        let before = graph
        main.undoManager?.beginUndoGrouping()
        try work()
        main.processPendingChanges()
        main.undoManager?.endUndoGrouping()
        undoable?.undone.append(before)
        // What registers nothing leaves what can be redone.
        if main.undoManager?.redoCount == 0 { undoable?.redone = [] }
    }

    /// Does what cannot be undone.
    func withoutUndo(_ work: () throws -> Void) rethrows {
        forgetUndo()
        main.undoManager?.disableUndoRegistration()
        defer {
            main.processPendingChanges()
            main.undoManager?.enableUndoRegistration()
        }
        try work()
    }

    private func undo() {
        guard let former = undoable?.undone.popLast() else { return }
        tell("undo")
        let now = graph
        main.undo()
        graph = graph.returned(to: former, stored: stored)
        if main.undoManager?.redoCount ?? 0 > undoable?.redone.count ?? 0 {
            undoable?.redone.append(now)
        }
        scratches = [:]
    }

    private func redo() {
        guard let later = undoable?.redone.popLast() else { return }
        tell("redo")
        let now = graph
        main.redo()
        graph = graph.returned(to: later, stored: stored)
        undoable?.undone.append(now)
        scratches = [:]
    }

    // MARK: Values

    /// A save that fails for one value, which is mended then.
    private func mend() {
        guard let tag = dice.pick(graph.live), let object = object(tag, in: main) else { return }
        let former = graph.objects[tag]?.values["rank"]
        group {
            tell("\(tag).rank = 99")
            object.setValue(99, forKey: "rank")
            graph.set("rank", of: tag, to: GraphValue(Int16(99), .integer16AttributeType))
        }
        do {
            try main.save()
            blame("a rank of 99 was saved")
        } catch {
            compare(main, graph, "after a save that failed for a value")
        }
        group {
            tell("\(tag).rank is mended")
            object.setValue(former?.raw, forKey: "rank")
            graph.set("rank", of: tag, to: former)
        }
        save()
    }

    private func scratch() {
        guard undoable == nil, let tag = dice.pick(graph.live), let object = object(tag, in: main)
        else { return }
        let text = "s\(dice.below(9))"
        tell("\(tag).scratch = \(text)")
        let hadValues = object.hasPersistentChangedValues
        object.setValue(text, forKey: "scratch")
        if object.hasPersistentChangedValues != hadValues { blame("a transient value is stored") }
        scratches[tag] = (object, text)
    }

    /// Transient values outlive a save.
    func checkScratches() {
        for (tag, (object, text)) in scratches where graph.isLive(tag) {
            let found = object.value(forKey: "scratch") as? String
            if found != text { blame("\(tag).scratch is \(found ?? "nil"), not \(text)") }
        }
        scratches = [:]
    }

    /// Drops an object's changes of values.
    private func drop() {
        let tags = graph.live.filter {
            !graph.fresh.contains($0) && graph.hasLinks(of: $0, asIn: stored)
        }
        guard let tag = dice.pick(tags), let object = object(tag, in: main), !object.isInserted
        else { return }
        tell("drop \(tag)")
        main.refresh(object, mergeChanges: false)
        graph.dropValues(of: tag, for: stored)
        scratches = [:]
        forgetUndo()
    }

    private func reset() {
        tell("reset with changes")
        main.reset()
        graph = stored
        scratches = [:]
        forgetUndo()
    }

    // MARK: Generations

    private func pin() throws {
        guard kind == .sqlite else { return }
        if let pinned {
            if dice.hits(50) { pinned.context.refreshAllObjects() }
            compare(pinned.context, pinned.graph, "in a pinned context")
            guard dice.hits(50) else { return }
        }
        tell("pin")
        let context = pinned?.context ?? newContext()
        try context.setQueryGenerationFrom(.current)
        context.refreshAllObjects()
        _ = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: plan.roots[0]))
        pinned = (context, stored)
    }

    // MARK: Unique values

    /// An object takes the code of another one, under a policy.
    private func clash() {
        scratches = [:]
        let policies: [NSMergePolicy] = [
            .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
        ]
        guard let policy = dice.pick(policies),
            let owner = dice.pick(graph.live.filter { graph.objects[$0]?.values["code"] != nil }),
            let object = graph.objects[owner],
            plan.links(of: object.entity).allSatisfy({ !$0.isMandatory })
        else { return }
        let former = stored
        main.mergePolicy = policy
        defer { main.mergePolicy = NSMergePolicy.error }
        let isNew = dice.hits(60)
        tell("clash with \(owner), \(policy.mergeType), \(isNew ? "new" : "changed")")
        guard isNew ? insertTwin(of: owner, policy) : takeCode(of: owner, policy) else { return }
        do {
            try main.save()
            if policy.mergeType == .errorMergePolicyType { blame("a taken code was saved") }
        } catch {
            let code = (error as NSError).code
            if policy.mergeType != .errorMergePolicyType
                || code != NSManagedObjectConstraintMergeError
            {
                blame("a taken code threw \(error)")
            }
            return rollback()
        }
        graph.commit()
        stored = graph
        checkHistory(since: former)
        compare(newContext(), stored, "in a fresh context after a clash")
        compare(main, graph, "after a clash")
    }

    private func objectWins(_ policy: NSMergePolicy) -> Bool {
        [.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType]
            .contains(policy.mergeType)
    }

    /// A new object of the same key gives its values to the one that is there.
    private func insertTwin(of owner: Int, _ policy: NSMergePolicy) -> Bool {
        guard let object = graph.objects[owner], let twin = make(object.entity) else {
            return false
        }
        for attribute in plan.attributes(of: object.entity) {
            var value = attribute.initial
            if ["tag", "code"].contains(attribute.name) {
                value = object.values[attribute.name]
            } else if dice.hits(40), !attribute.isBounded {
                value = GraphValue.drawn(attribute.type, for: kind, &dice)
            }
            twin.setValue(value?.raw, forKey: attribute.name)
            guard let value, objectWins(policy) else { continue }
            graph.set(attribute.name, of: owner, to: value)
        }
        return true
    }

    /// A stored object takes the place of one that has no links.
    private func takeCode(of owner: Int, _ policy: NSMergePolicy) -> Bool {
        guard let object = graph.objects[owner], !object.hasLinks, object.dangling.isEmpty else {
            return false
        }
        let root = plan.isKind(object.entity, of: plan.roots[0]) ? plan.roots[0] : plan.roots[1]
        let others = graph.live(of: root).filter { $0 != owner }
        guard let taker = dice.pick(others), let other = self.object(taker, in: main) else {
            return false
        }
        other.setValue(object.values["code"]?.raw, forKey: "code")
        if objectWins(policy) {
            graph.set("code", of: taker, to: object.values["code"])
            graph.delete(owner)
        }
        return true
    }
}
