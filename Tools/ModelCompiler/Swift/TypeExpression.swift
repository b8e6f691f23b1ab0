/// A type as a declaration spells it.
indirect enum TypeExpression: Hashable, CustomStringConvertible {
    /// A name, of one or more components.
    case named([Component])
    case optional(TypeExpression)
    case array(TypeExpression)
    case dictionary(TypeExpression, TypeExpression)
    /// `any P`.
    case existential(TypeExpression)

    /// One component of a name, with its generic arguments.
    struct Component: Hashable {
        var name: String
        var arguments: [TypeExpression] = []
    }

    var description: String {
        switch self {
        case .named(let components): components.map(\.text).joined(separator: ".")
        case .optional(.existential(let type)): "(any \(type))?"
        case .optional(let type): "\(type)?"
        case .array(let type): "[\(type)]"
        case .dictionary(let key, let value): "[\(key): \(value)]"
        case .existential(let type): "any \(type)"
        }
    }
}

extension TypeExpression.Component {
    fileprivate var text: String {
        guard !arguments.isEmpty else { return name }
        return "\(name)<\(arguments.map(\.description).joined(separator: ", "))>"
    }
}

/// The tokens of one file, read from front to back.
struct TokenCursor {
    let tokens: [Token]
    let file: String
    var position = 0

    init(_ tokens: [Token], file: String) {
        self.tokens = tokens
        self.file = file
    }

    var current: Token? { position < tokens.count ? tokens[position] : nil }
    func next(_ offset: Int = 1) -> Token? {
        position + offset < tokens.count ? tokens[position + offset] : nil
    }

    var place: SourcePlace {
        SourcePlace(file: file, line: current?.line ?? tokens.last?.line ?? 1)
    }

    mutating func take() -> Token? {
        defer { position += 1 }
        return current
    }

    /// Passes `mark` if it stands here.
    mutating func takes(_ mark: String) -> Bool {
        guard current?.isMark(mark) == true else { return false }
        position += 1
        return true
    }

    /// Passes the word `word` if it stands here.
    mutating func takesWord(_ word: String) -> Bool {
        guard current?.isWord(word) == true else { return false }
        position += 1
        return true
    }

    mutating func name() throws -> String {
        guard let token = current, token.isName else {
            throw CompilerError(.malformedSource, "a name was expected here", at: place)
        }
        position += 1
        return token.text
    }

    /// Passes everything up to the bracket that closes the one standing here.
    mutating func skipBalanced(_ opener: String, _ closer: String) throws {
        let first = place
        var depth = 0
        repeat {
            guard let token = take() else {
                throw CompilerError(
                    .malformedSource, "the \(opener) has no \(closer); close it", at: first)
            }
            if token.isMark(opener) { depth += 1 }
            if token.isMark(closer) { depth -= 1 }
        } while depth > 0
    }

    // MARK: Types

    /// Reads a type. Throws for the kinds of types that no property of a model has.
    mutating func type() throws -> TypeExpression {
        var type = try plainType()
        while takes("?") || takes("!") { type = .optional(type) }
        if current?.isMark("&") == true || current?.isMark("->") == true {
            throw unsupportedType()
        }
        return type
    }

    private mutating func plainType() throws -> TypeExpression {
        if takesWord("any") { return .existential(try plainType()) }
        if takes("[") { return try collection() }
        if takes("(") {
            let inner = try type()
            guard takes(")"), current?.isMark("->") != true else { throw unsupportedType() }
            return inner
        }
        guard let token = current, token.isName, !token.isWord("some") else {
            throw unsupportedType()
        }
        var components = [try component()]
        while current?.isMark(".") == true, next()?.isName == true {
            position += 1
            components.append(try component())
        }
        return .named(components)
    }

    private mutating func collection() throws -> TypeExpression {
        let first = try type()
        guard takes(":") else {
            guard takes("]") else { throw unsupportedType() }
            return .array(first)
        }
        let value = try type()
        guard takes("]") else { throw unsupportedType() }
        return .dictionary(first, value)
    }

    private mutating func component() throws -> TypeExpression.Component {
        var component = TypeExpression.Component(name: try name())
        guard takes("<") else { return component }
        repeat { component.arguments.append(try type()) } while takes(",")
        guard takes(">") else { throw unsupportedType() }
        return component
    }

    private func unsupportedType() -> CompilerError {
        CompilerError(
            .unsupportedType,
            "@NSManaged members of this kind of type cannot be made; use a class, a value type, an"
                + " optional, an array, a set or a dictionary", at: place)
    }
}
