/// Who reads records, and who waits for that.
///
/// Each request at work holds a thread of the server, and shares the processor with the others. So
/// few of one asker are at work at once: others find threads, and their share of the time, however
/// much that one asks.
struct ReaderLines: Sendable {
    private let lines: TurnLines

    /// A quarter of the server's threads.
    init(threads: Int) { lines = TurnLines(places: threads / 4) }

    func turn(of asker: Throttle.Asker) -> Turn { lines.turn(in: .readers(asker)) }
}
