internal import Dispatch
internal import Platform

/// Keeps some of a service's sessions for others while one database of records is locked: its
/// writers wait for one another, each with a session, and the last few wait without.
final class WriterRoom: Sendable {
    private struct Line {
        let room: DispatchSemaphore
        /// Those inside, and those who wait.
        var calls = 0
    }

    private let lines = Lock<[DatabaseKey: Line]>([:])
    private let writersMax: Int

    /// Of so many sessions a quarter is kept, and one at least.
    init(sessions: Int) { writersMax = max(1, sessions - max(1, sessions / 4)) }

    /// Waits while there are too many; `leave` follows.
    func enter(_ key: DatabaseKey) {
        let room = lines.withLock { lines in
            var line = lines[key] ?? Line(room: DispatchSemaphore(value: writersMax))
            line.calls += 1
            lines[key] = line
            return line.room
        }
        room.wait()
    }

    func leave(_ key: DatabaseKey) {
        lines.withLock { lines in
            lines[key]?.room.signal()
            lines[key]?.calls -= 1
            if lines[key]?.calls == 0 { lines[key] = nil }
        }
    }
}
