import CoreData
import Foundation
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// The coordinator's work on stores as a whole: moving, replacing, removing, naming them.
@Suite struct StoreFileTests {
    private struct Pair: CustomTestStringConvertible, Sendable {
        let from: StoreKind
        let to: StoreKind
        var testDescription: String { "\(from.rawValue) to \(to.rawValue)" }
        static let all = StoreKind.allCases.flatMap { from in
            StoreKind.allCases.map { Pair(from: from, to: $0) }
        }
    }

    private final class Folder {
        let url: URL

        init() throws {
            url = FileManager.default.temporaryDirectory
                .appendingPathComponent("StoreFileTests-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        func file(_ name: String) -> URL { url.appendingPathComponent(name) }

        var names: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
        }
    }

    private func coordinator() -> NSPersistentStoreCoordinator {
        NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
    }

    private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @discardableResult
    private func add(
        _ kind: StoreKind, _ url: URL, to coordinator: NSPersistentStoreCoordinator,
        _ options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: url, options: options)
    }

    // MARK: Graphs

    @Test(arguments: 1...6)
    func everyStoreTypeHoldsTheSameGraph(seed: UInt64) throws {
        let folder = try Folder()
        var images: [[String]] = []
        for kind in StoreKind.allCases {
            let first = coordinator()
            try add(kind, folder.file(kind.rawValue), to: first)
            let writing = context(first)
            var graph = SampleGraph(seed: seed, context: writing)
            try graph.fill()
            images.append(try SampleGraph.image(context(first)))
            guard kind != .memory else { continue }
            let again = coordinator()
            try add(kind, folder.file(kind.rawValue), to: again)
            images.append(try SampleGraph.image(context(again)))
        }
        #expect(images[0].count >= 24)
        for image in images { #expect(image == images[0], "seed \(seed)") }
    }

    @Test(arguments: Pair.all)
    private func aMigratedStoreHoldsTheSameGraph(pair: Pair) throws {
        let folder = try Folder()
        let coordinator = coordinator()
        let store = try add(pair.from, folder.file("old"), to: coordinator)
        var graph = SampleGraph(seed: 11, context: context(coordinator))
        try graph.fill()
        store.metadata = ["note": "kept"]
        let before = try SampleGraph.image(context(coordinator))
        let made = try coordinator.migratePersistentStore(
            store, to: folder.file("new"), type: .init(rawValue: pair.to.type))
        #expect(coordinator.persistentStores == [made] && store.persistentStoreCoordinator == nil)
        #expect(made.type == pair.to.type && made.metadata["note"] as? String == "kept")
        #expect(try SampleGraph.image(context(coordinator)) == before)
        let more = context(coordinator)
        let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: more)
        tag.setValue("later", forKey: "name")
        try more.save()
        guard pair.to != .memory else { return }
        let again = self.coordinator()
        let reopened = try add(pair.to, folder.file("new"), to: again)
        #expect(reopened.identifier == made.identifier)
        #expect(try SampleGraph.image(context(again)).count == before.count + 1)
    }

