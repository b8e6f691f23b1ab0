internal import Foundation

/// Archives the expressions and predicates that model compilers make: derivations and bounds.
enum ExpressionArchiver {
    // MARK: Derivations

    /// A derivation: a key path, or a function of a key path or of nothing. Nil for any other text.
    static func derivation(
        _ derived: NSDerivedAttributeDescription, into builder: inout KeyedArchiveBuilder
    ) -> Int? {
        let text = VersionHashing.hashedText(of: derived)
        if isKeyPath(text) { return keyPath(text, &builder) }
        guard let open = text.firstIndex(of: "("), text.hasSuffix(")") else { return nil }
        let name = String(text[..<open])
        let argument = text[text.index(after: open)...].dropLast()
        guard !name.isEmpty, argument.isEmpty || isKeyPath(String(argument)) else { return nil }
        let arguments = argument.isEmpty ? [] : [keyPath(String(argument), &builder)]
        return function(name, arguments, &builder)
    }

    private static func isKeyPath(_ text: String) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
    }

    private static func keyPath(_ path: String, _ builder: inout KeyedArchiveBuilder) -> Int {
        let isLong = path.contains(".")
        let specifier = builder.object(
            expression("NSKeyPathSpecifierExpression"),
            [("NSExpressionType", .integer(10)), ("NSKeyPath", .reference(builder.string(path)))])
        let selector = builder.string(isLong ? "valueForKeyPath:" : "valueForKey:")
        return builder.object(
            ["NSKeyPathExpression", "NSFunctionExpression", "NSExpression", "NSObject"],
            [
                ("NSExpressionType", .integer(3)), ("NSOperand", .reference(subject(&builder))),
                ("NSSelectorName", .reference(selector)),
                ("NSArguments", .reference(builder.array([specifier]))),
            ])
    }

    private static func function(
        _ name: String, _ arguments: [Int], _ builder: inout KeyedArchiveBuilder
    ) -> Int {
        let utilities = builder.object(
            expression("NSConstantValueExpression"),
            [
                ("NSExpressionType", .integer(0)),
                (
                    "NSConstantValueClassName",
                    .reference(builder.string("_NSPredicateUtilities"))
                ),
            ])
        return builder.object(
            expression("NSFunctionExpression"),
            [
                ("NSExpressionType", .integer(4)), ("NSOperand", .reference(utilities)),
                ("NSSelectorName", .reference(builder.string(name))),
                ("NSArguments", .reference(builder.array(arguments))),
            ])
    }

    // MARK: Bounds

    /// The bounds of an attribute as predicates.
    static func bounds(
        of attribute: NSAttributeDescription, into builder: inout KeyedArchiveBuilder
    ) -> [Int] {
        let validation = attribute.validation
        var predicates: [Int] = []
        if let minimum = number(validation.minimum, of: attribute, &builder) {
            predicates.append(comparison(attribute, 3, minimum, &builder))
        }
        if let maximum = number(validation.maximum, of: attribute, &builder) {
            predicates.append(comparison(attribute, 1, maximum, &builder))
        }
        if let pattern = validation.regularExpression {
            let value = constant(builder.string(pattern), &builder)
            let how = comparisonOperator("NSMatchingPredicateOperator", 6, [], &builder)
            predicates.append(predicate(subject(&builder), how, value, &builder))
        }
        return predicates
    }

    private static func number(
        _ text: String?, of attribute: NSAttributeDescription, _ builder: inout KeyedArchiveBuilder
    ) -> Int? {
        guard let text, let number = Double(text) else { return nil }
        if attribute.attributeType == .dateAttributeType {
            let date = Date(timeIntervalSinceReferenceDate: number)
            return constant(ValueArchiver.archive(date, &builder), &builder)
        }
        let node = Int64(text).map { PropertyListNode.integer($0) } ?? .real(number)
        return constant(builder.plain(node), &builder)
    }

    private static func comparison(
        _ attribute: NSAttributeDescription, _ type: Int, _ bound: Int,
        _ builder: inout KeyedArchiveBuilder
    ) -> Int {
        let isText = attribute.attributeType == .stringAttributeType
        let left = isText ? keyPath("length", &builder) : subject(&builder)
        let how = comparisonOperator(
            "NSComparisonPredicateOperator", type, [("NSVariant", .integer(type))], &builder)
        return predicate(left, how, bound, &builder)
    }

    private static func comparisonOperator(
        _ name: String, _ type: Int, _ more: [(String, KeyedArchiveBuilder.Field)],
        _ builder: inout KeyedArchiveBuilder
    ) -> Int {
        builder.object(
            [name, "NSPredicateOperator", "NSObject"],
            [
                ("NSOperatorType", .integer(type)), ("NSModifier", .integer(0)),
                ("NSOptions", .integer(0)),
            ]
                + more)
    }

    private static func predicate(
        _ left: Int, _ how: Int, _ right: Int, _ builder: inout KeyedArchiveBuilder
    ) -> Int {
        builder.object(
            ["NSComparisonPredicate", "NSPredicate", "NSObject"],
            [
                ("NSLeftExpression", .reference(left)), ("NSPredicateOperator", .reference(how)),
                ("NSRightExpression", .reference(right)),
            ])
    }

    // MARK: Parts

    private static func constant(_ value: Int, _ builder: inout KeyedArchiveBuilder) -> Int {
        builder.object(
            expression("NSConstantValueExpression"),
            [("NSExpressionType", .integer(0)), ("NSConstantValue", .reference(value))])
    }

    static func subject(_ builder: inout KeyedArchiveBuilder) -> Int {
        builder.object(expression("NSSelfExpression"), [("NSExpressionType", .integer(1))])
    }

    private static func expression(_ name: String) -> [String] {
        [name, "NSExpression", "NSObject"]
    }
}
