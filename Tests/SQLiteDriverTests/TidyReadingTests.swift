import Foundation
import SQLiteDriver
import Testing

/// A look at a file that nobody works with leaves no log beside it.
@Suite final class TidyReadingTests {
    private let folder: URL
    private var path: String { folder.appendingPathComponent("still.sqlite").path }

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("TidyReadingTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let writer = try Connection(path: path)
        try writer.script("PRAGMA journal_mode = WAL; CREATE TABLE item (id INTEGER PRIMARY KEY);")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// What lies in the folder.
    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    private func count(_ reader: Connection?) throws -> Int64? {
        try reader?.value("SELECT count(*) FROM item")?.int64
    }

    @Test func oneLookLeavesNothing() throws {
        var reader: Connection? = try .reading(path)
        #expect(try count(reader) == 0)
        #expect(try names.count > 1)
        reader = nil
        #expect(try names == ["still.sqlite"])
    }

    @Test(arguments: [[0, 1, 2], [1, 0, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]])
    func severalLooksLeaveNothingInWhateverOrderTheyEnd(order: [Int]) throws {
        var readers: [Connection?] = try (0..<3).map { _ in try .reading(path) }
        for index in order {
            for reader in readers where reader != nil { #expect(try count(reader) == 0) }
            readers[index] = nil
        }
        #expect(try names == ["still.sqlite"])
    }

    /// Each look begins before the one before ends.
    @Test func looksThatMeetLeaveNothing() throws {
        var reader: Connection? = try .reading(path)
        for _ in 0..<5 {
            let next = try Connection.reading(path)
            #expect(try count(reader) == 0)
            reader = next
        }
        reader = nil
        #expect(try names == ["still.sqlite"])
        let writer = try Connection(path: path)
        try writer.run("INSERT INTO item DEFAULT VALUES")
        #expect(try count(.reading(path)) == 1)
    }
}
