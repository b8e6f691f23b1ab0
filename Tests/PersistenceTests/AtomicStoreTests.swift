import CoreData
import Foundation
import Testing

@Suite struct AtomicStoreTests {
    private final class File {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("library-\(UUID().uuidString).csv")

        init(_ text: String? = nil) throws {
            NSPersistentStoreCoordinator.registerStoreClass(
                CSVStore.self, forStoreType: CSVStore.storeType)
            if let text { try Data(text.utf8).write(to: url) }
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        var text: String { (try? String(contentsOf: url, encoding: .utf8)) ?? "" }

        func open(_ options: [AnyHashable: Any]? = nil) throws -> Library {
            try Library(type: CSVStore.storeType, at: url, options: options)
        }
    }

    private static let sample = """
        store,5F2B9F0C-0000-4000-8000-000000000001
        Author,1,Ada,1815
        Author,2,Grace,1906
        Book,3,Notes,12.50,1

        """

    @Test func aLoadedFileIsAGraph() throws {
        let file = try File(Self.sample)
        let library = try file.open()
        #expect(library.store.type == CSVStore.storeType)
        #expect(library.store.identifier == "5F2B9F0C-0000-4000-8000-000000000001")
        #expect(try library.texts("Author", "name") == ["Ada", "Grace"])
        #expect(try library.texts("Author", "name", "born > 1900") == ["Grace"])
        let book = try #require(try library.all("Book").first)
        #expect(book.value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(string: "12.5"))
        #expect(book.value(forKeyPath: "author.name") as? String == "Ada")
        let ada = try #require(try library.all("Author", "name == 'Ada'").first)
        #expect(ada.value(forKey: "books") as? Set<NSManagedObject> == [book])
        #expect(book.objectID.uriRepresentation().lastPathComponent == "p3")
        let uri = book.objectID.uriRepresentation()
        #expect(library.coordinator.managedObjectID(forURIRepresentation: uri) === book.objectID)
    }

    @Test func savesReachTheFileAndComeBack() throws {
        let file = try File(Self.sample)
        let library = try file.open()
        let mary = library.make("Author", ["name": "Mary", "born": 1797])
        _ = library.make("Book", ["title": "Frankenstein", "author": mary])
        let grace = try #require(try library.all("Author", "name == 'Grace'").first)
        grace.setValue("Grace H.", forKey: "name")
        let ada = try #require(try library.all("Author", "name == 'Ada'").first)
        library.context.delete(ada)
        try library.context.save()
        #expect(!mary.objectID.isTemporaryID)
        let lines = file.text.split(separator: "\n").map(String.init)
        #expect(lines.count == 4 && lines.contains("Author,2,Grace H.,1906"))
        #expect(!file.text.contains("Ada") && !file.text.contains("Notes"))
        let again = try file.open()
        #expect(again.store.identifier == library.store.identifier)
        #expect(try again.texts("Author", "name") == ["Grace H.", "Mary"])
        let book = try #require(try again.all("Book").first)
        #expect(book.value(forKeyPath: "author.name") as? String == "Mary")
    }

    @Test func aNewFileIsMadeByTheFirstSave() throws {
        let file = try File()
        let library = try file.open()
        #expect(UUID(uuidString: library.store.identifier) != nil)
        let authors = (0..<5).map { library.make("Author", ["name": "a\($0)", "born": $0]) }
        try library.context.save()
        #expect(Set(authors.map(\.objectID)).count == 5)
        #expect(try file.open().all("Author").count == 5)
    }

    @Test func aRefusedSaveLeavesTheNodesAsTheyWere() throws {
        let file = try File(Self.sample)
        let library = try file.open(["refuses": true])
        let store = try #require(library.store as? CSVStore)
        let ada = try #require(try library.all("Author", "name == 'Ada'").first)
        ada.setValue("Eve", forKey: "name")
        _ = library.make("Author", ["name": "New"])
        let error = #expect(throws: NSError.self) { try library.context.save() }
        #expect(error?.userInfo[NSUnderlyingErrorKey] is CSVStore.Refused)
        #expect(store.cacheNodes().count == 3)
        let node = try #require(store.cacheNode(for: ada.objectID))
        #expect(node.value(forKey: "name") as? String == "Ada")
        #expect(file.text == Self.sample)
        library.context.rollback()
        #expect(try library.texts("Author", "name") == ["Ada", "Grace"])
    }

    @Test func filesThatCannotBeReadAreErrors() throws {
        let file = try File("nonsense\n")
        let error = #expect(throws: NSError.self) { try file.open() }
        #expect(error?.userInfo[NSUnderlyingErrorKey] is CSVStore.Malformed)
        let wrong = try File(Self.sample + "Book,4,Loose,x,9\n")
        #expect(try wrong.open().all("Book").count == 2)
    }

    @Test func typesAreRegisteredAndForgotten() throws {
        let type = NSPersistentStore.StoreType(rawValue: "Passing")
        NSPersistentStoreCoordinator.registerStoreClass(CSVStore.self, type: type)
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Passing"] == CSVStore.self)
        NSPersistentStoreCoordinator.registerStoreClass(nil, type: type)
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Passing"] == nil)
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes[NSXMLStoreType] != nil)
        let file = try File()
        let error = try #require(throws: NSError.self) {
            try Library(type: "Passing", at: file.url)
        }
        #expect(error.code == NSPersistentStoreInvalidTypeError)
        NSPersistentStoreCoordinator.registerStoreClass(
            NSPersistentStore.self, forStoreType: "Plain")
        let plain = try #require(throws: NSError.self) { try Library(type: "Plain", at: file.url) }
        #expect(plain.localizedDescription.contains("NSAtomicStore"))
        NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "Plain")
    }

    @Test func aMigrationTurnsAProgramsFileIntoSQLite() throws {
        let file = try File(Self.sample)
        let library = try file.open()
        let place = FileManager.default.temporaryDirectory
            .appendingPathComponent("library-\(UUID().uuidString).sqlite")
        defer {
            try? library.coordinator.destroyPersistentStore(at: place, type: .sqlite)
            try? FileManager.default.removeItem(at: place)
        }
        let made = try library.coordinator.migratePersistentStore(
            library.store, to: place, type: .sqlite)
        #expect(try library.texts("Author", "name") == ["Ada", "Grace"])
        let book = try #require(try library.all("Book").first)
        #expect(book.objectID.persistentStore === made)
        #expect(book.value(forKeyPath: "author.name") as? String == "Ada")
        try library.coordinator.remove(made)
    }
}
