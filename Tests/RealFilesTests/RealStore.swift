import Foundation
import ObjectModel
import Persistence
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// The real files, where they are at hand.
enum Corpus {
    static let folder: URL? = {
        let named = ProcessInfo.processInfo.environment["DIPTYCH_CORPUS"].map {
            URL(fileURLWithPath: $0, isDirectory: true)
        }
        let beside = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../shared/corpus").standardizedFileURL
        return [named, beside].compactMap { $0 }.first {
            FileManager.default.fileExists(atPath: $0.appendingPathComponent("sqlite").path)
        }
    }()

    static var isPresent: Bool { folder != nil }

    /// Every SQLite file of the corpus, sorted by path.
    static let stores: [RealStore] = {
        guard let folder else { return [] }
        let root = folder.appendingPathComponent("sqlite").path
        let paths = (FileManager.default.enumerator(atPath: root) ?? .init())
            .compactMap { $0 as? String }
        return paths.filter { path in
            let handle = FileHandle(forReadingAtPath: "\(root)/\(path)")
            return (try? handle?.read(upToCount: 15)) == Data("SQLite format 3".utf8)
        }.sorted().map { RealStore(path: "sqlite/\($0)", models: pairs["sqlite/\($0)"] ?? []) }
    }()

    /// The sources of a store's model, by the store.
    private static let pairs: [String: [String]] = {
        guard let file = folder?.appendingPathComponent("pairs.tsv"),
            let text = try? String(contentsOf: file, encoding: .utf8)
        else { return [:] }
        let rows = text.split(separator: "\n").dropFirst().map {
            $0.split(separator: "\t").map(String.init)
        }
        return Dictionary(
            rows.filter { $0.count > 1 }.map { ($0[0], Array($0[1...])) },
            uniquingKeysWith: { $0 + $1 })
    }()
}

/// One file of the corpus.
struct RealStore: Sendable, CustomStringConvertible {
    let path: String
    /// The sources of its model.
    let models: [String]

    /// The repository, and the file with the folder that tells it from others.
    var description: String {
        let parts = path.split(separator: "/").dropFirst()
        let repository = parts.first?.split(separator: "_").last ?? ""
        let commit = parts.firstIndex(of: "_history").map { " " + parts[$0 + 1] } ?? ""
        return "\(repository)/\(parts.last ?? "")\(commit)"
    }

    /// A copy, with its log, in a folder of its own.
    func copy(to scratch: Scratch, as name: String = "copy.sqlite") throws -> URL {
        let source = try #require(Corpus.folder).appendingPathComponent(path)
        let target = scratch.url(name)
        for suffix in ["", "-wal"]
        where FileManager.default.fileExists(atPath: source.path + suffix) {
            try FileManager.default.copyItem(
                atPath: source.path + suffix, toPath: target.path + suffix)
        }
        return target
    }

    /// The models it opens with, the one it keeps of itself first; none where nobody knows it.
    func knownModels(copy: URL) throws -> [(origin: String, model: NSManagedObjectModel)] {
        var known: [(String, NSManagedObjectModel)] = []
        if let cached = try SQLiteRowStore.cachedModel(at: copy) { known.append(("cache", cached)) }
        for source in models {
            let url = try #require(Corpus.folder).appendingPathComponent(source)
            known.append(("source", try NSManagedObjectModel.load(from: url)))
        }
        return known
    }
}

/// A folder that is removed when the test ends.
final class Scratch: Sendable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("RealFilesTests-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func url(_ name: String) -> URL { folder.appendingPathComponent(name) }
}

/// An open copy of a store, as programs see it.
struct OpenedStore {
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let context: NSManagedObjectContext
    let rows: SQLiteRowStore

    init(
        _ url: URL, _ model: NSManagedObjectModel, options: [AnyHashable: Any]? = nil
    ) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        rows = try #require(store.rowStore as? SQLiteRowStore)
    }

    /// The objects of exactly this entity, by key.
    func objects(_ entity: String) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.includesSubentities = false
        return try context.fetch(request).sorted { $0.key < $1.key }
    }

    func sql(_ text: String, _ values: [SQLiteValue] = []) throws -> [[SQLiteValue]] {
        try rows.read { try $0.connection.rows(text, values) }
    }
}

extension NSManagedObject {
    /// Z_PK.
    var key: Int64 { objectID.rowID?.key ?? 0 }
}
