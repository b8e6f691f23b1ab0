internal import Foundation
internal import RecordWire

/// The newest time that a database knows of, so that one start under a wrong clock forgets nothing:
/// what is old is counted from it while the clock says something else.
struct ClockMark {
    /// Milliseconds since 1970, as all here.
    private(set) var believed: Int64
    /// From when on the clock has said something else, and gone on as clocks do.
    private(set) var doubtedSince: Int64?
    /// What it said last.
    private(set) var seen: Int64

    private static let day: Int64 = 86_400_000
    /// How far the clock may be from what is believed: less than an upload's receipt is good for.
    private static let leapMax = 2 * day
    /// Off for less, a machine is no news.
    private static let toldMin = 15 * day
    /// How long a clock that leapt must go on before it is believed.
    private static let patience = 7 * day
    /// How far it may go on between two looks.
    private static let stepMax = 30 * day

    init(believed: Int64, doubtedSince: Int64? = nil, seen: Int64) {
        (self.believed, self.doubtedSince, self.seen) = (believed, doubtedSince, seen)
    }

    /// Looks at the clock. Returns whether it is believed.
    mutating func look(at now: Int64) -> Bool {
        defer { seen = now }
        if abs(now - believed) > Self.leapMax {
            guard let since = doubtedSince, now >= seen, now - seen <= Self.stepMax else {
                doubtedSince = now
                return false
            }
            guard now - since >= Self.patience else { return false }
        }
        believed = now
        doubtedSince = nil
        return true
    }

    /// What whoever runs the service should know while the clock is not believed; nil where it is
    /// not far off.
    func doubt(at now: Int64) -> RecordError? {
        guard abs(now - believed) >= Self.toldMin else { return nil }
        return RecordError(
            .internalError,
            "The clock says \(Self.date(now)), but the newest time that the database knows is "
                + "\(Self.date(believed)). Set the clock if it is wrong; if it is right, it is "
                + "believed when it has gone on for \(Self.patience / Self.day) days.")
    }

    private static func date(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000).formatted(
            .iso8601.year().month().day())
    }
}

/// What is old is counted from this moment.
struct ForgettingMoment {
    let milliseconds: Int64
    let doubt: RecordError?
}

extension BackendTransaction {
    /// The moment from which what is old is counted, by a clock that says `now`. A database that
    /// knows no time yet takes the clock's, and forgets nothing this time.
    func forgettingMoment(at now: Int64) throws -> ForgettingMoment {
        guard var mark = try clockMark() else {
            try save(ClockMark(believed: now, seen: now))
            return ForgettingMoment(milliseconds: 0, doubt: nil)
        }
        let isBelieved = mark.look(at: now)
        try save(mark)
        guard isBelieved else {
            return ForgettingMoment(
                milliseconds: min(now, mark.believed), doubt: mark.doubt(at: now))
        }
        return ForgettingMoment(milliseconds: now, doubt: nil)
    }
}
