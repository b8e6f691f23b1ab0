internal import Dispatch
internal import Platform

/// Counts requests under way, and lets one thread wait until there is none.
final class RunningCount: Sendable {
    private struct State {
        var count = 0
        var isAwaited = false
    }
    private let state = Lock(State())
    private let reachedZero = DispatchSemaphore(value: 0)

    func enter() {
        state.withLock { $0.count += 1 }
    }

    func leave() {
        let isLast = state.withLock { state in
            state.count -= 1
            return state.isAwaited && state.count == 0
        }
        if isLast { reachedZero.signal() }
    }

    /// Blocks until nothing runs, or `seconds` have passed.
    func waitUntilZero(seconds: Int) {
        let isIdle = state.withLock { state in
            state.isAwaited = state.count > 0
            return state.count <= 0
        }
        if !isIdle { _ = reachedZero.wait(timeout: .now() + .seconds(seconds)) }
    }
}
