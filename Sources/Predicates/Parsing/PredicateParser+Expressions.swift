extension PredicateParser {
    /// Reads an expression: sets of bits of sums of products of powers of signed, indexed, dotted
    /// things.
    mutating func expression() throws(PredicateFormatError) -> ExpressionNode {
        try enter()
        defer { depth -= 1 }
        if case .variable(let name) = kind, following == .symbol(":=") {
            index += 2
            return .function(FunctionName.assign, [.constant(name), try expression()])
        }
        var left = try bits()
        while true {
            if takes(word: "UNION") {
                left = .unionSet(left, try bits())
            } else if takes(word: "INTERSECT") {
                left = .intersectSet(left, try bits())
            } else if takes(word: "MINUS") {
                left = .minusSet(left, try bits())
            } else {
                return left
            }
            try countOperator()
        }
    }

    /// What signs between bits stand for, and how much they bind: as in C, and all of them more
    /// than comparisons.
    private static let bitSigns: [String: (function: String, binding: Int)] = [
        "|": (FunctionName.bitwiseOr, 0), "^": (FunctionName.bitwiseXor, 1),
        "&": (FunctionName.bitwiseAnd, 2), "<<": (FunctionName.leftShift, 3),
        ">>": (FunctionName.rightShift, 3),
    ]

    /// Reads what binds at least so much.
    private mutating func bits(_ least: Int = 0) throws(PredicateFormatError) -> ExpressionNode {
        var left = try sum()
        while case .symbol(let sign) = kind, let (function, binding) = Self.bitSigns[sign],
            binding >= least
        {
            index += 1
            left = .function(function, [left, try bits(binding + 1)])
            try countOperator()
        }
        return left
    }

    private mutating func sum() throws(PredicateFormatError) -> ExpressionNode {
        var left = try product()
        while true {
            if takes(symbol: "+") {
                left = .function(FunctionName.add, [left, try product()])
            } else if takes(symbol: "-") {
                left = .function(FunctionName.subtract, [left, try product()])
            } else {
                return left
            }
            try countOperator()
        }
    }

    private mutating func product() throws(PredicateFormatError) -> ExpressionNode {
        var left = try power()
        while true {
            if takes(symbol: "*") {
                left = .function(FunctionName.multiply, [left, try power()])
            } else if takes(symbol: "/") {
                left = .function(FunctionName.divide, [left, try power()])
            } else {
                return left
            }
            try countOperator()
        }
    }

    private mutating func power() throws(PredicateFormatError) -> ExpressionNode {
        let base = try signed()
        guard takes(symbol: "**") else { return base }
        try enter()
        defer { depth -= 1 }
        return .function(FunctionName.power, [base, try power()])
    }

    private mutating func signed() throws(PredicateFormatError) -> ExpressionNode {
        if takes(symbol: "~") {
            try enter()
            defer { depth -= 1 }
            return .function(FunctionName.onesComplement, [try signed()])
        }
        guard takes(symbol: "-") else { return try postfix() }
        if case .literal(let literal) = kind, literal.isNumber {
            let node = try number(literal, isNegative: true)
            index += 1
            return try indexed(node)
        }
        try enter()
        defer { depth -= 1 }
        return .function(FunctionName.multiply, [.constant(-1), try signed()])
    }

    private mutating func postfix() throws(PredicateFormatError) -> ExpressionNode {
        try indexed(try primary())
    }

    private mutating func indexed(
        _ start: ExpressionNode
    ) throws(PredicateFormatError) -> ExpressionNode {
        var node = start
        while true {
            if takes(symbol: ".") {
                node = node.appending(try pathElements())
            } else if takes(symbol: "[") {
                node = .function(FunctionName.index, [node, try subscriptIndex()])
                try expect("]")
            } else {
                return node
            }
            try countOperator()
        }
    }

    private mutating func pathElements() throws(PredicateFormatError) -> [String] {
        defer { index += 1 }
        switch kind {
        case .word(let name, _): return [name]
        case .collectionOperator(let name): return [name]
        case .keyPathArgument(let number): return try keyPath(number)
        default: throw failure("a key after the dot")
        }
    }

    private mutating func subscriptIndex() throws(PredicateFormatError) -> ExpressionNode {
        for symbol in [FunctionName.firstSymbol, FunctionName.lastSymbol, FunctionName.sizeSymbol]
        where following == .symbol("]") && takes(word: symbol) {
            return .function(symbol, [])
        }
        return try expression()
    }

    /// Reads the argument of `%K`.
    func keyPath(_ number: Int) throws(PredicateFormatError) -> [String] {
        guard case .text(let text) = Constant(try argument(number)), !text.isEmpty else {
            throw failure("a text that names a key path as the argument of %K", .badArgument)
        }
        return text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    func number(
        _ literal: Token.Literal, isNegative: Bool = false
    ) throws(PredicateFormatError) -> ExpressionNode {
        switch literal {
        case .text(let text): return .constant(text)
        case .real(let value): return .constant(isNegative ? -value : value)
        case .integer(let magnitude):
            if isNegative, magnitude <= UInt64(Int.max) + 1 {
                return .constant(Int(truncatingIfNeeded: 0 &- magnitude))
            }
            if !isNegative, let value = Int(exactly: magnitude) { return .constant(value) }
            if !isNegative { return .constant(plainConstant(magnitude)) }
            throw failure("an integer that fits 64 bits")
        }
    }
}

extension ExpressionNode {
    /// The expression of a key path's elements, in which `SELF` at the start is the object itself.
    static func path(_ elements: [String]) -> ExpressionNode {
        guard elements.first?.uppercased() == "SELF" else { return .keyPath(elements) }
        return ExpressionNode.evaluatedObject.appending(Array(elements.dropFirst()))
    }

    /// The expression followed by more keys.
    func appending(_ elements: [String]) -> ExpressionNode {
        if elements.isEmpty { return self }
        return switch self {
        case .keyPath(let path): .keyPath(path + elements)
        case .path(from: let origin, let path): .path(from: origin, path + elements)
        default: .path(from: self, elements)
        }
    }
}
