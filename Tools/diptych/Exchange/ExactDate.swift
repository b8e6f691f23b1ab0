internal import Foundation

/// Moments as texts that lead back to the very same number of seconds.
enum ExactDate {
    /// Seconds since 2001-01-01 UTC as ISO 8601 with every digit that counts; a date no calendar
    /// has, as the seconds themselves.
    static func text(_ seconds: Double) -> String {
        var bytes: [UInt8] = []
        write(seconds, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The same, behind what `bytes` has.
    static func write(_ seconds: Double, to bytes: inout [UInt8]) {
        let whole = seconds.rounded(.down)
        guard seconds.isFinite, abs(seconds) < 2e11, let day = day(of: whole) else {
            return bytes.append(contentsOf: "\(seconds)".utf8)
        }
        let fraction = fraction(seconds - whole)
        guard fraction.isEmpty || Double("0" + fraction).map({ whole + $0 }) == seconds else {
            return bytes.append(contentsOf: "\(seconds)".utf8)
        }
        let second = Int(whole) - day.start
        append(day.year, 4, to: &bytes)
        append(day.month, 2, after: "-", to: &bytes)
        append(day.day, 2, after: "-", to: &bytes)
        append(second / 3600, 2, after: "T", to: &bytes)
        append(second / 60 % 60, 2, after: ":", to: &bytes)
        append(second % 60, 2, after: ":", to: &bytes)
        bytes.append(contentsOf: fraction.utf8)
        bytes.append(UInt8(ascii: "Z"))
    }

    private static func append(
        _ number: Int, _ count: Int, after mark: Unicode.Scalar? = nil, to bytes: inout [UInt8]
    ) {
        if let mark { bytes.append(UInt8(ascii: mark)) }
        var scale = count == 4 ? 1000 : 10
        while scale > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(number / scale % 10))
            scale /= 10
        }
    }

    /// What `text` made of a moment, or any ISO 8601 time in UTC; nil for another text.
    static func seconds(_ text: String) -> Double? {
        var text = text
        return text.withUTF8 { bytes -> Double? in
            guard let moment = Moment(bytes) else {
                return PlainNumber.double(String(decoding: bytes, as: UTF8.self))
            }
            guard (1...12).contains(moment.month), moment.day > 0,
                moment.day <= length(of: moment.month, in: moment.year), moment.hour < 24,
                moment.minute < 60, moment.second < 61
            else { return nil }
            let days = days(moment.year, moment.month, moment.day) - epoch
            let whole =
                days * 86_400 + moment.hour * 3600 + moment.minute * 60 + moment.second
            guard let fraction = moment.fraction else { return Double(whole) }
            return Double("0" + fraction).map { Double(whole) + $0 }
        }
    }

    /// The parts of `2026-03-14T09:26:53.589Z`.
    private struct Moment {
        let (year, month, day): (Int, Int, Int)
        let (hour, minute, second): (Int, Int, Int)
        /// With its point.
        var fraction: String?

        init?(_ bytes: UnsafeBufferPointer<UInt8>) {
            guard bytes.count >= 20, bytes[bytes.count - 1] == UInt8(ascii: "Z"),
                bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
                bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"),
                bytes[16] == UInt8(ascii: ":")
            else { return nil }
            func number(_ range: Range<Int>) -> Int? {
                var number = 0
                for byte in bytes[range] {
                    guard (0x30...0x39).contains(byte) else { return nil }
                    number = number * 10 + Int(byte - 0x30)
                }
                return number
            }
            guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
                let hour = number(11..<13), let minute = number(14..<16),
                let second = number(17..<19)
            else { return nil }
            (self.year, self.month, self.day) = (year, month, day)
            (self.hour, self.minute, self.second) = (hour, minute, second)
            guard bytes.count > 20 else { return }
            let rest = bytes[19..<bytes.count - 1]
            guard rest.count > 1, rest.first == UInt8(ascii: "."),
                rest.dropFirst().allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            fraction = String(decoding: rest, as: UTF8.self)
        }
    }

    /// The digits of a part of a second, with their point.
    private static func fraction(_ part: Double) -> String {
        guard part > 0 else { return "" }
        let shortest = "\(part)"
        guard shortest.contains("e") else { return String(shortest.dropFirst()) }
        let long = String(format: "%.40f", part).dropFirst()
        return String(long.reversed().drop { $0 == "0" }.reversed())
    }

    // MARK: The calendar (proleptic Gregorian)

    private static let epoch = days(2001, 1, 1)

    /// Days since a day far back: years begin in March, so that leap days come last.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear
    }

    private static func length(of month: Int, in year: Int) -> Int {
        month == 12 ? 31 : days(year, month + 1, 1) - days(year, month, 1)
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
