import CoreData
import Foundation
import Testing

/// Deletions that wait to be saved, whose objects are read anew or meet a changed row: what the
/// program had made of their links before stays as it made it.
@Suite struct RefreshedDeletionTests {
    enum Meeting: CaseIterable, Sendable { case refreshOfAll, refreshOfOne, refetch, conflict }

    /// Has the context meet the row of its deleted object, and saves.
    private func save(_ object: Person, _ meeting: Meeting, _ bench: Bench) throws {
        let context = bench.context
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        switch meeting {
        case .refreshOfAll: context.refreshAllObjects()
        case .refreshOfOne: context.refresh(object, mergeChanges: true)
        case .refetch:
            let request = NSFetchRequest<Person>(entityName: "Person")
            request.shouldRefreshRefetchedObjects = true
            request.includesPendingChanges = false
            _ = try context.fetch(request)
        case .conflict: break
        }
        context.processPendingChanges()
        try context.save()
    }

    /// A passport that was taken from Ada before she was deleted is not deleted with her.
    @Test(arguments: StoreKind.logging, Meeting.allCases)
    func whatWasUnlinkedBeforeStays(_ kind: StoreKind, _ meeting: Meeting) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let passport = try bench.make("Passport", "P")
        ada.setValue(passport, forKey: "passport")
        try bench.context.save()
        ada.setValue(nil, forKey: "passport")
        bench.context.delete(ada)
        bench.context.processPendingChanges()
        #expect(!passport.isDeleted)
        let other = bench.newContext()
        try bench.twin(ada, in: other).score = 5
        try other.save()
        try save(ada, meeting, bench)
        #expect(passport.managedObjectContext === bench.context && !passport.isDeleted)
        let fresh = bench.newContext()
        #expect(try fresh.count(for: NSFetchRequest<Person>(entityName: "Person")) == 0)
        #expect(try bench.twin(passport, in: fresh).value(forKey: "holder") == nil)
        #expect(try GoneObjectTests.danglingLinks(bench) == [])
    }

    /// One that somebody else gave her meanwhile lets go of her, as if that had been before.
    @Test(arguments: StoreKind.logging, Meeting.allCases)
    func whatWasLinkedMeanwhileLetsGo(_ kind: StoreKind, _ meeting: Meeting) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let (first, second) = (try bench.make("Passport", "1"), try bench.make("Passport", "2"))
        ada.setValue(first, forKey: "passport")
        try bench.context.save()
        ada.setValue(nil, forKey: "passport")
        bench.context.delete(ada)
        bench.context.processPendingChanges()
        let other = bench.newContext()
        try bench.twin(ada, in: other).setValue(
            try bench.twin(second, in: other), forKey: "passport")
        try other.save()
        try save(ada, meeting, bench)
        let fresh = bench.newContext()
        #expect(try fresh.count(for: NSFetchRequest<Person>(entityName: "Person")) == 0)
        for passport in [first, second] {
            #expect(try bench.twin(passport, in: fresh).value(forKey: "holder") == nil)
        }
        #expect(try GoneObjectTests.danglingLinks(bench) == [])
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func anUndoneDeletionHasItsUnsavedLink(_ kind: StoreKind, _ isWhole: Bool) throws {
        let bench = try Bench(kind)
        let context = bench.context
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        try context.save()
        context.undoManager = UndoManager()
        context.performAndWait { ada.spouse = bob }
        context.performAndWait { context.delete(ada) }
        context.performAndWait {
            if isWhole {
                context.refreshAllObjects()
            } else {
                context.refresh(ada, mergeChanges: true)
            }
        }
        context.performAndWait { context.undo() }
        #expect(!ada.isDeleted && ada.spouse === bob && bob.spouse === ada)
        try context.save()
        let fresh = try bench.twin(ada, in: bench.newContext())
        #expect(fresh.spouse?.name == "Bob" && fresh.spouse?.spouse === fresh)
    }

    /// To read anew is nothing that can be undone.
    @Test(arguments: StoreKind.allCases)
    func aRefreshLeavesUndoAndRedoAsTheyAre(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let context = bench.context
        let ada = try bench.person("Ada")
        let project = try bench.make("Project", "P")
        try context.save()
        let manager = UndoManager()
        context.undoManager = manager
        context.performAndWait { ada.mutableSetValue(forKey: "projects").add(project) }
        context.performAndWait { context.delete(project) }
        context.performAndWait { ada.score = 3 }
        context.performAndWait { context.undo() }
        #expect(manager.canRedo && ada.score == 0)
        context.performAndWait { context.refreshAllObjects() }
        #expect(manager.canRedo)
        context.performAndWait { context.redo() }
        #expect(ada.score == 3)
        context.performAndWait { context.undo() }
        context.performAndWait { context.undo() }
        #expect(ada.score == 0 && !project.isDeleted)
        #expect(bench.names(ada.value(forKey: "projects")) == ["P"])
    }

    /// What came to a deleted object's row goes with it once it is saved, not before: an undo
    /// leaves it alone.
    @Test(arguments: StoreKind.logging, [true, false])
    func whatCameMeanwhileIsDeletedByTheSave(_ kind: StoreKind, _ isUndone: Bool) throws {
        let bench = try Bench(kind)
        let context = bench.context
        let list = try bench.make("Playlist", "L")
        try context.save()
        context.undoManager = UndoManager()
        context.performAndWait { context.delete(list) }
        let other = bench.newContext()
        let song = try bench.make("Song", "S", in: other)
        let twin = try bench.twin(list, in: other)
        song.setValue(twin, forKey: "playlist")
        twin.setValue("New", forKey: "name")
        try other.save()
        context.performAndWait { context.refresh(list, mergeChanges: true) }
        if isUndone { context.performAndWait { context.undo() } }
        try context.save()
        let fresh = bench.newContext()
        for name in ["Playlist", "Song"] {
            let request = NSFetchRequest<NSManagedObject>(entityName: name)
            #expect(try fresh.count(for: request) == (isUndone ? 1 : 0))
        }
        #expect(try GoneObjectTests.danglingLinks(bench) == [])
    }
}
