import CoreData
import Foundation

/// One random walk: a store, contexts over it, and the oracle's graphs of what is stored and of
/// what the main context shows.
final class GraphWalk {
    var dice: Dice
    let plan: GraphPlan
    private let place: (model: NSManagedObjectModel, kind: StoreKind, folder: URL)
    let isWide: Bool
    private(set) var coordinator: NSPersistentStoreCoordinator
    private(set) var main: NSManagedObjectContext
    /// The graphs before each group that can be undone or redone; nil where nothing is recorded.
    var undoable: (undone: [OracleGraph], redone: [OracleGraph])?
    /// A context that reads from one generation, with what was stored then.
    var pinned: (context: NSManagedObjectContext, graph: OracleGraph)?
    /// What the parents of a child show.
    private var parents: [OracleGraph] = []
    /// Transient values since the last save, with the objects that have them.
    var scratches: [Int: (object: NSManagedObject, text: String)] = [:]
    var stored: OracleGraph
    var graph: OracleGraph
    /// The object IDs of tags, in the present coordinator.
    var ids: [Int: NSManagedObjectID] = [:]
    private var nextTag = 0
    private(set) var faults: [String] = []
    private(set) var story: [String] = []
    var token: NSPersistentHistoryToken?

    /// A wide walk does more, in a model that has more.
    init(seed: UInt64, _ kind: StoreKind, isWide: Bool = false) throws {
        var dice = Dice(seed)
        plan = GraphPlan(&dice, for: kind, isWide: isWide)
        self.isWide = isWide
        self.dice = dice
        stored = OracleGraph(plan)
        graph = stored
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("GraphWalk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        place = (plan.model(), kind, folder)
        (coordinator, main) = try Self.open(place.model, kind, folder)
        if isWide, self.dice.hits(50) { beginUndo() }
        for entity in plan.entities {
            for link in entity.links {
                tell(
                    "\(entity.name).\(link.name) → \(link.target) \(link.isMany ? "many" : "one")"
                        + (link.isOrdered ? " ordered" : "") + " \(link.rule)"
                        + " \(link.minimum)…\(link.maximum) \(link.inverse ?? "-")")
            }
        }
    }

    deinit { try? FileManager.default.removeItem(at: place.folder) }

    var kind: StoreKind { place.kind }

    private static func open(
        _ model: NSManagedObjectModel, _ kind: StoreKind, _ folder: URL
    ) throws -> (NSPersistentStoreCoordinator, NSManagedObjectContext) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil,
            at: kind == .memory ? nil : folder.appendingPathComponent("store"),
            options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return (coordinator, context)
    }

    func tell(_ line: String) {
        story.append(line.replacingOccurrences(of: "\0", with: "\\0"))
        if Self.isLive { print(story.last ?? "") }
    }

    private static let isLive = ProcessInfo.processInfo.environment["DIPTYCH_STORY"] == "live"

    func blame(_ fault: String) {
        tell("⚠ \(fault)")
        faults.append(fault)
    }

    func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    // MARK: Steps

    func run(steps: Int) throws {
        group { for _ in 0..<8 { insert(in: main, &graph) } }
        save()
        for _ in 0..<steps where faults.isEmpty { try step() }
        guard faults.isEmpty else { return }
        save()
        if faults.isEmpty { try reopen() }
        if faults.isEmpty { compare(main, graph, "at the end") }
    }

    private func step() throws {
        if isWide, dice.hits(30) { return try wideStep() }
        switch dice.below(100) {
        case 0..<58: for _ in 0...dice.below(3) { group { edit(in: main, &graph) } }
        case 58..<66: save()
        case 66..<69: rollback()
        case 69..<74: cool()
        case 74..<80: try group { try child(of: main, &graph) }
        case 80..<84 where !main.hasChanges: try reopen()
        case 80..<92 where !main.hasChanges: try withoutUndo { try race() }
        default: for _ in 0..<4 where faults.isEmpty { try fetchAtRandom(main, graph) }
        }
        if dice.hits(25) { compare(main, graph, "after a step") }
    }

