import Foundation
import Testing

/// A process of the built command, or of another program.
final class Child {
    let id: pid_t
    private let output: URL
    private let errors: URL
    private var status: Int32?

    /// Starts `program` with its output in files of `folder`.
    init(
        _ program: String, _ arguments: [String], environment: [String: String], folder: URL,
        input: String? = nil
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
        posix_spawn_file_actions_addopen(&actions, 2, errors.path, flags, 0o600)
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") }
        words.append(nil)
        variables.append(nil)
        defer { (words + variables).forEach { free($0) } }
        var child = pid_t()
        let code = posix_spawn(&child, program, &actions, nil, words, variables)
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
    var printed: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }
    var complaint: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

    /// Waits for its end, and returns the exit status; a signal counts as 128 and its number. One
    /// that never ends is killed, so that its test fails and no other waits for it.
    @discardableResult
    func wait() -> Int32 {
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
    var isRunning: Bool {
        guard status == nil else { return false }
        var ended = siginfo_t()
        return waitid(P_PID, id_t(id), &ended, WEXITED | WNOHANG | WNOWAIT) == 0
            && ended.si_signo == 0
    }

    func send(_ signal: Int32) { kill(id, signal) }
}

/// How a run of the command ended.
struct Run {
    let status: Int32
    let output: String
    let complaint: String

    /// The output's lines as JSON objects.
    var lines: [[String: Any]] {
        output.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    /// The last line as a JSON object.
    var json: [String: Any] { lines.last ?? [:] }

    /// The error on standard error, as JSON.
    var error: [String: Any] {
        let line = complaint.split(separator: "\n").last { $0.hasPrefix("{\"error\"") } ?? ""
        let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return object?["error"] as? [String: Any] ?? [:]
    }

    var errorCode: String { error["code"] as? String ?? "" }
}

/// Waits until a condition comes true. So long that only one that never does ends it.
func until(_ condition: () throws -> Bool) throws {
    for _ in 0..<300_000 {
        if try condition() { return }
        usleep(2_000)
    }
    #expect(try condition())
}
