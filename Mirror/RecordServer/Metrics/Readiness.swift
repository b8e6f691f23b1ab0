internal import Foundation
internal import Platform

/// Whether a server can do its work. However often it is asked, the service is looked at once a
/// second at most.
final class Readiness: Sendable {
    private struct State {
        var reason: String?
        var lookedAt = Date.distantPast
        var isStopping = false
    }

    private let clock: any Clock
    private let look: @Sendable () -> String?
    private let state = Lock(State())
    private static let freshSeconds = 1.0

    init(clock: any Clock, look: @escaping @Sendable () -> String?) {
        self.clock = clock
        self.look = look
    }

    func beginStopping() { state.withLock { $0.isStopping = true } }
    func beginAgain() { state.withLock { $0.isStopping = false } }

    /// Why not, in words that strangers may read; nil where it can.
    var reason: String? {
        let now = clock.now()
        let (known, isOld) = state.withLock { state in
            if state.isStopping { return ("The server is stopping.", false) as (String?, Bool) }
            let age = now.timeIntervalSince(state.lookedAt)
            guard age < 0 || age >= Self.freshSeconds else { return (state.reason, false) }
            // Who comes meanwhile hears what was found last.
            state.lookedAt = now
            return (state.reason, true)
        }
        guard isOld else { return known }
        let found = look()
        return state.withLock { state in
            state.reason = found
            return state.isStopping ? "The server is stopping." : found
        }
    }
}

/// Answers to who asks whether a server lives, and whether it can do its work.
struct HealthAnswers: Sendable {
    let readiness: Readiness

    static let alive = Data(#"{"status":"ok"}"#.utf8)

    static let ready = Data(#"{"status":"ready"}"#.utf8)
}
