import CoreData
import Foundation
import Testing

@Suite struct ContainerTests {
    private func container(_ model: NSManagedObjectModel = TestModel.make())
        -> NSPersistentContainer
    {
        let container = NSPersistentContainer(name: "Test", managedObjectModel: model)
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [description]
        return container
    }

    private func load(_ container: NSPersistentContainer) throws {
        var failure: (any Error)?
        var count = 0
        container.loadPersistentStores { _, error in
            failure = error
            count += 1
        }
        if let failure { throw failure }
        #expect(count == container.persistentStoreDescriptions.count)
    }

    @Test func aContainerStartsWithOneSQLiteStoreInTheDataFolder() throws {
        let container = NSPersistentContainer(name: "Test", managedObjectModel: TestModel.make())
        let description = try #require(container.persistentStoreDescriptions.first)
        #expect(
            description.type == NSSQLiteStoreType
                && description.url?.lastPathComponent == "Test.sqlite")
        #expect(description.shouldMigrateStoreAutomatically && !description.isReadOnly)
        #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
    }

    @Test func theViewContextFollowsBackgroundWork() async throws {
        let container = container()
        try load(container)
        let view = container.viewContext
        view.automaticallyMergesChangesFromParent = true
        let id = try await container.performBackgroundTask { context in
            let person = Person(context: context)
            person.name = "Ada"
            try context.save()
            return person.objectID
        }
        let twin = try await view.perform {
            try #require(try view.existingObject(with: id) as? Person)
        }
        try await container.performBackgroundTask { context in
            let person = try #require(try context.existingObject(with: id) as? Person)
            person.name = "Bea"
            try context.save()
        }
        await view.perform { #expect(twin.name == "Bea") }
    }

    @Test func aStoreOfAnUnknownTypeIsAClearError() throws {
        let container = container()
        container.persistentStoreDescriptions[0].type = "Cards"
        container.persistentStoreDescriptions[0].url = URL(fileURLWithPath: "/dev/null")
        let error = try #require(throws: NSError.self) { try load(container) }
        #expect(error.code == NSPersistentStoreInvalidTypeError)
    }

    @Test func descriptionsCarryOptions() throws {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/x/y.sqlite"))
        description.setValue(NSString(string: "FULL"), forPragmaNamed: "synchronous")
        description.setOption(NSNumber(value: false), forKey: NSPersistentHistoryTrackingKey)
        description.timeout = 2
        let copy = try #require(description.copy() as? NSPersistentStoreDescription)
        #expect(copy.sqlitePragmas["synchronous"] as? String == "FULL")
        #expect(copy.options[NSPersistentHistoryTrackingKey] as? Bool == false && copy.timeout == 2)
    }

    @Test func aSQLiteStoreIsOpenedAgainWithItsObjects() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ContainerTests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("deep/Test.sqlite")
        let model = TestModel.make()
        func open(readOnly: Bool = false) throws -> NSPersistentContainer {
            let container = NSPersistentContainer(name: "Test", managedObjectModel: model)
            container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
            container.persistentStoreDescriptions[0].isReadOnly = readOnly
            try load(container)
            return container
        }
        let first = try open()
        let context = first.newBackgroundContext()
        let person = try #require(
            NSEntityDescription.insertNewObject(forEntityName: "Person", into: context) as? Person)
        person.name = "Ada"
        try context.save()
        let uri = person.objectID.uriRepresentation()
        let store = try #require(first.persistentStoreCoordinator.persistentStores.first)
        #expect(store.metadata[NSStoreUUIDKey] as? String == store.identifier)

        let again = try open(readOnly: true)
        let coordinator = again.persistentStoreCoordinator
        let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
        let other = again.newBackgroundContext()
        let twin = try #require(try other.existingObject(with: id) as? Person)
        #expect(twin.name == "Ada")
        let stranger = try first.newBackgroundContext().existingObject(with: id)
        #expect(stranger.objectID !== id && stranger.value(forKey: "name") as? String == "Ada")
        twin.name = "Bea"
        let error = try #require(throws: NSError.self) { try other.save() }
        #expect(error.code == NSPersistentStoreSaveError)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            type: .sqlite, at: url)
        #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)

        try first.persistentStoreCoordinator.remove(store)
        person.name = "Cy"
        let closed = try #require(throws: NSError.self) { try context.save() }
        #expect(closed.code == NSPersistentStoreSaveError)
        try coordinator.remove(try #require(coordinator.persistentStores.first))
        try coordinator.destroyPersistentStore(at: url, type: .sqlite)
        #expect(throws: NSError.self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        }
    }

    @Test func configurationsSendEntitiesToTheirStores() throws {
        let model = TestModel.make()
        model.setEntities(
            model.entities.filter { $0.name == "Account" || $0.name == "Tag" },
            forConfigurationName: "Cloud")
        model.setEntities(
            model.entities.filter { $0.name == "Song" }, forConfigurationName: "Local")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let stores = try ["Cloud", "Local"].map {
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: $0, at: nil)
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        func make(_ name: String) -> NSManagedObject {
            NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        }
        let (account, song) = (make("Account"), make("Song"))
        try context.save()
        #expect(account.objectID.persistentStore === stores[0])
        #expect(song.objectID.persistentStore === stores[1])
        _ = make("Department")
        let error = try #require(throws: NSError.self) { try context.save() }
        #expect(error.code == NSPersistentStoreSaveError)
        #expect(throws: NSError.self) {
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: "None", at: nil)
        }
    }

    @Test func savesAreAnnouncedWhereTheStoreIsAskedTo() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
        let key = NSPersistentStoreRemoteChangeNotificationPostOptionKey
        try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
            options: [key: true, NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let seen = Counter()
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { notice in
            let token = notice.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
            if token != nil { seen.count += 1 }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        Person(context: context).name = "Ada"
        try context.save()
        #expect(seen.count == 1)
    }

    private final class Counter: @unchecked Sendable {
        // @unchecked: used by one test on one thread.
        var count = 0
    }

    @Test func storedRequestsTakeVariables() throws {
        let model = TestModel.make()
        model.fetchRequestTemplates["named"] = FetchRequestTemplate(
            name: "named", entityName: "Person", predicateText: "name == $NAME")
        let bench = try Bench(.memory, model: model)
        try bench.person("Ada")
        try bench.person("Bob")
        let request = try #require(
            model.fetchRequestFromTemplate(
                withName: "named", substitutionVariables: ["NAME": "Bob"]))
        let results = try #require(
            try bench.coordinator.execute(request, with: bench.context) as? [Person])
        #expect(results.map(\.name) == ["Bob"])
        #expect(model.fetchRequestTemplate(forName: "none") == nil)
    }
}
