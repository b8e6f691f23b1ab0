internal import Foundation

/// Spells archived predicates and expressions as text, for parsers that read text.
///
/// Nil for what has no text, such as a predicate over an object of the program's own class.
struct ArchivedPredicateText {
    private let depth: Int
    private static let depthMax = 64

    init(depth: Int = 0) { self.depth = depth }

    private var deeper: Self? { depth < Self.depthMax ? Self(depth: depth + 1) : nil }

    // MARK: Predicates

    func text(ofPredicate object: ArchivedObject) -> String? {
        guard object.archive.takeStep() else { return nil }
        return switch object.className {
        case "NSTruePredicate": "TRUEPREDICATE"
        case "NSFalsePredicate": "FALSEPREDICATE"
        case "NSCompoundPredicate": compound(object)
        case "NSComparisonPredicate": comparison(object)
        default: nil
        }
    }

    private func compound(_ object: ArchivedObject) -> String? {
        let members = object.list("NSSubpredicates")
        let parts = members.compactMap { $0?.object.flatMap { deeper?.text(ofPredicate: $0) } }
        guard parts.count == members.count else { return nil }
        switch object.integer("NSCompoundPredicateType") {
        case 0: return parts.first.map { "NOT (\($0))" }
        case 1: return parts.isEmpty ? "TRUEPREDICATE" : joined(parts, " AND ")
        case 2: return parts.isEmpty ? "FALSEPREDICATE" : joined(parts, " OR ")
        default: return nil
        }
    }

    private func joined(_ parts: [String], _ word: String) -> String {
        parts.map { "(\($0))" }.joined(separator: word)
    }

    private func comparison(_ object: ArchivedObject) -> String? {
        guard let left = object.object("NSLeftExpression").flatMap(text(ofExpression:)),
            let right = object.object("NSRightExpression").flatMap(text(ofExpression:)),
            let how = object.object("NSPredicateOperator"),
            let symbol = Self.symbols[how.integer("NSOperatorType")]
        else { return nil }
        let options = how.integer("NSOptions") | how.integer("NSFlags")
        let marks = (options & 1 != 0 ? "c" : "") + (options & 2 != 0 ? "d" : "")
        let modifier =
            switch how.integer("NSModifier") {
            case 1: "ALL "
            case 2: "ANY "
            default: ""
            }
        return "\(modifier)\(left) \(symbol)\(marks.isEmpty ? "" : "[\(marks)]") \(right)"
    }

    /// Operators by Apple's raw values.
    private static let symbols: [Int: String] = [
        0: "<", 1: "<=", 2: ">", 3: ">=", 4: "==", 5: "!=", 6: "MATCHES", 7: "LIKE",
        8: "BEGINSWITH", 9: "ENDSWITH", 10: "IN", 99: "CONTAINS", 100: "BETWEEN",
    ]

    // MARK: Expressions

    func text(ofExpression object: ArchivedObject) -> String? {
        guard object.archive.takeStep() else { return nil }
        return switch object.className {
        case "NSSelfExpression": "SELF"
        case "NSVariableExpression": object.string("NSVariable").map { "$\($0)" }
        case "NSKeyPathSpecifierExpression": object.string("NSKeyPath")
        case "NSKeyPathExpression": keyPath(object)
        case "NSConstantValueExpression": constant(object)
        case "NSFunctionExpression": function(object)
        case "NSAggregateExpression": aggregate(object.list("NSCollection"))
        default: nil
        }
    }

    private func keyPath(_ object: ArchivedObject) -> String? {
        guard let path = arguments(of: object)?.first else { return nil }
        guard let operand = object.object("NSOperand"), operand.className != "NSSelfExpression"
        else {
            return path
        }
        return deeper?.text(ofExpression: operand).map { "\($0).\(path)" }
    }

    private func function(_ object: ArchivedObject) -> String? {
        guard let name = object.string("NSSelectorName"), let arguments = arguments(of: object)
        else {
            return nil
        }
        return arguments.isEmpty ? "\(name)()" : "\(name)(\(arguments.joined(separator: ", ")))"
    }

    private func arguments(of object: ArchivedObject) -> [String]? {
        let members = object.list("NSArguments")
        let parts = members.compactMap { $0?.object.flatMap { deeper?.text(ofExpression: $0) } }
        return parts.count == members.count ? parts : nil
    }

    private func aggregate(_ members: [ArchivedValue?]) -> String? {
        let parts = members.compactMap { $0?.object.flatMap { deeper?.text(ofExpression: $0) } }
        return parts.count == members.count ? "{\(parts.joined(separator: ", "))}" : nil
    }

    private func constant(_ object: ArchivedObject) -> String? {
        guard let value = object["NSConstantValue"] else { return "nil" }
        return literal(value)
    }

    private func literal(_ value: ArchivedValue) -> String? {
        switch value {
        case .bool(let flag): flag ? "YES" : "NO"
        case .integer(let number): String(number)
        case .real(let number): "\(number)"
        case .string(let text): Self.quoted(text)
        case .date(let seconds): "CAST(\(seconds), \"NSDate\")"
        case .data: nil
        case .object(let object): literal(object)
        }
    }

    private func literal(_ object: ArchivedObject) -> String? {
        guard object.archive.takeStep() else { return nil }
        switch object.className {
        case "NSDate": return object["NS.time"]?.real.map { "CAST(\($0), \"NSDate\")" }
        case "NSNull": return "nil"
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet":
            let members = object.members
            let parts = members.compactMap { $0.flatMap { deeper?.literal($0) } }
            return parts.count == members.count ? "{\(parts.joined(separator: ", "))}" : nil
        default: return nil
        }
    }

    static func quoted(_ text: String) -> String {
        let escaped = text.replacingOccurrences(of: "\\", with: "\\\\")
            .replacingOccurrences(of: "\"", with: "\\\"")
        return "\"\(escaped)\""
    }
}
