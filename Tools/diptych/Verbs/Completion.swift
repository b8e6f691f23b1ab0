internal import Foundation

/// `diptych completion`: what a shell needs to complete the command's words.
struct Completion: Verb {
    static let manual = Manual(
        name: "completion", summary: "Prints the completion of this command for a shell.",
        operands: ["SHELL"], works: Shell.allCases.map(\.rawValue),
        readsSettingsBesideStore: false,
        notes: [
            HelpText.wrapped(
                "SHELL is bash, zsh or fish. Verbs, options, the words of WORK and those that an "
                    + "option takes are completed; everything else as a file.")
        ],
        examples: [
            (
                "diptych completion bash > ~/.local/share/bash-completion/completions/diptych",
                "for bash, from the next shell on"
            ), ("diptych completion zsh > \"${fpath[1]}/_diptych\"", "for zsh"),
            ("diptych completion fish > ~/.config/fish/completions/diptych.fish", "for fish"),
        ])

    private enum Shell: String, CaseIterable { case bash, zsh, fish }

    private let shell: Shell

    init(_ arguments: Arguments) throws {
        guard let shell = Shell(rawValue: arguments.operand(0)) else {
            let names = Shell.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandError(
                "usage", "SHELL cannot be '\(arguments.operand(0))'.",
                hint: "Choose one of \(names).", status: .usage)
        }
        self.shell = shell
    }

    func run(_ console: Console) async throws -> ExitStatus {
        let script = CompletionScript(manuals: VerbTable.manuals)
        let text =
            switch shell {
            case .bash: script.bash
            case .zsh: script.zsh
            case .fish: script.fish
            }
        if console.isJSON {
            console.emit(["shell": .string(shell.rawValue), "script": .string(text)])
        } else {
            console.block(text)
        }
        return .done
    }
}

/// The scripts, made of the manuals.
struct CompletionScript {
    let manuals: [Manual]

    private static let general = ["help", "--help", "--version"]

    private var verbs: [String] { manuals.map(\.name) }

    /// The words that follow an option, in all verbs that have it.
    private var choices: [(option: String, words: [String])] {
        var found: [String: [String]] = [:]
        for option in manuals.flatMap(\.allOptions) where !option.words.isEmpty {
            found[option.name] = option.words
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    var bash: String {
        let choiceLines = choices.map {
            "        --\($0.option)) words='\($0.words.joined(separator: " "))' ;;"
        }
        let verbLines = manuals.map { manual in
            let options = manual.allOptions.map { "--\($0.name)" }.joined(separator: " ")
            return "        \(manual.name)) words='\(options)' ;;"
        }
        return """
            # Completion of diptych for bash; made by 'diptych completion bash'.
            _diptych() {
                local word=${COMP_WORDS[COMP_CWORD]} words=
                local previous=${COMP_WORDS[COMP_CWORD-1]}
                COMPREPLY=()
                if ((COMP_CWORD == 1)); then
                    words='\((verbs + Self.general).joined(separator: " "))'
                    COMPREPLY=($(compgen -W "$words" -- "$word"))
                    return
                fi
                case $previous in
            \(choiceLines.joined(separator: "\n"))
                esac
                if [[ -z $words && $word == -* ]]; then
                    case ${COMP_WORDS[1]} in
            \(verbLines.joined(separator: "\n"))
                    esac
                fi
            \(bashWorks)
                [[ -z $words ]] || COMPREPLY=($(compgen -W "$words" -- "$word"))
            }
            complete -o bashdefault -o default -F _diptych diptych
            """
    }

    /// Words of an operand stand at its place alone: options and their values do not count.
    private var bashWorks: String {
        let lines = manuals.filter { !$0.works.isEmpty }.map { manual in
            let taking = manual.allOptions.filter { $0.value != nil }.map { " --\($0.name)" }
            return "        \(manual.name)) place=\(manual.worksPlace) "
                + "works='\(manual.works.joined(separator: " "))'\n"
                + "            taking='\(taking.joined()) ' ;;"
        }
        return """
                local place= works= taking= index count=0
                case ${COMP_WORDS[1]} in
                    help) place=0 works='\(verbs.joined(separator: " "))' ;;
            \(lines.joined(separator: "\n"))
                esac
                if [[ -z $words && -n $place && $word != -* && $taking != *" $previous "* ]]; then
                    for ((index = 2; index < COMP_CWORD; index++)); do
                        [[ ${COMP_WORDS[index]} == -* ]] && continue
                        [[ $taking == *" ${COMP_WORDS[index-1]} "* ]] || ((count += 1))
                    done
                    ((count != place)) || words=$works
                fi
            """
    }

    /// zsh takes completions of bash, once it was told to.
    var zsh: String {
        """
        #compdef diptych
        autoload -U +X bashcompinit && bashcompinit
        \(bash)
        """
    }

    var fish: String {
        var lines = [
            "# Completion of diptych for fish; made by 'diptych completion fish'.",
            "function __diptych_verb",
            "    set -l words (commandline -opc)",
            "    test (count $words) -ge 2; and test $words[2] = $argv[1]",
            "end",
            "function __diptych_place",
            "    set -l words (commandline -opc)",
            "    test (count $words) -eq $argv[1]",
            "end",
            "complete -c diptych -n __fish_use_subcommand -a help -d 'print help'",
            "complete -c diptych -n __fish_use_subcommand -l version -d 'print the version'",
            "complete -c diptych -n '__diptych_verb help; and __diptych_place 2' -f "
                + "-a '\(verbs.joined(separator: " "))'",
        ]
        for manual in manuals {
            lines.append(
                "complete -c diptych -n __fish_use_subcommand -a \(manual.name) "
                    + "-d \(Self.quoted(manual.summary))")
            lines += fishLines(of: manual)
        }
        return lines.joined(separator: "\n")
    }

    private func fishLines(of manual: Manual) -> [String] {
        var lines: [String] = []
        if !manual.works.isEmpty {
            let place = "__diptych_place \(manual.worksPlace + 2)"
            lines.append(
                "complete -c diptych -n '__diptych_verb \(manual.name); and \(place)' -f "
                    + "-a '\(manual.works.joined(separator: " "))'")
        }
        for option in manual.allOptions {
            var line = "complete -c diptych -n '__diptych_verb \(manual.name)' "
            line += "-l \(option.name)"
            if !option.words.isEmpty {
                line += " -x -a \(Self.quoted(option.words.joined(separator: " ")))"
            } else if option.value != nil {
                line += " -r"
            }
            lines.append(line + " -d \(Self.quoted(option.help))")
        }
        return lines
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}
