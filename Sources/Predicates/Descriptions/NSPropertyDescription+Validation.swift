public import Foundation
public import ObjectModel

// What a property's values must satisfy. Source: Apple, NSPropertyDescription.
extension NSPropertyDescription {
    /// The predicates a value must satisfy; `SELF` is the value. Those of a model file's bounds are
    /// among them.
    public var validationPredicates: [NSPredicate] {
        if let givenValidation { return givenValidation.predicates }
        return boundRules.map(\.predicate) + validationRules.map(\.predicate)
    }

    /// What is said of a value that breaks the predicate at the same place: a sentence, or the
    /// number of an error.
    public var validationWarnings: [Any] {
        if let givenValidation { return givenValidation.warnings }
        return (boundRules + validationRules).map(\.warning)
    }

    /// Replaces the predicates a value must satisfy, bounds of the model file included, each with
    /// the sentence for a value that breaks it.
    public func setValidationPredicates(
        _ predicates: [NSPredicate]?, withValidationWarnings warnings: [String]?
    ) {
        givenValidation = GivenValidation(
            predicates: predicates ?? [], warnings: warnings ?? [])
        (self as? NSAttributeDescription)?.validation = AttributeValidation()
    }

    /// The predicates besides bounds. A rule of a model file that cannot be read is left out.
    package var validationRules: [ValidationRule] {
        if let given = givenValidation {
            return given.predicates.enumerated().map { place, predicate in
                ValidationRule(predicate: predicate, warning: given.warning(at: place))
            }
        }
        let rules = (self as? NSAttributeDescription)?.validation.rules ?? []
        return rules.compactMap { rule in
            let predicate = try? NSPredicate.parse(rule.predicate)
            return predicate.map { ValidationRule(predicate: $0, warning: rule.warning) }
        }
    }

    /// A model file's bounds as predicates, in the order in which compiled models have them.
    private var boundRules: [ValidationRule] {
        guard let attribute = self as? NSAttributeDescription else { return [] }
        let validation = attribute.validation
        let codes = ValidationCode.codes(of: attribute.attributeType)
        let isText = attribute.attributeType == .stringAttributeType
        let isDate = attribute.attributeType == .dateAttributeType
        let subject = isText ? "length" : "SELF"
        func rule(_ sign: String, _ bound: String?, _ code: Int) -> ValidationRule? {
            guard let bound else { return nil }
            let value = isDate ? "CAST(\(bound), \"NSDate\")" : bound
            let predicate = try? NSPredicate.parse("\(subject) \(sign) \(value)")
            return predicate.map { ValidationRule(predicate: $0, warning: "\(code)") }
        }
        let pattern = validation.regularExpression.flatMap { pattern in
            try? NSPredicate.parse("SELF MATCHES %@", arguments: [pattern])
        }
        let bounds = [
            rule(">=", validation.minimum, codes.tooSmall),
            rule("<=", validation.maximum, codes.tooLarge),
            pattern.map { ValidationRule(predicate: $0, warning: "\(ValidationCode.pattern)") },
        ]
        return bounds.compactMap { $0 }
    }
}

/// A predicate that values must satisfy, and what is said where one does not.
package struct ValidationRule {
    package let predicate: NSPredicate
    /// The number of the error, where the model gives one.
    package let code: Int?
    /// The sentence, where the model gives one.
    package let sentence: String?

    /// The sentence or the number; an empty sentence where the model gives neither.
    var warning: Any {
        if let code { return code }
        return sentence ?? ""
    }

    init(predicate: NSPredicate, warning: String?) {
        self.predicate = predicate
        code = warning.flatMap { Int($0) }
        sentence = code == nil ? warning : nil
    }
}
