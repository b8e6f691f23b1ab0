internal import Foundation
internal import ObjectModel
internal import Predicates
package import RecordWire
internal import SQLiteStore
package import Stores

/// One attribute's value on the wire and back (SERVICE §7).
///
/// A date travels as whole milliseconds and a decimal as a double, as other clients expect; where
/// that would lose something, an `_exact` field beside it keeps the rest.
package enum AttributeCoding {
    /// The seconds between 1970 and 2001.
    static let referenceSeconds = 978_307_200.0

    /// The plain field of `value`, and its exact companion where the plain one is not enough.
    package static func fields(for value: AttributeValue) -> (
        plain: FieldValue?, exact: FieldValue?
    ) {
        if let standIn = AssetStandIn(value) { return (.asset(standIn.asset), nil) }
        return switch value {
        case .null: (nil, nil)
        case .integer(let integer): (.int64(integer), nil)
        case .double(let double): (.double(double), nil)
        case .decimal(let decimal): fields(forDecimal: decimal)
        case .text(let text): (.string(text), nil)
        case .date(let seconds): fields(forDate: seconds)
        case .uuid(let uuid): (.string(uuid.spelled), nil)
        case .uri(let uri): (.string(uri), nil)
        case .data(let data): (.bytes(data), nil)
        }
    }

    /// The value of an attribute of `type` from its two fields. Throws when the plain field has
    /// another type.
    static func value(
        plain: FieldValue?, exact: FieldValue?, type: NSAttributeType
    ) throws(AttributeMismatch) -> AttributeValue {
        guard let plain else { return .null }
        switch (type, plain) {
        case (_, .int64(let value)) where range(of: type) != nil:
            guard range(of: type)?.contains(value) == true else { throw AttributeMismatch() }
            return .integer(value)
        case (.doubleAttributeType, .double(let value)), (.floatAttributeType, .double(let value)):
            return .double(value)
        case (.doubleAttributeType, .int64(let value)), (.floatAttributeType, .int64(let value)):
            return .double(Double(value))
        case (.decimalAttributeType, .double(let value)):
            return decimal(value, exact: exact)
        case (.decimalAttributeType, .int64(let value)):
            return decimal(Double(value), exact: exact)
        case (.stringAttributeType, .string(let value)): return .text(value)
        case (.dateAttributeType, .timestamp(let value)):
            return .date(seconds(value, exact: exact))
        case (.UUIDAttributeType, .string(let text)):
            guard let uuid = UUID(spelled: text) else { throw AttributeMismatch() }
            return .uuid(uuid)
        case (.URIAttributeType, .string(let text)): return .uri(text)
        case (.binaryDataAttributeType, .bytes(let data)),
            (.transformableAttributeType, .bytes(let data)):
            return .data(data)
        case (.stringAttributeType, .asset(let asset)),
            (.binaryDataAttributeType, .asset(let asset)),
            (.transformableAttributeType, .asset(let asset)):
            guard let standIn = AssetStandIn(asset) else { throw AttributeMismatch() }
            return standIn.value
        default: throw AttributeMismatch()
        }
    }

    /// The integers that an attribute of a type holds; nil for a type that holds other values.
    static func range(of type: NSAttributeType) -> ClosedRange<Int64>? {
        switch type {
        case .integer16AttributeType: Int64(Int16.min)...Int64(Int16.max)
        case .integer32AttributeType: Int64(Int32.min)...Int64(Int32.max)
        case .integer64AttributeType, .booleanAttributeType: .min ... .max
        default: nil
        }
    }

    private static func fields(forDate seconds: Double) -> (FieldValue?, FieldValue?) {
        let milliseconds = milliseconds(of: seconds)
        let plain = FieldValue.timestamp(milliseconds)
        return (plain, self.seconds(milliseconds) == seconds ? nil : .double(seconds))
    }

    /// As near as a timestamp comes.
    private static func milliseconds(of seconds: Double) -> Int64 {
        let scaled = ((seconds + referenceSeconds) * 1000).rounded()
        return Int64(exactly: scaled) ?? (scaled < 0 ? .min : .max)
    }

    private static func fields(forDecimal decimal: Decimal) -> (FieldValue?, FieldValue?) {
        let double = NSDecimalNumber(decimal: decimal).doubleValue
        let text = decimal.description
        return (.double(double), double.description == text ? nil : .string(text))
    }

    private static func seconds(_ milliseconds: Int64) -> Double {
        Double(milliseconds) / 1000 - referenceSeconds
    }

    /// The exact seconds when they are the same millisecond; another client may have changed only
    /// the plain field.
    private static func seconds(_ milliseconds: Int64, exact: FieldValue?) -> Double {
        guard case .double(let seconds) = exact, self.milliseconds(of: seconds) == milliseconds
        else { return seconds(milliseconds) }
        return seconds
    }

    /// The exact decimal when it is the same double, be it the nearest or the one beside it that
    /// Foundation makes and that is written here. What no decimal can be, such as an infinity,
    /// stays a double, as in the store.
    private static func decimal(_ double: Double, exact: FieldValue?) -> AttributeValue {
        if case .string(let text) = exact, let decimal = Decimal(string: text),
            [decimal.nearestReal, NSDecimalNumber(decimal: decimal).doubleValue].contains(double)
        {
            return .decimal(decimal)
        }
        guard !double.isNaN else { return .decimal(.nan) }
        return ValueCoding.settled(.double(double), as: .decimal)
    }
}

/// A field whose type is not that of the attribute it should fill.
package struct AttributeMismatch: Error, Hashable {}
