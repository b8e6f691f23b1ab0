public import Foundation

/// A process of the built command, or of another program.
///
/// Foundation's `Process` reads past the names of open descriptors once there are over a thousand,
/// as in a run of all suites.
public final class Child {
    public let id: pid_t
    private let output: URL
    private let errors: URL
    private var status: Int32?

    /// Starts `program` with its output in files of `folder`, and where it `joinsErrors` both in
    /// one.
    public init(
        _ program: String, _ arguments: [String],
        environment: [String: String] = ProcessInfo.processInfo.environment, folder: URL,
        directory: URL? = nil, input: String? = nil, joinsErrors: Bool = false
    ) throws {
        let name = UUID().uuidString
        output = folder.appendingPathComponent("\(name).out")
        errors = folder.appendingPathComponent("\(name).err")
        let source = folder.appendingPathComponent("\(name).in")
        try Data((input ?? "").utf8).write(to: source)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, source.path, O_RDONLY, 0)
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, 1, output.path, flags, 0o600)
        if joinsErrors {
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
        } else {
            posix_spawn_file_actions_addopen(&actions, 2, errors.path, flags, 0o600)
        }
        let moved = directory.map { ["/usr/bin/env", "-C", $0.path] } ?? []
        let words = moved + [program] + arguments
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") }
        arguments.append(nil)
        variables.append(nil)
        defer { (arguments + variables).forEach { free($0) } }
        var child = pid_t()
        let code = posix_spawn(&child, words[0], &actions, nil, arguments, variables)
        guard code == 0 else {
            throw CocoaError(.executableNotLoadable, userInfo: ["program": program])
        }
        id = child
    }

    /// No child is left unwaited for: the tests that run in a process of their own would look at
    /// the dead one for ever and never see theirs end.
    deinit {
        guard status == nil else { return }
        send(SIGKILL)
        wait()
    }

    /// What it printed so far.
    public var printed: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }
    public var complaint: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

    /// Waits for its end, and returns the exit status; a signal counts as 128 and its number. One
    /// that never ends is killed, so that its test fails and no other waits for it.
    @discardableResult
    public func wait() -> Int32 {
        if let status { return status }
        var raw: Int32 = 0
        var turns = 0
        while waitpid(id, &raw, WNOHANG) == 0 {
            turns += 1
            if turns == 60_000 { send(SIGKILL) }
            usleep(10_000)
        }
        let signal = raw & 0x7F
        let ended = signal == 0 ? (raw >> 8) & 0xFF : 128 + signal
        status = ended
        return ended
    }

    /// Whether it has not ended yet.
    public var isRunning: Bool {
        guard status == nil else { return false }
        var ended = siginfo_t()
        return waitid(P_PID, id_t(id), &ended, WEXITED | WNOHANG | WNOWAIT) == 0
            && ended.si_signo == 0
    }

    public func send(_ signal: Int32) { kill(id, signal) }
}
