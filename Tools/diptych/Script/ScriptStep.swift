/// One line of a script, read and not yet done.
struct ScriptStep: Sendable {
    enum Action: Sendable {
        case insert(entity: String, alias: String?, values: [Assignment])
        case set(ScriptTarget, values: [Assignment])
        /// `place` is where the first goes in an ordered relationship; nil: at the end.
        case link(ScriptTarget, relationship: String, [ScriptTarget], place: Int?)
        case unlink(ScriptTarget, relationship: String, [ScriptTarget])
        case delete(ScriptTarget)
        case save
    }

    /// `key=value`.
    struct Assignment: Sendable {
        let key: String
        let value: ScriptValue
    }

    let line: Int
    let action: Action
}

/// A value as the script spells it; what it becomes depends on the attribute.
enum ScriptValue: Sendable {
    case null
    case text(String)
}

/// What a script calls an object, or several.
enum ScriptTarget: Sendable {
    /// The name that `insert` gave.
    case alias(String)
    /// `x-coredata://…/Entity/p1`
    case identifier(String)
    /// `Entity[predicate]`
    case matching(entity: String, predicate: String)

    /// Throws for text that is none of the three.
    init(_ text: String) throws {
        if text.hasPrefix("x-coredata://") {
            self = .identifier(text)
        } else if let bracket = text.firstIndex(of: "["), text.hasSuffix("]") {
            let predicate = text[text.index(after: bracket)...].dropLast()
            self = .matching(entity: String(text[..<bracket]), predicate: String(predicate))
        } else if Self.isName(text) {
            self = .alias(text)
        } else {
            throw ScriptError(
                "'\(text)' names no object.",
                "Write an alias, an x-coredata:// id, or Entity[predicate].")
        }
    }

    /// Splits `target.relationship`.
    static func path(_ text: String) throws -> (ScriptTarget, relationship: String) {
        let end = text.lastIndex(of: "]") ?? text.startIndex
        guard let dot = text[end...].lastIndex(of: "."), dot != text.startIndex else {
            throw ScriptError(
                "'\(text)' names no relationship of an object.", "Write it as object.relationship.")
        }
        return (try ScriptTarget(String(text[..<dot])), String(text[text.index(after: dot)...]))
    }

    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
    }

    var text: String {
        switch self {
        case .alias(let name), .identifier(let name): name
        case .matching(let entity, let predicate): "\(entity)[\(predicate)]"
        }
    }
}

/// What is wrong with a line of a script, before its number is known.
struct ScriptError: Error, Sendable {
    let message: String
    let hint: String?

    init(_ message: String, _ hint: String? = nil) {
        self.message = message
        self.hint = hint
    }

    func at(line: Int) -> CommandError {
        CommandError("script", "Line \(line): \(message)", hint: hint)
    }
}
