/// One element of a model file's XML, with the line it ends its start tag on; 0 where the file has
/// no lines.
final class MarkupElement {
    let name: String
    let attributes: [String: String]
    let file: String
    let line: Int
    fileprivate(set) var children: [MarkupElement] = []

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

    func flag(_ key: String, default fallback: Bool = false) throws -> Bool {
        guard let value = text(key) else { return fallback }
        if let flag = Self.flag(value) { return flag }
        throw badValue(key, value, expected: "YES or NO")
    }

    func integer(_ key: String) throws -> Int? {
        guard let value = text(key) else { return nil }
        if let number = Int(value) { return number }
        throw badValue(key, value, expected: "a whole number")
    }

    func number(_ key: String) throws -> Double? {
        guard let value = text(key) else { return nil }
        if let number = Double(value), number.isFinite { return number }
        throw badValue(key, value, expected: "a number")
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

    func badValue(_ key: String, _ value: String, expected: String) -> ModelFileError {
        problem(
            .badValue,
            "\(key)=\"\(value.prefix(80))\" of \(label) is no valid value; expected \(expected)",
            fields: ["value": value, "expected": expected])
    }

    func problem(
        _ code: ModelFileError.Code, _ sentence: String, fields: [String: String] = [:]
    ) -> ModelFileError {
        ModelFileError(code, file: file, line: line, sentence, fields: fields)
    }

    /// The element as a message calls it, for example `attribute “title”`.
    var label: String { text("name").map { "\(name) “\($0)”" } ?? "<\(name)>" }
}
