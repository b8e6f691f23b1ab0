internal import Foundation
internal import Platform

/// The log of a store that is kept in sync all the time: a file of a bounded size, and a bounded
/// number of former ones beside it, called `NAME.1` (the newest) and so on.
///
/// Whoever moves the file away (logrotate, another process that logs there) is followed with the
/// next line. Each line is one write, so lines of several processes stay apart. Calls come from any
/// thread; a disk that takes nothing stops no round.
final class DeviceLog: Sendable {
    /// How much is kept.
    struct Bounds: Hashable, Sendable {
        /// A line that would make the file larger begins a new one.
        var bytesMax: Int64 = 10 << 20
        /// Former files that are kept.
        var formerMax = 5
    }

    private struct State {
        var descriptor: Int32 = -1
        /// Lines that were not written since the last one that was.
        var lost = 0
    }

    let file: URL
    private let bounds: Bounds
    private let state = Lock(State())

    /// Opens the file, making it where it is missing; its owner alone may read it. Throws
    /// `CommandError` where it cannot be opened.
    init(_ file: URL, _ bounds: Bounds = Bounds()) throws {
        self.file = file
        self.bounds = bounds
        guard state.withLock({ Self.reopen(&$0, file) }) else {
            throw CommandError(
                "cannotWrite", "The log \(file.path) cannot be opened: \(reason).",
                hint: "Look at its folder and its rights.", status: .failed)
        }
    }

    private var reason: String { String(cString: strerror(errno)) }

    deinit {
        state.withLock { state in
            if state.descriptor >= 0 { close(state.descriptor) }
        }
    }

    /// Goes on in the file that has the name now.
    func reopen() { _ = state.withLock { Self.reopen(&$0, file) } }

    /// Adds a line. What the disk does not take is counted, and told once it takes one again.
    func write(_ line: String) {
        state.withLock { state in
            if !Self.isNamed(state.descriptor, file) { _ = Self.reopen(&state, file) }
            let bytes = Array((line + "\n").utf8)
            if Self.size(of: state.descriptor) > 0,
                Self.size(of: state.descriptor) + Int64(bytes.count) > bounds.bytesMax
            {
                rotate(&state)
            }
            if state.lost > 0 {
                let note = "# \(state.lost) lines are missing here: they could not be written.\n"
                if Self.add(Array(note.utf8), to: state.descriptor) { state.lost = 0 }
            }
            if !Self.add(bytes, to: state.descriptor) { state.lost += 1 }
        }
    }

    // MARK: The files

    /// Moves the files on by one, of which the oldest goes.
    private func rotate(_ state: inout State) {
        guard bounds.formerMax > 0 else {
            _ = ftruncate(state.descriptor, 0)
            return
        }
        for number in stride(from: bounds.formerMax - 1, through: 1, by: -1) {
            rename(former(number), former(number + 1))
        }
        rename(file.path, former(1))
        _ = Self.reopen(&state, file)
    }

    private func former(_ number: Int) -> String { "\(file.path).\(number)" }

    private static func reopen(_ state: inout State, _ file: URL) -> Bool {
        let other = open(file.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard other >= 0 else { return false }
        if state.descriptor >= 0 { close(state.descriptor) }
        state.descriptor = other
        return true
    }

    /// Whether the file that is written to is the one that has the name.
    private static func isNamed(_ descriptor: Int32, _ file: URL) -> Bool {
        var (own, named) = (stat(), stat())
        guard fstat(descriptor, &own) == 0, stat(file.path, &named) == 0 else { return false }
        return own.st_ino == named.st_ino && own.st_dev == named.st_dev
    }

    private static func size(of descriptor: Int32) -> Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    private static func add(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var count = Foundation.write(descriptor, bytes, bytes.count)
        while count < 0, errno == EINTR {
            count = Foundation.write(descriptor, bytes, bytes.count)
        }
        return count == bytes.count
    }
}
