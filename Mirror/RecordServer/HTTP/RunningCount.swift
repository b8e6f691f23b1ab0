internal import Dispatch
internal import Platform

/// Counts requests under way, and lets one thread wait until there is none.
final class RunningCount: Sendable {
    private struct State {
        var count = 0
        /// Of the thread that waits now; no later one hears of what it waited for.
        var waiter: DispatchSemaphore?
    }
    private let state = Lock(State())

    func enter() {
        state.withLock { $0.count += 1 }
    }

    func leave() {
        let waiter = state.withLock { state -> DispatchSemaphore? in
            state.count -= 1
            return state.count == 0 ? state.waiter.take() : nil
        }
        waiter?.signal()
    }

    /// Blocks until nothing runs, or `seconds` have passed.
    func waitUntilZero(seconds: Int) {
        let waiter = DispatchSemaphore(value: 0)
        let isIdle = state.withLock { state in
            if state.count > 0 { state.waiter = waiter }
            return state.count <= 0
        }
        if isIdle { return }
        _ = waiter.wait(timeout: .now() + .seconds(seconds))
        state.withLock { $0.waiter = nil }
    }
}
