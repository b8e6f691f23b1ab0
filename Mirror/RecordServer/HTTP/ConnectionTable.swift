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

    /// Whether another connection may come from `address`; makes room for it where it can. A
    /// trusted one may have as many as there are.
    func mayAccept(_ address: ClientAddress, isTrusted: Bool = false) -> Bool {
        state.withLock { state in
            if !isTrusted, let max = limits.perAddressMax,
                state.perAddress[address, default: 0] >= max
            {
                return Self.closeLongestSilent(&state, of: address)
            }
            if state.open >= limits.max { return Self.closeLongestSilent(&state, of: nil) }
            return true
        }
    }

    func opened(_ connection: UInt, _ descriptor: Int32, _ address: ClientAddress) {
        let entry = Entry(descriptor: descriptor, address: address, since: clock.now())
        state.withLock { state in
            state.entries[connection] = entry
            state.open += 1
            state.perAddress[address, default: 0] += 1
        }
    }

    /// Called before the descriptor is closed, so that no other connection has its number yet.
    func closed(_ connection: UInt) {
        state.withLock { state in
            guard let entry = state.entries.removeValue(forKey: connection) else { return }
            if !entry.isClosing { Self.forget(entry, &state) }
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
        forget(entry, &state)
        shutdown(entry.descriptor, Int32(SHUT_RDWR))
    }

    private static func forget(_ entry: Entry, _ state: inout State) {
        state.open -= 1
        let left = state.perAddress[entry.address, default: 1] - 1
        state.perAddress[entry.address] = left > 0 ? left : nil
    }
}
