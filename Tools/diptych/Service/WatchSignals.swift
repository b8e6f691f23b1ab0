internal import Dispatch
internal import Foundation
internal import MirrorEngine

/// What signals do to a store that is kept in sync all the time.
enum WatchSignals {
    /// Runs the scheduler until SIGTERM or SIGINT, and lets its last step end; a second one ends
    /// the process at once. Ends with the scheduler, too. SIGUSR1 pauses it, and lets it go on.
    /// With a log SIGHUP begins the file anew that has its name, as logrotate asks for.
    static func run(_ scheduler: MirrorScheduler, _ log: DeviceLog?) async {
        let turns = SignalSources.watch([SIGUSR1]) { _ in
            scheduler.isPaused ? scheduler.resume() : scheduler.pause()
        }
        let hangups = log.map { log in SignalSources.watch([SIGHUP]) { _ in log.reopen() } }
        // Who is told that it watches may tell it to stop.
        let stop = StopSignal()
        let work = Task { [end = stop.end] in
            await scheduler.run()
            end.yield()
        }
        await stop.wait()
        work.cancel()
        await work.value
        for source in turns + (hangups ?? []) { source.cancel() }
    }
}
