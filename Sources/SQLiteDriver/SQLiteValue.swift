public import Foundation

/// One value in one of SQLite's five storage classes. <https://www.sqlite.org/datatype3.html>
public enum SQLiteValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
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

    public var isNull: Bool { self == .null }
}

extension SQLiteValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(stringLiteral value: String) { self = .text(value) }
    public init(_ value: Int64?) { self = value.map { .integer($0) } ?? .null }
    public init(_ value: Int) { self = .integer(Int64(value)) }
    public init(_ value: Bool) { self = .integer(value ? 1 : 0) }
    public init(_ value: Double?) { self = value.map { .real($0) } ?? .null }
    public init(_ value: String?) { self = value.map { .text($0) } ?? .null }
    public init(_ value: Data?) { self = value.map { .blob($0) } ?? .null }
    /// A date as Core Data stores it: seconds since 2001-01-01 UTC.
    public init(_ value: Date?) {
        self = value.map { .real($0.timeIntervalSinceReferenceDate) } ?? .null
    }
}
