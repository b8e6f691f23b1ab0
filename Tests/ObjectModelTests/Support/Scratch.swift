import Foundation

@testable import ObjectModel

/// A folder for one test's files, removed at its end.
final class Scratch {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ObjectModelTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Writes `text` to `path` below the folder, and returns its URL.
    @discardableResult
    func write(_ text: String, to path: String) throws -> URL {
        let url = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
        return url
    }

    /// The model whose `<model>` element holds `body`.
    func model(_ body: String) throws -> NSManagedObjectModel {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model>\n\(body)\n</model>"
        return try .load(from: write(text, to: "Test.xcdatamodel/contents"))
    }
}
