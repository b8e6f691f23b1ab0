import Foundation

/// The real XML stores, where they are at hand.
enum Corpus {
    private static let folder: URL? = {
        let named = ProcessInfo.processInfo.environment["DIPTYCH_CORPUS"].map {
            URL(fileURLWithPath: $0, isDirectory: true)
        }
        let beside = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../shared/corpus").standardizedFileURL
        return [named, beside].compactMap { $0 }.first {
            FileManager.default.fileExists(atPath: $0.path)
        }
    }()

    static var isPresent: Bool { !xmlStores.isEmpty }

    /// Documents that are XML stores, and the sources of mapping models.
    static let xmlStores: [URL] = {
        guard let folder else { return [] }
        let places = ["xmlstore", "mapping"].map { folder.appendingPathComponent($0) }
        return places.flatMap { place in
            (FileManager.default.enumerator(atPath: place.path) ?? .init())
                .compactMap { $0 as? String }.sorted()
                .map { place.appendingPathComponent($0) }
        }.filter { ["Folio.paw", "xcmapping.xml"].contains($0.lastPathComponent) }
    }()
}
