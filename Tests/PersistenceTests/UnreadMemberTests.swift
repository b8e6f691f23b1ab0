import CoreData
import Foundation
import Testing

/// Members that are added and removed before anybody read the relationship.
@Suite struct UnreadMemberTests {
    private static func model() -> NSManagedObjectModel {
        let node = NSEntityDescription()
        node.name = "Node"
        func relationship(_ name: String, max: Int) -> NSRelationshipDescription {
            let made = NSRelationshipDescription()
            (made.name, made.destinationEntity, made.maxCount) = (name, node, max)
            return made
        }
        for (name, inverse, max) in [("children", "parent", 1), ("tags", "bearers", 0)] {
            let (one, other) = (relationship(name, max: 0), relationship(inverse, max: max))
            (one.inverseRelationship, other.inverseRelationship) = (other, one)
            node.properties += [one, other]
        }
        let model = NSManagedObjectModel()
        model.entities = [node]
        return model
    }

    /// One way to go: `a` adds, `r` removes, `U` undoes and `R` does again.
    private static let ways = [
        "a", "r", "ar", "ra", "ara", "rar", "arar", "rara", "aU", "rU", "arU", "raU", "aUR", "rUR",
        "arUR", "raUR", "aURUR", "arUU", "raUU", "raUURR",
    ]

    private func members(_ node: NSManagedObject, _ key: String) -> Set<NSManagedObject> {
        node.value(forKey: key) as? Set<NSManagedObject> ?? []
    }

    @Test(arguments: [StoreKind.sqlite, .memory], ["children", "tags"])
    func whatWasDoneLastCounts(_ kind: StoreKind, _ key: String) throws {
        for (way, isMember) in Self.ways.flatMap({ [($0, false), ($0, true)] }) {
            let bench = try Bench(kind, model: Self.model())
            let (owner, member) = (try bench.make("Node"), try bench.make("Node"))
            if isMember { owner.addObject(member, toRelationshipNamed: key) }
            try bench.context.save()
            bench.context.refreshAllObjects()
            let undo = UndoManager()
            bench.context.undoManager = undo
            undo.groupsByEvent = false
            var (past, future, expected) = ([Bool](), [Bool](), isMember)
            func change(to isThere: Bool) {
                past.append(expected)
                expected = isThere
                undo.beginUndoGrouping()
                if isThere {
                    owner.addObject(member, toRelationshipNamed: key)
                } else {
                    owner.removeObject(member, fromRelationshipNamed: key)
                }
                bench.context.processPendingChanges()
                undo.endUndoGrouping()
            }
            for step in way {
                switch step {
                case "a", "r": change(to: step == "a")
                case "U":
                    undo.undo()
                    future.append(expected)
                    expected = past.removeLast()
                default:
                    undo.redo()
                    past.append(expected)
                    expected = future.removeLast()
                }
            }
            bench.context.undoManager = nil
            let context = "\(way), \(isMember ? "a member" : "none") before"
            #expect(members(owner, key).contains(member) == expected, "\(context)")
            try bench.context.save()
            let other = bench.newContext()
            let twin = other.object(with: owner.objectID)
            let end = other.object(with: member.objectID)
            #expect(members(twin, key).contains(end) == expected, "\(context), in the store")
        }
    }

    /// A new object leaves with its insertion, and comes back with it.
    @Test(arguments: ["children", "tags"], [false, true])
    func newMembersComeBackWithTheirInsertion(_ key: String, isRead: Bool) throws {
        let bench = try Bench(.sqlite, model: Self.model())
        let (owner, first) = (try bench.make("Node"), try bench.make("Node"))
        owner.addObject(first, toRelationshipNamed: key)
        try bench.context.save()
        bench.context.refreshAllObjects()
        bench.context.undoManager = UndoManager()
        let new = try bench.make("Node")
        owner.addObject(new, toRelationshipNamed: key)
        bench.context.processPendingChanges()
        bench.context.undo()
        if isRead { #expect(members(owner, key) == [first]) }
        bench.context.redo()
        #expect(members(owner, key) == [first, new])
    }
}
