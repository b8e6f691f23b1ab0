internal import Foundation
internal import Platform

/// Counts the bytes of requests and answers that are held in memory: in all, by address, by user.
final class BufferLedger: Sendable {
    private struct State {
        var bytes = 0
        var perAddress: [ClientAddress: Int] = [:]
        var perUser: [String: Int] = [:]
        /// Given back since the memory was last handed to the system.
        var freed = 0
    }

    private let limits: BufferLimits
    private let state = Lock(State())
    /// Below this the C library's own ways are good enough.
    private static let trimmedBytes = 16 << 20

    init(limits: BufferLimits) { self.limits = limits }

    var bytes: Int { state.withLock { $0.bytes } }

    /// What one request holds; given back with it.
    final class Hold: @unchecked Sendable {
        // @unchecked: belongs to the request, whose connection has one thread.
        private let ledger: BufferLedger
        /// Whose bytes they are; before there are any.
        var address: ClientAddress
        var user: String?
        private var bytes = 0

        init(_ ledger: BufferLedger, _ address: ClientAddress) {
            self.ledger = ledger
            self.address = address
        }

        deinit { release() }

        /// Takes `count` bytes more; false where there is no room for them.
        func grow(by count: Int) -> Bool {
            guard ledger.take(count, address, user) else { return false }
            bytes += count
            return true
        }

        func release() {
            ledger.give(bytes, address, user)
            bytes = 0
        }
    }

    private func take(_ count: Int, _ address: ClientAddress, _ user: String?) -> Bool {
        state.withLock { state in
            let ofAddress = state.perAddress[address, default: 0] + count
            let ofUser = user.map { state.perUser[$0, default: 0] + count } ?? 0
            guard state.bytes + count <= limits.bytesMax, ofUser <= limits.bytesPerUserMax,
                ofAddress <= limits.bytesPerAddressMax ?? .max
            else { return false }
            state.bytes += count
            state.perAddress[address] = ofAddress
            if let user { state.perUser[user] = ofUser }
            return true
        }
    }

    private func give(_ count: Int, _ address: ClientAddress, _ user: String?) {
        guard count > 0 else { return }
        state.withLock { state in
            state.bytes -= count
            state.freed += count
            let ofAddress = state.perAddress[address, default: count] - count
            state.perAddress[address] = ofAddress > 0 ? ofAddress : nil
            guard let user else { return }
            let ofUser = state.perUser[user, default: count] - count
            state.perUser[user] = ofUser > 0 ? ofUser : nil
        }
    }

    /// Whether enough was given back that the system should have it; asked once in a while.
    func takeFreed() -> Bool {
        state.withLock { state in
            guard state.freed >= Self.trimmedBytes else { return false }
            state.freed = 0
            return true
        }
    }
}
