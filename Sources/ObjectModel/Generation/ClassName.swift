/// The name of an entity's class as Swift spells it inside the module that has the class.
struct ClassName: Hashable {
    /// The whole name, without the program's own module.
    let text: String

    static let managedObject = ClassName(text: "NSManagedObject")
    var isManagedObject: Bool { text == "NSManagedObject" }

    /// The last component.
    var last: String { text.split(separator: ".").last.map(String.init) ?? text }

    /// The type a nested class is declared in; nil for a class of the module itself.
    var outer: String? {
        guard let dot = text.lastIndex(of: ".") else { return nil }
        return String(text[..<dot])
    }

    /// The name as part of a file's name.
    var fileName: String { text.split(separator: ".").joined(separator: "_") }

    private init(text: String) { self.text = text }

    /// Reads the name in the model: `Book`, `.Book` (the program's own module) or `Module.Book`.
    ///
    /// A first component is taken for the module, as Xcode writes it; further ones nest.
    init(of entity: NSEntityDescription) throws {
        let className: String = entity.managedObjectClassName
        let parts = className.split(separator: ".").map(String.init)
        for part in parts where !SwiftName.isIdentifier(part) {
            throw ClassGenerationError(.badName, entity: entity.name, fields: ["value": part])
        }
        let isRelative = className.hasPrefix(".")
        let own = parts.count > 1 && !isRelative ? Array(parts.dropFirst()) : parts
        text = own.isEmpty ? "NSManagedObject" : own.joined(separator: ".")
    }
}

/// Names as Swift spells them.
enum SwiftName {
    /// Whether Swift takes `name` as an identifier, in backticks at most.
    static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first == "_" || first.properties.isXIDStart
        else { return false }
        return name.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue }
    }

    /// The name of a member, in backticks where it is a word of the language.
    static func member(_ name: String) -> String {
        words.contains(name) ? "`\(name)`" : name
    }

    /// The name with its first letter as a capital, for accessors such as `addToTags`.
    static func capitalized(_ name: String) -> String {
        name.prefix(1).uppercased() + name.dropFirst()
    }

    private static let words: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import",
        "init", "inout", "internal", "let", "open", "operator", "private", "precedencegroup",
        "protocol", "public", "rethrows", "static", "struct", "subscript", "typealias", "var",
        "break", "case", "catch", "continue", "default", "defer", "do", "else", "fallthrough",
        "for", "guard", "if", "in", "repeat", "return", "throw", "switch", "where", "while", "Any",
        "as", "await", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try",
    ]
}
