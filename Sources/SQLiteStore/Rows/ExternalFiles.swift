internal import Foundation
internal import Stores

/// The folder beside a store that holds large values: `.<name>_SUPPORT/_EXTERNAL_DATA/`.
struct ExternalFiles: Sendable {
    let folder: URL

    init(store: URL) {
        let name = store.deletingPathExtension().lastPathComponent
        folder = store.deletingLastPathComponent()
            .appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
            .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    }

    /// The bytes of the file that `reference` (a UUID's text and a zero) names; nil when it is
    /// gone.
    func read(reference: Data) throws -> Data? {
        let name = String(decoding: reference.prefix { $0 != 0 }, as: UTF8.self)
        guard let uuid = UUID(uuidString: name) else {
            throw StoreError(
                .corrupt, "A value refers to a file whose name is no UUID; the row is damaged.")
        }
        let file = folder.appendingPathComponent(uuid.uuidString)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        do {
            return try Data(contentsOf: file)
        } catch {
            throw StoreError(
                .failed, "A file of the store's external data could not be read; check its access.",
                fields: ["path": file.path], cause: error)
        }
    }
}
