internal import Foundation
internal import ObjectModel
internal import Stores

/// Values between what a story writes, what an object takes and what a row holds.
enum StoryValue {
    /// The value that a story means by `literal`.
    static func value(
        _ literal: StoryLiteral, for attribute: NSAttributeDescription
    ) throws -> AttributeValue {
        try value(literal, of: attribute.attributeType, named: attribute.name)
    }

    /// The value that a story means by `literal` for an attribute of a type.
    static func value(
        _ literal: StoryLiteral, of type: NSAttributeType, named name: String
    ) throws -> AttributeValue {
        let text: String
        switch literal {
        case .nothing: return .null
        case .text(let given), .word(let given): text = given
        }
        guard let value = value(text, type) else {
            throw StoryError("'\(text)' is no value for \(name).", form(of: type))
        }
        return value
    }

    private static func value(_ text: String, _ type: NSAttributeType) -> AttributeValue? {
        switch type {
        case .integer16AttributeType: Int16(text).map { .integer(Int64($0)) }
        case .integer32AttributeType: Int32(text).map { .integer(Int64($0)) }
        case .integer64AttributeType: Int64(text).map { .integer($0) }
        case .booleanAttributeType:
            ["true", "yes", "1"].contains(text)
                ? .integer(1) : ["false", "no", "0"].contains(text) ? .integer(0) : nil
        case .doubleAttributeType: Double(text).map { .double($0) }
        case .floatAttributeType: Float(text).map { .double(Double($0)) }
        case .decimalAttributeType:
            Double(text) == nil ? nil : Decimal(string: text).map { .decimal($0) }
        case .stringAttributeType: .text(text)
        case .dateAttributeType: date(text).map { .date($0) }
        case .UUIDAttributeType: UUID(uuidString: text).map { .uuid($0) }
        case .URIAttributeType: URL(string: text).map { .uri($0.absoluteString) }
        case .binaryDataAttributeType: data(text).map { .data($0) }
        default: nil
        }
    }

    private static func data(_ text: String) -> Data? {
        text.hasPrefix("base64:") ? Data(base64Encoded: String(text.dropFirst(7))) : Data(text.utf8)
    }

    private static func date(_ text: String) -> Double? {
        if text.hasPrefix("@") { return Double(text.dropFirst()) }
        let formatter = ISO8601DateFormatter()
        if !text.contains("T") { formatter.formatOptions = [.withFullDate] }
        return formatter.date(from: text)?.timeIntervalSinceReferenceDate
    }

    private static func form(of type: NSAttributeType) -> String {
        switch type {
        case .dateAttributeType: "Write 2026-03-14 or 2026-03-14T09:26:53Z."
        case .booleanAttributeType: "Write true or false."
        case .binaryDataAttributeType: "Write a text in quotes, or base64:…."
        case .UUIDAttributeType: "A UUID has 36 characters."
        case .URIAttributeType: "Write an address without spaces, such as https://example.org."
        case .transformableAttributeType, .compositeAttributeType, .objectIDAttributeType,
            .undefinedAttributeType:
            "A story cannot write values of its type."
        default: "Write a number that its type can hold."
        }
    }

    /// The value as an object's property takes it.
    static func object(_ value: AttributeValue, _ type: NSAttributeType) -> Any? {
        switch value {
        case .null: nil
        case .integer(let number):
            switch type {
            case .booleanAttributeType: number != 0
            case .integer16AttributeType: Int16(truncatingIfNeeded: number)
            case .integer32AttributeType: Int32(truncatingIfNeeded: number)
            default: number
            }
        case .double(let number): type == .floatAttributeType ? Float(number) as Any : number
        case .decimal(let number): number
        case .text(let text): text
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .uuid(let uuid): uuid
        case .uri(let text): URL(string: text)
        case .data(let data): data
        }
    }

    /// The value as a story writes it, for the type; reading it gives the same value.
    static func text(_ value: AttributeValue, _ type: NSAttributeType) -> String {
        switch value {
        case .null: "nothing"
        case .integer(let number):
            type == .booleanAttributeType ? (number == 0 ? "false" : "true") : "\(number)"
        case .double(let number): StoryWriting.number(number)
        case .decimal(let number): "\(number)"
        case .text(let text): StoryWriting.quoted(text)
        case .date(let seconds): date(seconds)
        case .uuid(let uuid): uuid.uuidString
        case .uri(let text): StoryWriting.quoted(text)
        case .data(let data): self.text(of: data)
        }
    }

    /// As ISO 8601 where it is of whole seconds.
    private static func date(_ seconds: Double) -> String {
        guard seconds == seconds.rounded(), abs(seconds) < 1e11 else { return "@\(seconds)" }
        return ISO8601DateFormatter().string(
            from: Date(timeIntervalSinceReferenceDate: seconds))
    }

    private static func text(of data: Data) -> String {
        if let text = String(data: data, encoding: .utf8), !text.hasPrefix("base64:"),
            text.allSatisfy({ $0.isLetter || $0.isNumber || $0 == " " })
        {
            return StoryWriting.quoted(text)
        }
        return "base64:\(data.base64EncodedString())"
    }

    static func literal(_ value: AttributeValue, _ type: NSAttributeType) -> StoryLiteral {
        switch value {
        case .null: .nothing
        case .text(let text), .uri(let text): .text(text)
        case .data(let data): .word("base64:\(data.base64EncodedString())")
        default: .word(self.text(value, type))
        }
    }

    /// A whole number as attributes of a type hold it; nil for types without numbers.
    static func number(_ number: Int64, _ type: NSAttributeType) -> AttributeValue? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
            .booleanAttributeType:
            .integer(number)
        case .doubleAttributeType, .floatAttributeType: .double(Double(number))
        case .decimalAttributeType: .decimal(Decimal(number))
        default: nil
        }
    }

    /// The sum of a number that an object has and one that a story adds; nil where there is none.
    static func sum(
        _ value: AttributeValue, _ added: AttributeValue
    ) -> AttributeValue? {
        switch (value, added) {
        case (.null, _): return added
        case (.integer(let one), .integer(let other)):
            let (sum, overflow) = one.addingReportingOverflow(other)
            return overflow ? nil : .integer(sum)
        case (.double(let one), .double(let other)): return .double(one + other)
        case (.decimal(let one), .decimal(let other)): return .decimal(one + other)
        default: return nil
        }
    }
}
