import CoreData
import Foundation
import Testing

/// Undo and redo of a context's changes, event by event.
@Suite struct UndoTests {
    private func bench(_ kind: StoreKind) throws -> Bench {
        let bench = try Bench(kind)
        bench.context.undoManager = UndoManager()
        bench.context.undoManager?.groupsByEvent = false
        return bench
    }

    /// Makes one group of what `work` does.
    private func group(_ bench: Bench, _ work: () throws -> Void) rethrows {
        bench.context.undoManager?.beginUndoGrouping()
        try work()
        bench.context.undoManager?.endUndoGrouping()
    }

    @Test func withoutAManagerThereIsNothingToUndo() throws {
        let bench = try Bench(.memory)
        let ada = try bench.person("Ada")
        #expect(bench.context.undoManager == nil)
        bench.context.undo()
        bench.context.redo()
        #expect(ada.name == "Ada" && ada.isInserted)
    }

    @Test(arguments: StoreKind.allCases)
    func attributesComeBack(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        var ada = Person()
        try group(bench) { ada = try bench.person("Ada") }
        try bench.context.save()
        group(bench) {
            ada.name = "Bea"
            ada.score = 3
            ada.colors = ["red"]
            ada.setValue("s", forKey: "scratch")
        }
        group(bench) { ada.name = "Cid" }
        bench.context.undo()
        #expect(ada.name == "Bea" && ada.isUpdated)
        bench.context.undo()
        #expect(ada.name == "Ada" && ada.score == 0 && ada.colors == nil)
        #expect(ada.value(forKey: "scratch") == nil)
        #expect(!ada.hasChanges && !bench.context.hasChanges)
        bench.context.redo()
        #expect(ada.name == "Bea" && ada.score == 3 && ada.colors == ["red"])
        #expect(ada.value(forKey: "scratch") as? String == "s")
        bench.context.redo()
        #expect(ada.name == "Cid")
        bench.context.redo()
        #expect(ada.name == "Cid")
        bench.context.undo()
        try bench.context.save()
        #expect(try bench.twin(ada, in: bench.newContext()).name == "Bea")
    }

