/// The help, made of the manuals.
enum HelpText {
    static func usage(of manual: Manual) -> String {
        let options = manual.options.isEmpty ? "" : " [options]"
        var words = manual.operands + manual.optionalOperands.map { "[\($0)]" }
        if manual.repeatsLastOperand, let last = words.popLast() { words.append(last + "…") }
        return (["diptych", manual.name] + words).joined(separator: " ") + options
    }

    static func text(of manual: Manual) -> String {
        var parts = ["\(manual.summary)\n\n  \(usage(of: manual))"]
        var options = TextTable(indent: 2)
        for option in manual.allOptions { options.add(option.spelling, option.help) }
        parts.append("Options\n" + options.text)
        parts += manual.notes
        if !manual.options.filter(\.isSetting).isEmpty {
            let names = manual.options.filter(\.isSetting).map { "--\($0.name)" }
            parts.append(
                wrapped(
                    names.joined(separator: ", ") + " may also stand in a variable "
                        + "(DIPTYCH_ and the name in capitals, - as _), or as 'name = value' in "
                        + "diptych.conf beside the store or in XDG_CONFIG_HOME. The flag wins, "
                        + "then the variable."))
        }
        let examples = manual.examples.map { "  # \($0.what)\n  \($0.line)" }
        parts.append((["Examples"] + examples).joined(separator: "\n"))
        return parts.joined(separator: "\n\n")
    }

    // MARK: For programs

    static var json: JSON {
        [
            "name": "diptych", "version": .string(Command.version),
            "verbs": .array(VerbTable.manuals.map(json)),
            "exitStatuses": .array(
                statuses.map { ["status": .integer(Int64($0.0)), "meaning": .string($0.1)] }),
        ]
    }

    static func json(of manual: Manual) -> JSON {
        [
            "name": .string(manual.name), "summary": .string(manual.summary),
            "usage": .string(usage(of: manual)),
            "operands": .array(manual.operands.map(JSON.string)),
            "optionalOperands": .array(manual.optionalOperands.map(JSON.string)),
            "repeatsLastOperand": .bool(manual.repeatsLastOperand),
            "options": .array(manual.allOptions.map(json)),
            "notes": .array(manual.notes.map(JSON.string)),
            "examples": .array(
                manual.examples.map { ["line": .string($0.line), "what": .string($0.what)] }),
        ]
    }

    private static func json(_ option: Option) -> JSON {
        [
            "name": .string(option.name), "value": JSON(option.value),
            "help": .string(option.help), "setting": .bool(option.isSetting),
            "variable": option.isSetting ? .string(option.variable) : .null,
        ]
    }

    // MARK: The whole

    private static let statuses: [(Int, String)] = [
        (0, "done; for sync and status: in sync"),
        (1, "the work failed; standard error says why and what to do"),
        (2, "wrong usage"),
        (3, "done, and conflicts wait for a decision"),
        (4, "done, but something that should be there cannot be read, and is missing"),
        (75, "the service is away or asks to wait, or another process holds the store"),
        (130, "Ctrl-C; the store is whole"),
        (141, "nobody reads the output any more, as behind head"),
        (143, "SIGTERM; the store is whole"),
    ]

    private static var statusLines: String {
        var table = TextTable(rightAligned: [0], indent: 2)
        for (status, meaning) in statuses { table.add("\(status)", meaning) }
        return table.text
    }

    static var overview: String {
        var verbs = TextTable(indent: 2)
        for manual in VerbTable.manuals { verbs.add(manual.name, manual.summary) }
        return """
            Diptych keeps Core Data stores of several machines equal, with a service of its own.

              diptych VERB [operands] [options]

            Verbs
            \(verbs.text)

            Options
              --help     print this help; after a verb, the verb's
              --version  print the version; -v does too
              --json     print JSON, for programs
              --quiet    print errors only, and what the verb was asked for

            Exit status
            \(statusLines)

            Control characters in names and values are shown as \\u{…}. Colours are left out where
            output is no terminal, or NO_COLOR is set; COLUMNS sets the width where it is none.

            Example
              # start a service on this machine, then put a store under sync
              diptych serve --data records --listen 127.0.0.1:8443
              diptych create Library.sqlite --model Library.xcdatamodel
              diptych sync Library.sqlite --service https://127.0.0.1:8443 \\
                  --container iCloud.local.diptych --ca-file records/tls/authority.pem \\
                  --token-file records/iCloud.local.diptych.tokens --remember
            """
    }

    /// Lines of at most 90 characters.
    static func wrapped(_ text: String, indent: String = "") -> String {
        var lines: [String] = []
        var line = indent
        for word in text.split(separator: " ") {
            if line.count + word.count + 1 > 90, line != indent {
                lines.append(line)
                line = indent
            }
            line += line == indent ? String(word) : " \(word)"
        }
        return (lines + [line]).joined(separator: "\n")
    }
}
