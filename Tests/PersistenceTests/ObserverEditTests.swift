import CoreData
import Foundation
import Testing

/// What observers of a save's notices change is a change of the next save.
@Suite struct ObserverEditTests {
    private final class Turn: @unchecked Sendable {
        // @unchecked: used by the thread that saves.
        var isOver = false
        var edit: () -> Void = {}

        func take() {
            if isOver { return }
            isOver = true
            edit()
        }
    }

    private func editing(
        at name: Notification.Name, of sender: AnyObject, _ edit: @escaping () -> Void,
        while work: () throws -> Void
    ) rethrows {
        let turn = Turn()
        turn.edit = edit
        let token = NotificationCenter.default.addObserver(
            forName: name, object: sender, queue: nil
        ) { _ in turn.take() }
        defer { NotificationCenter.default.removeObserver(token) }
        try work()
        #expect(turn.isOver)
    }

    @Test func editsAtARemoteChangeAreSavedNext() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
        try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
            options: [
                NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
                NSPersistentHistoryTrackingKey: true,
            ])
        let (context, other) = (
            NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue)
        )
        context.persistentStoreCoordinator = coordinator
        other.persistentStoreCoordinator = coordinator
        let (ada, bob) = (Person(context: context), Person(context: context))
        (ada.name, bob.name) = ("Ada", "Bob")
        try context.save()
        ada.age = 7
        try editing(at: .NSPersistentStoreRemoteChange, of: coordinator) {
            ada.name = "Bea"
            bob.name = "Ben"
        } while: {
            try context.save()
        }
        #expect(context.updatedObjects == [ada, bob])
        try context.save()
        let stored = try [ada, bob].map { try other.existingObject(with: $0.objectID) as? Person }
        #expect(stored.map { $0?.name } == ["Bea", "Ben"] && stored[0]?.age == 7)
    }

    @Test func editsAtTheParentsNoticeAreSavedNext() throws {
        let bench = try Bench(.memory)
        let ada = try bench.person("Ada")
        try bench.context.save()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = bench.context
        let twin = try bench.twin(ada, in: child)
        twin.age = 7
        try editing(at: .NSManagedObjectContextObjectsDidChange, of: bench.context) {
            twin.name = "Bea"
        } while: {
            try child.save()
        }
        #expect(ada.age == 7 && ada.name == "Ada")
        #expect(child.updatedObjects == [twin] && twin.name == "Bea")
        try child.save()
        #expect(ada.name == "Bea" && !child.hasChanges)
    }
}
