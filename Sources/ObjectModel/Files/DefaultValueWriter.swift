internal import Foundation

/// Spells an attribute's default value as model files do.
enum DefaultValueWriter {
    /// The attribute's key and text; nil where there is no default. Throws where no text can hold
    /// it.
    static func fact(of attribute: NSAttributeDescription) throws -> (key: String, text: String)? {
        guard let value = attribute.defaultValue else { return nil }
        if let date = value as? Date, attribute.attributeType == .dateAttributeType {
            return ("defaultDateTimeInterval", text(date.timeIntervalSinceReferenceDate))
        }
        guard let text = text(of: value, as: attribute.attributeType) else {
            throw ModelFileError(
                .badValue,
                "The default value of attribute"
                    + " “\(attribute.entity.name ?? "").\(attribute.name)” is"
                    + " no \(attribute.attributeType.fileName ?? "such value"); a model file cannot"
                    + " hold it.",
                fields: ["property": attribute.name, "entity": attribute.entity.name ?? ""])
        }
        return ("defaultValueString", text)
    }

    private static func text(of value: Any, as type: NSAttributeType) -> String? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            (value as? any BinaryInteger).map { "\($0)" } ?? (value as? NSNumber)?.stringValue
        case .doubleAttributeType: (value as? NSNumber).map { "\($0.doubleValue)" }
        case .floatAttributeType: (value as? NSNumber).map { "\($0.floatValue)" }
        case .decimalAttributeType:
            (value as? Decimal).map { "\($0)" } ?? (value as? NSNumber)?.stringValue
        case .booleanAttributeType: (value as? NSNumber).map { $0.boolValue ? "YES" : "NO" }
        case .stringAttributeType: value as? String
        case .UUIDAttributeType: (value as? UUID)?.uuidString
        case .URIAttributeType: (value as? URL)?.absoluteString
        case .undefinedAttributeType, .dateAttributeType, .binaryDataAttributeType,
            .transformableAttributeType, .objectIDAttributeType, .compositeAttributeType:
            nil
        }
    }

    /// Seconds, without a fraction where there is none.
    private static func text(_ seconds: Double) -> String {
        Int64(exactly: seconds).map(String.init) ?? "\(seconds)"
    }
}
