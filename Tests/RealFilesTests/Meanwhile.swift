import Foundation

/// Work of this process while a child runs, on a thread of its own: the test's task waits for the
/// child, and the threads that serve tasks may all be busy with other tests.
final class Meanwhile<Value: Sendable>: @unchecked Sendable {
    // @unchecked: `outcome` is set before `done` is signalled, and read after it.
    private let done = DispatchSemaphore(value: 0)
    private var outcome: Result<Value, any Error>?

    /// Begins when there is a file at `start`, and leaves one at `end`.
    init(start: String, end: String, _ work: @escaping @Sendable () throws -> Value) {
        Thread.detachNewThread { [self] in
            outcome = Result {
                defer { _ = FileManager.default.createFile(atPath: end, contents: nil) }
                try Self.wait(for: start)
                return try work()
            }
            done.signal()
        }
    }

    /// What the work came to, once it is over.
    func value() throws -> Value {
        done.wait()
        guard let outcome else { throw Late(path: "") }
        return try outcome.get()
    }

    private struct Late: Error { var path: String }

    private static func wait(for path: String) throws {
        for _ in 0..<24_000 {
            if FileManager.default.fileExists(atPath: path) { return }
            usleep(10_000)
        }
        throw Late(path: path)
    }
}
