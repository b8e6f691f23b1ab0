internal import Dispatch
internal import Foundation
internal import Platform
internal import RecordWire

/// Notices for those who wait at the courier, until they are fetched.
///
/// It lives in memory: after a start, who comes first hears that anything may have changed. So does
/// whose queue was given up for another's.
final class CourierDesk: Sendable {
    private typealias Call = @Sendable () -> Void

    private struct Queue {
        let owner: CourierRow
        /// Raised each time: who was away longest has the lowest.
        var lastFetched: UInt64
        var notices: [CourierNotice] = []
        var listeners: [UInt64: Listener] = [:]
        /// The listener that came last, also where it is gone again.
        var newest: UInt64 = 0

        /// Whom a notice is for: whoever polled before may be gone without anybody being told.
        var newestCall: [Call] { listeners[newest].map { [$0.call] } ?? [] }

        var allCalls: [Call] { listeners.values.map(\.call) }

        /// Whether a poll that listens was followed by another.
        func isFollowed(_ poll: String) -> Bool {
            listeners.contains { $0.value.poll == poll && $0.key != newest }
        }

        /// Returns whether the notice did not wait yet; one that does is told as it is now.
        mutating func add(_ notice: CourierNotice) -> Bool {
            if let place = notices.firstIndex(where: { $0.isSame(notice) }) {
                notices[place].fields = notice.fields
                return false
            }
            notices.append(notice)
            trim()
            return true
        }

        /// A notice that was taken and did not arrive is the next again.
        mutating func putBack(_ notice: CourierNotice) {
            guard !notices.contains(where: { $0.isSame(notice) }) else { return }
            notices.insert(notice, at: 0)
            trim()
        }

        /// Of a full queue the subscription that has most of the notices loses one, so that what
        /// many write to one place hides nothing of another.
        private mutating func trim() {
            guard notices.count > CourierDesk.noticesMax else { return }
            let counts = Dictionary(grouping: notices.indices) { notices[$0].subscriptionID }
            let largest = counts.values.max { ($0.count, $1[0]) < ($1.count, $0[0]) }
            if let first = largest?.first { notices.remove(at: first) }
        }
    }

    private struct Listener {
        let poll: String
        let call: Call
    }

    private struct State {
        /// By the hash of the token.
        var queues: [Data: Queue] = [:]
        var last: UInt64 = 0

        mutating func next() -> UInt64 {
            last += 1
            return last
        }
    }

    private let state = Lock(State())
    private let missed = Lock(false)
    private let queue = DispatchQueue(label: "record-service.courier")
    private let queuesPerUserMax: Int
    private let queuesMax: Int
    private static let noticesMax = 100

    /// `queuesPerUserMax`: as many as a user has tokens.
    init(queuesPerUserMax: Int, queuesMax: Int = 2_000) {
        self.queuesPerUserMax = queuesPerUserMax
        self.queuesMax = queuesMax
    }

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

    /// Begins to keep notices for a token. Where there are too many queues, of the user's or of
    /// all, who has most loses the one that was away longest.
    func open(_ hash: Data, _ owner: CourierRow, with notices: [CourierNotice]) {
        let calls = state.withLock { state -> [Call] in
            guard state.queues[hash] == nil else { return [] }
            state.queues[hash] = Queue(
                owner: owner, lastFetched: state.next(), notices: notices)
            guard let lost = surplus(state.queues, of: owner.user) else { return [] }
            return state.queues.removeValue(forKey: lost)?.allCalls ?? []
        }
        for call in calls { call() }
    }

    /// Ends what is kept for a token that is good no more, and calls who waits for it.
    func close(_ hash: Data) {
        let calls = state.withLock { $0.queues.removeValue(forKey: hash)?.allCalls }
        for call in calls ?? [] { call() }
    }

    /// Calls all who wait: they are to be looked at again.
    func callAll() {
        let calls = state.withLock { $0.queues.values.flatMap(\.allCalls) }
        for call in calls { call() }
    }

    /// The queue that is one too many after a user got one. Cost: reads all queues.
    private func surplus(_ queues: [Data: Queue], of user: String) -> Data? {
        let perUser = Dictionary(grouping: queues.keys) { queues[$0]?.owner.user ?? "" }
        let own = perUser[user] ?? []
        let candidates: [Data]
        if own.count > queuesPerUserMax {
            candidates = own
        } else if queues.count > queuesMax {
            let largest = perUser.values.map(\.count).max()
            candidates = perUser.values.filter { $0.count == largest }.flatMap { $0 }
        } else {
            return nil
        }
        return candidates.min {
            queues[$0]?.lastFetched ?? 0 < queues[$1]?.lastFetched ?? 0
        }
    }

    /// Puts a notice into each queue of its user, and calls who polled each last.
    func put(_ notice: CourierNotice, for owner: CourierRow) {
        let calls = state.withLock { state in
            var calls: [Call] = []
            for hash in state.queues.keys where state.queues[hash]?.owner == owner {
                guard state.queues[hash]?.add(notice) == true else { continue }
                calls += state.queues[hash]?.newestCall ?? []
            }
            return calls
        }
        for call in calls { call() }
    }

    /// The oldest notice of a token, which is then forgotten; nil to a poll that listens and was
    /// followed by another.
    func take(_ hash: Data, poll: String) -> CourierNotice? {
        state.withLock { state in
            let number = state.next()
            state.queues[hash]?.lastFetched = number
            guard let queue = state.queues[hash], !queue.notices.isEmpty, !queue.isFollowed(poll)
            else { return nil }
            return state.queues[hash]?.notices.removeFirst()
        }
    }

    /// A notice that was taken did not reach who took it.
    func putBack(_ notice: CourierNotice, _ hash: Data) {
        let calls = state.withLock { state in
            state.queues[hash]?.putBack(notice)
            return state.queues[hash]?.newestCall ?? []
        }
        for call in calls { call() }
    }

    /// Calls `call` for each notice of a token until the listening ends, or another listens.
    func listen(
        _ hash: Data, poll: String, _ call: @escaping @Sendable () -> Void
    ) -> ChangeListening {
        let number = state.withLock { state in
            let number = state.next()
            state.queues[hash]?.listeners[number] = Listener(poll: poll, call: call)
            state.queues[hash]?.newest = number
            return number
        }
        return ChangeListening { [weak self] in
            self?.state.withLock { $0.queues[hash]?.listeners[number] = nil }
        }
    }
}
