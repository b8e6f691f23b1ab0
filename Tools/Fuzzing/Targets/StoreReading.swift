internal import Foundation
internal import ObjectModel
internal import Stores

/// Reads all a store has: every row of every entity, the members of every relationship.
enum StoreReading {
    private static let membersMax = 64

    static func readAll(_ store: some RowStore) throws {
        _ = try store.metadata()
        for entity in store.layout.entities {
            var query = RowQuery(entity: entity.number)
            let rows = try store.rows(matching: query)
            query.includesSubentities = false
            guard try store.count(matching: query) == store.ids(matching: query).count else {
                throw BrokenPromise(description: "\(entity.name) has more ids than it counts")
            }
            for row in rows.prefix(membersMax) {
                _ = try store.row(row.id)
                let slots = store.layout.entity(row.id.entity)?.toManys.indices ?? 0..<0
                for slot in slots { _ = try store.members(of: row.id, toMany: slot) }
            }
        }
    }
}

/// The file in which a store is put to be opened: one per process, in the system's place for such.
enum ScratchFile {
    private static let folder: URL = {
        let name = "diptych-fuzz-\(ProcessInfo.processInfo.processIdentifier)"
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }()

    /// Calls `body` with a file of its own that holds `data`; it is gone afterwards.
    static func with(_ data: Data, _ body: (URL) throws -> Void) throws {
        let url = folder.appendingPathComponent("\(UUID().uuidString).store")
        defer { remove(url) }
        do {
            try data.write(to: url)
        } catch {
            throw BrokenPromise(description: "the fuzzer cannot write its own file: \(error)")
        }
        try body(url)
    }

    private static func remove(_ url: URL) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(url.path + suffix) }
    }
}
