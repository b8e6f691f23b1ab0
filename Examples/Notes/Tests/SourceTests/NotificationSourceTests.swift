import CoreData
import Testing

@MainActor struct NotificationSourceTests {
    /// What observers saw.
    final class Seen {
        var names: [String] = []
        var inserted = 0
    }

    @Test func typedMessagesArriveOnTheMainActor() async throws {
        let container = try AppModel.container()
        let context = container.viewContext
        let seen = Seen()
        let center = NotificationCenter.default
        let tokens = [
            center.addObserver(of: context, for: .willSave) { message in
                seen.names.append("will")
                #expect(message.context === context)
            },
            center.addObserver(of: context, for: .didSave) { message in
                seen.names.append("did")
                seen.inserted = message.inserted.count
            },
            center.addObserver(of: context, for: .didSaveObjectIDs) { message in
                seen.names.append("ids \(message.insertedIDs.count)")
            },
        ]
        let person = Person(context: context)
        person.name = "Ann"
        try context.save()
        for token in tokens { center.removeObserver(token) }
        #expect(Set(seen.names) == ["will", "did", "ids 1"])
        #expect(seen.inserted == 1)
    }

    @Test func asynchronousMessagesArriveFromAnyThread() async throws {
        let container = try AppModel.container()
        let background = container.newBackgroundContext()
        let messages = NotificationCenter.default.messages(
            of: background, for: .didSaveObjectIDsAsync)
        var iterator = messages.makeAsyncIterator()
        try await background.perform {
            _ = Person(name: "Ann", in: background)
            try background.save()
        }
        let message = try await iterator.next()
        #expect(message?.insertedIDs.count == 1)
        #expect(message?.context === background)
    }

    @Test func messagesAndNotificationsConvert() throws {
        let container = try AppModel.container()
        let coordinator = container.persistentStoreCoordinator
        typealias Message = NSPersistentStoreCoordinator.StoresDidChangeMessage
        let notification = Notification(
            name: Message.name, object: coordinator,
            userInfo: [NSAddedPersistentStoresKey: coordinator.persistentStores])
        let message = try #require(Message.makeMessage(notification))
        #expect(message.addedStores.count == 1)
        #expect(message.removedStores.isEmpty)
        #expect(message.uuidChangedStores == nil)
        #expect(Message.makeNotification(message).object as AnyObject? === coordinator)
        #expect(Message.makeMessage(Notification(name: .NSPersistentStoreRemoteChange)) == nil)
    }

    @Test func removedStoresAreAnnouncedByTheStore() throws {
        let container = try AppModel.container()
        let coordinator = container.persistentStoreCoordinator
        let store = coordinator.persistentStores[0]
        // @unchecked: written and read on one thread.
        final class Box: @unchecked Sendable { var object: AnyObject? }
        let box = Box()
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: store, queue: nil
        ) { box.object = $0.object as AnyObject? }
        try coordinator.remove(store)
        NotificationCenter.default.removeObserver(token)
        #expect(box.object === store)
    }
}
