import CoreData
import Foundation
import Persistence
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Destroying and replacing stores: what goes, and what is not ours and stays.
@Suite final class RemovalTests {
    /// What may stand at a path that a program gives by mistake.
    enum Stranger: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case pipe, socket, folder, linkToText, linkToPipe, text, database
        var testDescription: String { rawValue }
        /// What a file without a readable head is, nobody can tell; a restored backup goes there.
        static let neverReplaced: [Stranger] = [.pipe, .socket, .folder, .linkToPipe]
    }

    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("RemovalTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func coordinator() -> NSPersistentStoreCoordinator {
        NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
    }

    /// Puts a stranger at a fresh place; `signature` tells whether it is still the same.
    private func put(_ stranger: Stranger, _ name: String = "place") throws -> URL {
        let url = folder.appendingPathComponent(name)
        switch stranger {
        case .pipe: #expect(mkfifo(url.path, 0o600) == 0)
        case .socket: #expect(mknod(url.path, S_IFSOCK | 0o600, 0) == 0)
        case .folder:
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            try Data("x".utf8).write(to: url.appendingPathComponent("inside"))
        case .linkToText, .linkToPipe:
            let target = try put(stranger == .linkToText ? .text : .pipe, "target")
            try FileManager.default.createSymbolicLink(at: url, withDestinationURL: target)
        case .text: try Data("mine, and nobody's store".utf8).write(to: url)
        case .database:
            let connection = try Connection(path: url.path)
            try connection.script("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')")
        }
        return url
    }

    private func signature() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().map { name in
            var facts = stat()
            lstat(folder.appendingPathComponent(name).path, &facts)
            let size = facts.st_mode & S_IFMT == S_IFREG ? facts.st_size : 0
            return "\(name) \(facts.st_ino) \(facts.st_mode) \(size)"
        }
    }

    // MARK: What is not ours

    @Test(arguments: Stranger.allCases, [StoreKind.sqlite, .xml, .binary])
    func destroyLeavesWhatIsNoStore(stranger: Stranger, kind: StoreKind) throws {
        let url = try put(stranger)
        let before = try signature()
        #expect(throws: NSError.self) {
            try coordinator().destroyPersistentStore(at: url, ofType: kind.type)
        }
        #expect(throws: NSError.self) {
            try coordinator().destroyPersistentStore(
                at: url, ofType: kind.type, options: [NSPersistentStoreForceDestroyOption: true])
        }
        #expect(try signature() == before)
    }

    @Test(arguments: [StoreKind.sqlite, .xml, .binary])
    func destroyLeavesAStoreOfAnotherType(kind: StoreKind) throws {
        let url = folder.appendingPathComponent("store")
        try add(kind, at: url)
        let before = try Data(contentsOf: url)
        for other in [StoreKind.sqlite, .xml, .binary] where other != kind {
            #expect(throws: NSError.self) {
                try coordinator().destroyPersistentStore(at: url, ofType: other.type)
            }
        }
        #expect(try Data(contentsOf: url) == before)
    }

    @Test(arguments: Stranger.neverReplaced, [StoreKind.sqlite, .xml, .binary])
    func aStoreIsNeverPutInThePlaceOfWhatIsNoFile(stranger: Stranger, kind: StoreKind) throws {
        let source = FileManager.default.temporaryDirectory
            .appendingPathComponent("source-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: source) }
        try add(kind, at: source)
        let url = try put(stranger)
        let before = try signature()
        #expect(throws: NSError.self) {
            try coordinator().replacePersistentStore(
                at: url, withPersistentStoreFrom: source, ofType: kind.type)
        }
        #expect(throws: NSError.self) {
            try coordinator().addPersistentStore(
                ofType: kind.type, configurationName: nil, at: url)
        }
        let moving = coordinator()
        let store = try moving.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: source)
        #expect(throws: NSError.self) {
            try moving.migratePersistentStore(store, to: url, withType: kind.type)
        }
        #expect(!moving.setURL(url, for: store) && moving.url(for: store) == source)
        #expect(try signature() == before)
    }

    @Test func aDatabaseOfAnotherProgramIsNotReplaced() throws {
        let source = folder.appendingPathComponent("source")
        try add(.sqlite, at: source)
        let url = try put(.database)
        #expect(throws: NSError.self) {
            try coordinator().replacePersistentStore(
                at: url, withPersistentStoreFrom: source, type: .sqlite)
        }
        let connection = try Connection(path: url.path)
        #expect(try connection.value("SELECT text FROM notes") == "mine")
    }

    /// `a.sqlite` and `a.db` keep their large values in one folder.
    @Test func theValuesOfANamesakeStay() throws {
        let support = folder.appendingPathComponent(".a_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
        try add(.sqlite, at: folder.appendingPathComponent("a.sqlite"))
        let other = folder.appendingPathComponent("a.db")
        try add(.sqlite, at: other)
        let value = support.appendingPathComponent(UUID().uuidString)
        try Data("of a.sqlite".utf8).write(to: value)
        try coordinator().destroyPersistentStore(at: other, type: .sqlite)
        #expect(FileManager.default.fileExists(atPath: value.path))
        try coordinator().destroyPersistentStore(
            at: folder.appendingPathComponent("a.sqlite"), type: .sqlite)
        try FileManager.default.removeItem(at: other)
        try coordinator().destroyPersistentStore(
            at: folder.appendingPathComponent("a.sqlite"), type: .sqlite)
        #expect(!FileManager.default.fileExists(atPath: value.path))
    }

    @Test func whatLiesBesideTheValuesStays() throws {
        let url = folder.appendingPathComponent("a.sqlite")
        try add(.sqlite, at: url)
        let support = folder.appendingPathComponent(".a_SUPPORT")
        try FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
        let note = support.appendingPathComponent("note")
        try Data("mine".utf8).write(to: note)
        try coordinator().destroyPersistentStore(at: url, type: .sqlite)
        #expect(try Data(contentsOf: note) == Data("mine".utf8))
    }

    // MARK: What is ours

    @Test(arguments: [StoreKind.sqlite, .xml, .binary])
    func aDestroyedStoreLeavesAllItsCoordinators(kind: StoreKind) throws {
        let url = folder.appendingPathComponent("store")
        let link = folder.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        let (first, second) = (coordinator(), coordinator())
        let store = try first.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: url)
        let other = try second.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = first
        let song = NSEntityDescription.insertNewObject(forEntityName: "Song", into: context)
        try context.save()
        #expect(first.persistentStore(for: link) === store)
        try first.destroyPersistentStore(at: link, ofType: kind.type)
        #expect(first.persistentStores.isEmpty && second.persistentStores.isEmpty)
        song.setValue("later", forKey: "name")
        #expect(throws: NSError.self) { try context.save() }
        context.reset()
        let again = try first.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: url)
        #expect(again.identifier != store.identifier && again.identifier != other.identifier)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Song")
        #expect(try context.count(for: request) == 0)
        _ = NSEntityDescription.insertNewObject(forEntityName: "Song", into: context)
        try context.save()
        #expect(try context.count(for: request) == 1)
        #expect(!again.identifier.isEmpty && !store.identifier.isEmpty)
    }

    /// What is saved through a connection that was open all the while must not get lost unseen.
    @Test func aWriterThatWasOpenIsToldThatTheStoreIsGone() throws {
        let url = folder.appendingPathComponent("store")
        let model = TestModel.make()
        let rows = try SQLiteRowStore(url: url, model: model)
        try coordinator().destroyPersistentStore(at: url, type: .sqlite)
        #expect(throws: (any Error).self) { try rows.setMetadata(["a": 1]) }
        #expect(throws: (any Error).self) { try rows.reserveKeys(entity: 1, count: 1) }
        let fresh = try SQLiteRowStore(url: url, model: model)
        #expect(fresh.identifier != rows.identifier)
    }

    @Test func aStoreIsMovedToAPlaceThatWasDestroyed() throws {
        let (url, place) = (
            folder.appendingPathComponent("store"), folder.appendingPathComponent("place")
        )
        try add(.sqlite, at: place)
        try coordinator().destroyPersistentStore(at: place, type: .sqlite)
        let moving = coordinator()
        let store = try moving.addPersistentStore(type: .sqlite, at: url)
        store.metadata = ["note": "kept"]
        let made = try moving.migratePersistentStore(store, to: place, type: .sqlite)
        #expect(made.metadata["note"] as? String == "kept")
    }

    // MARK: Memory

    @Test func theNullDeviceIsAStoreInMemoryInEveryCall() throws {
        func device() -> [UInt64] {
            var facts = stat()
            #expect(lstat("/dev/null", &facts) == 0 && facts.st_mode & S_IFMT == S_IFCHR)
            return [UInt64(facts.st_ino), UInt64(facts.st_rdev)]
        }
        let before = device()
        let url = folder.appendingPathComponent("store")
        for place in ["/dev/null", "/dev/../dev/null"].map({ URL(fileURLWithPath: $0) }) {
            for kind in [StoreKind.sqlite, .xml, .binary, .memory] {
                let coordinator = coordinator()
                let store = try coordinator.addPersistentStore(
                    ofType: kind.type, configurationName: nil, at: place)
                try coordinator.addPersistentStore(
                    ofType: kind.type, configurationName: nil, at: place)
                #expect(coordinator.url(for: store).isNullDevice)
                try coordinator.destroyPersistentStore(at: place, ofType: kind.type)
                #expect(coordinator.persistentStores.isEmpty)
                #expect(device() == before)
                guard kind != .memory else { continue }
                try? FileManager.default.removeItem(at: url)
                try add(kind, at: url)
                #expect(throws: NSError.self) {
                    try coordinator.replacePersistentStore(
                        at: place, withPersistentStoreFrom: url, ofType: kind.type)
                }
                #expect(throws: NSError.self) {
                    try NSPersistentStoreCoordinator.metadataForPersistentStore(
                        ofType: kind.type, at: place)
                }
                #expect(throws: NSError.self) {
                    try NSPersistentStoreCoordinator.setMetadata(
                        [:], forPersistentStoreOfType: kind.type, at: place)
                }
                let open = try coordinator.addPersistentStore(
                    ofType: kind.type, configurationName: nil, at: url)
                #expect(!coordinator.setURL(place, for: open))
                let moved = try coordinator.migratePersistentStore(
                    open, to: place, withType: kind.type)
                #expect(coordinator.url(for: moved).isNullDevice && device() == before)
            }
        }
    }

    private func add(_ kind: StoreKind, at url: URL) throws {
        let coordinator = coordinator()
        let store = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: url)
        try coordinator.remove(store)
    }
}
