internal import Dispatch
internal import Foundation
internal import Platform

/// Ctrl-C or SIGTERM during work that is all or nothing: the work asks, and stops where nothing is
/// half done. A second one ends the process at once, which leaves the store whole, too.
final class Interruption: Sendable {
    private let flag: Lock<Int32?>
    private let sources: Lock<[any DispatchSourceSignal]>

    init() {
        let flag = Lock<Int32?>(nil)
        self.flag = flag
        sources = Lock(
            SignalSources.watch { number in
                flag.withLock { $0 = number }
                SignalSources.letGo()
            })
    }

    /// Throws once a signal came.
    func check() throws {
        guard let number = flag.withLock({ $0 }) else { return }
        let isCtrlC = number == SIGINT
        throw CommandError(
            isCtrlC ? "interrupted" : "terminated",
            (isCtrlC ? "Interrupted" : "Told to end")
                + "; nothing was imported, the store is as it was.",
            hint: "Run it again.", status: isCtrlC ? .interrupted : .terminated)
    }

    /// Lets signals end the process again.
    func end() {
        for source in sources.withLock({ $0 }) { source.cancel() }
        SignalSources.letGo()
    }
}
