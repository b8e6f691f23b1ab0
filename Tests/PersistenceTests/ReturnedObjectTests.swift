import CoreData
import Foundation
import Testing

/// Saved deletions that are undone, where somebody else brings the object back, too.
@Suite struct ReturnedObjectTests {
    /// A context over a store with one person, and that person there.
    private struct Place {
        let context: NSManagedObjectContext
        let ada: NSManagedObject

        init(_ context: NSManagedObjectContext, _ ada: NSManagedObject) {
            (self.context, self.ada) = (context, ada)
            let manager = UndoManager()
            manager.groupsByEvent = false
            context.undoManager = manager
        }

        func group(_ work: () throws -> Void) rethrows {
            context.undoManager?.beginUndoGrouping()
            try work()
            context.processPendingChanges()
            context.undoManager?.endUndoGrouping()
        }

        func delete() { group { context.delete(ada) } }
        func rename(_ name: String) { group { ada.setValue(name, forKey: "name") } }

        func names() throws -> [String] {
            context.processPendingChanges()
            return try ReturnedObjectTests.names(in: context)
        }
    }

    private static func names(in context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        let found = try context.fetch(request)
        #expect(!found.contains { $0.isDeleted })
        return found.map { $0.value(forKey: "name") as? String ?? "" }
    }

    // MARK: A parent and its child

    private struct Family {
        let bench: Bench
        let child: Place
        var parent: NSManagedObjectContext { bench.context }

        init(_ kind: StoreKind) throws {
            bench = try Bench(kind)
            let context = NSManagedObjectContext(.privateQueue)
            context.parent = bench.context
            let ada = try bench.make("Person", "Ada", in: context)
            ada.setValue("countess", forKey: "nick")
            try context.save()
            try bench.context.save()
            child = Place(context, ada)
            child.delete()
            try context.save()
            #expect(parent.deletedObjects.count == 1)
        }

        func save() throws {
            try child.context.save()
            try parent.save()
            #expect(!child.context.hasChanges && !parent.hasChanges)
        }

        func stored() throws -> [String] { try ReturnedObjectTests.names(in: bench.newContext()) }
    }

    @Test(arguments: [StoreKind.memory, .sqlite])
    func aDeletionDoneAgainHidesNothingThatTheParentBringsBack(_ kind: StoreKind) throws {
        let family = try Family(kind)
        family.child.context.undo()
        family.child.context.redo()
        #expect(try family.child.names() == [])
        family.parent.rollback()
        #expect(try family.child.names() == ["Ada"])
        // The program's own object is the one that an undo brings back still.
        family.child.context.undo()
        family.child.rename("Augusta")
        try family.save()
        #expect(try family.stored() == ["Augusta"])
    }

    @Test(arguments: [StoreKind.memory, .sqlite], [true, false])
    func whatBothBroughtBackIsDeletedForBoth(_ kind: StoreKind, _ isRedone: Bool) throws {
        let family = try Family(kind)
        let child = family.child
        child.context.undo()
        family.parent.rollback()
        #expect(try child.names() == ["Ada"])
        if isRedone { child.context.redo() } else { child.delete() }
        #expect(try child.names() == [])
        #expect(child.context.deletedObjects == [child.ada])
        try family.save()
        #expect(try family.stored() == [])
        child.context.undo()
        try family.save()
        #expect(try family.stored() == ["Ada"])
    }

    /// The parent had let go of its object, whose row is there.
    @Test(arguments: [StoreKind.memory, .sqlite])
    func aReturnUponWhatTheParentHasIsAChange(_ kind: StoreKind) throws {
        let family = try Family(kind)
        family.child.context.undo()
        family.child.group {
            family.child.ada.setValue("Augusta", forKey: "name")
            family.child.ada.setValue(nil, forKey: "nick")
        }
        family.parent.rollback()
        try family.child.context.save()
        #expect(family.parent.insertedObjects.isEmpty)
        #expect(family.parent.updatedObjects.count == 1)
        try family.save()
        #expect(try family.stored() == ["Augusta"])
        let nicks = NSFetchRequest<NSManagedObject>(entityName: "Person")
        nicks.predicate = NSPredicate(format: "nick != nil")
        #expect(try family.bench.newContext().count(for: nicks) == 0)
    }

    // MARK: Two contexts over a store

    private struct Pair {
        let bench: Bench
        let places: [Place]

        /// Both deleted the person, both saved, and both take it back.
        init(_ kind: StoreKind, _ policy: NSMergePolicy) throws {
            bench = try Bench(kind)
            let ada = try bench.person("Ada")
            try bench.context.save()
            let other = bench.newContext()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            let same = try #require(try other.fetch(request).first)
            places = [Place(bench.context, ada), Place(other, same)]
            for place in places {
                place.context.mergePolicy = policy
                place.delete()
            }
            // The second finds the row gone, which no policy but one minds.
            other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            for place in places { try place.context.save() }
            other.mergePolicy = policy
            for place in places { place.context.undo() }
            try bench.context.save()
        }

        func stored() throws -> [String] { try ReturnedObjectTests.names(in: bench.newContext()) }
    }

    @Test(arguments: [StoreKind.memory, .sqlite])
    func twoThatBringTheSameBackAgree(_ kind: StoreKind) throws {
        let pair = try Pair(kind, .error)
        try pair.places[1].context.save()
        #expect(try pair.stored() == ["Ada"])
        pair.places[1].rename("Augusta")
        try pair.places[1].context.save()
        #expect(try pair.stored() == ["Augusta"])
    }

    @Test(arguments: [StoreKind.memory, .sqlite])
    func whatTheyBringBackOtherwiseIsForThePolicy(_ kind: StoreKind) throws {
        let outcomes: [(NSMergePolicy, String)] = [
            (.mergeByPropertyObjectTrump, "Augusta"), (.overwrite, "Augusta"),
            (.mergeByPropertyStoreTrump, "Ada"), (.rollback, "Ada"),
        ]
        for (policy, name) in outcomes {
            let pair = try Pair(kind, policy)
            pair.places[1].rename("Augusta")
            try pair.places[1].context.save()
            #expect(try pair.stored() == [name], "\(policy)")
            #expect(try pair.places[1].names() == [name], "\(policy)")
        }
    }

    @Test(arguments: [StoreKind.memory, .sqlite])
    func withoutAPolicyItIsAConflict(_ kind: StoreKind) throws {
        let pair = try Pair(kind, .error)
        let (context, ada) = (pair.places[1].context, pair.places[1].ada)
        pair.places[1].rename("Augusta")
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .managedObjectMerge)
        context.refresh(ada, mergeChanges: true)
        try context.save()
        #expect(try pair.stored() == ["Augusta"])
    }

    @Test(arguments: [StoreKind.memory, .sqlite])
    func whatTheOtherBroughtBackIsDeletedAgain(_ kind: StoreKind) throws {
        let pair = try Pair(kind, .error)
        pair.places[1].context.redo()
        try pair.places[1].context.save()
        #expect(try pair.stored() == [])
    }
}
