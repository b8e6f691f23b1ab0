internal import Foundation

/// Reads an attribute's archived validation predicates back into bounds, as far as they are bounds.
struct ArchivedValidation {
    private(set) var validation = AttributeValidation()

    /// Reads the predicates of an archived attribute. Those that are no bounds are kept as texts.
    init(_ attribute: ArchivedObject) {
        let warnings = attribute.list("NSValidationWarnings")
        for (place, predicate) in attribute.list("NSValidationPredicates").enumerated() {
            guard let object = predicate?.object else { continue }
            let warning = warnings.indices.contains(place) ? warnings[place] : nil
            if Self.isOfBound(warning), readBounds(object) { continue }
            guard let text = ArchivedPredicateText().text(ofPredicate: object) else { continue }
            let sentence = warning?.string ?? warning?.integer.map { String($0) }
            validation.rules.append(AttributeValidation.Rule(predicate: text, warning: sentence))
        }
        validation.rules += Self.ownRules(attribute)
    }

    /// Rules that were archived as texts, each followed by its warning.
    private static func ownRules(_ attribute: ArchivedObject) -> [AttributeValidation.Rule] {
        let texts = attribute.list(OwnKey.validationRules).map { $0?.string }
        return stride(from: 0, to: texts.count - 1, by: 2).compactMap { place in
            texts[place].map { AttributeValidation.Rule(predicate: $0, warning: texts[place + 1]) }
        }
    }

    /// Whether a warning is one that model compilers give to bounds: a number, or the sentence of
    /// our own first archives.
    private static func isOfBound(_ warning: ArchivedValue?) -> Bool {
        warning?.string.map { $0 == "The value is out of bounds." } ?? true
    }

    /// Takes a bound, or a conjunction of nothing but bounds. False for any other predicate.
    private mutating func readBounds(_ predicate: ArchivedObject) -> Bool {
        guard predicate.className == "NSCompoundPredicate",
            predicate.integer("NSCompoundPredicateType") == 1
        else { return readBound(predicate) }
        let before = validation
        let parts = predicate.list("NSSubpredicates")
        guard parts.allSatisfy({ $0?.object.map { readBound($0) } ?? false }) else {
            validation = before
            return false
        }
        return true
    }

    /// Takes a predicate of the form that model compilers write for bounds. False for any other.
    private mutating func readBound(_ predicate: ArchivedObject) -> Bool {
        guard predicate.className == "NSComparisonPredicate",
            let left = predicate.object("NSLeftExpression"),
            let right = predicate.object("NSRightExpression"),
            right.className == "NSConstantValueExpression",
            let how = predicate.object("NSPredicateOperator"),
            how.integer("NSModifier") == 0, how.integer("NSOptions") == 0
        else { return false }
        let subject = ArchivedPredicateText().text(ofExpression: left)
        guard subject == "SELF" || subject == "length", let value = right["NSConstantValue"] else {
            return false
        }
        switch how.integer("NSOperatorType") {
        case 1: return set(\.maximum, Self.number(value))
        case 3: return set(\.minimum, Self.number(value))
        case 6: return set(\.regularExpression, value.string)
        default: return false
        }
    }

    private mutating func set(
        _ bound: WritableKeyPath<AttributeValidation, String?>, _ text: String?
    ) -> Bool {
        guard let text, validation[keyPath: bound] == nil else { return false }
        validation[keyPath: bound] = text
        return true
    }

    /// A number as text; a date as seconds since 2001.
    private static func number(_ value: ArchivedValue) -> String? {
        switch value {
        case .integer(let number): String(number)
        case .real(let number): "\(number)"
        case .object(let object) where object.className == "NSDate":
            object["NS.time"]?.real.map { time in Int64(exactly: time).map(String.init) ?? "\(time)"
            }
        case .bool, .date, .data, .string, .object: nil
        }
    }
}
