internal import Foundation

/// Moments as texts that lead back to the very same number of seconds.
enum ExactDate {
    /// Seconds since 2001-01-01 UTC as ISO 8601 with every digit that counts; a date no calendar
    /// has, as the seconds themselves.
    static func text(_ seconds: Double) -> String {
        let whole = seconds.rounded(.down)
        guard seconds.isFinite, abs(seconds) < 2e11, let day = day(of: whole) else {
            return "\(seconds)"
        }
        let second = Int(whole) - day.start
        let clock = [second / 3600, second / 60 % 60, second % 60].map { digits($0, 2) }
        let text =
            "\(digits(day.year, 4))-\(digits(day.month, 2))-\(digits(day.day, 2))T"
            + clock.joined(separator: ":") + fraction(seconds - whole) + "Z"
        return self.seconds(text) == seconds ? text : "\(seconds)"
    }

    /// What `text` made of a moment, or any ISO 8601 time in UTC; nil for another text.
    static func seconds(_ text: String) -> Double? {
        guard let match = text.wholeMatch(of: form) else { return Double(text) }
        let parts = [match.1, match.2, match.3, match.4, match.5, match.6].compactMap { Int($0) }
        guard parts.count == 6, (1...12).contains(parts[1]), (1...31).contains(parts[2]),
            parts[3] < 24, parts[4] < 60, parts[5] < 61
        else { return nil }
        let days = days(parts[0], parts[1], parts[2]) - epoch
        let whole = days * 86_400 + parts[3] * 3600 + parts[4] * 60 + parts[5]
        guard let fraction = match.7 else { return Double(whole) }
        return Double("0" + fraction).map { Double(whole) + $0 }
    }

    // Made anew at each use: a regular expression may not be shared between threads.
    private static var form:
        Regex<
            (
                Substring, Substring, Substring, Substring, Substring, Substring, Substring,
                Substring?
            )
        >
    { /(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?Z/ }

    private static func fraction(_ part: Double) -> String {
        guard part > 0 else { return "" }
        let shortest = "\(part)"
        guard shortest.contains("e") else { return String(shortest.dropFirst()) }
        let long = String(format: "%.40f", part).dropFirst()
        return String(long.reversed().drop { $0 == "0" }.reversed())
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }

    // MARK: The calendar (proleptic Gregorian)

    private static let epoch = days(2001, 1, 1)

    /// Days since a day far back: years begin in March, so that leap days come last.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear
    }

    private static func day(
        of seconds: Double
    ) -> (year: Int, month: Int, day: Int, start: Int)? {
        let number = Int((seconds / 86_400).rounded(.down))
        let days = number + epoch
        var year = days / 366
        while self.days(year + 1, 3, 1) <= days { year += 1 }
        let dayOfYear = days - self.days(year, 3, 1)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let civil = month > 2 ? year : year + 1
        guard days > 366, (1...9999).contains(civil) else { return nil }
        return (civil, month, dayOfYear - (153 * shifted + 2) / 5 + 1, number * 86_400)
    }
}
