import CoreData
import Foundation
import Platform
import Testing

/// Two contexts over a program's own incremental store: who was slower learns of it.
@Suite struct IncrementalConflictTests {
    private let service = FakeService()
    private let library: Library
    private let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)

    init() throws {
        let address = URL(string: "https://conflicts.example/\(UUID().uuidString)")
        let url = try #require(address)
        let made = service
        RESTStore.services.withLock { $0[url] = made }
        NSPersistentStoreCoordinator.registerStoreClass(
            RESTStore.self, type: .init(rawValue: RESTStore.storeType))
        try service.put("Author/7", ["name": "Ada", "born": "1815"])
        try service.put("Author/8", ["name": "Grace", "born": "1906"])
        library = try Library(type: RESTStore.storeType, at: url)
        other.persistentStoreCoordinator = library.coordinator
    }

    /// An author here and in the other context, both as the service has it.
    private func author(
        _ name: String
    ) throws -> (own: NSManagedObject, twin: NSManagedObject) {
        let own = try #require(try library.all("Author", "name == '\(name)'").first)
        let twin = try other.existingObject(with: own.objectID)
        #expect(twin.value(forKey: "name") as? String == name)
        return (own, twin)
    }

    private func expectConflict(
        _ context: NSManagedObjectContext, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let error = #expect(throws: NSError.self, sourceLocation: sourceLocation) {
            try context.save()
        }
        #expect(error?.code == NSManagedObjectMergeError, sourceLocation: sourceLocation)
    }

    @Test func theLaterOfTwoSavesMeetsTheEarlier() throws {
        let (ada, twin) = try author("Ada")
        ada.setValue(30, forKey: "born")
        try library.context.save()
        twin.setValue("Bea", forKey: "name")
        try expectConflict(other)
        #expect(try service.get("Author/7").values == ["name": "Ada", "born": "30"])
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try other.save()
        #expect(try service.get("Author/7").values == ["name": "Bea", "born": "30"])
        #expect(twin.value(forKey: "born") as? Int == 30)
    }

    @Test func whatWasChangedMeanwhileIsNotDeleted() throws {
        let (grace, twin) = try author("Grace")
        grace.setValue(30, forKey: "born")
        try library.context.save()
        other.delete(twin)
        try expectConflict(other)
        #expect(try service.get("Author/8").values["born"] == "30")
        other.mergePolicy = NSMergePolicy.overwrite
        try other.save()
        #expect(try service.list("Author") == ["Author/7"])
    }

    @Test func whatWasDeletedMeanwhileDoesNotComeBack() throws {
        let (grace, twin) = try author("Grace")
        library.context.delete(grace)
        try library.context.save()
        twin.setValue("Eve", forKey: "name")
        try expectConflict(other)
        other.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        try other.save()
        #expect(try service.list("Author") == ["Author/7"])
    }

    @Test func anotherContextsSaveIsFoundAfterOnesOwn() throws {
        let mary = library.make("Author", ["name": "Mary", "born": 1797])
        try library.context.save()
        let twin = try other.existingObject(with: mary.objectID)
        twin.setValue(1, forKey: "born")
        try other.save()
        mary.setValue("Mary S.", forKey: "name")
        try expectConflict(library.context)
        library.context.refreshAllObjects()
        try library.context.save()
        twin.setValue(2, forKey: "born")
        try expectConflict(other)
    }

    @Test(arguments: [true, false]) func onesOwnSavesAreNoConflict(_ countsVersions: Bool) throws {
        service.state.withLock { $0.countsVersions = countsVersions }
        let mary = library.make("Author", ["name": "Mary", "born": 1797])
        try library.context.save()
        let (ada, _) = try author("Ada")
        for year in 1...4 {
            for author in [mary, ada] { author.setValue(year, forKey: "born") }
            try library.context.save()
            // What is read between is what was saved.
            let twin = try other.existingObject(with: mary.objectID)
            other.refresh(twin, mergeChanges: false)
            #expect(twin.value(forKey: "born") as? Int == year)
        }
        library.context.delete(mary)
        try library.context.save()
        #expect(try service.list("Author") == ["Author/7", "Author/8"])
    }

    /// A service without versions is one where the last one wins.
    @Test func withoutVersionsNothingIsCompared() throws {
        service.state.withLock { $0.countsVersions = false }
        try service.put("Author/9", ["name": "Mary", "born": "1797"])
        let (mary, twin) = try author("Mary")
        for year in 1...3 {
            mary.setValue(year, forKey: "born")
            try library.context.save()
            twin.setValue(-year, forKey: "born")
            try other.save()
            #expect(try service.get("Author/9").values["born"] == "\(-year)")
        }
    }

    @Test func guardedObjectsAreLocked() throws {
        let (ada, twin) = try author("Ada")
        let store = try #require(library.store as? RESTStore)
        let grace = try author("Grace").twin
        grace.setValue(1, forKey: "born")
        other.detectConflicts(for: twin)
        try other.save()
        #expect(store.locked.withLock { $0 } == ["Author/7"])
        grace.setValue(2, forKey: "born")
        try other.save()
        #expect(store.locked.withLock { $0 } == [])
        ada.setValue("Bea", forKey: "name")
        try library.context.save()
        grace.setValue(3, forKey: "born")
        other.detectConflicts(for: twin)
        try expectConflict(other)
    }
}
