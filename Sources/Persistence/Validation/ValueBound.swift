internal import Foundation
internal import Predicates

/// The least or greatest value of an attribute, as the model writes it: a number, or a date as
/// seconds since 2001 or ISO 8601 text. Numbers are compared as exactly as both are written.
struct ValueBound {
    let text: String
    private let real: Double
    private let integer: Int64?
    private let decimal: Decimal?

    /// Nil for a text that is no bound.
    init?(_ text: String) {
        self.text = text
        guard let number = Double(text) else {
            guard let date = ISO8601DateFormatter().date(from: text) else { return nil }
            real = date.timeIntervalSinceReferenceDate
            (integer, decimal) = (nil, nil)
            return
        }
        real = number
        integer = Int64(text) ?? Int64(exactly: number)
        // Foundation takes what it can read of a text for the whole.
        decimal = Decimal(string: text).flatMap { $0.nearestReal == number ? $0 : nil }
    }

    func order(of value: Int64) -> ComparisonResult? {
        guard let integer else { return order(of: Double(value)) }
        return Self.order(value, integer)
    }

    func order(of value: Decimal) -> ComparisonResult? {
        guard let decimal, !value.isNaN else { return order(of: value.nearestReal) }
        return Self.order(value, decimal)
    }

    func order(of value: Double) -> ComparisonResult? {
        value.isNaN || real.isNaN ? nil : Self.order(value, real)
    }

    private static func order<Value: Comparable>(
        _ value: Value, _ bound: Value
    ) -> ComparisonResult {
        if value == bound { return .orderedSame }
        return value < bound ? .orderedAscending : .orderedDescending
    }
}
