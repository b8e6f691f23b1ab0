import Foundation
import ObjectModel

/// The real models, where they are at hand.
enum Corpus {
    /// A model of the corpus: a bundle's current version, or a model of its own.
    struct Model: Sendable {
        var name: String
        var url: URL

        func load() throws -> NSManagedObjectModel { try NSManagedObjectModel.load(from: url) }
    }

    private static let folder: URL? = {
        let named = ProcessInfo.processInfo.environment["DIPTYCH_CORPUS"].map {
            URL(fileURLWithPath: $0, isDirectory: true)
        }
        let beside = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../shared/corpus").standardizedFileURL
        return [named, beside].compactMap { $0?.appendingPathComponent("xcdatamodel") }.first {
            FileManager.default.fileExists(atPath: $0.path)
        }
    }()

    static var isPresent: Bool { folder != nil }

    /// The current version of each `.xcdatamodeld`, each version of one that does not say which is
    /// current, and each `.xcdatamodel` that is in none, sorted by path.
    static let models: [Model] = {
        guard let folder else { return [] }
        let paths = (FileManager.default.enumerator(atPath: folder.path) ?? .init())
            .compactMap { $0 as? String }.filter { ($0 as NSString).pathExtension.hasPrefix("xcd") }
        let versions = Dictionary(grouping: paths.filter { $0.hasSuffix(".xcdatamodel") }) {
            ($0 as NSString).deletingLastPathComponent
        }
        let chosen = paths.flatMap { path -> [String] in
            if path.hasSuffix(".xcdatamodeld") {
                return saysCurrent(folder.appendingPathComponent(path))
                    ? [path] : versions[path] ?? [path]
            }
            let parent = (path as NSString).deletingLastPathComponent
            return parent.hasSuffix(".xcdatamodeld") ? [] : [path]
        }
        return chosen.sorted().map { path in
            Model(name: shortName(path), url: folder.appendingPathComponent(path))
        }
    }()

    private static func saysCurrent(_ bundle: URL) -> Bool {
        let file = bundle.appendingPathComponent(".xccurrentversion")
        let text = try? String(contentsOf: file, encoding: .utf8)
        return text?.contains("_XCCurrentVersionName") == true
    }

    /// The repository and the file, without the folders between.
    private static func shortName(_ path: String) -> String {
        let parts = path.split(separator: "/")
        let repository = parts.first.map { String($0.split(separator: "_").last ?? $0) } ?? ""
        let file = (path as NSString).lastPathComponent as NSString
        return "\(repository)/\(file.deletingPathExtension)"
    }
}

/// A folder that is removed when it is no longer used.
final class Scratch {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("CorpusTests-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func url(_ name: String) -> URL { folder.appendingPathComponent(name) }
}
