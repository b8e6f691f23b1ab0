internal import Dispatch
internal import Foundation
internal import Platform

/// Ctrl-C or SIGTERM during work that is all or nothing: the work asks, and stops where nothing is
/// half done. A second one a moment later ends the process at once, which leaves the store whole,
/// too.
final class Interruption: Sendable {
    private let flag: Lock<Int32?>
    private let sources: Lock<[any DispatchSourceSignal]>
    /// A pipe that ends with the first signal, so that who waits for a file can wait for both.
    private let bell: Int32

    init() {
        let flag = Lock<Int32?>(nil)
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        let clapper = Lock(ends[1])
        self.flag = flag
        bell = ends[0]
        sources = Lock(
            SignalSources.watch { number in
                flag.withLock { $0 = $0 ?? number }
                clapper.withLock { clapper in
                    if clapper >= 0 { close(clapper) }
                    clapper = -1
                }
                SignalSources.letGoSoon()
            })
    }

    deinit { if bell >= 0 { close(bell) } }

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

    /// Waits until a descriptor has bytes, an end or an error to be read. Throws once a signal
    /// came.
    func wait(for descriptor: Int32) throws {
        let wanted = Int16(POLLIN)
        var both = [
            pollfd(fd: descriptor, events: wanted, revents: 0),
            pollfd(fd: bell, events: wanted, revents: 0),
        ]
        var code: Int32
        repeat {
            try check()
            code = poll(&both, 2, -1)
        } while code < 0 && errno == EINTR
        try check()
    }

    /// Lets signals end the process again.
    func end() {
        for source in sources.withLock({ $0 }) { source.cancel() }
        SignalSources.letGo()
    }
}
