internal import Foundation
internal import ObjectModel

/// The names by which files call the types of values, and the texts of values.
///
/// Seen in Apple's files: string, int16, int32, int64, bool, float, binary. The rest is chosen to
/// match: decimal, double, date, transformable, uuid, uri.
enum StoredType: String {
    case string, int16, int32, int64, bool, float, double, decimal, date, binary, transformable
    case uuid, uri

    init(of attribute: NSAttributeDescription) {
        self =
            switch attribute.attributeType {
            case .integer16AttributeType: .int16
            case .integer32AttributeType: .int32
            case .integer64AttributeType: .int64
            case .decimalAttributeType: .decimal
            case .doubleAttributeType: .double
            case .floatAttributeType: .float
            case .booleanAttributeType: .bool
            case .dateAttributeType: .date
            case .binaryDataAttributeType: .binary
            case .transformableAttributeType: .transformable
            case .UUIDAttributeType: .uuid
            case .URIAttributeType, .objectIDAttributeType: .uri
            case .stringAttributeType, .undefinedAttributeType, .compositeAttributeType: .string
            }
    }

    /// The value a text stands for; nil where it is none of this type.
    func value(_ text: String) -> AttributeValue? {
        let word = text.trimmingCharacters(in: .whitespacesAndNewlines)
        switch self {
        case .string: return .text(text)
        case .uri: return .uri(text)
        case .int16, .int32, .int64: return Int64(word).map { .integer($0) }
        case .bool: return Self.flag(word).map { .integer($0 ? 1 : 0) }
        case .float: return Float(word).map { .double(Double($0)) }
        case .double: return Double(word).map { .double($0) }
        case .date: return Double(word).map { .date($0) }
        case .decimal: return Self.decimal(word).map { .decimal($0) }
        case .uuid: return UUID(uuidString: word).map { .uuid($0) }
        case .binary, .transformable:
            return Data(base64Encoded: text, options: .ignoreUnknownCharacters).map { .data($0) }
        }
    }

    private static func flag(_ word: String) -> Bool? {
        switch word.lowercased() {
        case "1", "yes", "true": true
        case "0", "no", "false": false
        default: nil
        }
    }

    private static func decimal(_ word: String) -> Decimal? {
        if word == "NaN" { return .nan }
        // Foundation reads as far as it can; the whole word has to be a number.
        guard word.allSatisfy({ $0.isNumber || "+-.eE".contains($0) }) else { return nil }
        return Decimal(string: word)
    }

    /// The text that `value` reads back from.
    static func text(of value: AttributeValue, as type: String) -> String {
        switch value {
        case .null: ""
        case .integer(let integer): String(integer)
        case .double(let double):
            type == StoredType.float.rawValue ? "\(Float(double))" : "\(double)"
        case .date(let seconds): "\(seconds)"
        case .decimal(let decimal): decimal.isNaN ? "NaN" : decimal.description
        case .text(let text), .uri(let text): text
        case .uuid(let uuid): uuid.uuidString
        case .data(let data): data.base64EncodedString()
        }
    }

    /// `value` as an attribute of the model holds it; nil where it cannot. Files of other writers
    /// may give a number where the model has a text.
    static func fit(
        _ value: AttributeValue, to attribute: NSAttributeDescription
    ) -> AttributeValue? {
        let wanted = StoredType(of: attribute)
        switch (wanted, value) {
        case (_, .null), (.string, .text), (.uri, .uri), (.uuid, .uuid), (.decimal, .decimal),
            (.double, .double), (.date, .date), (.binary, .data), (.transformable, .data),
            (.int16, .integer), (.int32, .integer), (.int64, .integer):
            return value
        case (.bool, .integer(let integer)): return .integer(integer == 0 ? 0 : 1)
        case (.float, .double(let double)): return .double(Double(Float(double)))
        case (_, .data): return nil
        default: return wanted.value(text(of: value, as: ""))
        }
    }
}
