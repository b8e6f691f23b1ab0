internal import ObjectModel

extension PredicateParser {
    mutating func primary() throws(PredicateFormatError) -> ExpressionNode {
        switch kind {
        case .literal(let literal):
            let node = try number(literal)
            index += 1
            return node
        case .variable(let name):
            index += 1
            return .variable(name)
        case .argument(let number):
            let value = try argument(number)
            index += 1
            return (value as? NSExpression)?.node ?? .constant(plainConstant(value))
        case .keyPathArgument(let number):
            let path = try keyPath(number)
            index += 1
            return .path(path)
        case .collectionOperator(let name):
            index += 1
            return .keyPath([name])
        case .word(let name, let escaped): return try word(name, escaped: escaped)
        case .symbol("("):
            index += 1
            let inner = try expression()
            try expect(")")
            return inner
        case .symbol("{"):
            index += 1
            return .aggregate(try list(until: "}"))
        case .symbol, .end: throw failure("an expression")
        }
    }

    private mutating func word(
        _ name: String, escaped: Bool
    ) throws(PredicateFormatError) -> ExpressionNode {
        let isCall = following == .symbol("(")
        if escaped {
            index += 1
            return .keyPath([name])
        }
        if isCall { return try call(name) }
        switch name.uppercased() {
        case "SELF": index += 1; return .evaluatedObject
        case "NULL", "NIL": index += 1; return .constant(nil)
        case "TRUE", "YES": index += 1; return .constant(true)
        case "FALSE", "NO": index += 1; return .constant(false)
        case "ANYKEY": index += 1; return .function(FunctionName.anyKey, [])
        case let upper where PredicateGrammar.reserved.contains(upper):
            throw failure("an expression; to use the word \(name) as a key, write #\(name)")
        default:
            guard !name.contains(":") else {
                throw failure("a \"(\" after the function \(name)", at: index + 1)
            }
            index += 1
            return .keyPath([name])
        }
    }

    private mutating func call(_ name: String) throws(PredicateFormatError) -> ExpressionNode {
        let start = index
        let upper = name.uppercased()
        if PredicateGrammar.reserved.contains(upper) { throw failure("an expression") }
        index += 2
        switch upper {
        case "SUBQUERY": return try subquery()
        case "TERNARY": return try ternary()
        default: break
        }
        let arguments = try list(until: ")")
        switch upper {
        case "FUNCTION":
            guard arguments.count >= 2, case .constant(let name) = arguments[1], name is String
            else { throw failure("FUNCTION(receiver, 'selector', …)", at: start) }
            return .function(FunctionName.perform, arguments)
        case "CAST":
            guard arguments.count == 2, case .constant(let type) = arguments[1],
                let type = type as? String
            else { throw failure("CAST(expression, 'type')", at: start) }
            return Cast.folded(arguments[0], to: type)
        case "FETCH":
            guard arguments.count == 3
            else { throw failure("FETCH(request, context, countOnly)", at: start) }
            return .function(FunctionName.fetch, arguments)
        default:
            guard let selector = FunctionName.selector(for: name, count: arguments.count) else {
                throw failure(
                    "a predefined function; \(name) with \(arguments.count) arguments is none",
                    .unknownFunction, at: start)
            }
            return .function(selector, arguments)
        }
    }

    private mutating func subquery() throws(PredicateFormatError) -> ExpressionNode {
        let collection = try expression()
        try expect(",")
        guard case .variable(let name) = kind else { throw failure("a variable such as $x") }
        index += 1
        try expect(",")
        let condition = try predicate()
        try expect(")")
        return .subquery(collection: collection, variable: name, predicate: condition)
    }

    private mutating func ternary() throws(PredicateFormatError) -> ExpressionNode {
        let condition = try predicate()
        try expect(",")
        let yes = try expression()
        try expect(",")
        let no = try expression()
        try expect(")")
        return .conditional(condition, yes, no)
    }

    private mutating func list(until closing: String) throws(PredicateFormatError)
        -> [ExpressionNode]
    {
        var elements: [ExpressionNode] = []
        if takes(symbol: closing) { return elements }
        repeat { elements.append(try expression()) } while takes(symbol: ",")
        try expect(closing)
        return elements
    }
}
