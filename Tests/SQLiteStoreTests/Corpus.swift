import Foundation
import ObjectModel
import SQLiteDriver
import Testing

/// The real stores and their models, where they are at hand.
enum Corpus {
    static let folder: URL? = {
        let named = ProcessInfo.processInfo.environment["DIPTYCH_CORPUS"].map {
            URL(fileURLWithPath: $0, isDirectory: true)
        }
        let beside = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("../shared/corpus").standardizedFileURL
        return [named, beside].compactMap { $0 }.first {
            FileManager.default.fileExists(atPath: $0.appendingPathComponent("pairs.tsv").path)
        }
    }()

    static var isPresent: Bool { folder != nil }

    struct Pair: Sendable, CustomStringConvertible {
        var store: String
        var model: String
        var description: String { store }
    }

    /// The stores whose exact model is known.
    static let pairs: [Pair] = {
        guard let folder,
            let text = try? String(
                contentsOf: folder.appendingPathComponent("pairs.tsv"), encoding: .utf8)
        else { return [] }
        return text.split(separator: "\n").dropFirst().compactMap { line in
            let cells = line.split(separator: "\t").map(String.init)
            return cells.count >= 2 ? Pair(store: cells[0], model: cells[1]) : nil
        }
    }()

    /// Every store, with or without a known model.
    static let stores: [String] = {
        guard let folder,
            let found = FileManager.default.enumerator(
                atPath: folder.appendingPathComponent("sqlite").path)
        else { return [] }
        return found.compactMap { $0 as? String }.filter { path in
            let full = folder.appendingPathComponent("sqlite/\(path)").path
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: full, isDirectory: &isFolder)
            return exists && !isFolder.boolValue && !["-wal", "-shm"].contains(path.suffix(4))
        }.map { "sqlite/\($0)" }.sorted()
    }()

    static func model(_ pair: Pair) throws -> NSManagedObjectModel {
        let folder = try #require(folder)
        return try NSManagedObjectModel.load(from: folder.appendingPathComponent(pair.model))
    }

    /// A copy of the store, with its log, in a folder of its own.
    static func copy(_ store: String, to scratch: Scratch) throws -> URL {
        let source = try #require(folder).appendingPathComponent(store)
        let target = scratch.url("copy.sqlite")
        for suffix in ["", "-wal"]
        where FileManager.default.fileExists(atPath: source.path + suffix) {
            try FileManager.default.copyItem(
                atPath: source.path + suffix, toPath: target.path + suffix)
        }
        return target
    }
}

/// A folder that is removed when the test ends.
final class Scratch {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("SQLiteStoreTests-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func url(_ name: String) -> URL { folder.appendingPathComponent(name) }
}
