internal import Dispatch
internal import Foundation
internal import MirrorEngine

/// What signals do to a store that is kept in sync all the time.
enum WatchSignals {
    /// Runs the scheduler until SIGTERM or SIGINT, and lets its last step end; a second one ends
    /// the process at once. SIGUSR1 pauses it, and lets it go on.
    static func run(_ scheduler: MirrorScheduler) async {
        let turns = SignalSources.watch([SIGUSR1]) { _ in
            scheduler.isPaused ? scheduler.resume() : scheduler.pause()
        }
        // Who is told that it watches may tell it to stop.
        let stop = StopSignal()
        let work = Task { await scheduler.run() }
        await stop.wait()
        work.cancel()
        await work.value
        for source in turns { source.cancel() }
    }
}
