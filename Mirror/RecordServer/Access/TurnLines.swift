internal import Platform
internal import RecordService

/// Lines of requests, each with a number of places: few of a line are at work at once, each on a
/// thread of the server, and the others sleep without one, in the order in which they came.
final class TurnLines: Sendable {
    /// Who stands in a line.
    enum Name: Hashable, Sendable {
        /// Those who write to the same file or database.
        case writers(String)
        /// Those who read in one name.
        case readers(Throttle.Asker)
    }

    private struct Waiting {
        let number: Int
        let wake: @Sendable () -> Void
        /// Whether a place is kept for it.
        var isCalled = false
    }

    private struct Line {
        var working = 0
        var waiting: [Waiting] = []

        var taken: Int { working + waiting.count(where: \.isCalled) }
    }

    private struct State {
        var lines: [Name: Line] = [:]
        var numbers = 0
    }

    private let state = Lock(State())
    /// Places in each line.
    private let places: Int

    init(places: Int) { self.places = max(1, places) }

    func turn(in line: Name) -> Turn {
        let number = state.withLock { state in
            state.numbers += 1
            return state.numbers
        }
        return Turn(number: number, line: line, of: self)
    }

    /// Newcomers go behind those who wait.
    fileprivate func begin(_ turn: Turn) -> Bool {
        change(turn) { line in
            let place = line.waiting.firstIndex { $0.number == turn.number }
            let isCalled = place.map { line.waiting[$0].isCalled } ?? false
            let isNext = place != nil || line.waiting.isEmpty
            guard isCalled || isNext && line.taken < places else { return false }
            if let place { line.waiting.remove(at: place) }
            line.working += 1
            return true
        }
    }

    fileprivate func end(_ turn: Turn) { change(turn) { $0.working -= 1 } }

    fileprivate func wait(_ turn: Turn, _ wake: @escaping @Sendable () -> Void) {
        change(turn) { $0.waiting.append(Waiting(number: turn.number, wake: wake)) }
    }

    fileprivate func leave(_ turn: Turn) {
        change(turn) { $0.waiting.removeAll { $0.number == turn.number } }
    }

    /// Changes a line, and calls those for whom there is a place then.
    private func change<Result>(_ turn: Turn, _ body: (inout Line) -> Result) -> Result {
        let (result, called) = state.withLock { state in
            var line = state.lines[turn.line] ?? Line()
            let result = body(&line)
            var called: [@Sendable () -> Void] = []
            while line.taken < places,
                let next = line.waiting.firstIndex(where: { !$0.isCalled })
            {
                line.waiting[next].isCalled = true
                called.append(line.waiting[next].wake)
            }
            let isOver = line.working == 0 && line.waiting.isEmpty
            state.lines[turn.line] = isOver ? nil : line
            return (result, called)
        }
        for wake in called { wake() }
        return result
    }
}

/// One request's place in a line.
final class Turn: Sendable {
    fileprivate let number: Int
    fileprivate let line: TurnLines.Name
    private let lines: TurnLines

    fileprivate init(number: Int, line: TurnLines.Name, of lines: TurnLines) {
        self.number = number
        self.line = line
        self.lines = lines
    }

    deinit { leave() }

    /// Whether it may be at work now; `end` follows then.
    func begin() -> Bool { lines.begin(self) }
    func end() { lines.end(self) }
    /// Stands in the line, and is woken when it may begin.
    func wait(_ wake: @escaping @Sendable () -> Void) { lines.wait(self, wake) }
    /// Gives its place in the line up.
    func leave() { lines.leave(self) }
}

/// The lines in which requests for records stand.
struct RequestLines: Sendable {
    let writers: WriterLines
    let readers: ReaderLines

    init(_ order: WriterOrder, threads: Int) {
        writers = WriterLines(order, threads: threads)
        readers = ReaderLines(threads: threads)
    }
}
