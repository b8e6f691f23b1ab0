package import Foundation
internal import ObjectModel
internal import Stores

/// Turns the values programs set into stored values, and back.
///
/// Numbers are read as `NSNumber`, so that `as? Int` works whatever the attribute's width.
enum AttributeCoding {
    /// The stored form of `value`, or nil where the attribute cannot hold such a value.
    static func accept(_ value: Any?, for attribute: NSAttributeDescription) -> AttributeValue? {
        guard let value else { return .null }
        // Asked last: of values of Swift's own it takes longer than all else.
        return stored(value, for: attribute) ?? (value is NSNull ? .null : nil)
    }

    private static func stored(
        _ value: Any, for attribute: NSAttributeDescription
    ) -> AttributeValue? {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return integer(value).map { .integer($0) }
        case .booleanAttributeType:
            return integer(value).map { .integer($0 == 0 ? 0 : 1) }
        case .doubleAttributeType: return number(value).map { .double(ExactNumber.real($0)) }
        case .floatAttributeType: return number(value).map { .double(Double($0.floatValue)) }
        case .decimalAttributeType:
            if let decimal = value as? Decimal { return .decimal(decimal) }
            return number(value).flatMap { ExactNumber.decimal($0) }.map { .decimal($0) }
        case .stringAttributeType:
            if let text = value as? String { return .text(text) }
            return (value as? Substring).map { .text(String($0)) }
        case .dateAttributeType:
            return (value as? Date).map { .date($0.timeIntervalSinceReferenceDate) }
        case .binaryDataAttributeType: return (value as? Data).map { .data($0) }
        case .UUIDAttributeType: return (value as? UUID).map { .uuid($0) }
        case .URIAttributeType: return (value as? URL).map { .uri($0.absoluteString) }
        case .transformableAttributeType:
            if let stored = value as? StoredBytes { return .data(stored.data) }
            if value is NSNull { return .null }
            return TransformableCoding.encode(value, for: attribute).map { .data($0) }
        case .objectIDAttributeType:
            return (value as? NSManagedObjectID).map { .uri($0.uriRepresentation().absoluteString) }
        case .undefinedAttributeType, .compositeAttributeType: return nil
        }
    }

    /// A cast from `NSNumber` to an integer, or back, goes by way of bridging, which takes long.
    private static func integer(_ value: Any) -> Int64? {
        let type = Swift.type(of: value)
        if type == Int.self { return (value as? Int).map { Int64($0) } }
        if type == Int64.self { return value as? Int64 }
        return number(value).flatMap { ExactNumber.integer($0) }
    }

    /// Foundation casts all numbers but `CGFloat`.
    private static func number(_ value: Any) -> NSNumber? {
        (value as? NSNumber) ?? (value as? CGFloat).map { NSNumber(value: Double($0)) }
    }

    /// The value a program reads for a stored one.
    static func present(_ value: AttributeValue, for attribute: NSAttributeDescription) -> Any? {
        switch value {
        case .null: return nil
        case .integer(let integer):
            if attribute.attributeType == .booleanAttributeType {
                return NSNumber(value: integer != 0)
            }
            return NSNumber(value: integer)
        case .double(let double): return NSNumber(value: double)
        case .decimal(let decimal): return NSDecimalNumber(decimal: decimal)
        case .text(let text): return text
        case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
        case .uuid(let uuid): return uuid
        case .uri(let text): return URL(string: text)
        case .data(let data):
            guard attribute.attributeType == .transformableAttributeType else { return data }
            return TransformableCoding.decode(data, for: attribute)
        }
    }
}

/// What a transformable attribute keeps, for programs that do not know its class: set as its value
/// it is stored as it is.
package struct StoredBytes {
    let data: Data

    package init(_ data: Data) { self.data = data }
}

/// Turns the values of transformable attributes into bytes with the attribute's transformer.
enum TransformableCoding {
    /// Transformers that stand for plain keyed archiving.
    private static let archiving: Set<String> = [
        "", "NSKeyedUnarchiveFromData", "NSKeyedUnarchiveFromDataTransformerName",
        "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer",
        "NSSecureUnarchiveFromDataTransformerName",
    ]

    static func encode(_ value: Any, for attribute: NSAttributeDescription) -> Data? {
        let name = attribute.valueTransformerName ?? ""
        if archiving.contains(name) {
            guard !holdsDecimal(value) else { return nil }
            return try? NSKeyedArchiver.archivedData(
                withRootObject: value, requiringSecureCoding: false)
        }
        let transformer = ValueTransformer.named(NSValueTransformerName(name))
        // One that unarchives is used in reverse.
        if transformer is NSSecureUnarchiveFromDataTransformer {
            return transformer?.reverseTransformedValue(value) as? Data
        }
        return transformer?.transformedValue(value) as? Data
    }

    /// Whether a decimal is in a value, or in the collections that it is made of. Foundation's
    /// archiver hashes each object, and the hash of `NSDecimalNumber` has no end here: the program
    /// would be lost with all that it has not saved.
    static func holdsDecimal(_ value: Any, depth: Int = 0) -> Bool {
        if type(of: value) == Decimal.self || value is NSDecimalNumber { return true }
        // An archive that is nested deeper is not read again (`ArchiveReach`).
        guard depth < 200 else { return false }
        if let list = value as? [Any] {
            return list.contains { holdsDecimal($0, depth: depth + 1) }
        }
        if let table = value as? [AnyHashable: Any] {
            return table.contains {
                holdsDecimal($0.key.base, depth: depth + 1)
                    || holdsDecimal($0.value, depth: depth + 1)
            }
        }
        guard let set = value as? Set<AnyHashable> else { return false }
        return set.contains { holdsDecimal($0.base, depth: depth + 1) }
    }

    static func decode(_ data: Data, for attribute: NSAttributeDescription) -> Any? {
        let name = attribute.valueTransformerName ?? ""
        if archiving.contains(name) {
            guard ArchiveReach.isBounded(data),
                let archive = try? NSKeyedUnarchiver(forReadingFrom: data)
            else { return nil }
            archive.requiresSecureCoding = false
            return archive.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
        }
        let transformer = ValueTransformer.named(NSValueTransformerName(name))
        if transformer is NSSecureUnarchiveFromDataTransformer {
            return transformer?.transformedValue(data)
        }
        return transformer?.reverseTransformedValue(data)
    }
}
