internal import Dispatch
internal import Foundation
internal import Platform

/// Ctrl-C or SIGTERM during work that is all or nothing: the work asks, and stops where nothing is
/// half done. A second one ends the process at once, which leaves the store whole, too.
final class Interruption: Sendable {
    private let flag: Lock<Bool>
    private let sources: Lock<[any DispatchSourceSignal]>

    init() {
        let flag = Lock(false)
        self.flag = flag
        let queue = DispatchQueue(label: "diptych.interruption")
        sources = Lock(
            [SIGTERM, SIGINT].map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
                source.setEventHandler {
                    flag.withLock { $0 = true }
                    signal(SIGTERM, SIG_DFL)
                    signal(SIGINT, SIG_DFL)
                }
                source.resume()
                return source
            })
    }

    var isRequested: Bool { flag.withLock { $0 } }

    /// Lets signals end the process again.
    func end() {
        for source in sources.withLock({ $0 }) { source.cancel() }
        signal(SIGTERM, SIG_DFL)
        signal(SIGINT, SIG_DFL)
    }

    static let error = CommandError(
        "interrupted", "Interrupted; nothing was imported, the store is as it was.",
        hint: "Run it again.", status: .interrupted)
}
