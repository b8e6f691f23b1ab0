extension PredicateParser {
    var kind: Token.Kind { tokens[index].kind }

    /// The token after this one; after the end comes the end.
    var following: Token.Kind { index + 1 < tokens.count ? tokens[index + 1].kind : .end }

    /// Takes a keyword, in any case of letters, or the sign that says the same.
    mutating func takes(word: String, or sign: String? = nil) -> Bool {
        switch kind {
        case .word(let found, escaped: false) where found.uppercased() == word: break
        case .symbol(let found) where found == sign: break
        default: return false
        }
        index += 1
        return true
    }

    mutating func takes(symbol: String) -> Bool {
        guard kind == .symbol(symbol) else { return false }
        index += 1
        return true
    }

    mutating func expect(_ symbol: String) throws(PredicateFormatError) {
        guard takes(symbol: symbol) else { throw failure("\"\(symbol)\"") }
    }

    func finish(_ expected: String) throws(PredicateFormatError) {
        guard kind == .end else { throw failure(expected) }
    }

    func failure(
        _ expected: String, _ code: PredicateFormatError.Code = .syntax, at place: Int? = nil
    ) -> PredicateFormatError {
        PredicateFormatError(
            code, position: tokens[min(place ?? index, tokens.count - 1)].position,
            expected: expected, format: format)
    }

    /// Goes one level deeper; the caller comes back up by lowering `depth`.
    mutating func enter() throws(PredicateFormatError) {
        guard depth < Self.depthMax else {
            throw failure("at most \(Self.depthMax) levels; build deeper trees of parts", .tooDeep)
        }
        depth += 1
    }

    /// Counts one operator of a chain, which the tree holds as one level.
    mutating func countOperator() throws(PredicateFormatError) {
        operatorCount += 1
        guard operatorCount <= Self.operatorsMax else {
            throw failure("at most \(Self.operatorsMax) chained operators", .tooDeep)
        }
    }

    func argument(_ number: Int) throws(PredicateFormatError) -> Any? {
        guard number < arguments.count else {
            throw failure("an argument: the format has more placeholders", .missingArgument)
        }
        return arguments[number]
    }

    static func closings(of tokens: [Token]) -> [Int: Int] {
        var open: [Int] = []
        var closings: [Int: Int] = [:]
        for (index, token) in tokens.enumerated() {
            if token.kind == .symbol("(") { open.append(index) }
            if token.kind == .symbol(")"), let opening = open.popLast() {
                closings[opening] = index
            }
        }
        return closings
    }
}
