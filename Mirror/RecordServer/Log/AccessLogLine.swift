public import Foundation

/// How lines of the access log are spelled.
public enum LogFormat: String, Sendable, CaseIterable {
    /// For people.
    case text
    /// One JSON object a line.
    case json
}

/// How much is logged: each level has what those before it have.
public enum LogLevel: String, Sendable, CaseIterable, Comparable {
    case off
    /// What failed inside the service.
    case error
    /// What was refused, too.
    case warning
    /// Each request.
    case info
    /// Those by which others look whether the service is well, too.
    case debug

    public static func < (one: LogLevel, other: LogLevel) -> Bool {
        one.rank < other.rank
    }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension AccessLogEntry {
    /// From which level on the request is logged.
    public var level: LogLevel {
        switch status {
        case 500...: .error
        case 400...: .warning
        default: OperationName.probes.contains(facts.operation) ? .debug : .info
        }
    }

    /// The request on one line: nothing that its sender spelled but known words, no token and no
    /// value. Users are told by the first letters of their record names.
    public func line(_ format: LogFormat) -> String {
        switch format {
        case .text: text
        case .json: json
        }
    }

    private var text: String {
        var words = [
            LogTime.text(of: time), String(status), verb, "\"\(facts.operation)\"",
            "\(spelledMilliseconds)ms", "in=\(receivedBytes)", "out=\(bytes)",
        ]
        if wasHeld { words.append("held") }
        for (name, value) in details { words.append("\(name)=\(value)") }
        return words.joined(separator: " ")
    }

    private var json: String {
        var members = [
            #""time":"\#(LogTime.text(of: time))""#, #""level":"\#(level.rawValue)""#,
            #""method":"\#(verb)""#, #""operation":"\#(facts.operation)""#,
            #""status":\#(status)"#, #""milliseconds":\#(spelledMilliseconds)"#,
            #""bytesIn":\#(receivedBytes)"#, #""bytesOut":\#(bytes)"#,
        ]
        if wasHeld { members.append(#""held":true"#) }
        for (name, value) in details { members.append(#""\#(name)":"\#(value)""#) }
        return "{\(members.joined(separator: ","))}"
    }

    private var details: [(name: String, value: String)] {
        let user = facts.user.map { $0.drop { $0 == "_" }.prefix(8) }
        let known: [(String, String?)] = [
            ("user", user.map(Self.plain)), ("container", facts.container.map(Self.plain)),
            ("id", facts.requestID.map(Self.plain)), ("round", round.map(Self.plain)),
            ("code", facts.errorCode.map(Self.plain)),
        ]
        return known.compactMap { name, value in value.map { (name, $0) } }
    }

    /// Letters, digits and the signs that stand in names of containers; anything else is `?`.
    private static func plain(_ text: some StringProtocol) -> String {
        String(
            decoding: text.utf8.prefix(255).map { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"),
                    UInt8(ascii: "_"):
                    byte
                default: UInt8(ascii: "?")
                }
            }, as: UTF8.self)
    }

    private static let verbs: Set = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]
    private var verb: String { Self.verbs.contains(method) ? method : "OTHER" }

    private var spelledMilliseconds: String {
        let thousandths = Int64((min(max(milliseconds, 0), 1e12) * 1_000).rounded())
        let rest = String(thousandths % 1_000)
        return "\(thousandths / 1_000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }
}

/// Moments as logs spell them: `2026-03-14T09:26:53.589Z`.
public enum LogTime {
    /// Cost: one call of the C library.
    public static func text(of date: Date) -> String {
        let milliseconds = Int64((date.timeIntervalSince1970 * 1_000).rounded(.down))
        var seconds = time_t(milliseconds / 1_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func padded(_ number: Int32, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let day = [
            padded(parts.tm_year + 1_900, 4), padded(parts.tm_mon + 1, 2), padded(parts.tm_mday, 2),
        ]
        let hour = [padded(parts.tm_hour, 2), padded(parts.tm_min, 2), padded(parts.tm_sec, 2)]
        let rest = padded(Int32(milliseconds % 1_000), 3)
        return "\(day.joined(separator: "-"))T\(hour.joined(separator: ":")).\(rest)Z"
    }
}
