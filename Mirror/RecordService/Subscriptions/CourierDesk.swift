internal import Dispatch
internal import Foundation
internal import Platform
internal import RecordWire

/// Notices for those who wait at the courier, until they are fetched.
///
/// It lives in memory: after a start, who comes first hears that anything may have changed. What a
/// full queue drops is told the same way.
final class CourierDesk: Sendable {
    private typealias Call = @Sendable () -> Void

    private struct Queue {
        let owner: CourierRow
        var notices: [CourierNotice] = []
        var calls: [UInt64: Call] = [:]
    }

    private struct State {
        /// By the hash of the token.
        var queues: [Data: Queue] = [:]
        /// Tokens, those fetched from last at the end.
        var order: [Data] = []
        var last: UInt64 = 0
    }

    private let state = Lock(State())
    private let missed = Lock(false)
    private let queue = DispatchQueue(label: "record-service.courier")
    private static let queuesMax = 2_000
    private static let noticesMax = 100

    /// Users who have a queue, in a container and its environment.
    func users(container: String, environment: String) -> Set<String> {
        state.withLock { state in
            Set(
                state.queues.values.map(\.owner)
                    .filter { $0.container == container && $0.environment == environment }
                    .map(\.user))
        }
    }

    /// Those who have a queue.
    var owners: Set<CourierRow> { state.withLock { Set($0.queues.values.map(\.owner)) } }

    /// What another service did could not be looked at: all is to be told, once it can.
    func miss() { missed.withLock { $0 = true } }

    /// Whether something was missed since the last call.
    func takeMissed() -> Bool {
        missed.withLock { missed in
            defer { missed = false }
            return missed
        }
    }

    /// Does what takes longer than who asks for it may wait, one after another.
    func later(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    var isEmpty: Bool { state.withLock { $0.queues.isEmpty } }

    func knows(_ hash: Data) -> Bool { state.withLock { $0.queues[hash] != nil } }

    /// Begins to keep notices for a token. Those who were away longest lose theirs.
    func open(_ hash: Data, _ owner: CourierRow, with notices: [CourierNotice]) {
        state.withLock { state in
            guard state.queues[hash] == nil else { return }
            state.queues[hash] = Queue(owner: owner, notices: notices)
            state.order.append(hash)
            while state.order.count > Self.queuesMax {
                state.queues[state.order.removeFirst()] = nil
            }
        }
    }

    /// Puts a notice into each queue of its user.
    func put(_ notice: CourierNotice, for owner: CourierRow) {
        let calls = state.withLock { state in
            var calls: [Call] = []
            for hash in state.order where state.queues[hash]?.owner == owner {
                guard state.queues[hash]?.notices.contains(notice) == false else { continue }
                state.queues[hash]?.notices.append(notice)
                if state.queues[hash]?.notices.count ?? 0 > Self.noticesMax {
                    state.queues[hash]?.notices.removeFirst()
                }
                calls += state.queues[hash].map { Array($0.calls.values) } ?? []
            }
            return calls
        }
        for call in calls { call() }
    }

    /// The oldest notice of a token, which is then forgotten.
    func take(_ hash: Data) -> CourierNotice? {
        state.withLock { state in
            guard state.queues[hash]?.notices.isEmpty == false else { return nil }
            return state.queues[hash]?.notices.removeFirst()
        }
    }

    /// Calls `call` for each notice of a token until the listening ends.
    func listen(_ hash: Data, _ call: @escaping @Sendable () -> Void) -> ChangeListening {
        let number = state.withLock { state in
            state.last += 1
            state.queues[hash]?.calls[state.last] = call
            return state.last
        }
        return ChangeListening { [weak self] in
            self?.state.withLock { $0.queues[hash]?.calls[number] = nil }
        }
    }
}
