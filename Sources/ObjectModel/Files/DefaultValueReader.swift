internal import Foundation

/// Reads an attribute's default value into its Swift type.
///
/// A text that is no value of the type counts as Apple's compiler reads it: the leading number, or
/// zero where there is none (`NO` on an integer is 0), with a note. Xcode offers no default for
/// UUIDs and URIs; a text that is none is a leftover of the attribute's former type and is passed
/// over.
struct DefaultValueReader {
    let element: MarkupElement
    let type: NSAttributeType

    func value() -> Any? {
        if type == .dateAttributeType { return date() }
        guard let text = element.attributes["defaultValueString"] else { return nil }
        if type == .stringAttributeType { return text }
        guard !text.isEmpty else { return nil }
        return switch type {
        case .integer16AttributeType: integer(text, as: Int16.self)
        case .integer32AttributeType: integer(text, as: Int32.self)
        case .integer64AttributeType: integer(text, as: Int64.self)
        case .decimalAttributeType: decimal(text)
        case .doubleAttributeType: number(text) as Double
        case .floatAttributeType: number(text) as Float
        case .booleanAttributeType: element.flag("defaultValueString")
        case .UUIDAttributeType: UUID(uuidString: text)
        case .URIAttributeType: URL(string: text)
        case .undefinedAttributeType, .stringAttributeType, .dateAttributeType,
            .binaryDataAttributeType, .transformableAttributeType, .objectIDAttributeType,
            .compositeAttributeType:
            nil
        }
    }

    /// A date in seconds since 2001. The texts of old files ("today") mean the day of compiling and
    /// are passed over.
    private func date() -> Date? {
        element.text("defaultDateTimeInterval").map {
            Date(timeIntervalSinceReferenceDate: number($0, of: "defaultDateTimeInterval"))
        }
    }

    /// A whole number of the type's range; "5.0" counts as one.
    private func integer<Number: FixedWidthInteger>(_ text: String, as _: Number.Type) -> Number {
        if let number = Number(text) { return number }
        if LeadingValue(text).isNumber, let number = Double(text).flatMap({ Number(exactly: $0) }) {
            return number
        }
        let number: Number = LeadingValue(text).integer() ?? 0
        let expected = "a whole number from \(Number.min) to \(Number.max)"
        return read(text, as: number, expected)
    }

    private func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(
        _ text: String, of key: String = "defaultValueString"
    ) -> Number {
        let leading = LeadingValue(text)
        let number = leading.number.flatMap { Number($0) } ?? 0
        guard number.isFinite else {
            let most = Number.greatestFiniteMagnitude
            return read(text, key, as: number < 0 ? -most : most, "a number of the type's range")
        }
        return leading.isNumber ? number : read(text, key, as: number, "a number")
    }

    private func decimal(_ text: String) -> Decimal {
        let leading = LeadingValue(text)
        let number = leading.number.flatMap { Decimal(string: $0) }.flatMap { $0.isNaN ? nil : $0 }
        if leading.isNumber, let number { return number }
        return read(text, as: number ?? 0, "a decimal number")
    }

    private func read<Value>(
        _ text: String, _ key: String = "defaultValueString", as value: Value, _ expected: String
    ) -> Value {
        element.note(key, text, "is not \(expected); read as \(value)")
        return value
    }
}
