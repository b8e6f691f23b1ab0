internal import Foundation
internal import ObjectModel
internal import Platform
internal import Stores

/// Draws values from small sets, so that devices often meet at the same one.
struct ValueGenerator {
    let randomness: SeededRandomness
    /// How many unique keys there are.
    var keysCount = 12

    /// A value for an attribute. Those of unique keys are drawn from fewer, so that they often
    /// clash.
    func value(for attribute: NSAttributeDescription) -> AttributeValue {
        if attribute.isPartOfKey, attribute.attributeType == .stringAttributeType {
            return .text("key \(randomness.below(keysCount))")
        }
        if attribute.isOptional && randomness.chance(percent: 10) { return .null }
        switch attribute.attributeType {
        case .booleanAttributeType: return .integer(Int64(randomness.below(2)))
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return .integer(Int64(randomness.below(7)) - 1)
        case .doubleAttributeType, .floatAttributeType:
            return .double(Double(randomness.below(9)) / 4)
        case .decimalAttributeType: return .decimal(Decimal(randomness.below(1_000)) / 8)
        case .stringAttributeType: return .text(word())
        case .dateAttributeType: return .date(700_000_000 + Double(randomness.below(900)) / 7)
        case .UUIDAttributeType: return .uuid(randomness.uuid())
        case .URIAttributeType: return .uri("https://example.org/\(randomness.below(9))")
        case .binaryDataAttributeType, .transformableAttributeType:
            return .data(
                Data((0..<randomness.below(12)).map { UInt8(truncatingIfNeeded: $0 &* 37) }))
        case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: return .null
        }
    }

    private func word() -> String {
        // Two of them look alike and are of different bytes.
        let words = [
            "amber", "birch", "cedar", "d\u{E4}wn", "da\u{308}wn", "elm 🌿", "fern\nmoss", "",
            "o'hare",
        ]
        return "\(randomness.pick(words) ?? "")\(randomness.below(20))"
    }
}

extension NSAttributeDescription {
    /// Whether a uniqueness constraint of its entity names it.
    fileprivate var isPartOfKey: Bool {
        entity.uniquenessConstraintNames.contains { $0.contains(name) }
    }
}
