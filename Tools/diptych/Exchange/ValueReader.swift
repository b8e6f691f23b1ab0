internal import Foundation
internal import ObjectModel
internal import Stores

/// Reads the values that `ObjectLine` writes, exactly or not at all.
enum ValueReader {
    /// The value that stands next. Throws `LineFault` for one that is none of the attribute's type.
    static func value(
        _ scanner: inout JSONScanner, for slot: EntityLayout.AttributeSlot
    ) throws -> AttributeValue {
        let type = slot.attribute.attributeType
        let value: AttributeValue?
        switch try scanner.kind() {
        case .null:
            try scanner.null()
            return .null
        case .string: value = try read(scanner.text().string(), as: type)
        case .number:
            value = number(String(decoding: try scanner.number(), as: UTF8.self), as: type)
        case .boolean:
            let isTrue = try scanner.boolean()
            value = type == .booleanAttributeType ? .integer(isTrue ? 1 : 0) : nil
        case .object, .array: value = nil
        }
        guard let value else {
            throw LineFault(
                "What stands there is no value for \(slot.name), which is of the type "
                    + "\(type.fileName ?? "unknown").", hint(type))
        }
        return value
    }

    private static func hint(_ type: NSAttributeType) -> String {
        switch type {
        case .integer16AttributeType: "It is a whole number from -32768 to 32767."
        case .integer32AttributeType: "It is a whole number from -2147483648 to 2147483647."
        case .decimalAttributeType: "It has at most 38 digits and an exponent up to 127."
        default: "Dates are ISO 8601 in UTC, data base64, decimals and 64-bit integers texts."
        }
    }

    private static func number(_ text: String, as type: NSAttributeType) -> AttributeValue? {
        switch type {
        case .booleanAttributeType, .integer16AttributeType, .integer32AttributeType,
            .integer64AttributeType:
            if let whole = Int64(text) { return fitting(whole, type) }
            return Double(text).flatMap { Int64(exactly: $0) }.flatMap { fitting($0, type) }
        case .doubleAttributeType, .floatAttributeType:
            return real(text, type, mayBeInfinite: false)
        case .decimalAttributeType: return decimal(text)
        default: return nil
        }
    }

    private static func read(_ text: String, as type: NSAttributeType) -> AttributeValue? {
        switch type {
        case .booleanAttributeType, .integer16AttributeType, .integer32AttributeType,
            .integer64AttributeType:
            return Int64(text).flatMap { fitting($0, type) }
        case .doubleAttributeType, .floatAttributeType: return real(text, type, mayBeInfinite: true)
        case .decimalAttributeType: return decimal(text)
        case .stringAttributeType: return .text(text)
        case .URIAttributeType, .objectIDAttributeType: return .uri(text)
        case .dateAttributeType: return ExactDate.seconds(text).map { .date($0) }
        case .UUIDAttributeType: return UUID(uuidString: text).map { .uuid($0) }
        case .binaryDataAttributeType, .transformableAttributeType:
            return Data(base64Encoded: text).map { .data($0) }
        default: return nil
        }
    }

    private static func fitting(_ whole: Int64, _ type: NSAttributeType) -> AttributeValue? {
        let fits =
            switch type {
            case .integer16AttributeType: Int16(exactly: whole) != nil
            case .integer32AttributeType: Int32(exactly: whole) != nil
            default: true
            }
        return fits ? .integer(whole) : nil
    }

    private static func real(
        _ text: String, _ type: NSAttributeType, mayBeInfinite: Bool
    ) -> AttributeValue? {
        guard let number = isNamed(text) ? Double(text) : PlainNumber.double(text) else {
            return nil
        }
        let isKept = type != .floatAttributeType || Float(number).isFinite
        return (number.isFinite && isKept) || (mayBeInfinite && isNamed(text))
            ? .double(number) : nil
    }

    /// Whether a number that is no finite one is meant so.
    private static func isNamed(_ text: String) -> Bool {
        ["inf", "-inf", "nan", "-nan", "infinity", "-infinity"].contains(text.lowercased())
    }

    /// Foundation reads as far as it understands, and rounds; so the digits are looked at first.
    private static func decimal(_ text: String) -> AttributeValue? {
        if text == "NaN" { return .decimal(.nan) }
        guard Double(text) != nil, !isNamed(text), !text.contains(where: { "xXpP".contains($0) })
        else { return nil }
        let digits = text.prefix { $0 != "e" && $0 != "E" }.filter(\.isNumber)
            .drop { $0 == "0" }.reversed().drop { $0 == "0" }
        guard digits.count <= 38, let number = Decimal(string: text), !number.isNaN else {
            return nil
        }
        return .decimal(number)
    }
}
