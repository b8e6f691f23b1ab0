public import Foundation
internal import SQLiteDriver
internal import Stores

extension SQLiteRowStore {
    /// Replaces the application's metadata of the store at `url`, without a model.
    public static func setMetadata(_ metadata: [String: Any], at url: URL) throws {
        let file = StoreFile(url: url, options: .init())
        try StoreError.mapping(path: file.path) {
            let connection = try file.open()
            try connection.transaction(.immediate) {
                var stored = try StoreMetadata(reading: connection, path: file.path)
                stored.replaceApplicationKeys(with: metadata)
                try stored.write(to: connection)
            }
        }
    }

    /// Writes a copy of the store at `source`, with all that its log holds, to the new file
    /// `draft`, and empties the log of the store at `destination`, so that the draft may take its
    /// place. External values are not copied.
    public static func copy(from source: URL, toDraft draft: URL, for destination: URL) throws {
        let file = StoreFile(url: source, options: .init())
        try StoreError.mapping(path: file.path) {
            let connection = try file.openForReading()
            try connection.run("VACUUM INTO ?", [.text(draft.path)])
        }
        guard FileManager.default.fileExists(atPath: destination.path) else { return }
        let former = StoreFile(url: destination, options: .init())
        try StoreError.mapping(path: former.path) {
            let rows = try former.open().rows("PRAGMA wal_checkpoint(TRUNCATE)")
            guard rows.first?.first?.int64 == 0 else {
                throw StoreError(
                    .busy, "The store to replace is in use; close it and try again.",
                    fields: ["path": former.path])
            }
        }
    }
}
