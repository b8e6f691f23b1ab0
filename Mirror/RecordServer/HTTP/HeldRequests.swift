internal import CMicroHTTPD
internal import Foundation
internal import Platform

/// Requests whose answers are held back: their connections sleep at the library until something
/// wakes them, their time is up, or the server stops.
final class HeldRequests: Sendable {
    private struct Entry {
        let user: String
        /// Where it is looked whether the client is still there.
        let descriptor: Int32?
        var until: Date
        /// Whether the library let the connection sleep.
        var isAsleep = false
        /// Something may have happened since the answer was last looked for.
        var wasWoken = false
        /// Whether it waits for news, rather than for its turn.
        var isListener = true
    }

    private struct State {
        var entries: [UInt: Entry] = [:]
        var perUser: [String: Int] = [:]
        var listeners = 0
        var isClosed = false
    }

    let limits: HeldRequestLimits
    private let clock: any Clock
    private let state = Lock(State())

    init(limits: HeldRequestLimits, clock: any Clock) {
        self.limits = limits
        self.clock = clock
    }

    var count: Int { state.withLock { $0.entries.count } }

    /// Takes a request in; false where there is no room for one more. Who is no listener needs none
    /// of theirs: there are no more of those than connections.
    func begin(
        _ connection: UInt, of user: String, seconds: Double, descriptor: Int32? = nil,
        isListener: Bool = true
    ) -> Bool {
        let until = clock.now().addingTimeInterval(min(max(seconds, 0), limits.secondsMax))
        return state.withLock { state in
            let ofUser = state.perUser[user, default: 0]
            let hasRoom = ofUser < limits.perUserMax && state.listeners < limits.max
            guard !state.isClosed, !isListener || hasRoom else { return false }
            state.entries[connection] = Entry(
                user: user, descriptor: descriptor, until: until, isListener: isListener)
            state.listeners += isListener ? 1 : 0
            state.perUser[user] = ofUser + 1
            return true
        }
    }

    /// Whether the answer has to be given now, whatever it is.
    func isLast(_ connection: UInt) -> Bool {
        let now = clock.now()
        return state.withLock { state in
            guard let entry = state.entries[connection], !state.isClosed else { return true }
            state.entries[connection]?.wasWoken = false
            return entry.until <= now
        }
    }

    /// Why an answer of events is looked at.
    enum Turn {
        case woken
        /// Nothing happened for the time that was given.
        case timeIsUp
        /// The server stops.
        case closed
    }

    /// An answer of events takes its turn, and has so many seconds more until the next.
    func turn(_ connection: UInt, seconds: Double) -> Turn {
        let now = clock.now()
        return state.withLock { state in
            guard let entry = state.entries[connection], !state.isClosed else { return .closed }
            state.entries[connection]?.wasWoken = false
            guard entry.until <= now else { return .woken }
            state.entries[connection]?.until = now.addingTimeInterval(seconds)
            return .timeIsUp
        }
    }

    /// Lets a connection sleep; false where something happened since `isLast` was asked, so that
    /// the answer is to be looked for again. Only within the library's call for the request.
    func suspend(_ connection: OpaquePointer) -> Bool {
        state.withLock { state in
            let id = UInt(bitPattern: connection)
            guard let entry = state.entries[id], !entry.wasWoken, !state.isClosed else {
                return false
            }
            state.entries[id]?.isAsleep = true
            MHD_suspend_connection(connection)
            return true
        }
    }

    /// There may be something to tell on a connection. Any thread.
    func wake(_ connection: UInt) {
        state.withLock { Self.wake(connection, &$0) }
    }

    func end(_ connection: UInt) {
        state.withLock { state in
            guard let entry = state.entries.removeValue(forKey: connection) else { return }
            state.listeners -= entry.isListener ? 1 : 0
            let left = state.perUser[entry.user, default: 1] - 1
            state.perUser[entry.user] = left > 0 ? left : nil
        }
    }

    /// Wakes those whose time is up, and those whose client went away: the library does not look
    /// at a connection that sleeps, and it has a place among those of its user.
    func sweep() {
        let now = clock.now()
        state.withLock { state in
            for (connection, entry) in state.entries where entry.isAsleep {
                let isGone = entry.descriptor.map(Self.isClosedByPeer) ?? false
                if isGone || entry.until <= now { Self.wake(connection, &state) }
            }
        }
    }

    /// `POLLRDHUP`, which Glibc's module lacks.
    private static let closedByPeer: Int16 = 0x2000

    /// Whether the other side of a connection sends no more, as who goes away does.
    static func isClosedByPeer(_ descriptor: Int32) -> Bool {
        let ends = closedByPeer | Int16(POLLHUP) | Int16(POLLERR)
        var question = pollfd(fd: descriptor, events: closedByPeer, revents: 0)
        return poll(&question, 1, 0) == 1 && question.revents & ends != 0
    }

    /// Holds requests back again, after `close`.
    func open() { state.withLock { $0.isClosed = false } }

    /// Lets all be answered, and holds no more.
    func close() {
        state.withLock { state in
            state.isClosed = true
            for connection in state.entries.keys { Self.wake(connection, &state) }
        }
    }

    private static func wake(_ connection: UInt, _ state: inout State) {
        guard let entry = state.entries[connection] else { return }
        state.entries[connection]?.wasWoken = true
        guard entry.isAsleep, let pointer = OpaquePointer(bitPattern: connection) else { return }
        state.entries[connection]?.isAsleep = false
        MHD_resume_connection(pointer)
    }
}

/// How many answers are held back, and for how long.
public struct HeldRequestLimits: Sendable {
    /// In all. Room for other connections has to be left (`ConnectionLimits.max`).
    public var max = 500
    /// Of one user.
    public var perUserMax = 32
    public var secondsMax = 60.0
    /// How long one answer of events goes on before its client has to ask for the rest.
    public var streamSecondsMax = 3_600.0
    /// How often such an answer sends a line without meaning where there is no event.
    public var heartbeatSeconds = 15.0

    public init() {}
}
