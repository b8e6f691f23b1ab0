internal import Foundation
internal import Platform

/// The end of the process, and what is put in order before it.
enum ProcessEnd {
    private static let acts = Lock<[@Sendable () -> Void]>([])
    private static let watchesExit: Void = { atexit { ProcessEnd.putInOrder() } }()

    /// Calls `act` once when the process ends by itself, by a signal that it watches or since
    /// nobody reads its output.
    static func willCall(_ act: @escaping @Sendable () -> Void) {
        _ = watchesExit
        acts.withLock { $0.append(act) }
    }

    /// Ends it while others may still be at work in it, as `exit` must not: it takes libraries
    /// down, and whoever is within one crashes.
    static func now(_ status: ExitStatus) -> Never {
        putInOrder()
        _exit(status.rawValue)
    }

    private static func putInOrder() {
        let all = acts.withLock { acts in
            defer { acts = [] }
            return acts
        }
        for act in all { act() }
    }
}
