/// A piece of Swift source that tells where declarations begin and end.
struct Token: Hashable {
    enum Kind: Hashable {
        /// An identifier or a keyword.
        case word
        /// An identifier in backticks, which is never a keyword.
        case quotedWord
        /// A string, a number or a regular expression.
        case literal
        /// One character, or the arrow of a function type.
        case mark
        /// `#if`, `#elseif`, `#else` or `#endif`, with the rest of its line.
        case condition
    }

    var kind: Kind
    var text: String
    var line: Int
    /// Whether white space stands before it.
    var isApart: Bool
    /// Whether it stands where only a build setting decides if it is compiled.
    var isUncertain = false

    func isMark(_ mark: String) -> Bool { kind == .mark && text == mark }
    func isWord(_ word: String) -> Bool { kind == .word && text == word }
    var isName: Bool { kind == .quotedWord || kind == .word && !Keyword.reserved.contains(text) }
}

/// Words of the language that matter to a reader of declarations.
enum Keyword {
    static let types: Set<String> = ["class", "struct", "enum", "actor", "protocol", "extension"]

    static let modifiers: Set<String> = [
        "public", "open", "internal", "private", "fileprivate", "package", "final", "dynamic",
        "override", "static", "lazy", "weak", "unowned", "nonisolated", "mutating", "nonmutating",
        "indirect", "convenience", "required", "optional", "isolated", "distributed", "prefix",
        "postfix", "infix", "borrowing", "consuming", "sending",
    ]

    /// Words that never name a type or a member outside backticks.
    static let reserved: Set<String> = [
        "class", "struct", "enum", "protocol", "extension", "func", "var", "let", "import", "init",
        "deinit", "subscript", "typealias", "associatedtype", "operator", "case", "if", "else",
        "for", "while", "repeat", "switch", "return", "throw", "throws", "rethrows", "try", "catch",
        "do", "defer", "guard", "in", "is", "as", "where", "self", "super", "nil", "true", "false",
        "static", "public", "private", "fileprivate", "internal", "inout", "break", "continue",
        "default", "fallthrough",
    ]
}
