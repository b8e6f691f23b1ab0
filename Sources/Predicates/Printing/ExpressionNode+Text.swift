internal import Foundation
internal import ObjectModel

extension ExpressionNode: CustomStringConvertible {
    /// The expression as a format that parses to an equal tree; see `PredicateNode.description`.
    public var description: String {
        switch self {
        case .constant(let value): Constant(value).text
        case .evaluatedObject: "SELF"
        case .variable(let name): "$" + name
        case .keyPath(let path): Self.text(of: path)
        case .path(from: let origin, let path): origin.textAsOrigin + "." + Self.text(of: path)
        case .function(let name, let arguments): Self.call(name, arguments)
        case .aggregate(let elements): "{" + Self.list(elements) + "}"
        case .subquery(let collection, let variable, let predicate):
            "SUBQUERY(\(collection), $\(variable), \(predicate))"
        case .conditional(let condition, let yes, let no): "TERNARY(\(condition), \(yes), \(no))"
        case .unionSet(let a, let b): Self.infix(a, "UNION", b, Binding.set)
        case .intersectSet(let a, let b): Self.infix(a, "INTERSECT", b, Binding.set)
        case .minusSet(let a, let b): Self.infix(a, "MINUS", b, Binding.set)
        }
    }

    /// How tightly an operator binds; more is tighter.
    private enum Binding: Int {
        case set = 1
        case sum, product, power, single
    }

    private static let signs: [String: (text: String, binding: Binding)] = [
        FunctionName.add: ("+", .sum), FunctionName.subtract: ("-", .sum),
        FunctionName.multiply: ("*", .product), FunctionName.divide: ("/", .product),
        FunctionName.power: ("**", .power),
    ]

    private var binding: Binding {
        switch self {
        case .unionSet, .intersectSet, .minusSet: .set
        case .function(let name, let arguments) where arguments.count == 2:
            Self.signs[name]?.binding ?? (name == FunctionName.assign ? .set : .single)
        default: .single
        }
    }

    private func text(inside outer: Binding, isLoose: Bool) -> String {
        let needsParentheses =
            binding.rawValue < outer.rawValue || (isLoose && binding.rawValue == outer.rawValue)
        return needsParentheses ? "(\(self))" : description
    }

    private static func infix(
        _ left: ExpressionNode, _ sign: String, _ right: ExpressionNode, _ binding: Binding
    ) -> String {
        let leansRight = binding == .power
        let isAssignment =
            if case .function(FunctionName.assign, _) = left { true } else { false }
        let leftText = left.text(inside: binding, isLoose: leansRight || isAssignment)
        return "\(leftText) \(sign) \(right.text(inside: binding, isLoose: !leansRight))"
    }

    private static func call(_ name: String, _ arguments: [ExpressionNode]) -> String {
        if arguments.count == 2 {
            if let sign = signs[name] {
                return infix(arguments[0], sign.text, arguments[1], sign.binding)
            }
            switch name {
            case FunctionName.index: return arguments[0].textAsIndexed + "[\(arguments[1])]"
            case FunctionName.cast: return "CAST(\(list(arguments)))"
            case FunctionName.assign:
                if case .constant(let variable) = arguments[0], let variable = variable as? String {
                    return "$\(variable) := \(arguments[1])"
                }
            default: break
            }
        }
        let symbols = [
            FunctionName.anyKey, FunctionName.firstSymbol, FunctionName.lastSymbol,
            FunctionName.sizeSymbol,
        ]
        if arguments.isEmpty, symbols.contains(name) { return name }
        return "\(name)(\(list(arguments)))"
    }

    /// The expression before a dot.
    private var textAsOrigin: String {
        switch self {
        case .evaluatedObject, .variable, .subquery, .aggregate, .conditional: description
        case .function where binding == .single: description
        case .constant(let value):
            if case .text = Constant(value) { description } else { "(\(self))" }
        default: "(\(self))"
        }
    }

    /// The expression before an index.
    private var textAsIndexed: String {
        if case .keyPath = self { return description }
        return textAsOrigin
    }

    private static func list(_ elements: [ExpressionNode]) -> String {
        elements.map(\.description).joined(separator: ", ")
    }

    private static func text(of path: [String]) -> String {
        path.map { PredicateGrammar.needsEscape($0) ? "#" + $0 : $0 }.joined(separator: ".")
    }
}

extension Constant {
    /// The constant as a literal.
    var text: String {
        switch self {
        case .null: "nil"
        case .bool(let flag): flag ? "YES" : "NO"
        case .integer(let number): "\(number)"
        case .real(let number) where number.isFinite: "\(number)"
        case .real(let number): "CAST(\"\(number)\", \"NSNumber\")"
        case .decimal(let number): "CAST(\"\(number)\", \"NSDecimalNumber\")"
        case .text(let text): PredicateGrammar.quoted(text)
        case .date(let date): "CAST(\(Self.text(ofSeconds: date)), \"NSDate\")"
        case .uuid(let uuid): "CAST(\"\(uuid.uuidString)\", \"NSUUID\")"
        case .url(let url): "CAST(\(PredicateGrammar.quoted(url.absoluteString)), \"NSURL\")"
        case .data(let data): "CAST(\"\(data.base64EncodedString())\", \"NSData\")"
        case .list(let values):
            "{" + values.map { Constant($0).text }.joined(separator: ", ") + "}"
        case .other(let value): String(describing: value)
        }
    }

    /// Six digits as Apple prints them; all that are needed where six would name another moment.
    private static func text(ofSeconds date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite else { return Constant.real(seconds).text }
        let six = String(format: "%.6f", seconds)
        return Double(six) == seconds ? six : "\(seconds)"
    }
}
