internal import Foundation
internal import ObjectModel
internal import Persistence

/// Reads a script's text as a value of an attribute.
enum ValueReading {
    /// Throws `ScriptError` for text that is no such value.
    static func value(_ text: String, for attribute: NSAttributeDescription) throws -> Any {
        let (value, form) = read(text, as: attribute.attributeType)
        guard let value else {
            throw ScriptError(
                "'\(shortened(text))' is no value for \(attribute.name), which is \(form.what).",
                form.hint)
        }
        return value
    }

    private typealias Form = (what: String, hint: String)

    private static func read(_ text: String, as type: NSAttributeType) -> (Any?, Form) {
        switch type {
        case .integer16AttributeType:
            (Int16(text), ("a whole number", "It has 16 bits: -32768 to 32767."))
        case .integer32AttributeType:
            (Int32(text), ("a whole number", "It has 32 bits: -2147483648 to 2147483647."))
        case .integer64AttributeType: (Int64(text), ("a whole number", "It has 64 bits."))
        case .doubleAttributeType: (Double(text), ("a number", "Write it as 3.25 or 1e-3."))
        case .floatAttributeType: (Float(text), ("a number", "Write it as 3.25 or 1e-3."))
        case .decimalAttributeType: (decimal(text), ("a decimal number", "Write it as 3.25."))
        case .booleanAttributeType:
            (boolean(text), ("true or false", "Write true, false, yes, no, 1 or 0."))
        case .stringAttributeType: (text, ("a text", ""))
        case .dateAttributeType:
            (date(text), ("a date", "Write it as 2026-03-14T09:26:53Z or 2026-03-14."))
        case .binaryDataAttributeType: (data(text), ("data", "Write it as base64:…."))
        case .transformableAttributeType:
            (
                data(text).map { StoredBytes($0) },
                (
                    "transformable",
                    "Write its stored bytes as base64:…, as 'diptych export' has them."
                )
            )
        case .UUIDAttributeType: (UUID(uuidString: text), ("a UUID", "It has 36 characters."))
        case .URIAttributeType: (URL(string: text), ("an address", "Write it as https://…."))
        default:
            (nil, ("of a type that a script cannot write", "Set it in a program."))
        }
    }

    private static func decimal(_ text: String) -> Decimal? {
        let isNumber = text.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.eE".utf8.contains(byte)
        }
        return isNumber && Double(text) != nil ? Decimal(string: text) : nil
    }

    private static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: nil
        }
    }

    private static func data(_ text: String) -> Data? {
        guard text.hasPrefix("base64:") else { return nil }
        return Data(base64Encoded: String(text.dropFirst(7)))
    }

    /// ISO 8601, with any number of digits after the second, or a day alone.
    static func date(_ text: String) -> Date? {
        let formatter = ISO8601DateFormatter()
        guard text.contains("T") else {
            formatter.formatOptions = [.withFullDate]
            return formatter.date(from: text)
        }
        var plain = text
        var fraction = 0.0
        if let dot = text.firstIndex(of: ".") {
            let digits = text[text.index(after: dot)...].prefix { $0.isNumber }
            guard !digits.isEmpty, let value = Double("0." + digits) else { return nil }
            fraction = value
            plain.removeSubrange(dot..<digits.endIndex)
        }
        return formatter.date(from: plain).map { $0.addingTimeInterval(fraction) }
    }

    private static func shortened(_ text: String) -> String {
        text.count > 40 ? text.prefix(39) + "…" : text
    }
}
