internal import Foundation
internal import ObjectModel
internal import Platform
internal import SQLiteStore
internal import Stores

/// The types of stores, told by what is in the file.
enum StoreFileKind: String, Sendable, CaseIterable {
    case sqlite = "SQLite"
    case xml = "XML"
    case binary = "Binary"

    /// As options spell it.
    var word: String { rawValue.lowercased() }

    /// With its article, as a sentence has it.
    var title: String { self == .xml ? "an XML" : self == .sqlite ? "a SQLite" : "a binary" }

    static func named(_ word: String) -> StoreFileKind? { allCases.first { $0.word == word } }

    /// The type of the store at `url`. Throws a `CommandError` for what cannot be a store.
    init(of url: URL) throws {
        switch FileKind(of: url) {
        case .sqlite: self = .sqlite
        case .xml: self = .xml
        case .propertyList: self = .binary
        case .absent:
            throw CommandError(
                "noStore", "There is no file \(url.path).",
                hint: "Check the path, or make a store: `diptych create`.")
        case .folder:
            throw CommandError(
                "notAStore", "\(url.path) is a folder.", hint: "Give the path of a store's file.")
        case .empty, .other:
            throw CommandError(
                "notAStore", "\(url.path) is no store: neither SQLite, nor XML, nor binary.",
                hint: "Give the path of a Core Data store.")
        }
    }

    /// The store's metadata; the store is not opened for work.
    func metadata(at url: URL) throws -> [String: Any] {
        switch self {
        case .sqlite: try SQLiteRowStore.metadata(at: url)
        case .xml: try XMLRowStore.metadata(at: url)
        case .binary: try BinaryRowStore.metadata(at: url)
        }
    }

    /// What the file alone tells of its model: names as its columns or elements spell them.
    func inferredModel(of url: URL) throws -> NSManagedObjectModel {
        switch self {
        case .sqlite: return try SQLiteRowStore.inferredModel(at: url)
        case .xml: return try inferredModel(of: XMLRowStore.contents(at: url), url)
        case .binary: return try inferredModel(of: BinaryRowStore.contents(at: url), url)
        }
    }

    private func inferredModel(of graph: StoredGraph, _ url: URL) throws -> NSManagedObjectModel {
        let hashes = try metadata(at: url)["NSStoreModelVersionHashes"] as? [String: Any] ?? [:]
        return graph.inferredModel(spellings: Array(hashes.keys))
    }

    /// Opens the store, or makes it where there is no file. `anyVersion` opens what was written
    /// with another model, as far as it goes.
    func open(
        _ url: URL, model: NSManagedObjectModel, readOnly: Bool, pragmas: [String: String],
        anyVersion: Bool = false
    ) throws -> any RowStore {
        var graph = GraphFileOptions()
        graph.isReadOnly = readOnly
        graph.leavesOutDerived = true
        graph.ignoresVersioning = anyVersion
        switch self {
        case .sqlite:
            var options = SQLiteStoreOptions()
            options.isReadOnly = readOnly
            options.pragmas = pragmas
            options.ignoresVersioning = anyVersion
            return try SQLiteRowStore(url: url, model: model, options: options, platform: .system)
        case .xml:
            return try XMLRowStore(url: url, model: model, options: graph, platform: .system)
        case .binary:
            return try BinaryRowStore(url: url, model: model, options: graph, platform: .system)
        }
    }
}

extension RowStore {
    /// Runs `body` within one transaction where the store has such.
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        guard let store = self as? SQLiteRowStore else { return try body() }
        return try store.read { _ in try body() }
    }
}
