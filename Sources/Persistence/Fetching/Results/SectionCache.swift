internal import Foundation
internal import ObjectModel
internal import Predicates

/// A file with the names and sizes of sections, which saves reading all objects to learn them.
///
/// It holds for one request and one state of the stores, told by their last transactions; a file of
/// another request or state, or none of ours, counts as absent and is written anew. Stores without
/// history, and requests with code in them, are not cached. A file that cannot be written is no
/// error.
struct SectionCache {
    let name: String

    /// What a cache is good for.
    struct Stamp: Codable, Equatable {
        let request: [String]
        let transactions: [String: Int64]
    }

    private struct Contents: Codable {
        struct Section: Codable {
            let name: String
            let count: Int
        }

        let format: Int
        let stamp: Stamp
        let sections: [Section]
    }

    private static let format = 1

    // MARK: Places

    /// `<caches>/<program>/.CoreDataCaches/SectionInfoCaches`, beside Apple's names.
    private static var folder: URL? {
        FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first?
            .appendingPathComponent(ProcessInfo.processInfo.processName)
            .appendingPathComponent(".CoreDataCaches/SectionInfoCaches")
    }

    /// The cache's file; nil where the system has no place for caches.
    var file: URL? {
        Self.folder?.appendingPathComponent(Self.fileName(name))
            .appendingPathComponent("sectionInfo")
    }

    /// A name's own folder, which is below the others' whatever the name.
    private static func fileName(_ name: String) -> String {
        "cache-" + (name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
    }

    /// Removes a cache, or all of the program's.
    static func remove(_ name: String?) {
        guard let folder else { return }
        let place = name.map { folder.appendingPathComponent(fileName($0)) } ?? folder
        try? FileManager.default.removeItem(at: place)
    }

    // MARK: Reading and writing

    /// The sections of `count` objects, where the file has them for `stamp`.
    func read(_ stamp: Stamp, count: Int) -> [(name: String, count: Int)]? {
        guard let file, let data = try? Data(contentsOf: file),
            let contents = try? JSONDecoder().decode(Contents.self, from: data),
            contents.format == Self.format, contents.stamp == stamp
        else { return nil }
        let counts = contents.sections.map(\.count)
        guard counts.allSatisfy({ (1...max(count, 1)).contains($0) }),
            counts.reduce(0, { min($0 + $1, .max / 2) }) == count
        else { return nil }
        return contents.sections.map { ($0.name, $0.count) }
    }

    func write(_ sections: [ResultContent.Section], _ stamp: Stamp) {
        let contents = Contents(
            format: Self.format, stamp: stamp,
            sections: sections.map { Contents.Section(name: $0.name, count: $0.count) })
        guard let file, let data = try? JSONEncoder().encode(contents) else { return }
        try? FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? data.write(to: file, options: .atomic)
    }

    // MARK: What a cache is good for

    /// The present stamp; nil for what cannot be cached.
    func stamp(
        of request: any FetchRequesting, in context: NSManagedObjectContext, _ path: String?
    ) -> Stamp? {
        guard let path, context.parent == nil, let query = try? context.query(for: request),
            let source = context.source as? StoreSource, source.pin == nil,
            context.isPlain(query, source, true), let text = Self.text(of: request, query)
        else { return nil }
        let coordinator = source.coordinator
        let stores = query.stores ?? coordinator.persistentStores
        let token = coordinator.currentPersistentHistoryToken(fromStores: stores)
        guard let numbers = token?.numbers, numbers.count == stores.count else { return nil }
        return Stamp(request: text + [path], transactions: numbers)
    }

    private static func text(of request: any FetchRequesting, _ query: ObjectQuery) -> [String]? {
        var text = [
            query.entity.name ?? "", query.entity.versionHash.base64EncodedString(),
            "\(query.includesSubentities) \(query.limit) \(query.offset)",
            "\(request.choice.resultType.rawValue)",
            query.predicate.map { node(of: $0).description } ?? "",
        ]
        for descriptor in PredicateTranslation(query).sort {
            guard let key = key(of: descriptor) else { return nil }
            let path = key.path.joined(separator: ".")
            text.append("\(path) \(key.ascending) \(key.comparison.rawValue)")
        }
        return text
    }
}
