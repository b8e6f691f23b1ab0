internal import RecordWire

/// A reader's way through the changes of a zone that it does not know: the oldest first or, with
/// `reverse`, the newest.
struct FeedWay {
    let isBackwards: Bool
    /// Behind what the reader knows, and what its next token tells.
    private let start: SyncToken.Start
    /// The newest change on the way.
    private let top: Int64
    /// The last change that the reader was told of.
    private var reached: Int64
    private let line: EpochLine
    private let view: HiddenView?

    /// Throws CHANGE_TOKEN_EXPIRED as `SyncToken.place` does, BAD_REQUEST where a reader turns
    /// around on its way.
    init(
        _ zone: ZoneChanges.Zone, from token: String?, to newest: Int64, on line: EpochLine,
        _ view: HiddenView?, zoneID: ZoneID?
    ) throws(RecordError) {
        self.line = line
        self.view = view
        isBackwards = zone.isReversed ?? false
        let former = token.flatMap { BackwardToken(text: $0) }
        guard isBackwards || former == nil else { throw Self.turned(zoneID) }
        start = try SyncToken.place(
            in: former?.end.text ?? token, on: line, of: .zone, view: view, zoneID: zoneID)
        guard isBackwards else {
            top = newest
            reached = start.change
            return
        }
        // Who sees other records than before begins once more.
        guard let former, former.end.view == view?.digest else {
            top = newest
            reached = newest + 1
            return
        }
        try SyncToken.checkTime(of: former.top, on: line, zoneID)
        top = former.top.change
        reached = min(max(former.reached, start.change + 1), top + 1)
    }

    private static func turned(_ zoneID: ZoneID?) -> RecordError {
        RecordError(
            .badRequest,
            "The sync token is of a reading with reverse that has not ended; go on with reverse "
                + "until moreComing is false.", zoneID: zoneID)
    }

    var isAtEnd: Bool { isBackwards ? reached <= start.change + 1 : reached >= top }

    mutating func pass(_ change: Int64) {
        reached = isBackwards ? min(reached, change) : max(reached, change)
    }

    /// What is left of the way.
    func reading(
        _ zone: Int64, types: [String]?, limit: Int, lookedAtMax: Int
    ) -> FeedReading {
        var reading = FeedReading(
            zone: zone, after: isBackwards ? start.change : reached, limit: limit,
            lookedAtMax: lookedAtMax, types: types)
        reading.isNewestFirst = isBackwards
        if isBackwards { reading.through = reached - 1 }
        return reading
    }

    /// The token to go on with.
    func token(isAtEnd: Bool) -> String {
        guard isBackwards, !isAtEnd else { return token(of: isAtEnd ? top : reached).text }
        return BackwardToken(
            end: token(of: start.change), top: line.tag(of: top), reached: reached
        ).text
    }

    private func token(of change: Int64) -> SyncToken {
        SyncToken(line, of: .zone, change: change, from: start, view: view)
    }
}
