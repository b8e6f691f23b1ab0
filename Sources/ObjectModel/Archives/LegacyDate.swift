internal import Foundation

/// Dates in models of Xcode 3, which kept what the developer had typed.
enum LegacyDate {
    /// Seconds since 2001 of a date with its time and zone, as `2009-01-31 12:00:00 +0100` or
    /// `2009-01-31T12:00:00Z`. Nil for words such as “today”, and for dates without a zone: those
    /// meant the day and the place of compiling.
    static func seconds(_ text: String) -> String? {
        let pattern = /(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d) ?(?:Z|([+-])(\d\d):?(\d\d))/
        guard let match = text.wholeMatch(of: pattern) else { return nil }
        let numbers = [
            match.output.1, match.output.2, match.output.3, match.output.4, match.output.5,
            match.output.6,
        ].compactMap { Int($0) }
        guard numbers.count == 6, let zone = TimeZone(secondsFromGMT: 0) else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let parts = DateComponents(
            year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3],
            minute: numbers[4], second: numbers[5])
        guard parts.isValidDate(in: calendar), let date = calendar.date(from: parts) else {
            return nil
        }
        let hours = match.output.8.flatMap { Int($0) } ?? 0
        let minutes = match.output.9.flatMap { Int($0) } ?? 0
        let ahead = (hours * 60 + minutes) * 60 * (match.output.7 == "-" ? -1 : 1)
        return "\(Int(date.timeIntervalSinceReferenceDate) - ahead)"
    }
}
