internal import Dispatch
internal import Foundation

/// Waits for SIGTERM or SIGINT. A second one ends the process at once.
enum StopSignal {
    static func wait() async {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let queue = DispatchQueue(label: "diptych.signals")
        let sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                continuation.yield()
                signal(SIGTERM, SIG_DFL)
                signal(SIGINT, SIG_DFL)
            }
            source.resume()
            return source
        }
        for await _ in stream { break }
        for source in sources { source.cancel() }
    }
}
