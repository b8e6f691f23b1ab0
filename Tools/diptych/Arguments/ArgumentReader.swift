/// Reads the words after a verb by its manual.
struct ArgumentReader {
    let manual: Manual
    private var operands: [String] = []
    private var values: [String: String] = [:]

    init(_ manual: Manual) { self.manual = manual }

    /// Throws a `CommandError` of status `.usage` for what the manual does not know.
    static func read(
        _ words: [String], by manual: Manual, environment: [String: String]
    ) throws -> Arguments {
        var reader = ArgumentReader(manual)
        try reader.read(words)
        if reader.values["help"] == nil { try reader.checkOperands() }
        return try Arguments(
            manual: manual, operands: reader.operands, flags: reader.values,
            environment: environment)
    }

    private mutating func read(_ words: [String]) throws {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                return
            } else if word == "-h" {
                values["help"] = ""
            } else if word.hasPrefix("--") {
                try readOption(word.dropFirst(2), &rest)
            } else if word.hasPrefix("-"), word != "-" {
                throw wrong(
                    "There is no option \(word).",
                    "Options are spelled out, such as --json; `diptych \(manual.name) --help` "
                        + "lists them. Write -- before a name that begins with a dash.")
            } else {
                operands.append(word)
            }
        }
    }

    private mutating func readOption(_ word: Substring, _ rest: inout ArraySlice<String>) throws {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts.first ?? "")
        guard let option = manual.allOptions.first(where: { $0.name == name }) else {
            throw unknown(name)
        }
        let former = values[name]
        guard former == nil || option.repeats else {
            throw wrong("--\(name) is given twice.", "Give it once.")
        }
        defer {
            if let former, let value = values[name] {
                values[name] = former + Arguments.separator + value
            }
        }
        guard option.value != nil else {
            guard parts.count == 1 else {
                throw wrong("--\(name) takes no value.", "Write --\(name) alone.")
            }
            values[name] = ""
            return
        }
        if parts.count == 2 {
            values[name] = String(parts[1])
        } else if let next = rest.first, !isOption(next) {
            values[name] = next
            rest.removeFirst()
        } else {
            throw wrong("--\(name) lacks its value.", "Write \(option.spelling).")
        }
    }

    private func isOption(_ word: String) -> Bool {
        word.hasPrefix("--")
            && manual.allOptions.contains {
                word == "--\($0.name)" || word.hasPrefix("--\($0.name)=")
            }
    }

    private func checkOperands() throws {
        let usage = "Write \(HelpText.usage(of: manual))."
        // An empty word, as of a variable that is not set, would be the current folder.
        let missing = manual.operands.enumerated().first { index, _ in
            index >= operands.count || operands[index].isEmpty
        }
        if let missing { throw wrong("\(missing.element) is missing.", usage) }
        guard !manual.repeatsLastOperand else { return }
        let most = manual.operands.count + manual.optionalOperands.count
        guard operands.count <= most else {
            throw wrong(
                "'\(operands[most])' is one word too many.",
                usage + " Put names with spaces in quotes.")
        }
    }

    private func unknown(_ name: String) -> CommandError {
        let near = Spelling.nearest(to: name, among: manual.allOptions.map(\.name))
        let hint = near.map { "Did you mean --\($0)? " } ?? ""
        return wrong(
            "There is no option --\(name).",
            hint + "`diptych \(manual.name) --help` lists the options.")
    }

    private func wrong(_ message: String, _ hint: String) -> CommandError {
        CommandError("usage", message, hint: hint, status: .usage)
    }
}

/// Guesses what was meant by a word that is unknown.
enum Spelling {
    /// The word that takes the fewest changes, where those are few.
    static func nearest(to word: String, among words: [String]) -> String? {
        // A word of any length is compared with none that could not be meant.
        guard let longest = words.map(\.count).max(), word.count <= longest * 2 else { return nil }
        let found = words.map { ($0, distance(Array(word), Array($0))) }.min { $0.1 < $1.1 }
        let changesMax = word.count < 4 ? 1 : max(2, word.count / 3)
        guard let (name, changes) = found, changes <= changesMax else { return nil }
        return name
    }

    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var row = Array(0...right.count)
        for (i, character) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, other) in right.enumerated() {
                let replaced = diagonal + (character == other ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[right.count]
    }
}
