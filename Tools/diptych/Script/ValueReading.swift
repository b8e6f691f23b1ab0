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
        case .doubleAttributeType:
            (real(Double(text), text), ("a number", "Write it as 3.25 or 1e-3."))
        case .floatAttributeType:
            (real(Float(text), text), ("a number", "Write it as 3.25 or 1e-3."))
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

    /// A store has no NaN, and what is too large for it is no infinity.
    private static func real<Number: BinaryFloatingPoint>(
        _ number: Number?, _ text: String
    ) -> Number? {
        guard let number, !number.isNaN else { return nil }
        return number.isFinite || PlainNumber.isInfinity(text) ? number : nil
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

    /// ISO 8601, with any number of digits after the second, or a day alone. The calendar is that
    /// of `export`: Gregorian at all times, also before there was one.
    static func date(_ text: String) -> Date? {
        guard text.contains("T") else { return moment(text + "T00:00:00Z") }
        guard !text.hasSuffix("Z") else { return moment(text) }
        guard let sign = text.lastIndex(where: { "+-".contains($0) }),
            let east = seconds(east: text[sign...])
        else { return nil }
        return moment(text[..<sign] + "Z")?.addingTimeInterval(-east)
    }

    private static func moment(_ text: String) -> Date? {
        ExactDate.seconds(text).map { Date(timeIntervalSinceReferenceDate: $0) }
    }

    /// How far a time that ends with `+02:00`, `+0200` or `+02` is before that of Greenwich.
    private static func seconds(east zone: Substring) -> Double? {
        let digits = zone.dropFirst().replacing(":", with: "", maxReplacements: 1)
        guard [2, 4].contains(digits.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let hours = Double(digits.prefix(2)), let minutes = Double("0" + digits.dropFirst(2)),
            hours < 24, minutes < 60
        else { return nil }
        return (hours * 3600 + minutes * 60) * (zone.hasPrefix("-") ? -1 : 1)
    }

    private static func shortened(_ text: String) -> String {
        text.count > 40 ? text.prefix(39) + "…" : text
    }
}
