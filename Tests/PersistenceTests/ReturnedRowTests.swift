import CoreData
import Foundation
import Testing

/// Rows that come back under their IDs: a notice of their deletion that is merged later, or before
/// that of their return, hides nothing that is stored.
@Suite struct ReturnedRowTests {
    /// A writer that deletes, and a reader that has read.
    private struct Stage {
        let bench: Bench
        let reader: NSManagedObjectContext
        let ada: Person
        let twin: Person
        var writer: NSManagedObjectContext { bench.context }

        init(_ kind: StoreKind) throws {
            bench = try Bench(kind)
            ada = try bench.person("Ada")
            try bench.context.save()
            bench.context.undoManager = UndoManager()
            reader = bench.newContext()
            twin = try bench.twin(ada, in: reader)
            _ = twin.name
        }

        /// Deletes Ada in a save, and brings her back in another; returns the notices.
        func deleteAndUndo() throws -> [[AnyHashable: Any]] {
            let ids = Set([ada.objectID])
            writer.performAndWait { writer.delete(ada) }
            try writer.save()
            writer.performAndWait { writer.undo() }
            try writer.save()
            return [[NSDeletedObjectIDsKey: ids], [NSInsertedObjectIDsKey: ids]]
        }

        func merge(_ notice: [AnyHashable: Any]) {
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: notice, into: [reader])
        }

        func check(_ object: Person) throws {
            let request = NSFetchRequest<Person>(entityName: "Person")
            #expect(try reader.count(for: request) == 1)
            #expect(try reader.fetch(request) == [object])
            #expect(!object.isDeleted && object.name == "Ada" && !reader.hasChanges)
            #expect(reader.deletedObjects.isEmpty)
            try reader.save()
            #expect(object.managedObjectContext === reader)
            #expect(try reader.fetch(request) == [object])
        }
    }

    /// Without a delegate a controller follows nothing.
    private final class Follower: NSObject, NSFetchedResultsControllerDelegate {
        func controllerDidChangeContent(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>
        ) {}
    }
    private let follower = Follower()

    private func controller(_ stage: Stage) throws -> NSFetchedResultsController<Person> {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: stage.reader, sectionNameKeyPath: nil,
            cacheName: nil)
        controller.delegate = follower
        try controller.performFetch()
        return controller
    }

    @Test(arguments: StoreKind.logging)
    func aDeletionThatIsMergedLateHidesNothing(_ kind: StoreKind) throws {
        let stage = try Stage(kind)
        let controller = try controller(stage)
        let notices = try stage.deleteAndUndo()
        for notice in notices {
            stage.merge(notice)
            #expect(controller.fetchedObjects == [stage.twin])
        }
        try stage.check(stage.twin)
        #expect(controller.fetchedObjects == [stage.twin])
    }

    /// The reader learns of the deletion while the row is gone.
    @Test(arguments: StoreKind.logging)
    func whatAMergeTookAwayComesBack(_ kind: StoreKind) throws {
        let stage = try Stage(kind)
        let controller = try controller(stage)
        let ids = Set([stage.ada.objectID])
        stage.writer.performAndWait { stage.writer.delete(stage.ada) }
        try stage.writer.save()
        stage.merge([NSDeletedObjectIDsKey: ids])
        #expect(stage.twin.isDeleted && controller.fetchedObjects == [])
        stage.writer.performAndWait { stage.writer.undo() }
        try stage.writer.save()
        stage.merge([NSInsertedObjectIDsKey: ids])
        try stage.check(stage.twin)
        #expect(controller.fetchedObjects == [stage.twin])
    }

    /// The own edit won over the deletion; then the context merges what the others did.
    @Test(arguments: StoreKind.logging)
    func anEditThatBroughtTheRowBackIsSeen(_ kind: StoreKind) throws {
        let stage = try Stage(kind)
        let controller = try controller(stage)
        let ids = Set([stage.ada.objectID])
        stage.reader.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        stage.twin.score = 7
        stage.writer.delete(stage.ada)
        try stage.writer.save()
        try stage.reader.save()
        stage.merge([NSDeletedObjectIDsKey: ids])
        #expect(controller.fetchedObjects == [stage.twin])
        try stage.check(stage.twin)
        #expect(stage.twin.score == 7)
        #expect(controller.fetchedObjects == [stage.twin])
    }

    /// Who leads to the object goes on leading to it.
    @Test(arguments: StoreKind.logging)
    func linksToItStay(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        ada.spouse = bob
        try bench.context.save()
        let reader = bench.newContext()
        let (twin, bobsTwin) = (try bench.twin(ada, in: reader), try bench.twin(bob, in: reader))
        #expect(bobsTwin.spouse === twin)
        let notice = [NSDeletedObjectIDsKey: Set([ada.objectID])]
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: notice, into: [reader])
        #expect(bobsTwin.spouse === twin && !twin.isDeleted && !reader.hasChanges)
    }

    /// A deletion of the context's own goes on.
    @Test(arguments: StoreKind.logging)
    func anOwnDeletionIsNotTakenBack(_ kind: StoreKind) throws {
        let stage = try Stage(kind)
        stage.reader.delete(stage.twin)
        stage.reader.processPendingChanges()
        for notice in try stage.deleteAndUndo() { stage.merge(notice) }
        #expect(stage.twin.isDeleted)
        stage.reader.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try stage.reader.save()
        let request = NSFetchRequest<Person>(entityName: "Person")
        #expect(try stage.bench.newContext().count(for: request) == 0)
    }

    enum Look: CaseIterable, Sendable { case fetched, allRefreshed, refreshed }

    /// Somebody looked while the row was gone, and merges nothing.
    @Test(arguments: StoreKind.logging, Look.allCases)
    func whoFoundItGoneFindsItAgain(_ kind: StoreKind, _ look: Look) throws {
        let stage = try Stage(kind)
        stage.writer.performAndWait { stage.writer.delete(stage.ada) }
        try stage.writer.save()
        stage.reader.refreshAllObjects()
        #expect(stage.twin.name == nil && stage.twin.isDeleted)
        stage.writer.performAndWait { stage.writer.undo() }
        try stage.writer.save()
        switch look {
        case .fetched: _ = try stage.reader.fetch(NSFetchRequest<Person>(entityName: "Person"))
        case .allRefreshed: stage.reader.refreshAllObjects()
        case .refreshed: stage.reader.refresh(stage.twin, mergeChanges: true)
        }
        #expect(stage.twin.name == "Ada")
        stage.reader.processPendingChanges()
        try stage.check(stage.twin)
    }
}
