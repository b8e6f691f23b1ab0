import Foundation
import SQLiteDriver
import Testing

/// Files without a log whose writer ended in the middle of a save: their journal tells what was
/// there before.
@Suite final class HotJournalTests {
    private let folder: URL
    private var path: String { folder.appendingPathComponent("left.sqlite").path }

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("HotJournalTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Copies the file and its journal while a transaction is being written.
    private func leave() throws {
        let live = folder.appendingPathComponent("live.sqlite").path
        let writer = try Connection(path: live)
        try writer.script(
            """
            PRAGMA journal_mode = DELETE;
            CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT);
            PRAGMA cache_size = 2;
            """)
        try writer.transaction {
            for number in 0..<500 {
                try writer.run(
                    "INSERT INTO item (text) VALUES (?)",
                    [.text("old \(number) " + String(repeating: "x", count: 500))])
            }
        }
        struct Ended: Error {}
        try? writer.transaction {
            try writer.run("UPDATE item SET text = 'new'")
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: live + suffix, toPath: path + suffix)
            }
            throw Ended()
        }
        let facts = try FileManager.default.attributesOfItem(atPath: path + "-journal")
        #expect((facts[.size] as? Int ?? 0) > 0)
    }

    @Test func aReaderFindsWhatWasThereBefore() throws {
        try leave()
        let reader = try Connection.reading(path)
        #expect(try reader.value("SELECT count(*) FROM item WHERE text LIKE 'old%'")?.int64 == 500)
        #expect(try reader.value("PRAGMA integrity_check")?.string == "ok")
    }
}