    @Test(arguments: StoreKind.allCases)
    func relationshipsComeBackOnBothEnds(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        let (sales, tech) = (try bench.make("Department", "S"), try bench.make("Department", "T"))
        ada.department = sales
        ada.friends = [bob]
        try group(bench) { try bench.context.save() }
        group(bench) {
            ada.department = tech
            bob.department = tech
            ada.friends = []
            ada.spouse = bob
        }
        bench.context.undo()
        #expect(ada.department === sales && bob.department == nil && ada.spouse == nil)
        #expect(bob.spouse == nil && ada.friends == [bob] && bob.friends == [ada])
        #expect(bench.names(sales.value(forKey: "employees")) == ["Ada"])
        #expect(bench.names(tech.value(forKey: "employees")).isEmpty)
        #expect(!bench.context.hasChanges)
        bench.context.redo()
        #expect(ada.department === tech && bob.spouse === ada && bob.friends.isEmpty)
        try bench.context.save()
        let twin = try bench.twin(tech, in: bench.newContext())
        #expect(bench.names(twin.value(forKey: "employees")) == ["Ada", "Bob"])
        bench.context.undo()
        try bench.context.save()
        let again = try bench.twin(ada, in: bench.newContext())
        #expect(again.department?.value(forKey: "name") as? String == "S")
        #expect(again.friends.count == 1 && again.spouse == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func ordersComeBack(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let list = try bench.make("Playlist", "Best")
        let songs = try ["a", "b", "c"].map { try bench.make("Song", $0) }
        list.setValue(songs, forKey: "songs")
        try group(bench) { try bench.context.save() }
        func names() -> [String] {
            (list.value(forKey: "songs") as? NSOrderedSet)?.array
                .compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String } ?? []
        }
        group(bench) {
            let members = list.mutableOrderedSetValue(forKey: "songs")
            members.removeObject(at: 0)
            members.insert(songs[0], at: 2)
        }
        #expect(names() == ["b", "c", "a"])
        bench.context.undo()
        #expect(names() == ["a", "b", "c"])
        bench.context.redo()
        #expect(names() == ["b", "c", "a"])
        group(bench) { bench.context.delete(songs[1]) }
        #expect(names() == ["c", "a"])
        bench.context.undo()
        #expect(names() == ["b", "c", "a"])
    }

    @Test(arguments: StoreKind.allCases)
    func insertionsAndDeletionsComeBack(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let sales = try bench.make("Department", "Sales")
        try group(bench) { try bench.context.save() }
        var ada = Person()
        try group(bench) {
            ada = try bench.person("Ada")
            ada.department = sales
        }
        bench.context.undo()
        #expect(bench.context.insertedObjects.isEmpty && !bench.context.hasChanges)
        #expect(bench.names(sales.value(forKey: "employees")).isEmpty)
        bench.context.redo()
        #expect(bench.context.insertedObjects == [ada] && ada.name == "Ada")
        #expect(ada.department === sales)
        try bench.context.save()
        group(bench) { bench.context.delete(ada) }
        #expect(ada.isDeleted && bench.names(sales.value(forKey: "employees")).isEmpty)
        bench.context.undo()
        #expect(!ada.isDeleted && bench.names(sales.value(forKey: "employees")) == ["Ada"])
        #expect(!bench.context.hasChanges)
        bench.context.redo()
        #expect(ada.isDeleted)
        try bench.context.save()
        #expect(ada.managedObjectContext == nil)
        // The deletion is saved; undoing it stores the object anew.
        bench.context.undo()
        #expect(ada.managedObjectContext === bench.context && ada.isInserted)
        #expect(ada.department === sales)
        try bench.context.save()
        let twin = try bench.twin(ada, in: bench.newContext())
        #expect(twin.name == "Ada" && twin.department?.objectID === sales.objectID)
        // And undoing the insertion, which is saved, deletes it.
        bench.context.undo()
        #expect(ada.isDeleted)
        try bench.context.save()
        #expect(
            try bench.newContext().count(for: NSFetchRequest<Person>(entityName: "Person")) == 0)
    }

    /// Lets somebody else give a project a name, an owner and a member, and merges that.
    private func changeElsewhere(
        _ project: NSManagedObject, for ada: Person, _ bench: Bench
    ) throws {
        let other = bench.newContext()
        let (twin, twinOfAda) = (try bench.twin(project, in: other), try bench.twin(ada, in: other))
        twin.setValue("theirs", forKey: "name")
        twin.setValue(twinOfAda, forKey: "owner")
        twin.setValue([twinOfAda] as Set, forKey: "members")
        try other.save()
        bench.context.performAndWait {}
    }

    /// The project shows what was changed elsewhere, agrees with its other ends, and can be saved.
    private func expectTheirs(
        _ project: NSManagedObject, of ada: Person, _ bench: Bench
    ) throws {
        #expect(project.value(forKey: "name") as? String == "theirs")
        #expect(project.value(forKey: "owner") as? Person === ada)
        #expect(bench.names(project.value(forKey: "members")) == ["Ada"])
        #expect(bench.names(ada.value(forKey: "owned")) == ["theirs"])
        #expect(bench.names(ada.value(forKey: "projects")) == ["theirs"])
        #expect(!project.hasChanges)
        group(bench) { project.setValue("ours", forKey: "name") }
        try bench.context.save()
        let stored = try bench.twin(project, in: bench.newContext())
        #expect(stored.value(forKey: "name") as? String == "ours")
        #expect(bench.names(stored.value(forKey: "members")) == ["Ada"])
    }

    @Test(arguments: StoreKind.allCases)
    func aDeletionThatIsTakenBackShowsWhatOthersSaved(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let ada = try bench.person("Ada")
        let project = try bench.make("Project", "own")
        try group(bench) { try bench.context.save() }
        bench.context.automaticallyMergesChangesFromParent = true
        group(bench) {
            bench.context.delete(project)
            bench.context.processPendingChanges()
        }
        try changeElsewhere(project, for: ada, bench)
        #expect(project.isDeleted)
        bench.context.undo()
        #expect(!project.isDeleted)
        try expectTheirs(project, of: ada, bench)
    }

    @Test(arguments: StoreKind.allCases)
    func anInsertionThatIsDoneAgainShowsWhatOthersSaved(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let ada = try bench.person("Ada")
        try group(bench) { try bench.context.save() }
        bench.context.automaticallyMergesChangesFromParent = true
        var project = NSManagedObject()
        try group(bench) { project = try bench.make("Project", "own") }
        try bench.context.save()
        bench.context.undo()
        #expect(project.isDeleted)
        try changeElsewhere(project, for: ada, bench)
        bench.context.redo()
        #expect(!project.isDeleted)
        try expectTheirs(project, of: ada, bench)
    }

    /// Changes that were made before the deletion stay on top.
    @Test(arguments: StoreKind.allCases)
    func aDeletionThatIsTakenBackKeepsEarlierChanges(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let ada = try bench.person("Ada")
        try group(bench) { try bench.context.save() }
        bench.context.automaticallyMergesChangesFromParent = true
        group(bench) { ada.age = 30 }
        group(bench) {
            bench.context.delete(ada)
            bench.context.processPendingChanges()
        }
        let other = bench.newContext()
        try bench.twin(ada, in: other).name = "Bea"
        try other.save()
        bench.context.performAndWait {}
        bench.context.undo()
        #expect(ada.name == "Bea" && ada.age == 30 && ada.hasChanges)
        try bench.context.save()
        let stored = try bench.twin(ada, in: bench.newContext())
        #expect(stored.name == "Bea" && stored.age == 30)
    }

    /// A program's action is undone as a whole, with what it changes in the context.
    @Test(arguments: [true, false])
    func whatAnActionOfTheProgramChangesCanBeRedone(groupsByEvent: Bool) throws {
        let bench = try bench(.memory)
        let ada = try bench.person("Ada")
        try group(bench) { try bench.context.save() }
        let manager = try #require(bench.context.undoManager)
        manager.removeAllActions()
        manager.groupsByEvent = groupsByEvent
        manager.beginUndoGrouping()
        manager.registerUndo(withTarget: ada) { $0.name = "Bea" }
        manager.endUndoGrouping()
        manager.undo()
        #expect(ada.name == "Bea" && manager.redoCount == 1 && manager.undoCount == 0)
        bench.context.processPendingChanges()
        #expect(manager.canRedo && manager.redoCount == 1 && manager.undoCount == 0)
        manager.redo()
        #expect(ada.name == "Ada" && manager.canUndo)
        manager.undo()
        #expect(ada.name == "Bea")
    }

    @Test func cascadesAreOneStep() throws {
        let bench = try bench(.sqlite)
        let list = try bench.make("Playlist", "Best")
        let songs = try ["a", "b"].map { try bench.make("Song", $0) }
        list.setValue(songs, forKey: "songs")
        try group(bench) { try bench.context.save() }
        group(bench) { bench.context.delete(list) }
        #expect(songs.filter(\.isDeleted).count == 2)
        bench.context.undo()
        #expect(!list.isDeleted && songs.filter(\.isDeleted).isEmpty)
        #expect((list.value(forKey: "songs") as? NSOrderedSet)?.count == 2)
        #expect(!bench.context.hasChanges)
    }

    @Test func rollbackAndResetEmptyTheManager() throws {
        let bench = try bench(.memory)
        let ada = try bench.person("Ada")
        try group(bench) { try bench.context.save() }
        group(bench) { ada.name = "Bea" }
        #expect(bench.context.undoManager?.canUndo == true)
        bench.context.rollback()
        #expect(ada.name == "Ada" && bench.context.undoManager?.canUndo == false)
        group(bench) { ada.name = "Bea" }
        bench.context.reset()
        #expect(bench.context.undoManager?.canUndo == false)
    }

    @Test func whatIsNotTheProgramsDoingIsNotUndone() throws {
        let bench = try bench(.sqlite)
        let ada = try bench.person("Ada")
        try group(bench) { try bench.context.save() }
        let steps = bench.context.undoManager?.undoCount
        let other = bench.newContext()
        try bench.twin(ada, in: other).name = "Other's"
        nonisolated(unsafe) var saved: Notification?
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) { saved = $0 }
        defer { NotificationCenter.default.removeObserver(token) }
        try other.save()
        bench.context.mergeChanges(fromContextDidSave: try #require(saved))
        bench.context.refresh(ada, mergeChanges: false)
        bench.context.processPendingChanges()
        #expect(ada.name == "Other's" && bench.context.undoManager?.undoCount == steps)
        // Recording may be off for a while.
        bench.context.undoManager?.disableUndoRegistration()
        ada.name = "Quiet"
        bench.context.processPendingChanges()
        bench.context.undoManager?.enableUndoRegistration()
        #expect(bench.context.undoManager?.undoCount == steps)
    }

    @Test func objectsHearHowTheyChanged() throws {
        let entity = TestModel.entity("Hearing", of: Hearing.self)
        entity.properties = [TestModel.attribute("name", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let bench = try Bench(.memory, model: model)
        let manager = UndoManager()
        bench.context.undoManager = manager
        let object = Hearing(entity: entity, insertInto: bench.context)
        try bench.context.save()
        bench.context.undo()
        bench.context.redo()
        object.setValue("a", forKey: "name")
        bench.context.undo()
        bench.context.delete(object)
        bench.context.undo()
        #expect(object.events == [.undoInsertion, .undoDeletion, .undoUpdate, .undoDeletion])
    }
}

private final class Hearing: NSManagedObject {
    var events: [NSSnapshotEventType] = []

    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) { events.append(flags) }
}
