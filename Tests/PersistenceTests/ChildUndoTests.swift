import CoreData
import Foundation
import Testing

/// What a child context undoes after it handed it to its parent.
@Suite struct ChildUndoTests {
    /// A context over a store, a child, and a child of that, each held by the test.
    private struct Levels {
        let bench: Bench
        let middle = NSManagedObjectContext(.privateQueue)
        let leaf = NSManagedObjectContext(.privateQueue)
        var top: NSManagedObjectContext { bench.context }

        init(_ kind: StoreKind) throws {
            bench = try Bench(kind)
            middle.parent = bench.context
            leaf.parent = middle
        }

        /// From here on all that happens in the last child is in groups.
        func saveAllAndRecord() throws {
            leaf.processPendingChanges()
            try saveAll()
            let manager = UndoManager()
            manager.groupsByEvent = false
            leaf.undoManager = manager
        }

        func group(_ work: () throws -> Void) rethrows {
            leaf.undoManager?.beginUndoGrouping()
            try work()
            leaf.processPendingChanges()
            leaf.undoManager?.endUndoGrouping()
        }

        func saveAll() throws {
            for context in [leaf, middle, top] {
                try context.save()
                #expect(!context.hasChanges)
            }
        }

        func stored(_ entity: String, in context: NSManagedObjectContext) throws -> [String] {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            return try context.fetch(request).map { $0.value(forKey: "name") as? String ?? "" }
                .sorted()
        }
    }

    enum Reach: CaseIterable { case middle, top, store }

    /// The parent has it as deleted still, or has let go of it, or so has the store.
    @Test(arguments: [StoreKind.memory, .sqlite], Reach.allCases)
    func aSavedDeletionThatIsTakenBackReachesEachLevel(_ kind: StoreKind, _ reach: Reach) throws {
        let levels = try Levels(kind)
        let leaf = levels.leaf
        let ada = try levels.bench.make("Person", "Ada", in: leaf)
        let passport = try levels.bench.make("Passport", "P1", in: leaf)
        let project = try levels.bench.make("Project", "Engine", in: leaf)
        ada.setValue(passport, forKey: "passport")
        ada.setValue(Set([project]), forKey: "projects")
        ada.setValue("countess", forKey: "nick")
        try levels.saveAllAndRecord()
        levels.group { leaf.delete(ada) }
        try leaf.save()
        if reach != .middle { try levels.middle.save() }
        if reach == .store { try levels.top.save() }
        leaf.undo()
        levels.group {
            ada.setValue("Augusta", forKey: "name")
            ada.setValue(nil, forKey: "nick")
        }
        try leaf.save()
        #expect(try levels.stored("Person", in: levels.middle) == ["Augusta"])
        #expect(levels.middle.deletedObjects.isEmpty)
        try levels.saveAll()
        let fresh = levels.bench.newContext()
        #expect(try levels.stored("Passport", in: fresh) == ["P1"])
        let found = try #require(
            try fresh.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first)
        #expect(found.value(forKey: "name") as? String == "Augusta")
        #expect(found.value(forKey: "nick") == nil)
        #expect((found.value(forKey: "passport") as? NSManagedObject) != nil)
        #expect((found.value(forKey: "projects") as? Set<NSManagedObject>)?.count == 1)
    }

    /// One that no level above ever had: a link may have led there to nothing.
    @Test(arguments: [StoreKind.memory, .sqlite])
    func whatWasMadeAndDeletedBeforeASaveComesBackAsNew(_ kind: StoreKind) throws {
        let levels = try Levels(kind)
        let leaf = levels.leaf
        let ada = try levels.bench.make("Person", "Ada", in: leaf)
        try levels.saveAllAndRecord()
        var passport: NSManagedObject?
        try levels.group { passport = try levels.bench.make("Passport", "P1", in: leaf) }
        levels.group { ada.setValue(passport, forKey: "passport") }
        levels.group { leaf.delete(ada) }
        #expect(passport?.isDeleted == true)
        try leaf.save()
        leaf.undo()
        for context in [levels.top, levels.middle] { context.refreshAllObjects() }
        #expect(try levels.stored("Passport", in: leaf) == ["P1"])
        levels.group { passport?.setValue(nil, forKey: "holder") }
        #expect(try levels.stored("Person", in: leaf) == ["Ada"])
        try levels.saveAll()
        let fresh = levels.bench.newContext()
        #expect(try levels.stored("Person", in: fresh) == ["Ada"])
        #expect(try levels.stored("Passport", in: fresh) == ["P1"])
    }

    /// What the parent deleted by itself stays deleted, whatever a child says of it.
    @Test func aDeletionOfTheParentsOwnStays() throws {
        let levels = try Levels(.memory)
        let ada = try levels.bench.make("Person", "Ada", in: levels.leaf)
        try levels.saveAllAndRecord()
        levels.middle.delete(levels.middle.object(with: ada.objectID))
        levels.group { ada.setValue("Augusta", forKey: "name") }
        try levels.leaf.save()
        #expect(levels.middle.deletedObjects.count == 1)
        #expect(try levels.stored("Person", in: levels.middle).isEmpty)
    }
}
