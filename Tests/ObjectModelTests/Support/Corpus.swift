import Foundation

/// The real files the tests are checked against, where they are at hand.
enum Corpus {
    /// The corpus folder: `DIPTYCH_CORPUS`, or `../shared/corpus` beside the package.
    static let folder: URL? = {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../../shared/corpus").standardizedFileURL
        let named = ProcessInfo.processInfo.environment["DIPTYCH_CORPUS"]
            .map { URL(fileURLWithPath: $0) }
        return [named, package].compactMap { $0 }
            .first { FileManager.default.fileExists(atPath: $0.path) }
    }()

    static var isPresent: Bool { folder != nil }

    /// All files below `subfolder` whose path ends in `suffix`, sorted.
    static func files(_ subfolder: String, endingIn suffix: String) -> [URL] {
        guard let root = folder?.appendingPathComponent(subfolder) else { return [] }
        let names =
            FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(suffix) }.sorted().map {
            root.appendingPathComponent($0)
        }
    }
}
