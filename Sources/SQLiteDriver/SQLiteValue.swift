public import Foundation

/// One value in one of SQLite's five storage classes. <https://www.sqlite.org/datatype3.html>
public enum SQLiteValue: Hashable, Sendable {
    /// No value: also what a column shows that a row written before the column does not have.
    case null
    /// Eight bytes with a sign; booleans are 0 and 1.
    case integer(Int64)
    /// SQLite has no NaN: one that is bound comes back as `null`.
    case real(Double)
    /// UTF-8. Bytes in a foreign file that are none come back repaired.
    case text(String)
    /// Bytes as they are; an empty one is not `null`.
    case blob(Data)

    /// The integer, or the real when it is a whole number; nil otherwise.
    public var int64: Int64? {
        switch self {
        case .integer(let value): value
        case .real(let value): Int64(exactly: value)
        case .null, .text, .blob: nil
        }
    }

    /// The number as a double; nil for text, blob and null.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .null, .text, .blob: nil
        }
    }

    /// The text; nil for every other class.
    public var string: String? {
        if case .text(let value) = self { value } else { nil }
    }

    /// The bytes; nil for every other class.
    public var data: Data? {
        if case .blob(let value) = self { value } else { nil }
    }

    /// Whether there is no value; an empty text is one.
    public var isNull: Bool { self == .null }
}

extension SQLiteValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(stringLiteral value: String) { self = .text(value) }
    /// An integer; nil is `null`.
    public init(_ value: Int64?) { self = value.map { .integer($0) } ?? .null }
    /// An integer.
    public init(_ value: Int) { self = .integer(Int64(value)) }
    /// 0 or 1.
    public init(_ value: Bool) { self = .integer(value ? 1 : 0) }
    /// A number with a fraction, even where it has none; nil is `null`.
    public init(_ value: Double?) { self = value.map { .real($0) } ?? .null }
    /// A text, of which a NUL is a part; nil is `null`.
    public init(_ value: String?) { self = value.map { .text($0) } ?? .null }
    /// Bytes; nil is `null`.
    public init(_ value: Data?) { self = value.map { .blob($0) } ?? .null }
    /// A date as Core Data stores it: seconds since 2001-01-01 UTC.
    public init(_ value: Date?) {
        self = value.map { .real($0.timeIntervalSinceReferenceDate) } ?? .null
    }
}
