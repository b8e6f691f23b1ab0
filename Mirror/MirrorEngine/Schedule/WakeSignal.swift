package import Platform

/// Ends a wait early. A signal that nobody waits for is kept for the next wait; many count as one.
///
/// One task waits at a time.
package final class WakeSignal: Sendable {
    private enum State {
        case quiet, signalled
        case waiting(CheckedContinuation<Void, Never>)
    }

    private let state = Lock(State.quiet)

    package init() {}

    package func send() {
        let waiting: CheckedContinuation<Void, Never>? = state.withLock { state in
            if case .waiting(let continuation) = state {
                state = .quiet
                return continuation
            }
            state = .signalled
            return nil
        }
        waiting?.resume()
    }

    /// Forgets a signal that nobody has waited for.
    package func clear() {
        state.withLock { state in
            if case .signalled = state { state = .quiet }
        }
    }

    /// Returns after a signal, after so many seconds, or when the task is cancelled.
    package func wait(atMostSeconds seconds: Double, _ sleeper: any Sleeper) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await sleeper.sleep(seconds: seconds)
                    self.send()
                } catch {}  // The wait is over, or the cancellation ends it below.
            }
            await self.wait()
            group.cancelAll()
        }
    }

    /// Returns after a signal, or when the task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await signalled()
        } onCancel: {
            send()
        }
    }

    private func signalled() async {
        await withCheckedContinuation { continuation in
            let isSignalled = state.withLock { state in
                if case .signalled = state {
                    state = .quiet
                    return true
                }
                state = .waiting(continuation)
                return false
            }
            if isSignalled { continuation.resume() }
        }
    }
}
