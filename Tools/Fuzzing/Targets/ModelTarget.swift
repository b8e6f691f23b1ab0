internal import Foundation
internal import ObjectModel
internal import Predicates
internal import SQLiteStore

/// The readers of models. What they accept must survive being written and read again.
enum ModelTarget {
    static func source(_ data: Data) throws {
        try use(try NSManagedObjectModel.load(fromSource: data))
    }

    static func elements(_ data: Data) throws {
        try use(try NSManagedObjectModel.load(fromArchive: data))
    }

    static func archive(_ data: Data) throws {
        guard !data.starts(with: Data("bplist".utf8)) else {
            return try use(try NSManagedObjectModel.load(fromArchive: data))
        }
        try use(try ModelCache.model(packed: data, path: "fuzz"))
    }

    /// What an app does with a model it has read.
    private static func use(_ model: NSManagedObjectModel) throws {
        let hashes = model.entityVersionHashesByName
        for entity in model.entities {
            for property in entity.properties { _ = property.versionHash }
            _ = entity.propertiesByName
        }
        do {
            try model.checkConsistency()
        } catch is ModelConsistencyError {
            return
        }
        let text: String
        let archive: Data
        do {
            text = try model.sourceText()
            archive = try model.compiledData()
        } catch is ModelFileError {
            return
        }
        try compare(hashes, "the text it wrote") { try .load(fromSource: Data(text.utf8)) }
        try compare(hashes, "the archive it wrote") { try .load(fromArchive: archive) }
    }

    private static func compare(
        _ hashes: [String: Data], _ what: String, _ read: () throws -> NSManagedObjectModel
    ) throws {
        let again: NSManagedObjectModel
        do { again = try read() } catch {
            throw BrokenPromise(description: "\(what) is refused: \(error)")
        }
        guard again.entityVersionHashesByName == hashes else {
            throw BrokenPromise(description: "\(what) has other version hashes")
        }
    }
}
