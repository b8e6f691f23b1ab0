internal import Dispatch

/// Calls a closure every so often on a queue of its own, for as long as the ticker lives.
public final class Ticker: @unchecked Sendable {
    // @unchecked: the timer is set up before anybody else sees it, and cancelled once, at the end.
    private let timer: any DispatchSourceTimer
    private let queue = DispatchQueue(label: "ticker")
    private let body: Handler<Void, Never>

    /// Begins to call `body`, first after `seconds`. Calls never overlap; one that takes longer
    /// than `seconds` swallows those that fell due meanwhile.
    public init(everySeconds seconds: Double, _ body: @escaping @Sendable () -> Void) {
        self.body = Handler(body)
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + seconds, repeating: seconds)
        // Dispatch lets go of a handler some time after it was cancelled; `body` goes at once.
        timer.setEventHandler { [held = self.body] in held() }
        timer.resume()
    }

    /// Ends the calls: when it returns, none is under way, and `body` is let go. Not from within a
    /// call.
    public func stop() {
        end()
        queue.sync {}
    }

    deinit { end() }

    private func end() {
        timer.cancel()
        body.set(nil)
    }
}
