/// One element of a model file's XML, with the line it ends its start tag on; 0 where the file has
/// no lines.
final class MarkupElement {
    let name: String
    let attributes: [String: String]
    let file: String
    let line: Int
    fileprivate(set) var children: [MarkupElement] = []
    /// What was read otherwise than it stands here, a phrase each.
    private var notes: [String] = []

    init(name: String, attributes: [String: String], file: String, line: Int) {
        self.name = name
        self.attributes = attributes
        self.file = file
        self.line = line
    }

    func add(_ child: MarkupElement) { children.append(child) }

    func children(named name: String) -> [MarkupElement] { children.filter { $0.name == name } }

    // MARK: Values

    /// The attribute's text; nil when it is absent or empty.
    func text(_ key: String) -> String? {
        guard let value = attributes[key], !value.isEmpty else { return nil }
        return value
    }

    /// The attribute's text; throws `.missingName` when it is absent or empty.
    func requiredText(_ key: String) throws -> String {
        if let value = text(key) { return value }
        throw problem(
            .missingName, "<\(name)> has no \(key); expected \(key)=\"…\"",
            fields: ["expected": key])
    }

    /// A flag; any other text than YES or NO counts as `LeadingValue` reads it, with a note.
    func flag(_ key: String, default fallback: Bool = false) -> Bool {
        guard let value = text(key) else { return fallback }
        if let flag = Self.flag(value) { return flag }
        let flag = LeadingValue(value).flag
        note(key, value, "is neither YES nor NO; read as \(flag ? "YES" : "NO")")
        return flag
    }

    /// A whole number within `bounds`; what is none counts as the nearest one, with a note.
    func integer(_ key: String, in bounds: ClosedRange<Int>) -> Int? {
        guard let value = text(key) else { return nil }
        if let number = Int(value), bounds.contains(number) { return number }
        let leading = LeadingValue(value).integer(as: Int.self) ?? 0
        let number = min(max(leading, bounds.lowerBound), bounds.upperBound)
        let expected = "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)"
        note(key, value, "is not \(expected); read as \(number)")
        return number
    }

    // MARK: Notes

    /// Notes that a value is not read as it stands.
    func note(_ key: String, _ value: String, _ sentence: String) {
        note("\(key)=\"\(value.prefix(80))\" \(sentence)")
    }

    /// Notes something that is read otherwise than it stands.
    func note(_ sentence: String) {
        if !notes.contains(sentence) { notes.append(sentence) }
    }

    /// The notes of this element and those below, each with its line and the names around it.
    func allNotes(inside path: String = "") -> [String] {
        let here = text("name").map { path.isEmpty ? $0 : "\(path).\($0)" } ?? path
        let place = here.isEmpty ? "<\(name)>" : here
        let line = line > 0 ? ", line \(line)" : ""
        return notes.map { "\(place)\(line): \($0)" }
            + children.flatMap { $0.allNotes(inside: here) }
    }

    /// YES or NO in any of the spellings seen in files; nil for anything else.
    static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "yes", "true", "1": true
        case "no", "false", "0": false
        default: nil
        }
    }

    /// The name in the previous model version; nil where it is no other than the present one.
    var formerName: String? { text("elementID").flatMap { $0 == text("name") ? nil : $0 } }

    // MARK: Errors

    func problem(
        _ code: ModelFileError.Code, _ sentence: String, fields: [String: String] = [:]
    ) -> ModelFileError {
        ModelFileError(code, file: file, line: line, sentence, fields: fields)
    }

    /// The element as a message calls it, for example `attribute “title”`.
    var label: String { text("name").map { "\(name) “\($0)”" } ?? "<\(name)>" }
}
