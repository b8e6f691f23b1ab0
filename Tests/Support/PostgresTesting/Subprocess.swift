import Foundation

/// A program with a pipe to its input and one from its output. Foundation's waits for all that a
/// program leaves behind, and a server's control program leaves the server.
final class Subprocess: Sendable {
    private let id: pid_t
    private let input: Int32
    private let output: Int32
    private static let spawning = NSLock()

    /// No other child has the ends of the pipes: this process's end is their end.
    init(_ program: String, _ words: [String]) throws {
        var toChild: [Int32] = [0, 0]
        var fromChild: [Int32] = [0, 0]
        Self.spawning.lock()
        defer { Self.spawning.unlock() }
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else {
            throw TestServer.Failure("no pipe")
        }
        for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let arguments: [UnsafeMutablePointer<CChar>?] =
            ([program] + words).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child = pid_t()
        let code = posix_spawn(&child, program, &actions, nil, arguments, environ)
        close(toChild[0])
        close(fromChild[1])
        id = child
        input = toChild[1]
        output = fromChild[0]
        guard code == 0 else { throw TestServer.Failure("\(program) cannot be started") }
    }

    deinit { close(output) }

    func endInput() { close(input) }

    /// What comes next; empty at the end.
    func readSome() -> String {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(output, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    func readAll() -> String {
        var text = ""
        while true {
            let more = readSome()
            if more.isEmpty { return text }
            text += more
        }
    }

    /// The exit status; a signal counts as 255.
    @discardableResult
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 255
    }
}
