internal import Foundation

/// Makes the archived objects of expressions and predicates, as compiled models and model caches
/// have them. What no real file shows is left to the caller, who keeps the text.
package enum ExpressionArchiver {
    package typealias Builder = KeyedArchiveBuilder

    // MARK: Expressions

    /// `SELF`, of which an archive has one.
    package static func evaluatedObject(_ builder: inout Builder) -> Int {
        builder.shared("SELF") {
            $0.object(expression("NSSelfExpression"), [("NSExpressionType", .integer(1))])
        }
    }

    package static func variable(_ name: String, _ builder: inout Builder) -> Int {
        builder.object(
            expression("NSVariableExpression"),
            [("NSExpressionType", .integer(2)), ("NSVariable", .reference(builder.string(name)))])
    }

    /// A constant by the reference of its value; nil is no value.
    package static func constant(_ value: Int?, _ builder: inout Builder) -> Int {
        let field: (String, Builder.Field) =
            value.map { ("NSConstantValue", .reference($0)) }
            ?? ("NSConstantValueClassName", .reference(Builder.null))
        return builder.object(
            expression("NSConstantValueExpression"), [("NSExpressionType", .integer(0)), field])
    }

    /// A key path from the evaluated object, or from the expression at `operand`.
    package static func keyPath(
        _ path: String, from operand: Int? = nil, _ builder: inout Builder
    ) -> Int {
        let specifier = builder.object(
            expression("NSKeyPathSpecifierExpression"),
            [("NSExpressionType", .integer(10)), ("NSKeyPath", .reference(builder.string(path)))])
        let isLong = operand != nil || path.contains(".")
        let selector = builder.string(isLong ? "valueForKeyPath:" : "valueForKey:")
        return builder.object(
            ["NSKeyPathExpression", "NSFunctionExpression", "NSExpression", "NSObject"],
            [
                ("NSExpressionType", .integer(operand == nil ? 3 : 4)),
                ("NSOperand", .reference(operand ?? evaluatedObject(&builder))),
                ("NSSelectorName", .reference(selector)),
                ("NSArguments", .reference(builder.mutableArray([specifier]))),
            ])
    }

    /// A function of Foundation's own, or the method `selector` of the expression at `operand`.
    package static func function(
        _ selector: String, _ arguments: [Int], of operand: Int? = nil, _ builder: inout Builder
    ) -> Int {
        let receiver =
            operand
            ?? builder.object(
                expression("NSConstantValueExpression"),
                [
                    ("NSExpressionType", .integer(0)),
                    ("NSConstantValueClassName", .reference(builder.string(utilities))),
                ])
        return builder.object(
            expression("NSFunctionExpression"),
            [
                ("NSExpressionType", .integer(4)), ("NSOperand", .reference(receiver)),
                ("NSSelectorName", .reference(builder.string(selector))),
                ("NSArguments", .reference(builder.array(arguments))),
            ])
    }

    /// The class whose methods are the predefined functions.
    static let utilities = "_NSPredicateUtilities"

    private static func expression(_ name: String) -> [String] {
        [name, "NSExpression", "NSObject"]
    }

    // MARK: Predicates

    /// `TRUEPREDICATE` or `FALSEPREDICATE`.
    package static func constant(predicate value: Bool, _ builder: inout Builder) -> Int {
        builder.object(
            [value ? "NSTruePredicate" : "NSFalsePredicate", "NSPredicate", "NSObject"], [])
    }

    /// A compound predicate: type 0 is NOT, 1 is AND, 2 is OR.
    package static func compound(_ type: Int, _ parts: [Int], _ builder: inout Builder) -> Int {
        builder.object(
            ["NSCompoundPredicate", "NSPredicate", "NSObject"],
            [
                ("NSCompoundPredicateType", .integer(type)),
                ("NSSubpredicates", .reference(builder.array(parts))),
            ])
    }

    /// A comparison; `type`, `modifier` and `options` are Apple's raw values. Nil for operators
    /// whose archived form is not known.
    package static func comparison(
        _ left: Int, _ right: Int, type: Int, modifier: Int = 0, options: Int = 0,
        _ builder: inout Builder
    ) -> Int? {
        guard let (ancestry, own) = form(ofOperator: type, options: options) else { return nil }
        let how = builder.object(
            ancestry + ["NSPredicateOperator", "NSObject"],
            [("NSOperatorType", .integer(type)), ("NSModifier", .integer(modifier))] + own)
        return builder.object(
            ["NSComparisonPredicate", "NSPredicate", "NSObject"],
            [
                ("NSLeftExpression", .reference(left)), ("NSPredicateOperator", .reference(how)),
                ("NSRightExpression", .reference(right)),
            ])
    }

    /// The class of an operator and the fields that only its kind has. Where those of a kind are
    /// not known, only the operator without options has a form, since then they say nothing.
    private static func form(
        ofOperator type: Int, options: Int
    ) -> (ancestry: [String], fields: [(String, Builder.Field)])? {
        switch type {
        case 0...3:
            return (
                ["NSComparisonPredicateOperator"],
                [("NSVariant", .integer(type)), ("NSOptions", .integer(options))]
            )
        case 4, 5:
            return (
                ["NSEqualityPredicateOperator"],
                [("NSNegate", .bool(type == 5)), ("NSOptions", .integer(options))]
            )
        case 10, 99: return (["NSInPredicateOperator"], [("NSFlags", .integer(options))])
        default: break
        }
        guard options == 0 else { return nil }
        let texts = ["NSMatchingPredicateOperator", "NSStringPredicateOperator"]
        switch type {
        case 6: return (texts, [])
        case 7: return (["NSLikePredicateOperator"] + texts, [])
        case 100: return (["NSBetweenPredicateOperator"], [])
        default: return nil
        }
    }
}
