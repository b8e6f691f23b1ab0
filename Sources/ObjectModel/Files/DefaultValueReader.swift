internal import Foundation

/// Reads an attribute's default value into its Swift type.
///
/// Xcode offers no default for UUIDs and URIs; a text that is none is a leftover of the attribute's
/// former type and is passed over, as Apple's compiler does.
struct DefaultValueReader {
    let element: MarkupElement
    let type: NSAttributeType

    func value() throws -> Any? {
        if type == .dateAttributeType { return try date() }
        guard let text = element.attributes["defaultValueString"] else { return nil }
        if type == .stringAttributeType { return text }
        guard !text.isEmpty else { return nil }
        return switch type {
        case .integer16AttributeType: try integer(text, as: Int16.self)
        case .integer32AttributeType: try integer(text, as: Int32.self)
        case .integer64AttributeType: try integer(text, as: Int64.self)
        case .decimalAttributeType: try decimal(text)
        case .doubleAttributeType: try checked(Double(text), text, "a number")
        case .floatAttributeType: try checked(Float(text), text, "a number")
        case .booleanAttributeType: try checked(MarkupElement.flag(text), text, "YES or NO")
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
    private func date() throws -> Date? {
        try element.number("defaultDateTimeInterval").map(
            Date.init(timeIntervalSinceReferenceDate:))
    }

    /// A whole number of the type's range; "5.0" counts as one.
    private func integer<Number: FixedWidthInteger>(
        _ text: String, as _: Number.Type
    ) throws -> Number {
        let number = Number(text) ?? Double(text).flatMap { Number(exactly: $0) }
        return try checked(
            number, text, "a whole number from \(Number.min) to \(Number.max)")
    }

    private func decimal(_ text: String) throws -> Decimal {
        let isNumber = Double(text)?.isFinite == true
        return try checked(isNumber ? Decimal(string: text) : nil, text, "a number")
    }

    private func checked<Value>(_ value: Value?, _ text: String, _ expected: String) throws -> Value
    {
        if let value { return value }
        throw element.badValue("defaultValueString", text, expected: expected)
    }
}
