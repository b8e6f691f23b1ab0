/// Reads the lines of a script: words, or one JSON object.
enum LineScript {
    static let verbs = ["insert", "set", "link", "unlink", "delete", "save"]

    /// The steps of `text`. Throws a `CommandError` that tells the line.
    static func read(_ text: String) throws -> [ScriptStep] {
        var steps: [ScriptStep] = []
        // U+2028 and its like may stand in a text of JSON; they end no line.
        let lines = text.split(omittingEmptySubsequences: false) { ["\n", "\r\n"].contains($0) }
        for (index, line) in lines.enumerated() {
            do {
                let action =
                    line.drop(while: \.isWhitespace).first == "{"
                    ? try JSONScript.action(String(line)) : try action(String(line))
                if let action { steps.append(ScriptStep(line: index + 1, action: action)) }
            } catch let error as ScriptError {
                throw error.at(line: index + 1)
            }
        }
        return steps
    }

    private static func action(_ line: String) throws -> ScriptStep.Action? {
        let words = try ScriptWords.split(line)
        guard let verb = words.first else { return nil }
        let rest = Array(words.dropFirst())
        switch verb {
        case "insert": return try insert(rest)
        case "set":
            let target = try ScriptTarget(first(rest, "set OBJECT key=value …"))
            let values = try rest.dropFirst().map(assignment)
            guard !values.isEmpty else {
                throw ScriptError("'set' has nothing to set.", "Write set OBJECT key=value ….")
            }
            return .set(target, values: values)
        case "link":
            let (target, relationship) = try ScriptTarget.path(
                first(rest, "link OBJECT.relationship OBJECT …"))
            let (others, place) = try members(rest.dropFirst())
            return .link(target, relationship: relationship, others, place: place)
        case "unlink":
            let (target, relationship) = try ScriptTarget.path(
                first(rest, "unlink OBJECT.relationship OBJECT …"))
            return .unlink(target, relationship: relationship, try members(rest.dropFirst()).0)
        case "delete":
            guard rest.count == 1 else {
                throw ScriptError("'delete' takes one object.", "Write delete OBJECT.")
            }
            return .delete(try ScriptTarget(rest[0]))
        case "save":
            guard rest.isEmpty else { throw ScriptError("'save' stands alone on its line.") }
            return .save
        default:
            let near = Spelling.nearest(to: verb, among: verbs).map { "Did you mean '\($0)'? " }
            throw ScriptError(
                "'\(verb)' is no verb of a script.",
                (near ?? "") + "There are \(verbs.joined(separator: ", ")).")
        }
    }

    private static func insert(_ words: [String]) throws -> ScriptStep.Action {
        let entity = try first(words, "insert ENTITY alias key=value …")
        var rest = words.dropFirst()
        var alias: String?
        if let name = rest.first, ScriptTarget.isName(name) {
            alias = name
            rest.removeFirst()
        }
        return .insert(entity: entity, alias: alias, values: try rest.map(assignment))
    }

    private static func first(_ words: [String], _ form: String) throws -> String {
        guard let word = words.first else {
            throw ScriptError("The line ends too soon.", "Write \(form).")
        }
        return word
    }

    private static func assignment(_ word: String) throws -> ScriptStep.Assignment {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[0].contains("\"") else {
            throw ScriptError(
                "'\(word)' gives no value to a key.",
                "Write key=value, without spaces around =; quote values with spaces.")
        }
        return ScriptStep.Assignment(
            key: String(parts[0]), value: try ScriptValue(word: String(parts[1])))
    }

    private static func members(_ words: ArraySlice<String>) throws -> ([ScriptTarget], Int?) {
        var words = words
        var place: Int?
        if let last = words.last, last.hasPrefix("at=") {
            guard let number = Int(last.dropFirst(3)), number >= 0 else {
                throw ScriptError("'\(last)' is no place.", "Write at=0 for the first place.")
            }
            place = number
            words.removeLast()
        }
        guard !words.isEmpty else {
            throw ScriptError("The other object is missing.", "Name it behind the relationship.")
        }
        return (try words.map(ScriptTarget.init), place)
    }
}
