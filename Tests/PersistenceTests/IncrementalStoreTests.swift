import CoreData
import Foundation
import Platform
import Testing

@Suite struct IncrementalStoreTests {
    private struct Fixture {
        let service = FakeService()
        let url: URL

        init() {
            let address = URL(string: "https://library.example/\(UUID().uuidString)")
            url = address ?? URL(fileURLWithPath: "/library")
            let made = service
            let place = url
            RESTStore.services.withLock { $0[place] = made }
            NSPersistentStoreCoordinator.registerStoreClass(
                RESTStore.self, type: .init(rawValue: RESTStore.storeType))
        }

        func open() throws -> Library { try Library(type: RESTStore.storeType, at: url) }

        func fill() throws {
            try service.put("Author/7", ["name": "Ada", "born": "1815"])
            try service.put("Author/8", ["name": "Grace", "born": "1906"])
            try service.put(
                "Book/9", ["title": "Notes", "price": "12.5", "author": "Author/7"])
            _ = service.takeRequests()
        }
    }

    @Test func aStoreOfWhatIsNoFileNeedsNoURL() throws {
        let library = try Fixture().open()
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: try #require(
                library.store.persistentStoreCoordinator?.managedObjectModel))
        let store = try coordinator.addPersistentStore(
            ofType: RESTStore.storeType, configurationName: nil, at: nil, options: nil)
        #expect(store.url == nil && store.identifier == "library")
        #expect(coordinator.url(for: store).path == "/dev/null")
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        #expect(try context.fetch(request).isEmpty)
    }

    @Test func fetchesAskTheServiceAndFaultsAreFilledOnDemand() throws {
        let fixture = Fixture()
        try fixture.fill()
        let library = try fixture.open()
        #expect(library.store.identifier == "library")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        let authors = try library.context.fetch(request)
        #expect(fixture.service.takeRequests() == ["LIST Author"])
        #expect(authors.count == 2 && authors.allSatisfy(\.isFault))
        let names = authors.compactMap { $0.value(forKey: "name") as? String }.sorted()
        #expect(names == ["Ada", "Grace"])
        #expect(fixture.service.takeRequests().sorted() == ["GET Author/7", "GET Author/8"])
        _ = authors.map { $0.value(forKey: "born") }
        #expect(fixture.service.takeRequests().isEmpty)
        #expect(try library.texts("Author", "name", "born > 1900") == ["Grace"])
        #expect(try library.context.count(for: request) == 2)
        request.fetchLimit = 1
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
        #expect(
            try library.context.fetch(request).first?.value(forKey: "name") as? String == "Grace")
        let book = try #require(try library.all("Book").first)
        #expect(book.value(forKeyPath: "author.name") as? String == "Ada")
        let ada = try #require(try library.all("Author", "name == 'Ada'").first)
        #expect(ada.value(forKey: "books") as? Set<NSManagedObject> == [book])
    }

    @Test func savesGoToTheService() throws {
        let fixture = Fixture()
        try fixture.fill()
        let library = try fixture.open()
        let mary = library.make("Author", ["name": "Mary", "born": 1797])
        let book = library.make("Book", ["title": "Frankenstein", "author": mary])
        try library.context.save()
        let requests = fixture.service.takeRequests()
        #expect(requests.filter { $0.hasPrefix("POST") }.count == 2)
        #expect(requests.filter { $0.hasPrefix("PUT") }.count == 2)
        #expect(!mary.objectID.isTemporaryID)
        let path = try #require((library.store as? RESTStore)?.referenceObject(for: book.objectID))
        let stored = try fixture.service.get("\(path)").values
        #expect(stored["title"] == "Frankenstein" && stored["author"]?.hasPrefix("Author/") == true)

        mary.setValue("Mary S.", forKey: "name")
        library.context.delete(try #require(try library.all("Author", "name == 'Ada'").first))
        try library.context.save()
        #expect(try fixture.open().texts("Author", "name") == ["Grace", "Mary S."])
        #expect(try fixture.open().texts("Book", "title") == ["Frankenstein"])
    }

    @Test func identitiesOutliveTheCoordinator() throws {
        let fixture = Fixture()
        try fixture.fill()
        let book = try #require(try fixture.open().all("Book").first)
        let uri = book.objectID.uriRepresentation()
        let again = try fixture.open()
        let id = try #require(again.coordinator.managedObjectID(forURIRepresentation: uri))
        let twin = try again.context.existingObject(with: id)
        #expect(twin.value(forKey: "title") as? String == "Notes")
        #expect(try again.all("Book").first === twin)
    }

    @Test func failuresOfTheServiceReachTheProgram() throws {
        let fixture = Fixture()
        try fixture.fill()
        let library = try fixture.open()
        let ada = try #require(try library.all("Author", "name == 'Ada'").first)
        fixture.service.state.withLock { $0.isDown = true }
        var error = #expect(throws: NSError.self) { try library.all("Author") }
        #expect(error?.userInfo[NSUnderlyingErrorKey] is FakeService.Unreachable)
        ada.setValue("Eve", forKey: "name")
        error = #expect(throws: NSError.self) { try library.context.save() }
        #expect(error?.userInfo[NSUnderlyingErrorKey] is FakeService.Unreachable)
        #expect(ada.hasChanges)
        fixture.service.state.withLock { $0.isDown = false }
        try library.context.save()
        #expect(try fixture.service.get("Author/7").values["name"] == "Eve")
    }

    @Test func theStoreHearsOfContextsThatUseItsObjects() throws {
        let fixture = Fixture()
        try fixture.fill()
        let library = try fixture.open()
        let store = try #require(library.store as? RESTStore)
        let authors = try library.context.fetch(
            NSFetchRequest<NSManagedObject>(entityName: "Author"))
        store.waitForNotices()
        let registered = store.counts.withLock { $0.registered }
        #expect(registered >= authors.count)
        library.context.reset()
        store.waitForNotices()
        #expect(store.counts.withLock { $0.unregistered } >= authors.count)
    }

    @Test func boundsAreOfAllStoresTogether() throws {
        let fixture = Fixture()
        for name in ["a", "b", "d", "e"] {
            try fixture.service.put("Author/\(name)", ["name": name])
        }
        let library = try fixture.open()
        let second = try library.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        library.context.assign(library.make("Author", ["name": "c"]), to: second)
        try library.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        func names(from offset: Int, limit: Int) throws -> [String] {
            request.fetchOffset = offset
            request.fetchLimit = limit
            let found = try library.context.fetch(request)
            #expect(try library.context.count(for: request) == found.count)
            return found.compactMap { $0.value(forKey: "name") as? String }
        }
        #expect(try names(from: 0, limit: 0) == ["a", "b", "c", "d", "e"])
        #expect(try names(from: 1, limit: 0) == ["b", "c", "d", "e"])
        #expect(try names(from: 1, limit: 2) == ["b", "c"])
        #expect(try names(from: 3, limit: 2) == ["d", "e"])
        #expect(try names(from: 4, limit: 3) == ["e"])
    }

    @Test func whatNeedsRowsInBulkIsRefused() throws {
        let fixture = Fixture()
        try fixture.fill()
        let library = try fixture.open()
        let history = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
        let error = try #require(throws: NSError.self) { try library.context.execute(history) }
        #expect(error.code == NSPersistentStoreUnsupportedRequestTypeError)
        let place = FileManager.default.temporaryDirectory
            .appendingPathComponent("library-\(UUID().uuidString).sqlite")
        #expect(throws: NSError.self) {
            try library.coordinator.migratePersistentStore(library.store, to: place, type: .sqlite)
        }
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }
}
