internal import Foundation

/// Tells how far long work has come: often on a terminal, else a line every few seconds.
final class ProgressMeter {
    private let console: Console
    private let start = ContinuousClock.now
    private var last: ContinuousClock.Instant
    private var calls = 0
    private let pause: Duration

    init(_ console: Console) {
        self.console = console
        pause = console.hasTerminal ? .milliseconds(250) : .seconds(5)
        last = start
    }

    /// Whether it is time to tell again. Cheap: it looks at the clock once in a while only.
    var isDue: Bool {
        calls += 1
        return calls.isMultiple(of: 64) && last.duration(to: .now) >= pause
    }

    /// `share` is the part of all the work that is done, where it is known.
    func tell(_ what: String, done: Int, of total: Int?, share: Double?) {
        last = .now
        var text = "\(what): \(Figure.grouped(done))"
        if let total { text += " of \(Figure.grouped(total))" }
        text += " objects"
        if let share, share > 0.01 {
            let seconds = start.duration(to: last).components.seconds
            let left = Double(max(seconds, 1)) * (1 - share) / share
            text += ", \(Int(share * 100)) %, \(Self.time(left)) left"
        }
        console.progress(text)
    }

    /// A step without a count, told only where the work was long enough to be told of at all.
    func say(_ what: String) {
        if start.duration(to: .now) >= pause { console.progress(what) }
    }

    private static func time(_ seconds: Double) -> String {
        let whole = Int(seconds.rounded(.up))
        return whole < 100 ? "\(whole) s" : "\((whole + 59) / 60) min"
    }
}
