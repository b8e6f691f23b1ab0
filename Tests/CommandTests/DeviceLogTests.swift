import Foundation
import Testing

@testable import diptych

/// The log of a store that is kept in sync all the time.
@Suite struct DeviceLogTests {
    private let folder: URL
    private var file: URL { folder.appendingPathComponent("sync.log") }

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("DeviceLogTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func lines(_ name: String) throws -> [String] {
        try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            .split(separator: "\n").map(String.init)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test func aFullFileMovesOnAndTheOldestGoes() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = try DeviceLog(file, .init(bytesMax: 30, formerMax: 2))
        for number in 0..<10 { log.write("line number \(number)") }
        #expect(try names() == ["sync.log", "sync.log.1", "sync.log.2"])
        #expect(try lines("sync.log.2") == ["line number 4", "line number 5"])
        #expect(try lines("sync.log.1") == ["line number 6", "line number 7"])
        #expect(try lines("sync.log") == ["line number 8", "line number 9"])
        // A line beyond all bounds is kept whole, alone.
        log.write(String(repeating: "x", count: 50))
        #expect(try lines("sync.log").map(\.count) == [50])
    }

    @Test func withoutFormerFilesTheFileBeginsAnew() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = try DeviceLog(file, .init(bytesMax: 30, formerMax: 0))
        for number in 0..<3 { log.write("line number \(number)") }
        #expect(try names() == ["sync.log"])
        #expect(try lines("sync.log") == ["line number 2"])
    }

    @Test func aFileThatIsMovedOrRemovedIsFollowed() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = try DeviceLog(file)
        log.write("one")
        try FileManager.default.moveItem(at: file, to: folder.appendingPathComponent("old"))
        log.write("two")
        #expect(try lines("old") == ["one"] && lines("sync.log") == ["two"])
        try FileManager.default.removeItem(at: file)
        log.reopen()
        log.write("three")
        #expect(try lines("sync.log") == ["three"])
    }

    @Test func severalProcessesShareAFile() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let bounds = DeviceLog.Bounds(bytesMax: 100, formerMax: 50)
        let (one, other) = (try DeviceLog(file, bounds), try DeviceLog(file, bounds))
        for number in 0..<40 {
            one.write("a \(number)")
            other.write("b \(number)")
        }
        let kept = try names().flatMap { try lines($0) }
        #expect(Set(kept) == Set((0..<40).flatMap { ["a \($0)", "b \($0)"] }))
        #expect(kept.count == 80)
    }

    @Test func aFolderThatIsNotThereIsTold() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let error = #expect(throws: CommandError.self) {
            try DeviceLog(folder.appendingPathComponent("none/sync.log"))
        }
        #expect(error?.code == "cannotWrite")
    }
}
