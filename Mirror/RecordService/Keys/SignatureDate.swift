internal import Foundation

/// A moment in ISO 8601, as signed requests spell it: `2016-01-25T22:15:43Z`, also with a fraction
/// of seconds and with `+00:00`.
enum SignatureDate {
    private static let bytesMax = 40

    /// Milliseconds since 1970; nil for any other text.
    static func milliseconds(_ text: String) -> Int64? {
        let pattern = /(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)/
            .asciiOnlyDigits()
        guard text.utf8.count <= bytesMax, let match = text.wholeMatch(of: pattern) else {
            return nil
        }
        func number(_ digits: Substring) -> Int32 { Int32(digits) ?? 0 }
        var parts = tm()
        parts.tm_year = number(match.1) - 1900
        parts.tm_mon = number(match.2) - 1
        (parts.tm_mday, parts.tm_hour) = (number(match.3), number(match.4))
        (parts.tm_min, parts.tm_sec) = (number(match.5), number(match.6))
        guard (1...12).contains(parts.tm_mon + 1), (1...31).contains(parts.tm_mday),
            parts.tm_hour < 24, parts.tm_min < 60, parts.tm_sec < 61
        else { return nil }
        let fraction = Double("0\(match.7 ?? "")") ?? 0
        return (Int64(timegm(&parts)) - offset(match.8)) * 1_000 + Int64(fraction * 1_000)
    }

    /// Seconds east of Greenwich.
    private static func offset(_ text: Substring) -> Int64 {
        guard text != "Z" else { return 0 }
        let digits = text.dropFirst().filter { $0 != ":" }
        let seconds = (Int64(digits.prefix(2)) ?? 0) * 3_600 + (Int64(digits.suffix(2)) ?? 0) * 60
        return text.first == "-" ? -seconds : seconds
    }

    /// The moment as a client should spell it.
    static func text(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000).ISO8601Format()
    }
}
