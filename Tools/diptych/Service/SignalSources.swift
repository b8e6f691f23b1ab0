internal import Dispatch
internal import Foundation

/// Signals in the program's own hands: Ctrl-C and SIGTERM, where no others are named.
enum SignalSources {
    static let ends = [SIGINT, SIGTERM]

    /// Calls `act` with each signal of `numbers`, on a queue of its own. Returns once all are
    /// watched, so that none is lost from then on; they are as long as the sources live. Before,
    /// those that end a program end this one, and others are ignored.
    static func watch(
        _ numbers: [Int32] = ends, _ act: @escaping @Sendable (Int32) -> Void
    ) -> [any DispatchSourceSignal] {
        let queue = DispatchQueue(label: "diptych.signals")
        let registered = DispatchGroup()
        let sources = numbers.map { number in
            // Dispatch puts a handler of its own in its place.
            if !ends.contains(number) { signal(number, SIG_IGN) }
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            registered.enter()
            source.setRegistrationHandler { registered.leave() }
            source.setEventHandler { act(number) }
            source.resume()
            return source
        }
        registered.wait()
        return sources
    }

    /// What ends a program often signals it and then its group: a second signal counts as one
    /// only so long after the first.
    static let pauseSeconds = 0.5

    /// Lets the signals end the process again, a moment after the first.
    static func letGoSoon() {
        DispatchQueue.global().asyncAfter(deadline: .now() + pauseSeconds) { letGo() }
    }

    /// Lets the signals end the process again.
    static func letGo() {
        for number in ends { signal(number, SIG_DFL) }
    }
}
