/// A body between braces, with the line that opens it.
struct Body {
    enum Kind { case function, type }
    let kind: Kind
    let name: String
    /// The keyword: func, init, var, class, struct and so on.
    let keyword: String
    let first: Int
    let last: Int

    var lineCount: Int { last - first + 1 }
}

/// Finds the bodies of functions and types by matching braces in stripped code.
struct Declarations {
    let bodies: [Body]

    private static let function = try? Pattern(
        Pattern.modifiers + #"(func|init|deinit|subscript)\b[ ?!]*([^\s(<{]*)"#
    )
    private static let variable = try? Pattern(#"\bvar\s+(`?\w+`?)[^=]*\{\s*$"#)
    private static let type = try? Pattern(
        Pattern.modifiers
            + #"(class|struct|enum|actor|protocol|extension)\s+"#
            + #"(?!func\b|var\b|let\b)([A-Za-z_][\w.]*)"#
    )

    /// `code` is stripped of comments and the inside of texts.
    init(code: [String]) {
        var bodies: [Body] = []
        for (index, line) in code.enumerated() {
            guard let (kind, keyword, name) = Self.opening(line),
                let last = Self.end(of: code, from: index)
            else { continue }
            bodies.append(
                Body(kind: kind, name: name, keyword: keyword, first: index + 1, last: last + 1))
        }
        self.bodies = bodies
    }

    private static func opening(_ line: String) -> (Body.Kind, String, String)? {
        if let groups = type?.groups(in: line) { return (.type, groups[1], groups[2]) }
        if let groups = function?.groups(in: line) { return (.function, groups[1], groups[2]) }
        if let groups = variable?.groups(in: line) { return (.function, "var", groups[1]) }
        return nil
    }

    /// Returns the line of the brace that closes the body opened at or after `start`, and nil when
    /// there is no body, as in a protocol.
    private static func end(of code: [String], from start: Int) -> Int? {
        var braces = 0
        var parentheses = 0
        for index in start..<code.count {
            let isContinued = index == start || parentheses > 0 || braces > 0
            if !isContinued, !continues(code[index]) { return nil }
            for byte in code[index].utf8 {
                switch byte {
                case UInt8(ascii: "("), UInt8(ascii: "["): parentheses += 1
                case UInt8(ascii: ")"), UInt8(ascii: "]"): parentheses -= 1
                case UInt8(ascii: "{") where parentheses == 0 || braces > 0: braces += 1
                case UInt8(ascii: "}") where braces > 0:
                    braces -= 1
                    if braces == 0 { return index }
                default: break
                }
            }
        }
        return nil
    }

    /// Whether a line may carry on a signature that has no body yet.
    static func continues(_ line: String) -> Bool {
        let text = line.drop(while: { $0 == " " })
        return ["{", ")", "->", "where", "throws", "async", "rethrows", ":"].contains {
            text.hasPrefix($0)
        }
    }
}
