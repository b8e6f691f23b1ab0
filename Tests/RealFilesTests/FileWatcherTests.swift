import Foundation
import Platform
import Testing

/// The system's watcher, at real files.
@Suite(.serialized) struct FileWatcherTests {
    private let scratch: Scratch
    private var path: String { scratch.url("file").path }

    init() throws { scratch = try Scratch() }

    private func append(_ text: String) throws {
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    @Test func aWriteIsToldAndSilenceCostsNoLook() async throws {
        try Data("a".utf8).write(to: scratch.url("file"))
        let looks = Ticks()
        let watch = SystemFileWatcher().watch([path]) {
            looks.add()
            return true
        }
        try await Task.sleep(for: .milliseconds(300))
        try Data("x".utf8).write(to: scratch.url("another"))
        try await Task.sleep(for: .milliseconds(100))
        #expect(looks.count == 0)
        try append("b")
        #expect(await eventually { looks.count == 1 })
        watch.end()
        try append("c")
        try await Task.sleep(for: .milliseconds(200))
        #expect(looks.count == 1)
    }

    @Test func aLookThatFindsNothingIsRepeatedForAWhile() async throws {
        try Data("a".utf8).write(to: scratch.url("file"))
        let looks = Ticks()
        let watch = SystemFileWatcher().watch([path]) { looks.add() >= 3 }
        try append("b")
        #expect(await eventually { looks.count == 3 })
        try await Task.sleep(for: .milliseconds(500))
        #expect(looks.count == 3)
        watch.end()
    }

    @Test func aFileThatAppearsLaterOrIsReplacedIsWatchedToo() async throws {
        let looks = Ticks()
        let watch = SystemFileWatcher().watch([path]) {
            looks.add()
            return true
        }
        try Data("a".utf8).write(to: scratch.url("file"))
        #expect(await eventually { looks.count >= 1 })
        try Data("b".utf8).write(to: scratch.url("draft"))
        #expect(rename(scratch.url("draft").path, path) == 0)
        try await Task.sleep(for: .milliseconds(100))
        let before = looks.count
        try append("c")
        #expect(await eventually { looks.count > before })
        watch.end()
    }

    @Test func withoutTheKernelsWordItLooksAtIntervals() async throws {
        let looks = Ticks()
        let watcher = SystemFileWatcher(hasKernel: false, pollMilliseconds: 20)
        let watch = watcher.watch([path]) {
            looks.add()
            return false
        }
        #expect(await eventually { looks.count >= 3 })
        watch.end()
        try await Task.sleep(for: .milliseconds(100))
        let after = looks.count
        try await Task.sleep(for: .milliseconds(100))
        #expect(looks.count == after)
    }

    @Test func aFolderThatIsNotThereIsLookedAtAtIntervals() async throws {
        let looks = Ticks()
        let watch = SystemFileWatcher(hasKernel: true, pollMilliseconds: 20).watch(
            [scratch.url("nowhere/file").path]
        ) {
            looks.add()
            return false
        }
        #expect(await eventually { looks.count >= 2 })
        watch.end()
    }

    @Test func watchesThatEndLeaveNothingAtTheKernel() async throws {
        try Data("a".utf8).write(to: scratch.url("file"))
        func descriptors() -> Int { Descriptors.links.count { $0.contains("inotify") } }
        for _ in 0..<200 {
            let watch = SystemFileWatcher().watch([path]) { true }
            #expect(try Descriptors.isWatched(path) && descriptors() == 1)
            watch.end()
            #expect(try !Descriptors.isWatched(path))
        }
        for _ in 0..<50 { _ = SystemFileWatcher().watch([path]) { true } }
        #expect(try await eventually { try !Descriptors.isWatched(path) } && descriptors() == 1)
    }
}

/// Counts, from any thread.
final class Ticks: @unchecked Sendable {
    // @unchecked: the lock protects the number.
    private let lock = NSLock()
    private var counted = 0

    @discardableResult
    func add() -> Int {
        lock.withLock {
            counted += 1
            return counted
        }
    }

    var count: Int { lock.withLock { counted } }
}

/// The open files of this process.
enum Descriptors {
    static var links: [String] {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
        }
    }

    /// Whether the kernel tells this process of writes to the file. Source: proc(5), fdinfo.
    static func isWatched(_ path: String) throws -> Bool {
        var status = stat()
        try #require(stat(path, &status) == 0)
        let word = "inotify wd:"
        let inode = " ino:" + String(status.st_ino, radix: 16) + " "
        let folder = "/proc/self/fdinfo"
        return try FileManager.default.contentsOfDirectory(atPath: folder).contains { name in
            // Others close their files meanwhile.
            let lines = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
            return lines?.split(separator: "\n").contains {
                $0.hasPrefix(word) && $0.contains(inode)
            } ?? false
        }
    }
}

/// Whether a condition comes true. So long that only one that never does ends it.
func eventually(
    seconds: Double = 600, _ condition: () throws -> Bool
) async rethrows -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end {
        if try condition() { return true }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return try condition()
}
