public import Foundation

/// One attribute's value, in a form that every store and the mirror can carry.
/// Booleans are integers 0 and 1; a transformable value is the bytes its transformer made.
public enum AttributeValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)
    case text(String)
    /// Seconds since 2001-01-01 UTC.
    case date(Double)
    case uuid(UUID)
    /// The absolute text of a URI.
    case uri(String)
    case data(Data)

    public var isNull: Bool { self == .null }
}
