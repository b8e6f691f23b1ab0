public import Foundation

/// One attribute's value, in a form that every store and the mirror can carry.
/// Booleans are integers 0 and 1; a transformable value is the bytes its transformer made.
public enum AttributeValue: Hashable, Sendable {
    /// No value.
    case null
    /// Integers of 16, 32 and 64 bits, and booleans.
    case integer(Int64)
    /// Numbers of type Double and Float.
    case double(Double)
    /// All of a Decimal's 38 digits; a SQLite store keeps as many as a column holds.
    case decimal(Decimal)
    /// A text of any length, an empty one too.
    case text(String)
    /// Seconds since 2001-01-01 UTC.
    case date(Double)
    /// Sixteen bytes, in a SQLite store as a blob.
    case uuid(UUID)
    /// The absolute text of a URI.
    case uri(String)
    /// Bytes, those of transformables and composites' archives too.
    case data(Data)

    /// Whether there is no value.
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// Texts are equal when their bytes are, as in Foundation; Swift's own comparison would take a
    /// letter and its accent for the letter with the accent, and a change from one to the other
    /// for none.
    public static func == (left: AttributeValue, right: AttributeValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let one), .integer(let other)): one == other
        case (.double(let one), .double(let other)): one == other
        case (.decimal(let one), .decimal(let other)): one == other
        case (.text(let one), .text(let other)), (.uri(let one), .uri(let other)):
            haveSameBytes(one, other)
        case (.date(let one), .date(let other)): one == other
        case (.uuid(let one), .uuid(let other)): one == other
        case (.data(let one), .data(let other)): one == other
        case (.null, _), (.integer, _), (.double, _), (.decimal, _), (.text, _), (.uri, _),
            (.date, _), (.uuid, _), (.data, _):
            false
        }
    }

    private static func haveSameBytes(_ one: String, _ other: String) -> Bool {
        let answer = one.utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                guard left.count == right.count, let start = left.baseAddress,
                    let otherStart = right.baseAddress
                else { return left.count == right.count }
                return start == otherStart || memcmp(start, otherStart, left.count) == 0
            }
        }
        return (answer ?? nil) ?? one.utf8.elementsEqual(other.utf8)
    }
}
