internal import Platform
internal import RecordService
internal import RecordWire

/// Who writes records, and who waits for that.
///
/// A writer that waits for the lock of a database, or of a container's file, holds a thread of the
/// server, and with it all connections of that thread. So few do at once, and the others sleep
/// without one, in the order in which they came.
final class WriterLines: Sendable {
    private struct Waiting {
        let number: Int
        let wake: @Sendable () -> Void
        /// Whether a place is kept for it.
        var isCalled = false
    }

    private struct Line {
        var writing = 0
        var waiting: [Waiting] = []

        var taken: Int { writing + waiting.count(where: \.isCalled) }
    }

    private struct State {
        var lines: [String: Line] = [:]
        var numbers = 0
    }

    private let state = Lock(State())
    private let order: WriterOrder
    private let writersMax: Int

    /// Those who share trips to the disk take half of the server's threads.
    init(_ order: WriterOrder, threads: Int) {
        self.order = order
        writersMax =
            switch order {
            case .ofContainers: max(1, threads / 2)
            case .ofDatabases(let writersMax): max(1, writersMax)
            }
    }

    /// nil for a request that writes nothing, or nothing that others may hold locked for long.
    /// `indexes`: a query that makes some.
    func turn(
        for question: RecordRequest, _ target: RecordTarget, _ user: String, indexes: Bool = false
    ) -> WriterTurn? {
        let zone: ZoneID?
        switch question {
        case .modifyRecords(let change): zone = change.zoneID
        case .queryRecords(let query) where indexes: zone = query.zoneID
        case .modifyZones: zone = nil
        case .modifySubscriptions, .createToken, .acceptShares, .uploadAssets:
            guard case .ofContainers = order else { return nil }
            zone = nil
        default: return nil
        }
        let number = state.withLock { state in
            state.numbers += 1
            return state.numbers
        }
        return WriterTurn(number: number, line: line(of: zone, target, user), of: self)
    }

    private func line(of zone: ZoneID?, _ target: RecordTarget, _ user: String) -> String {
        guard case .ofDatabases = order else { return target.container }
        let owner =
            switch target.database {
            case RoutePath.publicDatabase: ""
            case "shared": zone?.ownerRecordName ?? user
            default: user
            }
        return "\(target.container)/\(target.environment)/\(owner)"
    }

    /// Newcomers go behind those who wait.
    fileprivate func begin(_ turn: WriterTurn) -> Bool {
        change(turn) { line in
            let place = line.waiting.firstIndex { $0.number == turn.number }
            let isCalled = place.map { line.waiting[$0].isCalled } ?? false
            let isNext = place != nil || line.waiting.isEmpty
            guard isCalled || isNext && line.taken < writersMax else { return false }
            if let place { line.waiting.remove(at: place) }
            line.writing += 1
            return true
        }
    }

    fileprivate func end(_ turn: WriterTurn) { change(turn) { $0.writing -= 1 } }

    fileprivate func wait(_ turn: WriterTurn, _ wake: @escaping @Sendable () -> Void) {
        change(turn) { $0.waiting.append(Waiting(number: turn.number, wake: wake)) }
    }

    fileprivate func leave(_ turn: WriterTurn) {
        change(turn) { $0.waiting.removeAll { $0.number == turn.number } }
    }

    /// Changes a line, and calls those for whom there is a place then.
    private func change<Result>(_ turn: WriterTurn, _ body: (inout Line) -> Result) -> Result {
        let (result, called) = state.withLock { state in
            var line = state.lines[turn.line] ?? Line()
            let result = body(&line)
            var called: [@Sendable () -> Void] = []
            while line.taken < writersMax,
                let next = line.waiting.firstIndex(where: { !$0.isCalled })
            {
                line.waiting[next].isCalled = true
                called.append(line.waiting[next].wake)
            }
            let isOver = line.writing == 0 && line.waiting.isEmpty
            state.lines[turn.line] = isOver ? nil : line
            return (result, called)
        }
        for wake in called { wake() }
        return result
    }
}

/// One request's place among the writers of a database.
final class WriterTurn: Sendable {
    fileprivate let number: Int
    fileprivate let line: String
    private let lines: WriterLines

    fileprivate init(number: Int, line: String, of lines: WriterLines) {
        self.number = number
        self.line = line
        self.lines = lines
    }

    deinit { leave() }

    /// Whether it may write now; `end` follows then.
    func begin() -> Bool { lines.begin(self) }
    func end() { lines.end(self) }
    /// Stands in the line, and is woken when it may begin.
    func wait(_ wake: @escaping @Sendable () -> Void) { lines.wait(self, wake) }
    /// Gives its place in the line up.
    func leave() { lines.leave(self) }
}
