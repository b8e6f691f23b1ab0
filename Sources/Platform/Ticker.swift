internal import Dispatch

/// Calls a closure every so often on a queue of its own, for as long as the ticker lives.
public final class Ticker: @unchecked Sendable {
    // @unchecked: the timer is set up before anybody else sees it, and cancelled once, at the end.
    private let timer: any DispatchSourceTimer

    /// Begins to call `body`, first after `seconds`. Calls never overlap; one that takes longer
    /// than `seconds` swallows those that fell due meanwhile.
    public init(everySeconds seconds: Double, _ body: @escaping @Sendable () -> Void) {
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "ticker"))
        timer.schedule(deadline: .now() + seconds, repeating: seconds)
        timer.setEventHandler(handler: body)
        timer.resume()
    }

    deinit { timer.cancel() }
}
