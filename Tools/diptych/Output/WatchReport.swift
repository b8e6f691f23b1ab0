internal import Foundation
internal import MirrorEngine
internal import Platform

/// Tells what happens to a store that is kept in sync all the time: a line for each round that
/// moved something, and for each change of state.
struct WatchReport: Sendable {
    let console: Console
    /// The store's path as it was given.
    let store: String
    var log: DeviceLog?
    /// Why it ended by itself.
    private let ending = Lock<CommandError?>(nil)

    init(console: Console, store: String, log: DeviceLog?) {
        (self.console, self.store, self.log) = (console, store, log)
    }

    func begin(service: String) {
        if console.isJSON {
            console.emit([
                "event": "watching", "store": .string(store),
                "service": .string(service), "processID": JSON(Int(getpid())),
            ])
        } else {
            console.title("Keeping \(store) in sync with \(service).")
            console.aside("Ctrl-C ends it, SIGUSR1 pauses it and lets it go on.")
        }
    }

    @Sendable func show(_ event: ScheduleEvent) {
        switch event {
        case .round(let summary): show(summary)
        case .failed(let error, let seconds) where seconds.isInfinite:
            ending.withLock { $0 = CommandFailure.describe(error) }
        case .failed(let error, let seconds): show(CommandFailure.describe(error), seconds)
        case .stalled(let since):
            tell(
                "stalled: something waits since \(Timestamp.short(since)); diptych status says why",
                ["event": "stalled", "since": JSON(since)])
        case .paused:
            tell("paused", ["event": "paused"])
        case .held(let hold):
            tell(
                hold.message,
                [
                    "event": "held", "reason": .string(hold.reason.rawValue),
                    "message": .string(hold.message), "until": JSON(hold.until),
                ])
        case .standingBy(let other):
            tell(
                "standing by: process \(other.process.number) (\(other.name)) syncs this store",
                [
                    "event": "standingBy", "process": JSON(Int(other.process.number)),
                    "name": .string(other.name),
                ])
        }
    }

    /// Throws where nobody asked it to end: who starts it again opens the store anew.
    func end() throws {
        let reason = ending.withLock { $0 }
        if let reason { log?.write(PlainText.line("\(Timestamp.text(Date())) \(reason.message)")) }
        tell("ended", ["event": "stopped"])
        guard var error = reason else { return }
        error.hint = "Watch it again: `diptych sync --watch`."
        throw error
    }

    private func show(_ summary: SyncSummary) {
        let parts = [
            (summary.exported, "sent"), (summary.imported, "applied"), (summary.merged, "merged"),
            (summary.conflicts, "conflicts"), (summary.refused, "refused"),
        ].filter { $0.0 > 0 }.map { "\(Figure.grouped($0.0)) \($0.1)" }
        let waiting =
            summary.conflictsWaiting > 0
            ? ["\(Figure.count(summary.conflictsWaiting, "conflict")) waiting for you"] : []
        let words = parts + waiting + (summary.isInSync ? ["in sync"] : ["not in sync"])
        for notice in summary.notices {
            tell(notice, ["event": "notice", "message": .string(notice)])
        }
        tell(
            words.joined(separator: ", "),
            [
                "event": "round", "exported": JSON(summary.exported),
                "imported": JSON(summary.imported), "merged": JSON(summary.merged),
                "conflicts": JSON(summary.conflicts),
                "conflictsWaiting": JSON(summary.conflictsWaiting),
                "inSync": .bool(summary.isInSync),
            ])
    }

    private func show(_ failure: CommandError, _ seconds: Double) {
        tell(
            "\(failure.message) Trying again in \(Figure.wait(seconds)).",
            [
                "event": "failed", "code": .string(failure.code),
                "message": .string(failure.message), "seconds": .double(seconds),
            ])
    }

    private func tell(_ words: String, _ json: JSON) {
        log?.write(PlainText.line("\(Timestamp.text(Date())) \(words)"))
        guard !console.isJSON else { return console.emit(json) }
        console.line("\(Timestamp.short(Date()))  \(words)")
    }
}