    /// Lets the context forget values that it can read again.
    private func cool() {
        scratches = [:]
        switch dice.below(4) {
        case 0 where !main.hasChanges:
            tell("reset")
            main.reset()
            forgetUndo()
        case 1:
            tell("refresh all")
            main.refreshAllObjects()
        default:
            for tag in graph.live where dice.hits(40) {
                guard let object = object(tag, in: main), !object.isInserted else { continue }
                tell("refresh \(tag)")
                main.refresh(object, mergeChanges: object.hasChanges || dice.hits(50))
            }
        }
    }

    func object(_ tag: Int, in context: NSManagedObjectContext) -> NSManagedObject? {
        ids[tag].map(context.object(with:))
    }

    // MARK: Edits

    func make(_ entity: String) -> NSManagedObject? {
        place.model.entitiesByName[entity].map { NSManagedObject(entity: $0, insertInto: main) }
    }

    func insert(in context: NSManagedObjectContext, _ graph: inout OracleGraph) {
        guard let entity = dice.pick(plan.entities)?.name,
            let description = place.model.entitiesByName[entity]
        else { return }
        nextTag += 1
        tell("insert \(nextTag) \(entity)")
        let object = NSManagedObject(entity: description, insertInto: context)
        object.setValue(nextTag, forKey: "tag")
        graph.insert(nextTag, entity)
        ids[nextTag] = object.objectID
        setAttributes(of: nextTag, object, &graph, percent: 50)
    }

    func setAttributes(
        of tag: Int, _ object: NSManagedObject, _ graph: inout OracleGraph, percent: Int
    ) {
        guard let entity = graph.objects[tag]?.entity else { return }
        for attribute in plan.attributes(of: entity) where attribute.name != "tag" {
            guard dice.hits(percent) else { continue }
            var value = dice.hits(15) ? nil : GraphValue.drawn(attribute.type, for: kind, &dice)
            if attribute.isBounded {
                value = GraphValue(Int16(dice.below(11)), .integer16AttributeType)
            }
            if attribute.name == "code" {
                value = dice.hits(70) ? nil : GraphValue("c\(dice.below(40))", .stringAttributeType)
            }
            tell("\(tag).\(attribute.name) = \(value?.text ?? "nil")")
            object.setValue(value?.raw, forKey: attribute.name)
            graph.set(attribute.name, of: tag, to: value)
        }
    }

    func edit(in context: NSManagedObjectContext, _ graph: inout OracleGraph) {
        let live = graph.live
        guard live.count > 2, let tag = dice.pick(live), let object = object(tag, in: context)
        else {
            return insert(in: context, &graph)
        }
        switch dice.below(20) {
        case 0..<4: insert(in: context, &graph)
        case 4..<7:
            tell("delete \(tag)")
            context.delete(object)
            // The end of the event, which applies the delete rules.
            context.processPendingChanges()
            graph.delete(tag)
        case 7..<11: setAttributes(of: tag, object, &graph, percent: 30)
        default: relink(tag, object, in: context, &graph)
        }
    }

    private func relink(
        _ tag: Int, _ object: NSManagedObject, in context: NSManagedObjectContext,
        _ graph: inout OracleGraph
    ) {
        guard let entity = graph.objects[tag]?.entity, let link = dice.pick(plan.links(of: entity))
        else { return }
        let others = graph.live(of: link.target).filter { other in
            guard other != tag else { return false }
            // A member of a to-many without inverse has one owner in a store.
            guard link.isMany, link.inverse == nil else { return true }
            return (parents + [graph, stored]).allSatisfy { graph in
                graph.owners(of: other, by: link.name).allSatisfy { $0 == tag }
            }
        }
        guard link.isMany else {
            let target = dice.hits(15) ? nil : dice.pick(others)
            tell("\(tag).\(link.name) → \(target.map(String.init) ?? "nil")")
            object.setValue(target.flatMap { self.object($0, in: context) }, forKey: link.name)
            graph.point(link.name, of: tag, to: target)
            return
        }
        let present = (graph.objects[tag]?.manys[link.name] ?? []).filter(graph.isLive)
        switch dice.below(3) {
        case 0:
            guard let member = dice.pick(others), let other = self.object(member, in: context)
            else { return }
            tell("\(tag).\(link.name) + \(member)")
            object.addObject(other, toRelationshipNamed: link.name)
            graph.add(member, to: link.name, of: tag)
        case 1:
            guard let member = dice.pick(present), let other = self.object(member, in: context)
            else { return }
            tell("\(tag).\(link.name) - \(member)")
            object.removeObject(other, fromRelationshipNamed: link.name)
            graph.remove(member, from: link.name, of: tag)
        default: setMembers(of: tag, link, others, object, in: context, &graph)
        }
    }