    @Test func aMigrationOntoAFileIsRefusedAndHarmless() throws {
        let folder = try Folder()
        let coordinator = coordinator()
        let store = try add(.xml, folder.file("old"), to: coordinator)
        try Data("mine".utf8).write(to: folder.file("new"))
        let error = try #require(throws: NSError.self) {
            try coordinator.migratePersistentStore(
                store, to: folder.file("new"), withType: NSSQLiteStoreType)
        }
        #expect(error.code == NSPersistentStoreOperationError)
        #expect(try Data(contentsOf: folder.file("new")) == Data("mine".utf8))
        #expect(coordinator.persistentStores == [store])
    }

    /// Stores whose names differ in what follows the dot share the folder of their large values.
    @Test func aMigrationBesideAnothersLargeValuesSaysWhatIsInItsWay() throws {
        let folder = try Folder()
        let coordinator = coordinator()
        let store = try add(.sqlite, folder.file("one.sqlite"), to: coordinator)
        try FileManager.default.createDirectory(
            at: folder.file(".one_SUPPORT/_EXTERNAL_DATA"), withIntermediateDirectories: true)
        let error = try #require(throws: NSError.self) {
            try coordinator.migratePersistentStore(
                store, to: folder.file("one.db"), withType: NSSQLiteStoreType)
        }
        #expect(error.code == NSPersistentStoreOperationError)
        #expect(error.localizedDescription.contains(".one_SUPPORT"))
        #expect(error.localizedDescription.contains("extension"))
        #expect(coordinator.persistentStores == [store])
    }

    // MARK: Files

    @Test(arguments: [StoreKind.sqlite, .xml, .binary])
    func aReplacedStoreIsACopyOfItsSource(kind: StoreKind) throws {
        let folder = try Folder()
        let (source, destination) = (coordinator(), coordinator())
        let store = try add(kind, folder.file("source"), to: source)
        var graph = SampleGraph(seed: 5, context: context(source))
        try graph.fill()
        let former = try add(kind, folder.file("destination"), to: destination)
        let other = context(destination)
        NSEntityDescription.insertNewObject(forEntityName: "Tag", into: other)
            .setValue("former", forKey: "name")
        try other.save()
        let refusal = try #require(throws: NSError.self) {
            try destination.replacePersistentStore(
                at: folder.file("destination"), withPersistentStoreFrom: folder.file("source"),
                type: .init(rawValue: kind.type))
        }
        #expect(refusal.code == NSPersistentStoreOperationError)
        try destination.remove(former)
        try destination.replacePersistentStore(
            at: folder.file("destination"), withPersistentStoreFrom: folder.file("source"),
            ofType: kind.type)
        let copy = try add(kind, folder.file("destination"), to: destination)
        #expect(copy.identifier == store.identifier)
        #expect(
            try SampleGraph.image(context(destination)) == SampleGraph.image(context(source)))
        try destination.replacePersistentStore(
            at: folder.file("third"), withPersistentStoreFrom: folder.file("source"),
            ofType: kind.type)
        #expect(folder.names.contains("third"))
        #expect(!folder.names.contains { $0.hasPrefix(".destination") })
    }

    @Test(arguments: [StoreKind.sqlite, .xml, .binary])
    func aDestroyedStoreLeavesNothing(kind: StoreKind) throws {
        let folder = try Folder()
        let coordinator = coordinator()
        let url = folder.file("store.x")
        try coordinator.remove(try add(kind, url, to: coordinator))
        if kind == .sqlite {
            try FileManager.default.createDirectory(
                at: folder.file(".store_SUPPORT"), withIntermediateDirectories: true)
            try Data().write(to: folder.file("store.x-wal"))
        }
        try coordinator.destroyPersistentStore(at: url, type: .init(rawValue: kind.type))
        #expect(folder.names == (kind == .sqlite ? ["store.x"] : []))
        if kind == .sqlite { #expect(SQLiteRowStore.isFree(url), "an empty database") }
        try coordinator.destroyPersistentStore(at: url, type: .init(rawValue: kind.type))
    }

    @Test(arguments: [StoreKind.sqlite, .xml, .binary])
    func metadataIsReadAndWrittenWithoutOpening(kind: StoreKind) throws {
        let folder = try Folder()
        let url = folder.file("store")
        let first = coordinator()
        let store = try add(kind, url, to: first)
        let type = NSPersistentStore.StoreType(rawValue: kind.type)
        try first.remove(store)
        try NSPersistentStoreCoordinator.setMetadata(["app": "7"], type: type, at: url)
        let found = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
        #expect(found["app"] as? String == "7")
        #expect(found[NSStoreUUIDKey] as? String == store.identifier)
        #expect(found[NSStoreTypeKey] as? String == kind.type)
        let model = first.managedObjectModel
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: found))
        let recognized = try NSPersistentStoreCoordinator.metadataForPersistentStore(with: url)
        #expect(recognized[NSStoreTypeKey] as? String == kind.type)
        try NSPersistentStoreCoordinator.setMetadata(
            nil, forPersistentStoreOfType: nil, at: url)
        #expect(try NSPersistentStore.metadataForPersistentStore(with: url)["app"] == nil)
        let wrong: NSPersistentStore.StoreType = kind == .xml ? .binary : .xml
        let error = try #require(throws: NSError.self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: wrong, at: url)
        }
        #expect(error.code == NSPersistentStoreTypeMismatchError)
        #expect(error.localizedDescription.contains(kind.type))
        let opening = try #require(throws: NSError.self) {
            try first.addPersistentStore(type: wrong, at: url)
        }
        #expect(opening.code == NSPersistentStoreTypeMismatchError)
        try Data("hello".utf8).write(to: url)
        #expect(throws: NSError.self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(with: url)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func anOpenStoreIsGivenAnotherPlace(kind: StoreKind) throws {
        let folder = try Folder()
        let coordinator = coordinator()
        let store = try add(kind, folder.file("here"), to: coordinator)
        var graph = SampleGraph(seed: 2, context: context(coordinator))
        try graph.fill()
        if kind == .sqlite {
            #expect(!coordinator.setURL(folder.file("there"), for: store))
            #expect(coordinator.url(for: store) == folder.file("here"))
            try coordinator.replacePersistentStore(
                at: folder.file("there"), withPersistentStoreFrom: folder.file("here"),
                type: .sqlite)
        }
        #expect(coordinator.setURL(folder.file("there"), for: store))
        #expect(coordinator.url(for: store) == folder.file("there"))
        #expect(coordinator.persistentStore(for: folder.file("there")) === store)
        let more = context(coordinator)
        NSEntityDescription.insertNewObject(forEntityName: "Tag", into: more)
            .setValue("later", forKey: "name")
        try more.save()
        guard kind != .memory else { return }
        let (old, new) = (self.coordinator(), self.coordinator())
        try add(kind, folder.file("here"), to: old)
        try add(kind, folder.file("there"), to: new)
        let count = try SampleGraph.image(context(old)).count
        #expect(try SampleGraph.image(context(new)).count == count + 1)
    }

    // MARK: Options

    @Test(arguments: [StoreKind.sqlite, .xml, .binary])
    func optionsHoldForEveryType(kind: StoreKind) throws {
        let folder = try Folder()
        let url = folder.file("store")
        try add(kind, url, to: coordinator())
        let reading = coordinator()
        let store = try add(kind, url, to: reading, [NSReadOnlyPersistentStoreOption: true])
        #expect(store.isReadOnly)
        let writing = context(reading)
        _ = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: writing)
        #expect(throws: NSError.self) { try writing.save() }

        let other = TestModel.make()
        other.entitiesByName["Tag"]?.declaredProperties.append(
            TestModel.attribute("weight", .doubleAttributeType))
        let changed = NSPersistentStoreCoordinator(managedObjectModel: other)
        let error = try #require(throws: NSError.self) { try add(kind, url, to: changed) }
        #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
        guard kind != .sqlite else { return }
        try add(kind, url, to: changed, [NSIgnorePersistentStoreVersioningOption: true])
        let opened = context(changed)
        let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: opened)
        tag.setValue(1.5, forKey: "weight")
        try opened.save()
        #expect(tag.value(forKey: "weight") as? Double == 1.5)
    }

    @Test func historyRequestsOfAtomicStoresSayWhatToDo() throws {
        let bench = try Bench(.xml)
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
        let error = try #require(throws: NSError.self) { try bench.context.execute(request) }
        #expect(error.code == NSPersistentStoreUnsupportedRequestTypeError)
        #expect(error.localizedDescription.contains("migrate to a SQLite store"))
        #expect(bench.coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
    }

    @Test func configurationsSendEntitiesToStoresOfSeveralTypes() throws {
        let folder = try Folder()
        let model = TestModel.make()
        let shared = ["Account", "Tag"]
        model.setEntities(
            model.entities.filter { shared.contains($0.name ?? "") }, forConfigurationName: "Cloud")
        model.setEntities(
            model.entities.filter { !shared.contains($0.name ?? "") },
            forConfigurationName: "Local")
        func open() throws -> (NSPersistentStoreCoordinator, [NSPersistentStore]) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let places = [("Cloud", StoreKind.sqlite), ("Local", .xml)]
            let stores = try places.map { name, kind in
                try coordinator.addPersistentStore(
                    ofType: kind.type, configurationName: name, at: folder.file(name))
            }
            return (coordinator, stores)
        }
        let (coordinator, stores) = try open()
        let writing = context(coordinator)
        func make(_ name: String) -> NSManagedObject {
            NSEntityDescription.insertNewObject(forEntityName: name, into: writing)
        }
        let (tag, song) = (make("Tag"), make("Song"))
        song.setValue("a", forKey: "name")
        try writing.save()
        #expect(tag.objectID.persistentStore === stores[0])
        #expect(song.objectID.persistentStore === stores[1])
        let (again, _) = try open()
        #expect(try SampleGraph.image(context(again)).count == 2)

        let person = make("Person")
        person.setValue("Ada", forKey: "name")
        person.setValue(tag, forKey: "home")
        let error = try #require(throws: NSError.self) { try writing.save() }
        #expect(error.code == NSManagedObjectExternalRelationshipError)
        #expect(error.localizedDescription.contains("within one store"))
    }

    @Test func aFailureOfSQLiteTellsItsCode() throws {
        let folder = try Folder()
        let coordinator = coordinator()
        try add(.sqlite, folder.file("a.sqlite"), to: coordinator)
        let file = try SQLiteRowStore(url: folder.file("a.sqlite"), model: TestModel.make())
        try file.write { try $0.connection.script("DROP TABLE ZPERSON") }
        let error = try #require(throws: NSError.self) {
            try context(coordinator).fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        }
        #expect(error.code == NSSQLiteError)
        #expect(error.userInfo[NSSQLiteErrorDomain] as? Int == 1, "SQLITE_ERROR")
    }
}
