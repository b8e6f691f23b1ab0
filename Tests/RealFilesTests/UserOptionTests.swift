import Foundation
import ObjectModel
import Persistence
import Predicates
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Options and stores as a program uses them.
@Suite(.serialized) struct UserOptionTests {
    private let scratch: Scratch
    private var url: URL { scratch.url("store.sqlite") }

    init() throws { scratch = try Scratch() }

    private func open(_ options: [AnyHashable: Any]? = nil) throws -> OpenedStore {
        try OpenedStore(url, TwoProcesses.model(), options: options)
    }

    private func fails(_ options: [AnyHashable: Any]) -> NSError? {
        #expect(throws: (any Error).self) { _ = try open(options) } as NSError?
    }

    // MARK: Options

    @Test func whatHasNoMeaningHereIsAcceptedSilently() throws {
        let opened = try open([
            NSPersistentStoreFileProtectionKey: "NSFileProtectionComplete",
            NSPersistentStoreConnectionPoolMaxSizeKey: 4,
            "AnOptionOfTheFuture": Date.distantPast, 17: "seventeen",
            NSMigratePersistentStoresAutomaticallyOption: true,
            NSInferMappingModelAutomaticallyOption: true,
        ])
        #expect(opened.store.options?["AnOptionOfTheFuture"] as? Date == .distantPast)
        try TwoProcesses.write(opened.rows, writer: 1, number: 1)
        #expect(try opened.objects("Note").count == 2)
    }

