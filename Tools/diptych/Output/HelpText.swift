/// The help, made of the manuals.
enum HelpText {
    static func usage(of manual: Manual) -> String {
        let options = manual.options.isEmpty ? "" : " [options]"
        let words = manual.operands + manual.optionalOperands.map { "[\($0)]" }
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
              --version  print the version
              --json     print JSON, for programs
              --quiet    print no progress

            Exit status
               0  done
               1  the work failed; standard error says why and what to do
               2  wrong usage
               3  done, and conflicts wait for a decision
              75  the service is away or asks to wait; try again

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
