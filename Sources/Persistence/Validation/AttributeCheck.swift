internal import Foundation
internal import ObjectModel
internal import Predicates
internal import Stores

/// What an attribute's value must satisfy, prepared once for each entity. Nil for attributes
/// without any rule.
struct AttributeCheck {
    let slot: Int
    let name: String
    let isRequired: Bool
    let attribute: NSAttributeDescription
    /// The predicates a value must satisfy besides its bounds.
    let rules: [ValidationRule]
    private let minimum: ValueBound?
    private let maximum: ValueBound?
    private let pattern: NSRegularExpression?
    private let integerBounds: ClosedRange<Int64>?

    init?(slot: Int, name: String, attribute: NSAttributeDescription) {
        self.slot = slot
        self.name = name
        self.attribute = attribute
        isRequired = !attribute.isOptional && !(attribute is NSDerivedAttributeDescription)
        minimum = attribute.validation.minimum.flatMap(ValueBound.init)
        maximum = attribute.validation.maximum.flatMap(ValueBound.init)
        // The whole text must match, whichever branch of the pattern that takes.
        pattern = attribute.validation.regularExpression.flatMap {
            try? NSRegularExpression(pattern: "\\A(?:\($0))\\z")
        }
        integerBounds = Self.integerBounds(of: attribute.attributeType)
        rules = attribute.validationRules
        let isFree = !isRequired && minimum == nil && maximum == nil && pattern == nil
        if isFree && integerBounds == nil && rules.isEmpty { return nil }
    }

    static func integerBounds(of type: NSAttributeType) -> ClosedRange<Int64>? {
        switch type {
        case .integer16AttributeType: Int64(Int16.min)...Int64(Int16.max)
        case .integer32AttributeType: Int64(Int32.min)...Int64(Int32.max)
        default: nil
        }
    }

    /// What is wrong with a whole number that its attribute's type has no room for; nil where it
    /// has. Where nothing else is validated this still is: such a row could not be read again.
    static func complaint(
        aboutWidthOf value: AttributeValue, for attribute: NSAttributeDescription
    ) -> (code: Int, text: String)? {
        guard case .integer(let integer) = value,
            let bounds = integerBounds(of: attribute.attributeType), !bounds.contains(integer)
        else { return nil }
        return complaint(aboutWide: integer)
    }

    private static func complaint(aboutWide integer: Int64) -> (code: Int, text: String) {
        integer > 0
            ? (NSValidationNumberTooLargeError, "is too large for its type")
            : (NSValidationNumberTooSmallError, "is too small for its type")
    }

    /// The error code and what is wrong; nil when the value may stay.
    func complaint(about value: AttributeValue) -> (code: Int, text: String)? {
        switch value {
        case .null:
            guard isRequired else { return nil }
            return (NSValidationMissingMandatoryPropertyError, "needs a value")
        case .integer(let integer):
            if let integerBounds, !integerBounds.contains(integer) {
                return Self.complaint(aboutWide: integer)
            }
            return complaint(about: { $0.order(of: integer) })
        case .double(let double): return complaint(about: { $0.order(of: double) })
        case .decimal(let decimal): return complaint(about: { $0.order(of: decimal) })
        case .date(let seconds): return complaint(aboutDate: seconds)
        case .text(let text): return complaint(aboutText: text)
        case .uuid, .uri, .data: return nil
        }
    }

    /// `order` tells how a number stands to a bound; nil where it does not, as no number at all.
    private func complaint(
        about order: (ValueBound) -> ComparisonResult?
    ) -> (code: Int, text: String)? {
        if let maximum, order(maximum) == .orderedDescending {
            return (NSValidationNumberTooLargeError, "is larger than \(maximum.text)")
        }
        if let minimum, order(minimum) == .orderedAscending {
            return (NSValidationNumberTooSmallError, "is smaller than \(minimum.text)")
        }
        return nil
    }

    private func complaint(aboutDate seconds: Double) -> (code: Int, text: String)? {
        if let maximum, maximum.order(of: seconds) == .orderedDescending {
            return (NSValidationDateTooLateError, "is later than allowed")
        }
        if let minimum, minimum.order(of: seconds) == .orderedAscending {
            return (NSValidationDateTooSoonError, "is earlier than allowed")
        }
        return nil
    }

    private func complaint(aboutText text: String) -> (code: Int, text: String)? {
        // Lengths are counted as NSString does.
        let count = Int64(text.utf16.count)
        if let maximum, maximum.order(of: count) == .orderedDescending {
            return (NSValidationStringTooLongError, "has more than \(maximum.text) characters")
        }
        if let minimum, minimum.order(of: count) == .orderedAscending {
            return (NSValidationStringTooShortError, "has fewer than \(minimum.text) characters")
        }
        guard let pattern else { return nil }
        let all = NSRange(text.startIndex..., in: text)
        guard pattern.firstMatch(in: text, range: all) != nil else {
            return (NSValidationStringPatternMatchingError, "does not match the pattern")
        }
        return nil
    }
}
