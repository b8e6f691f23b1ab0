internal import Dispatch
internal import Foundation

/// SIGTERM or SIGINT from now on, to be waited for. A second one a moment later ends the process
/// at once.
struct StopSignal {
    private let stream: AsyncStream<Void>
    /// What yields here ends the wait as a signal does.
    let end: AsyncStream<Void>.Continuation
    private let sources: [any DispatchSourceSignal]

    init() {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        (self.stream, end) = (stream, continuation)
        sources = SignalSources.watch { _ in
            continuation.yield()
            SignalSources.letGoSoon()
        }
    }

    func wait() async {
        for await _ in stream { break }
        for source in sources { source.cancel() }
    }
}