    @Test(arguments: [
        ("journal_mode", "MEMORY", "one of"), ("journal_mode", "OFF", "one of"),
        ("locking_mode", "EXCLUSIVE", "shut out"), ("encoding", "UTF-16", "UTF-8"),
        ("synchronous", "PERHAPS", "one of"), ("nonsense", "1", "not among"),
        ("cache_size", "many", "a number"), ("synchronous; DROP TABLE x", "1", "not among"),
    ])
    func aRefusedPragmaSaysWhy(name: String, value: String, reason: String) throws {
        let error = try #require(fails([NSSQLitePragmasOption: [name: value]]))
        #expect(error.localizedDescription.contains(reason))
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func pragmasComeInEveryForm() throws {
        func value(_ name: String, _ options: [AnyHashable: Any]) throws -> SQLiteValue {
            try open(options).sql("PRAGMA \(name)")[0][0]
        }
        let numbers: [String: Any] = ["cache_size": -3000, "synchronous": 2]
        #expect(try value("cache_size", [NSSQLitePragmasOption: numbers]) == -3000)
        #expect(try value("synchronous", [NSSQLitePragmasOption: numbers]) == 2)
        let bridged = NSDictionary(dictionary: ["synchronous": "FULL" as NSString])
        #expect(try value("synchronous", [NSSQLitePragmasOption: bridged]) == 2)
        let description = NSPersistentStoreDescription(url: url)
        description.setValue("EXTRA" as NSString, forPragmaNamed: "synchronous")
        description.setValue(NSNumber(value: 1), forPragmaNamed: "fullfsync")
        #expect(try value("synchronous", description.options) == 3)
        #expect(fails([NSSQLitePragmasOption: "synchronous=FULL"]) != nil)
    }

    @Test(arguments: [0, -5, .nan, .infinity, 1e300])
    func aStrangeTimeoutIsTakenSensibly(seconds: Double) throws {
        let opened = try open([NSPersistentStoreTimeoutOption: seconds])
        try TwoProcesses.write(opened.rows, writer: 1, number: 1)
    }

    @Test func aStoreThatIsThereTwiceIsRefused() throws {
        let opened = try open()
        let error =
            #expect(throws: (any Error).self) {
                try opened.coordinator.addPersistentStore(type: .sqlite, at: url)
            } as NSError?
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == 134081)
        #expect(opened.coordinator.persistentStores == [opened.store])
        try opened.coordinator.remove(opened.store)
        try opened.coordinator.addPersistentStore(type: .sqlite, at: url)
        for _ in 0..<2 {
            try opened.coordinator.addPersistentStore(
                type: .sqlite, at: URL(fileURLWithPath: "/dev/null"))
        }
        #expect(opened.coordinator.persistentStores.count == 3)
    }

    @Test func aPlaceThatIsNoneIsRefused() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TwoProcesses.model())
        let web = try #require(URL(string: "https://example.org/store.sqlite"))
        for place in [web, scratch.url("no/such/folder/store.sqlite"), scratch.folder] {
            let error =
                #expect(throws: (any Error).self, "\(place)") {
                    try coordinator.addPersistentStore(type: .sqlite, at: place)
                } as NSError?
            #expect(error?.code == NSPersistentStoreOpenError, "\(place)")
        }
    }

    @Test(arguments: ["with space", "üñí çödé", "100%25", "a'b\"c", "semi;colon?x=1#y"])
    func namesOfFilesAreTakenAsTheyAre(name: String) throws {
        let place = scratch.url(name + ".sqlite")
        let opened = try OpenedStore(place, TwoProcesses.model())
        try LargeNote.write(opened.rows, key: 1, seed: 3)
        #expect(FileManager.default.fileExists(atPath: place.path))
        #expect(FileManager.default.fileExists(atPath: scratch.url(".\(name)_SUPPORT").path))
        #expect(opened.coordinator.url(for: opened.store) == place)
        #expect(opened.coordinator.persistentStore(for: place) === opened.store)
    }

    // MARK: Reading where nothing can be written

    @Test(arguments: [true, false])
    func aStoreInAFolderThatCannotBeWrittenIsRead(hasLog: Bool) async throws {
        let path = url.path
        let copy = scratch.url("medium")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: false)
        let place = copy.appendingPathComponent("store.sqlite").path
        do {
            let store = try TwoProcesses.open(path)
            try LargeNote.write(store, key: 1, seed: 9)
            if hasLog {
                for suffix in ["", "-wal"] {
                    try FileManager.default.copyItem(atPath: path + suffix, toPath: place + suffix)
                }
            }
        }
        if !hasLog { try FileManager.default.copyItem(atPath: path, toPath: place) }
        try FileManager.default.copyItem(
            at: scratch.url(".store_SUPPORT"), to: copy.appendingPathComponent(".store_SUPPORT"))
        #expect(chmod(scratch.folder.path, 0o755) == 0)
        await #expect(processExitsWith: .success) { [place = place as String] in
            let folder = URL(fileURLWithPath: place).deletingLastPathComponent().path
            for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
                let isFolder = name.hasSuffix("_SUPPORT") || name.hasSuffix("_EXTERNAL_DATA")
                chmod("\(folder)/\(name)", isFolder ? 0o555 : 0o444)
            }
            chmod(folder, 0o555)
            if geteuid() == 0 { guard setuid(65534) == 0 else { exit(3) } }
            guard access(folder, W_OK) != 0 else { exit(4) }
            let opened = try OpenedStore(
                URL(fileURLWithPath: place), TwoProcesses.model(),
                options: [NSReadOnlyPersistentStoreOption: true])
            guard try LargeNote.seed(opened.rows, key: 1) == 9 else { exit(5) }
            guard try opened.objects("Note").count == 1 else { exit(6) }
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                type: .sqlite, at: URL(fileURLWithPath: place))
            guard metadata[NSStoreUUIDKey] as? String == opened.store.identifier else { exit(7) }
            do {
                _ = try OpenedStore(URL(fileURLWithPath: place), TwoProcesses.model())
                exit(8)
            } catch let error as NSError {
                let codes = [NSPersistentStoreSaveError, CocoaError.fileReadUnknown.rawValue]
                guard codes.contains(error.code), error.localizedDescription.contains("access")
                else { exit(9) }
            }
        }
        chmod(copy.path, 0o755)
    }

    @Test func aLogThatCannotBeWrittenIsToldWhenSaving() async throws {
        let path = url.path
        let keeper = try TwoProcesses.open(path)
        try TwoProcesses.write(keeper, writer: 1, number: 1)
        chmod(scratch.folder.path, 0o777)
        chmod(path, 0o666)
        chmod(path + "-shm", 0o666)
        chmod(path + "-wal", 0o444)
        await #expect(processExitsWith: .success) { [path = path as String] in
            if geteuid() == 0 { guard setuid(65534) == 0 else { exit(3) } }
            do {
                try TwoProcesses.write(TwoProcesses.open(path), writer: 2, number: 1)
                exit(4)
            } catch let error as StoreError {
                guard [.readOnly, .cannotOpen].contains(error.code),
                    error.message.contains("access")
                else { exit(5) }
            }
        }
        #expect(try TwoProcesses.check(keeper) == [1: 1])
    }

    // MARK: Several stores

    @Test func objectsOfSeveralStoresAreFoundTogether() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TwoProcesses.model())
        let stores = try ["a", "b", "c"].map {
            try coordinator.addPersistentStore(type: .sqlite, at: scratch.url("\($0).sqlite"))
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let entity = try #require(coordinator.managedObjectModel.entitiesByName["Note"])
        for number in 0..<9 {
            let note = NSManagedObject(entity: entity, insertInto: context)
            note.setValue(number, forKey: "number")
            context.assign(note, to: stores[number % 3])
        }
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: false)]
        request.fetchLimit = 4
        request.fetchOffset = 1
        func numbers() throws -> [Int] {
            try context.fetch(request).compactMap { $0.value(forKey: "number") as? Int }
        }
        #expect(try numbers() == [7, 6, 5, 4])
        #expect(try context.count(for: request) == 4)
        request.affectedStores = [stores[1]]
        #expect(try numbers() == [4, 1])
        request.affectedStores = nil
        request.predicate = NSPredicate(format: "number IN %@", [0, 4, 8])
        request.fetchOffset = 0
        let found = try context.fetch(request)
        #expect(found.map { $0.objectID.persistentStore } == [stores[2], stores[1], stores[0]])
        for object in found {
            let uri = object.objectID.uriRepresentation()
            #expect(coordinator.managedObjectID(forURIRepresentation: uri) === object.objectID)
        }
        let gone = found[0].objectID.uriRepresentation()
        try coordinator.remove(stores[2])
        #expect(coordinator.managedObjectID(forURIRepresentation: gone) == nil)
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 6)
    }

    @Test func urisOfAllKindsAreRead() throws {
        let opened = try open()
        let entity = try #require(opened.coordinator.managedObjectModel.entitiesByName["Note"])
        let note = NSManagedObject(entity: entity, insertInto: opened.context)
        let temporary = note.objectID.uriRepresentation()
        #expect(note.objectID.isTemporaryID && temporary.scheme == "x-coredata")
        #expect(opened.coordinator.managedObjectID(forURIRepresentation: temporary) == nil)
        try opened.context.save()
        let permanent = note.objectID.uriRepresentation()
        let host: String = opened.store.identifier
        #expect(permanent.absoluteString == "x-coredata://\(host)/Note/p1")
        #expect(opened.coordinator.managedObjectID(for: permanent.absoluteString) === note.objectID)
        for text in [
            "x-coredata://\(UUID().uuidString)/Note/p1", "x-coredata://\(host)/Nothing/p1",
            "x-coredata://\(host)/Note/p", "x-coredata://\(host)/Note/pX",
            "x-coredata://\(host)/Note/p99999999999999999999", "x-coredata://\(host)/Note",
            "x-coredata://\(host)/Note/p1/more", "https://\(host)/Note/p1", "file:///Note/p1",
        ] {
            #expect(opened.coordinator.managedObjectID(for: text) == nil, "\(text)")
        }
        let other = try #require(
            opened.coordinator.managedObjectID(
                for: "x-coredata://\(host)/Note/p77"))
        #expect(throws: (any Error).self) { try opened.context.existingObject(with: other) }
    }

    @Test func theFileOfAStoreThatLeftIsWholeByItself() throws {
        let opened = try open()
        try TwoProcesses.write(opened.rows, writer: 1, number: 1)
        let files = FileManager.default
        try opened.coordinator.remove(opened.store)
        try files.copyItem(at: url, to: scratch.url("copy.sqlite"))
        let copy = try OpenedStore(scratch.url("copy.sqlite"), TwoProcesses.model())
        #expect(try copy.objects("Note").count == 2)
        #expect(opened.store.persistentStoreCoordinator == nil)
    }

    // MARK: Metadata

    /// Whether anybody, this process too, holds a lock on a file; asked in the way of a lock that
    /// belongs to an open file and not to a process. Source: fcntl(2), F_OFD_GETLK, whose number
    /// Glibc's module leaves out.
    private func isLocked(_ file: FileHandle) -> Bool {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        return fcntl(file.fileDescriptor, 36, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// Closing a file drops all locks of its process on it, those of SQLite too.
    @Test func readingWhatAFileIsLeavesItsLocksAlone() throws {
        let opened = try open()
        try TwoProcesses.write(opened.rows, writer: 1, number: 1)
        let file = try FileHandle(forUpdating: url)
        #expect(isLocked(file))
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(with: url)
        #expect(metadata[NSStoreUUIDKey] as? String == opened.store.identifier)
        _ = try SQLiteRowStore.metadata(at: url)
        _ = try SQLiteRowStore.cachedModel(at: url)
        #expect(isLocked(file))
        // The question tells what it is asked for.
        try FileHandle(forReadingFrom: url).close()
        #expect(!isLocked(file))
        try file.close()
    }
}
