internal import Foundation

/// Reads a predicate format into a tree.
///
/// Cost: linear in the format's length. Nesting is bounded, so that no text can exhaust the stack.
struct PredicateParser {
    /// How deep parentheses, NOT and calls may nest.
    static let depthMax = 100
    /// How many arithmetic and set operators one format may chain.
    static let operatorsMax = 256

    let format: String
    let arguments: [Any?]
    let tokens: [Token]
    /// For the index of each opening parenthesis, the index of its closing one.
    let closings: [Int: Int]
    var index = 0
    var depth = 0
    var operatorCount = 0

    init(_ format: String, arguments: [Any?]) throws(PredicateFormatError) {
        self.format = format
        self.arguments = arguments
        tokens = try Lexer.tokens(of: format)
        closings = Self.closings(of: tokens)
    }

    /// Returns the tree of `format`, with `arguments` in the places of its placeholders.
    static func predicate(
        _ format: String, arguments: [Any?] = []
    ) throws(PredicateFormatError) -> PredicateNode {
        var parser = try PredicateParser(format, arguments: arguments)
        let node = try parser.predicate()
        try parser.finish("AND, OR or the end of the format")
        return node
    }

    /// Returns the tree of an expression's format.
    static func expression(
        _ format: String, arguments: [Any?] = []
    ) throws(PredicateFormatError) -> ExpressionNode {
        var parser = try PredicateParser(format, arguments: arguments)
        let node = try parser.expression()
        try parser.finish("an arithmetic operator or the end of the format")
        return node
    }

    // MARK: Logic

    mutating func predicate() throws(PredicateFormatError) -> PredicateNode {
        try enter()
        defer { depth -= 1 }
        var parts = [try conjunction()]
        while takes(word: "OR", or: "||") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func conjunction() throws(PredicateFormatError) -> PredicateNode {
        var parts = [try negation()]
        while takes(word: "AND", or: "&&") { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func negation() throws(PredicateFormatError) -> PredicateNode {
        guard takes(word: "NOT", or: "!") else { return try term() }
        try enter()
        defer { depth -= 1 }
        return .not(try negation())
    }

    private mutating func term() throws(PredicateFormatError) -> PredicateNode {
        if takes(word: "TRUEPREDICATE") { return .constant(true) }
        if takes(word: "FALSEPREDICATE") { return .constant(false) }
        if case .argument(let number) = kind, number < arguments.count,
            let given = arguments[number] as? NSPredicate
        {
            index += 1
            return treeNode(of: given)
        }
        if kind == .symbol("("), closesPredicate {
            index += 1
            let inner = try predicate()
            try expect(")")
            return inner
        }
        return try comparison()
    }

    /// Whether the parenthesis that opens here holds a predicate: what follows its end decides,
    /// since an expression in parentheses is always followed by an operator.
    private var closesPredicate: Bool {
        guard let closing = closings[index] else { return true }
        switch tokens[closing + 1].kind {
        case .end: return true
        case .symbol(let sign): return [")", ",", "&&", "||", "}", "]"].contains(sign)
        case .word(let word, escaped: false):
            return ["AND", "OR"].contains(word.uppercased())
        default: return false
        }
    }

    // MARK: Comparisons

    private mutating func comparison() throws(PredicateFormatError) -> PredicateNode {
        var modifier = ComparisonNode.Modifier.direct
        var isNegated = false
        if takes(word: "ANY") || takes(word: "SOME") {
            modifier = .any
        } else if takes(word: "ALL") {
            modifier = .all
        } else if takes(word: "NONE") {
            modifier = .any
            isNegated = true
        }
        let left = try expression()
        let (comparisonOperator, selectorName) = try comparisonOperator()
        let options = try options()
        let comparison = ComparisonNode(
            left: left, operator: comparisonOperator, right: try expression(),
            modifier: modifier, options: options, selectorName: selectorName)
        let node = comparison.replacingRange
        return isNegated ? .not(node) : node
    }

    private static let signs: [String: ComparisonNode.Operator] = [
        "=": .equalTo, "==": .equalTo, "!=": .notEqualTo, "<>": .notEqualTo, "<": .lessThan,
        ">": .greaterThan, "<=": .lessThanOrEqualTo, "=<": .lessThanOrEqualTo,
        ">=": .greaterThanOrEqualTo, "=>": .greaterThanOrEqualTo,
    ]
    private static let words: [String: ComparisonNode.Operator] = [
        "BETWEEN": .between, "IN": .in, "CONTAINS": .contains, "BEGINSWITH": .beginsWith,
        "ENDSWITH": .endsWith, "LIKE": .like, "MATCHES": .matches,
    ]

    /// The operator, and the name of one that is a selector: a word with a colon at its end, or
    /// one of those on uniform types.
    private mutating func comparisonOperator() throws(PredicateFormatError)
        -> (ComparisonNode.Operator, selectorName: String?)
    {
        switch kind {
        case .symbol(let sign):
            guard let found = Self.signs[sign] else { break }
            index += 1
            return (found, nil)
        case .word(let word, escaped: false):
            let upper = word.uppercased()
            if upper.hasPrefix("UTI-") || word.hasSuffix(":") {
                index += 1
                return (.customSelector, word.hasSuffix(":") ? word : upper)
            }
            guard let found = Self.words[upper] else { break }
            index += 1
            return (found, nil)
        default: break
        }
        throw failure("a comparison operator such as == or CONTAINS")
    }

    private mutating func options() throws(PredicateFormatError) -> ComparisonNode.Options {
        guard takes(symbol: "[") else { return [] }
        let letters: [Character: ComparisonNode.Options] = [
            "c": .caseInsensitive, "d": .diacriticInsensitive, "n": .normalized,
            "l": .localeSensitive,
        ]
        guard case .word(let word, escaped: false) = kind else {
            throw failure("comparison options: any of c, d, n, l")
        }
        var options: ComparisonNode.Options = []
        for letter in word.lowercased() {
            guard let option = letters[letter] else {
                throw failure("comparison options: any of c, d, n, l")
            }
            options.insert(option)
        }
        index += 1
        try expect("]")
        return options
    }
}
