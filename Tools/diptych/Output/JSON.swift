internal import Foundation

/// A JSON value whose members keep their order.
indirect enum JSON: Sendable, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSON])
    case object([(String, JSON)])

    init(dictionaryLiteral elements: (String, JSON)...) { self = .object(elements) }
    init(arrayLiteral elements: JSON...) { self = .array(elements) }
    init(_ number: Int) { self = .integer(Int64(number)) }
    init(_ text: String?) { self = text.map(JSON.string) ?? .null }
    init(_ date: Date?) { self = date.map { .string(Timestamp.text($0)) } ?? .null }

    /// One line without spaces. Numbers that JSON does not know are strings.
    var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .double(let value):
            text += value.isFinite ? Self.number(value) : "\"\(value)\""
        case .string(let value): Self.quote(value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                Self.quote(member.0, to: &text)
                text += ":"
                member.1.write(to: &text)
            }
            text += "}"
        }
    }

    private static func number(_ value: Double) -> String {
        let isWhole = value == value.rounded() && abs(value) < 1e15
        return isWhole && !(value == 0 && value.sign == .minus)
            ? String(Int64(value)) : "\(value)"
    }

    private static func quote(_ value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where PlainText.acts(scalar):
                // A terminal that shows the line must not obey it either.
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

/// Times as ISO 8601.
enum Timestamp {
    /// With whole seconds, for people.
    static func short(_ date: Date) -> String {
        let text = text(date)
        guard let dot = text.firstIndex(of: ".") else { return text }
        return text[..<dot].replacing("T", with: " ") + "Z"
    }

    /// With milliseconds, or finer where the value is.
    static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSince1970
        guard seconds.isFinite, abs(seconds) < 1e11 else { return "\(seconds)" }
        // To the nearest: what is a thousandth is a little less as a number.
        let all = Int((seconds * 1_000_000).rounded())
        let micros = ((all % 1_000_000) + 1_000_000) % 1_000_000
        let whole = (all - micros) / 1_000_000
        var clock = time_t(whole)
        var parts = tm()
        gmtime_r(&clock, &parts)
        let head = String(
            format: "%04d-%02d-%02dT%02d:%02d:%02d", Int(parts.tm_year) + 1900,
            parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec)
        let digits = String(format: "%06d", micros)
        return head + "." + (digits.hasSuffix("000") ? String(digits.prefix(3)) : digits) + "Z"
    }
}
