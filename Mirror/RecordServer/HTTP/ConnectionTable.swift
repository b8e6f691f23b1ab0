internal import Foundation
internal import Platform

/// Every open connection: whose it is, what it does, and since when. Closes those that take too
/// long, and the longest silent one where a newcomer finds no room.
final class ConnectionTable: Sendable {
    enum Phase {
        /// Between requests, in the handshake, or before a request line is whole.
        case waiting
        case head
        case body(received: Int)
        /// A body that is not held in memory: it may take any time as long as it moves.
        case upload(received: Int)
        case answering
        /// The answer is held back, at most for a time of its own.
        case held
        case sending(bytes: Int)
    }

    private struct Entry {
        let descriptor: Int32
        let address: ClientAddress
        var phase = Phase.waiting
        var since: Date
        var isClosing = false
    }

    private struct State {
        var entries: [UInt: Entry] = [:]
        /// When those came that were let in and that the library has not opened yet.
        var expected: [ClientAddress: [Date]] = [:]
        /// Those that are open, and those that are expected.
        var open = 0
        var perAddress: [ClientAddress: Int] = [:]
    }

    private let limits: ConnectionLimits
    private let clock: any Clock
    private let state = Lock(State())

    init(limits: ConnectionLimits, clock: any Clock) {
        self.limits = limits
        self.clock = clock
    }

    var count: Int { state.withLock { $0.open } }

    /// Whether as many are expected as can be told apart from those that are open: who comes next
    /// may need the room of one of them, and waits until it is opened.
    var expectsMany: Bool {
        let least = min(Self.expectedMax + 1, limits.max, limits.perAddressMax ?? limits.max)
        return state.withLock { $0.expected.values.reduce(0) { $0 + $1.count } }
            >= max(1, least - 1)
    }

    private static let expectedMax = 16

    /// Whether another connection may come from `address`, which is expected from now on; makes
    /// room for it where it can. A trusted one may have as many as there are.
    func mayAccept(_ address: ClientAddress, isTrusted: Bool = false) -> Bool {
        let now = clock.now()
        return state.withLock { state in
            guard hasRoom(for: address, isTrusted: isTrusted, &state) else { return false }
            state.expected[address, default: []].append(now)
            state.open += 1
            state.perAddress[address, default: 0] += 1
            return true
        }
    }

    private func hasRoom(
        for address: ClientAddress, isTrusted: Bool, _ state: inout State
    ) -> Bool {
        if !isTrusted, let max = limits.perAddressMax,
            state.perAddress[address, default: 0] >= max
        {
            return Self.closeLongestSilent(&state, of: address)
        }
        return state.open < limits.max || Self.closeLongestSilent(&state, of: nil)
    }

    /// One that was expected is not opened.
    func turnedAway(_ address: ClientAddress) {
        state.withLock { state in
            if Self.takeExpected(from: address, &state) { Self.forget(address, &state) }
        }
    }

    func opened(_ connection: UInt, _ descriptor: Int32, _ address: ClientAddress) {
        let entry = Entry(descriptor: descriptor, address: address, since: clock.now())
        state.withLock { state in
            state.entries[connection] = entry
            guard !Self.takeExpected(from: address, &state) else { return }
            state.open += 1
            state.perAddress[address, default: 0] += 1
        }
    }

    /// Returns whether one was expected.
    private static func takeExpected(from address: ClientAddress, _ state: inout State) -> Bool {
        guard var dates = state.expected[address], !dates.isEmpty else { return false }
        dates.removeFirst()
        state.expected[address] = dates.isEmpty ? nil : dates
        return true
    }

    /// Called before the descriptor is closed, so that no other connection has its number yet.
    func closed(_ connection: UInt) {
        state.withLock { state in
            guard let entry = state.entries.removeValue(forKey: connection) else { return }
            if !entry.isClosing { Self.forget(entry.address, &state) }
        }
    }

    func enter(_ phase: Phase, _ connection: UInt) {
        let now = clock.now()
        state.withLock { state in
            state.entries[connection]?.phase = phase
            state.entries[connection]?.since = now
        }
    }

    /// Closes a connection that no good can come of.
    func cut(_ connection: UInt) {
        state.withLock { Self.close(connection, &$0) }
    }

    /// Takes note of bytes of a body.
    func received(_ bytes: Int, _ connection: UInt) {
        state.withLock { state in
            switch state.entries[connection]?.phase {
            case .body(let known)?:
                state.entries[connection]?.phase = .body(received: known + bytes)
            case .upload(let known)?:
                state.entries[connection]?.phase = .upload(received: known + bytes)
            case .waiting, .head, .answering, .held, .sending, nil: return
            }
        }
    }

    /// Closes what takes too long.
    func sweep() {
        let now = clock.now()
        state.withLock { state in
            for (connection, entry) in state.entries where !entry.isClosing {
                guard isOverdue(entry, now.timeIntervalSince(entry.since)) else { continue }
                Self.close(connection, &state)
            }
            // The library says nothing of one that it had no memory for.
            for (address, dates) in state.expected {
                let isLate = { now.timeIntervalSince($0) > Double(self.limits.idleSeconds) }
                for _ in dates.filter(isLate) where Self.takeExpected(from: address, &state) {
                    Self.forget(address, &state)
                }
            }
        }
    }

    private func isOverdue(_ entry: Entry, _ seconds: Double) -> Bool {
        let moving = max(0, seconds - Double(limits.graceSeconds))
        let wanted = moving * Double(limits.bytesPerSecondMin)
        return switch entry.phase {
        case .waiting: seconds > Double(limits.idleSeconds)
        case .head: seconds > Double(limits.headSeconds)
        case .body(let received):
            seconds > Double(limits.requestSeconds) || Double(received) < wanted
        case .upload(let received): Double(received) < wanted
        case .answering, .held: false
        case .sending(let bytes): Double(bytes) < wanted
        }
    }

    // MARK: Closing

    private static func closeLongestSilent(
        _ state: inout State, of address: ClientAddress?
    ) -> Bool {
        let silent = state.entries.filter { _, entry in
            switch entry.phase {
            case .waiting, .head:
                !entry.isClosing && (address == nil || entry.address == address)
            case .body, .upload, .answering, .held, .sending: false
            }
        }
        guard let longest = silent.min(by: { $0.value.since < $1.value.since }) else {
            return false
        }
        close(longest.key, &state)
        return true
    }

    /// The library sees the end of the connection and closes it; it counts no more from now on.
    private static func close(_ connection: UInt, _ state: inout State) {
        guard let entry = state.entries[connection], !entry.isClosing else { return }
        state.entries[connection]?.isClosing = true
        forget(entry.address, &state)
        shutdown(entry.descriptor, Int32(SHUT_RDWR))
    }

    private static func forget(_ address: ClientAddress, _ state: inout State) {
        state.open -= 1
        let left = state.perAddress[address, default: 1] - 1
        state.perAddress[address] = left > 0 ? left : nil
    }
}