    private func setMembers(
        of tag: Int, _ link: GraphPlan.Link, _ others: [Int], _ object: NSManagedObject,
        in context: NSManagedObjectContext, _ graph: inout OracleGraph
    ) {
        // Members that are deleted and still linked, by a deny rule, are left as they are.
        guard (graph.objects[tag]?.manys[link.name] ?? []).allSatisfy(graph.isLive) else { return }
        let wanted = Array(others.shuffled(using: &dice).prefix(dice.below(4)))
        tell("\(tag).\(link.name) = \(wanted)")
        let members = wanted.compactMap { self.object($0, in: context) }
        object.setValue(
            link.isOrdered ? NSOrderedSet(array: members) : Set(members) as Any, forKey: link.name)
        graph.set(link.name, of: tag, toMembers: wanted)
    }

    // MARK: Saving, rolling back, opening again

    func save() {
        let verdict = graph.verdict(since: stored)
        tell("save, \(verdict)")
        do {
            try main.save()
        } catch {
            if verdict == .valid { blame("a valid save threw \(error)") }
            if dice.hits(50) { compare(main, graph, "after a save that failed") }
            return rollback()
        }
        guard verdict != .invalid else { return blame("an invalid save passed") }
        let former = stored
        graph.commit()
        stored = graph
        checkScratches()
        // What a rule without action leaves behind is told by the store alone.
        if isWide { main.refreshAllObjects() }
        checkHistory(since: former)
        compare(newContext(), stored, "in a fresh context after a save")
        if dice.hits(30) { compare(main, graph, "after a save") }
    }

    func rollback() {
        tell("rollback")
        main.rollback()
        graph = stored
        scratches = [:]
        forgetUndo()
        if dice.hits(60) { compare(main, graph, "after a rollback") }
    }

    private func reopen() throws {
        guard kind != .memory else { return }
        tell("reopen")
        let names = ids.filter { stored.objects[$0.key] != nil }
            .mapValues { $0.uriRepresentation() }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        pinned = nil
        (coordinator, main) = try Self.open(place.model, kind, place.folder)
        if undoable != nil { beginUndo() }
        scratches = [:]
        ids = names.compactMapValues { coordinator.managedObjectID(forURIRepresentation: $0) }
        if ids.count != stored.objects.count { blame("URIs do not lead to objects") }
    }

    /// A child context edits, and saves to its parent or is dropped.
    private func child(
        of parent: NSManagedObjectContext, _ graph: inout OracleGraph, depth: Int = 1
    ) throws {
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        var view = graph
        view.fresh = []
        parents.append(graph)
        defer { parents.removeLast() }
        tell("child begins")
        for _ in 0...dice.below(5) { edit(in: child, &view) }
        if isWide, depth < 3, dice.hits(30) { try self.child(of: child, &view, depth: depth + 1) }
        if dice.hits(50) { compare(child, view, "in a child") }
        if dice.hits(40) { try fetchAtRandom(child, view) }
        if dice.hits(15) {
            tell("child rolls back")
            child.rollback()
            return compare(child, graph, "in a child after a rollback")
        }
        guard dice.hits(80) else { return tell("child is dropped") }
        let verdict = view.verdict(since: graph)
        tell("child saves, \(verdict)")
        do {
            try child.save()
        } catch {
            if verdict == .valid { blame("a child's valid save threw \(error)") }
            return
        }
        view.fresh.formUnion(graph.fresh)
        graph = view
        if dice.hits(50) { compare(child, graph, "in a child after its save") }
        if dice.hits(50) { compare(parent, graph, "in the parent of a child that saved") }
    }
}
