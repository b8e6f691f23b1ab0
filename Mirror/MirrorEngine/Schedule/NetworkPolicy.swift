public import Foundation

/// When rounds that run by themselves may use the network, and how much of it. Rounds that somebody
/// asks for run at any time.
public struct NetworkPolicy: Hashable, Sendable {
    /// What may travel while each byte is paid for.
    public enum MeteredUse: Hashable, Sendable {
        /// As ever.
        case all
        /// Nothing.
        case nothing
        /// Rounds before which no more than so many records wait.
        case smallRounds(recordsMax: Int)
    }

    /// The times of day in which rounds begin; empty for all.
    public var hours: [DailyHours] = []
    /// By whose clocks on the wall `hours` and days are meant.
    public var timeZone: TimeZone
    /// What is done while the scheduler is told that the network is metered.
    public var metered = MeteredUse.all
    /// A round ends once it has moved so many bytes, and a later one goes on; nil for any number.
    /// What is under way is not cut: the last answer counts whole. Each round sends or receives
    /// something.
    public var bytesPerRoundMax: Int64?
    /// Rounds begin no more once so many bytes were moved since midnight; nil for any number.
    public var bytesPerDayMax: Int64?
    /// How fast each way goes, for who makes the channel; nil for as fast as it goes.
    public var bytesPerSecondMax: Int?

    public init(timeZone: TimeZone = .current) { self.timeZone = timeZone }

    /// Why no round may begin now; nil where one may.
    package func hold(
        at now: Date, isMetered: Bool, waiting: Int, bytesToday: Int64
    ) -> MirrorHold? {
        if let opening = opening(after: now) {
            return MirrorHold(
                .outsideHours, "It waits for \(time(opening)), outside the hours.", until: opening)
        }
        if let max = bytesPerDayMax, bytesToday >= max {
            let midnight = midnight(after: now)
            return MirrorHold(
                .bytesOfDay,
                "It waits for midnight: \(bytesToday) bytes were moved today, and \(max) may be.",
                until: midnight)
        }
        guard isMetered else { return nil }
        switch metered {
        case .all: return nil
        case .nothing:
            return MirrorHold(.metered, "It waits for a network that is not metered.")
        case .smallRounds(let most):
            guard waiting > most else { return nil }
            return MirrorHold(
                .metered,
                "It waits for a network that is not metered: \(waiting) records wait, and \(most) "
                    + "may travel over this one.")
        }
    }

    /// How many bytes the next round may move.
    package func bytesLeft(bytesToday: Int64) -> Int64? {
        let ofDay = bytesPerDayMax.map { max(0, $0 - bytesToday) }
        return [ofDay, bytesPerRoundMax].compactMap { $0 }.min()
    }

    /// The day of a moment, as bytes are counted by it.
    package func day(of moment: Date) -> String {
        let parts = calendar.dateComponents([.year, .month, .day], from: moment)
        return "\(parts.year ?? 0)-\(parts.month ?? 0)-\(parts.day ?? 0)"
    }

    /// When the hours begin that `now` is before; nil within them.
    private func opening(after now: Date) -> Date? {
        guard !hours.isEmpty else { return nil }
        let parts = calendar.dateComponents([.hour, .minute], from: now)
        let minute = (parts.hour ?? 0) * 60 + (parts.minute ?? 0)
        guard !hours.contains(where: { $0.contains(minute: minute) }) else { return nil }
        return hours.compactMap { next(minute: $0.fromMinute, after: now) }.min()
    }

    private func midnight(after now: Date) -> Date? { next(minute: 0, after: now) }

    private func next(minute: Int, after now: Date) -> Date? {
        calendar.nextDate(
            after: now,
            matching: DateComponents(hour: minute / 60, minute: minute % 60, second: 0),
            matchingPolicy: .nextTime)
    }

    private func time(_ moment: Date) -> String {
        let parts = calendar.dateComponents([.hour, .minute], from: moment)
        return DailyHours.text(minute: (parts.hour ?? 0) * 60 + (parts.minute ?? 0))
    }

    private var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        return calendar
    }
}

/// A stretch of each day, which may go over midnight.
public struct DailyHours: Hashable, Sendable, CustomStringConvertible {
    /// Minutes since midnight, 0 to 1439.
    public let fromMinute: Int
    /// The first minute after it; equal to `fromMinute` for the whole day.
    public let toMinute: Int

    /// Minutes beyond a day count as those of another day.
    public init(fromMinute: Int, toMinute: Int) {
        self.fromMinute = Self.ofDay(fromMinute)
        self.toMinute = Self.ofDay(toMinute)
    }

    /// Reads `02:00-06:30`; nil for any other text.
    public init?(_ text: String) {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map(Self.minute)
        guard ends.count == 2, let from = ends[0], let to = ends[1] else { return nil }
        self.init(fromMinute: from, toMinute: to)
    }

    public var description: String {
        "\(Self.text(minute: fromMinute))-\(Self.text(minute: toMinute))"
    }

    func contains(minute: Int) -> Bool {
        if fromMinute < toMinute { return (fromMinute..<toMinute).contains(minute) }
        return minute >= fromMinute || minute < toMinute
    }

    static func text(minute: Int) -> String {
        let (hour, rest) = minute.quotientAndRemainder(dividingBy: 60)
        return "\(hour < 10 ? "0" : "")\(hour):\(rest < 10 ? "0" : "")\(rest)"
    }

    private static let dayMinutes = 1_440

    private static func ofDay(_ minute: Int) -> Int {
        let rest = minute % dayMinutes
        return rest < 0 ? rest + dayMinutes : rest
    }

    private static func minute(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ (1...2).contains($0.utf8.count) }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), (0...24).contains(hour),
            (0...59).contains(minute), hour < 24 || minute == 0
        else { return nil }
        return hour * 60 + minute
    }
}

/// Why rounds do not begin by themselves, though nobody paused them: kept in the store.
public struct MirrorHold: Hashable, Sendable, Codable {
    public enum Reason: String, Sendable, Codable {
        case outsideHours, metered
        /// The last round ended before its end, with all that one round may move.
        case bytesOfRound
        case bytesOfDay
    }
    public let reason: Reason
    /// What it waits for.
    public let message: String
    /// When it goes on; nil where a change of the network is waited for.
    public let until: Date?
    /// The last round ended before its end, so that nothing is known to be equal.
    package var cutsRound: Bool

    /// A round has moved all that one may.
    static let cut = MirrorHold(
        .bytesOfRound,
        "The last round moved as many bytes as one may; the next goes on from there.",
        cutsRound: true)

    package init(
        _ reason: Reason, _ message: String, until: Date? = nil, cutsRound: Bool = false
    ) {
        self.cutsRound = cutsRound
        self.reason = reason
        self.message = message
        self.until = until
    }
}
