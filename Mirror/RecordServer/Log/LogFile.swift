public import Foundation
internal import Platform

/// A file that lines are added to, also while others move it away.
///
/// Calls come from any thread. Each line is one write, so lines of several processes stay apart.
public final class LogFile: Sendable {
    private let file: URL?
    private let descriptor: Int32
    /// Lines that the disk did not take since the last one that it took.
    private let lost = Counter()

    /// Opens the file, making it where it is missing; only its owner and group may read it. Throws
    /// a `ServerError`.
    public init(_ file: URL) throws {
        self.file = file
        descriptor = try Self.open(file)
    }

    /// Lines on standard error.
    public init() {
        file = nil
        descriptor = STDERR_FILENO
    }

    deinit { if file != nil { close(descriptor) } }

    /// Goes on in the file that has the name now, as after a rotation. Throws a `ServerError`, and
    /// goes on in the former file then.
    public func reopen() throws {
        guard let file else { return }
        let other = try Self.open(file)
        // One step for who writes meanwhile.
        dup2(other, descriptor)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        close(other)
    }

    /// Adds a line. What the disk does not take is counted, and told once it takes one again.
    public func write(_ line: String) {
        let missed = lost.value
        guard missed > 0 else { return add(line) }
        lost.add(-missed)
        add("# \(missed) lines are missing here: they could not be written.")
        add(line)
    }

    private func add(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        var count = Foundation.write(descriptor, bytes, bytes.count)
        while count < 0, errno == EINTR {
            count = Foundation.write(descriptor, bytes, bytes.count)
        }
        if count != bytes.count { lost.add() }
    }

    private static func open(_ file: URL) throws -> Int32 {
        let descriptor = Foundation.open(
            file.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else {
            throw ServerError(
                .cannotWrite, "The log cannot be opened; look at its folder and its rights.",
                fields: ["path": file.path, "reason": String(cString: strerror(errno))])
        }
        return descriptor
    }
}
