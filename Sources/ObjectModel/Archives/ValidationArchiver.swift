internal import Foundation

/// Archives what an attribute's values must satisfy: bounds as model compilers write them, and the
/// other predicates with their warnings.
struct ValidationArchiver {
    private typealias Builder = KeyedArchiveBuilder
    let attribute: NSAttributeDescription
    let predicates: any PredicateArchiving
    private var archived: [(predicate: Int, warning: Int)] = []
    private var kept: [AttributeValidation.Rule] = []

    init(_ attribute: NSAttributeDescription, _ predicates: any PredicateArchiving) {
        self.attribute = attribute
        self.predicates = predicates
    }

    /// The attribute's fields; none where every value is allowed.
    static func fields(
        of attribute: NSAttributeDescription, _ predicates: any PredicateArchiving,
        into builder: inout KeyedArchiveBuilder
    ) -> [(String, KeyedArchiveBuilder.Field)] {
        var archiver = ValidationArchiver(attribute, predicates)
        if let given = attribute.givenValidation {
            for (place, predicate) in given.predicates.enumerated() {
                let rule = AttributeValidation.Rule(
                    predicate: predicates.text(of: predicate), warning: given.warning(at: place))
                archiver.add(rule, &builder)
            }
        } else {
            archiver.addBounds(&builder)
            for rule in attribute.validation.rules { archiver.add(rule, &builder) }
        }
        return archiver.fields(&builder)
    }

    private func fields(_ builder: inout Builder) -> [(String, Builder.Field)] {
        var fields: [(String, Builder.Field)] = []
        if !archived.isEmpty {
            let warnings = builder.mutableArray(archived.map(\.warning))
            fields += [
                (
                    "NSValidationPredicates",
                    .reference(builder.mutableArray(archived.map(\.predicate)))
                ),
                ("NSValidationWarnings", .reference(warnings)),
            ]
        }
        if !kept.isEmpty {
            let texts = kept.flatMap { [builder.string($0.predicate), builder.string($0.warning)] }
            fields.append((OwnKey.validationRules, .reference(builder.array(texts))))
        }
        return fields
    }

    private mutating func add(_ rule: AttributeValidation.Rule, _ builder: inout Builder) {
        guard let place = predicates.archive(predicate: rule.predicate, into: &builder) else {
            return kept.append(rule)
        }
        let code = rule.warning.flatMap { Int64($0) }
        let warning = code.map { builder.plain(.integer($0)) } ?? builder.string(rule.warning)
        archived.append((place, warning))
    }

    // MARK: Bounds

    private mutating func addBounds(_ builder: inout Builder) {
        let validation = attribute.validation
        let codes = ValidationCode.codes(of: attribute.attributeType)
        add(3, number(validation.minimum, &builder), codes.tooSmall, &builder)
        add(1, number(validation.maximum, &builder), codes.tooLarge, &builder)
        let pattern = validation.regularExpression.map { builder.string($0) }
        add(6, pattern, ValidationCode.pattern, &builder)
    }

    private mutating func add(_ type: Int, _ bound: Int?, _ code: Int, _ builder: inout Builder) {
        guard let bound else { return }
        let isLength = attribute.attributeType == .stringAttributeType && type != 6
        let left =
            isLength
            ? ExpressionArchiver.keyPath("length", &builder)
            : ExpressionArchiver.evaluatedObject(&builder)
        let right = ExpressionArchiver.constant(bound, &builder)
        let made = ExpressionArchiver.comparison(left, right, type: type, &builder)
        if let made { archived.append((made, builder.plain(.integer(Int64(code))))) }
    }

    /// A bound as a whole number where the attribute's type is one, as seconds in a date for dates.
    private func number(_ text: String?, _ builder: inout Builder) -> Int? {
        guard let text, let number = Double(text) else { return nil }
        if attribute.attributeType == .dateAttributeType {
            return ValueArchiver.archive(
                Date(timeIntervalSinceReferenceDate: number), &builder)
        }
        return builder.plain(Int64(text).map { PropertyListNode.integer($0) } ?? .real(number))
    }
}

/// The numbers of Apple's validation errors, which compiled models name as warnings of bounds.
package enum ValidationCode {
    package static let pattern = 1680

    package static func codes(of type: NSAttributeType) -> (tooSmall: Int, tooLarge: Int) {
        switch type {
        case .stringAttributeType: (1670, 1660)
        case .dateAttributeType: (1640, 1630)
        default: (1620, 1610)
        }
    }
}
