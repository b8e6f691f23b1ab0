internal import Foundation

/// Spells archived predicates and expressions as text, for parsers that read text: in the words
/// and with the parentheses of Apple's own printing.
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
        let members = object.list("NSSubpredicates").map { $0?.object }
        let parts = members.compactMap { part in part.flatMap { deeper?.part(of: $0) } }
        guard parts.count == members.count else { return nil }
        switch object.integer("NSCompoundPredicateType") {
        case 0: return parts.first.map { "NOT \($0)" }
        case 1: return parts.isEmpty ? "TRUEPREDICATE" : parts.joined(separator: " AND ")
        case 2: return parts.isEmpty ? "FALSEPREDICATE" : parts.joined(separator: " OR ")
        default: return nil
        }
    }

    /// A member of a compound; in parentheses where it is a compound of several itself.
    private func part(of object: ArchivedObject) -> String? {
        let isSingle =
            object.className != "NSCompoundPredicate"
            || object.integer("NSCompoundPredicateType") == 0
            || object.list("NSSubpredicates").count < 2
        return text(ofPredicate: object).map { isSingle ? $0 : "(\($0))" }
    }

    private func comparison(_ object: ArchivedObject) -> String? {
        guard let left = object.object("NSLeftExpression").flatMap(text(ofExpression:)),
            let right = object.object("NSRightExpression").flatMap(text(ofExpression:)),
            let how = object.object("NSPredicateOperator"),
            let symbol = Self.symbols[how.integer("NSOperatorType")]
        else { return nil }
        let options = how.integer("NSOptions") | how.integer("NSFlags")
        let letters = [(1, "c"), (2, "d"), (4, "n"), (8, "l")]
        let marks = letters.filter { options & $0.0 != 0 }.map(\.1).joined()
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
        case "NSKeyPathSpecifierExpression": object.string("NSKeyPath").map(Self.path)
        case "NSKeyPathExpression": keyPath(object)
        case "NSConstantValueExpression": constant(object)
        case "NSFunctionExpression": function(object)
        case "NSAggregateExpression": aggregate(object.list("NSCollection"))
        case "NSFetchRequestExpression": fetch(object)
        default: nil
        }
    }

    private func fetch(_ object: ArchivedObject) -> String? {
        guard let deeper,
            let request = object.object("NSFRExpression").flatMap(deeper.text(ofExpression:)),
            let context = object.object("NSMOCExpression").flatMap(deeper.text(ofExpression:))
        else { return nil }
        return "FETCH(\(request), \(context), \(object.flag("NSCountOnlyFlag") ? "YES" : "NO"))"
    }

    /// A path with `#` before the names that the grammar keeps for itself.
    private static func path(_ keys: String) -> String {
        keys.split(separator: ".", omittingEmptySubsequences: false)
            .map { PredicateGrammar.needsEscape(String($0)) ? "#\($0)" : String($0) }
            .joined(separator: ".")
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
        let operand = object.object("NSOperand")
        let list = arguments.joined(separator: ", ")
        guard let operand, operand.className != "NSConstantValueExpression" else {
            return Self.signed(name, arguments) ?? "\(name)(\(list))"
        }
        guard let receiver = deeper?.text(ofExpression: operand) else { return nil }
        let rest = arguments.isEmpty ? "" : ", \(list)"
        return "FUNCTION(\(receiver), \(PredicateGrammar.quoted(name))\(rest))"
    }

    /// A function that the grammar spells as `CAST` or with an index.
    private static func signed(_ name: String, _ arguments: [String]) -> String? {
        guard arguments.count == 2 else { return nil }
        return switch name {
        case "castObject:toType:": "CAST(\(arguments[0]), \(arguments[1]))"
        case "objectFrom:withIndex:": "(\(arguments[0]))[\(arguments[1])]"
        default: nil
        }
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

    // MARK: Constants

    private func constant(_ object: ArchivedObject) -> String? {
        guard let value = object["NSConstantValue"] else { return "nil" }
        return literal(value)
    }

    private func literal(_ value: ArchivedValue) -> String? {
        switch value {
        case .bool(let flag): flag ? "YES" : "NO"
        case .integer(let number): String(number)
        case .real(let number): number.isFinite ? "\(number)" : "CAST(\"\(number)\", \"NSNumber\")"
        case .string(let text): PredicateGrammar.quoted(text)
        case .date(let seconds): "CAST(\(seconds), \"NSDate\")"
        case .data(let data): "CAST(\"\(data.base64EncodedString())\", \"NSData\")"
        case .object(let object): literal(object)
        }
    }

    private func literal(_ object: ArchivedObject) -> String? {
        guard object.archive.takeStep() else { return nil }
        switch object.className {
        case "NSNull": return "nil"
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet":
            let members = object.members
            let parts = members.compactMap { $0.flatMap { deeper?.literal($0) } }
            return parts.count == members.count ? "{\(parts.joined(separator: ", "))}" : nil
        default: break
        }
        let value = ArchivedValue.object(object)
        switch object.className {
        case "NSDate": return object["NS.time"]?.real.map { "CAST(\($0), \"NSDate\")" }
        case "NSUUID": return Self.cast(value, .UUIDAttributeType, "NSUUID")
        case "NSURL": return Self.cast(value, .URIAttributeType, "NSURL")
        case "NSDecimalNumber": return Self.cast(value, .decimalAttributeType, "NSDecimalNumber")
        case "NSData", "NSMutableData": return object["NS.data"].flatMap(literal)
        default: return nil
        }
    }

    private static func cast(
        _ value: ArchivedValue, _ type: NSAttributeType, _ name: String
    ) -> String? {
        ArchivedDefault.value(value, as: type).map {
            "CAST(\(PredicateGrammar.quoted("\($0)")), \"\(name)\")"
        }
    }
}
