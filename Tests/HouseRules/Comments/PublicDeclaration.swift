/// A declaration that other modules see, with its comment.
struct PublicDeclaration {
    let path: String
    /// From 1.
    let line: Int
    /// func, init, subscript, var, let, case, typealias, associatedtype, or a type's keyword.
    let keyword: String
    let name: String
    let modifiers: String
    /// From the keyword up to the body, without the inside of texts.
    let signature: String
    /// The text after `///`, its lines joined.
    let comment: String
    /// The types and extensions around it, the innermost last.
    let owners: [TypeScope]

    var owner: TypeScope? { owners.last }
    var isType: Bool { TypeScope.keywords.contains(keyword) }
    var isOverride: Bool { modifiers.contains("override") }
    var isThrowing: Bool { effects.contains(" throws") }
    var isAsync: Bool { effects.contains(" async") }

    /// With its owner's name, as `RowStore.row(_:)`.
    var fullName: String { ((owner.map { [$0.name] } ?? []) + [selector]).joined(separator: ".") }

    /// The name with its labels, as `row(_:)`.
    var selector: String {
        guard ["func", "init", "subscript"].contains(keyword) else { return name }
        return "\(name)(\(labels.map { $0 + ":" }.joined()))"
    }

    /// The first word of each argument.
    private var labels: [String] {
        guard let open = signature.firstIndex(of: "(") else { return [] }
        var depth = 0
        var arguments = [""]
        for character in signature[open...] {
            if ")]}".contains(character) { depth -= 1 }
            if depth == 0, character == ")" { break }
            if depth == 1, character == "," {
                arguments.append("")
            } else if depth > 0 {
                arguments[arguments.count - 1].append(character)
            }
            if "([{".contains(character) { depth += 1 }
        }
        return arguments.filter { $0.contains(":") }.compactMap { argument in
            argument.split { $0.isWhitespace || $0 == ":" }.first { !$0.hasPrefix("@") }
                .map(String.init)
        }
    }

    /// What a call does besides returning: the words behind its arguments, or its getter's.
    private var effects: Substring {
        switch keyword {
        case "func", "init", "subscript", "var":
            let words = keyword == "var" ? getter : outside[...]
            return words.prefix(upTo: words.firstRange(of: "->")?.lowerBound ?? words.endIndex)
        default: return ""
        }
    }

    /// What a property says of reading it: `get async throws`.
    private var getter: Substring {
        guard let range = signature.firstRange(of: "{ get") else { return "" }
        return signature[range.upperBound...]
    }

    /// The signature without what stands in brackets.
    private var outside: String {
        var depth = 0
        var text = ""
        for character in signature {
            if ")]}".contains(character) { depth -= 1 }
            if depth == 0 { text.append(character) }
            if "([{".contains(character) { depth += 1 }
        }
        return text
    }
}

/// A type or an extension, whose braces hold declarations.
struct TypeScope {
    static let keywords: Set = ["class", "struct", "enum", "actor", "protocol", "extension"]

    let keyword: String
    /// With the outer types' names before it.
    let name: String
    /// Whether what it holds can be public.
    let isPublic: Bool
    /// Whether what it holds is public without saying so.
    let makesPublic: Bool
    let comment: String
    /// The names after the colon.
    let inherited: [String]
}
