import Foundation
import Testing

/// The commands that documents name are there, with the options they are given.
@Suite struct ShownCommandTests {
    /// A command as it is shown: between backquotes, in an indented line or after a prompt.
    private struct Shown {
        var words: [String]
        var place: String
    }

    @Test func theVerbsAndOptionsOfDiptychAreThere() throws {
        let reference = try Document("docs/COMMAND.md").blocks.filter { $0.language == "text" }
        var helps: [String: String] = [:]
        for block in reference {
            let verb = block.heading.split(separator: " ").dropFirst().first ?? ""
            helps[String(verb)] = block.text
        }
        let shared = try #require(helps[""])
        let shown = try Self.shown { $0 == "diptych" }
        #expect(shown.count > 40)
        for command in shown {
            let verb = command.words.first { !$0.hasPrefix("-") } ?? ""
            let help = try #require(helps[verb], "\(command.place): no verb \(verb)")
            for option in Self.options(of: command) {
                #expect(
                    help.contains(option) || shared.contains(option),
                    "\(command.place): diptych \(verb) has no \(option)")
            }
        }
    }

    @Test func theToolsAreThere() throws {
        let shown = try Self.shown { $0.hasPrefix("Tools/") && !$0.contains(".") }
        #expect(shown.count > 30)
        for command in shown {
            let tool = command.words[0]
            let place = Document.root.appendingPathComponent(tool)
            #expect(FileManager.default.fileExists(atPath: place.path), "\(command.place): \(tool)")
            guard FileManager.default.isExecutableFile(atPath: place.path),
                let script = try? String(contentsOf: place, encoding: .utf8)
            else { continue }
            for option in Self.options(of: command) {
                #expect(script.contains(option), "\(command.place): \(tool) has no \(option)")
            }
            guard let part = command.words.dropFirst().first, part.allSatisfy(\.isLowercase)
            else { continue }
            if ["Tools/soak", "Tools/bench"].contains(tool) {
                #expect(script.contains(part), "\(command.place): \(tool) has no part \(part)")
            }
        }
    }

    @Test func aCommandIsReadWithItsOptions() {
        let line = Self.commands(in: "x | diptych edit a b[c == 1] --json; rm diptych.conf") {
            $0 == "diptych"
        }
        #expect(line == [["edit", "a", "b[c", "==", "1]", "--json"]])
        #expect(
            Self.commands(in: "Tools/demo --keep") { $0 == "Tools/demo" } == [
                ["Tools/demo", "--keep"]
            ])
    }

    /// Every call of a program in the documents. Words of a call of `diptych` begin with its verb.
    private static func shown(_ isProgram: (String) -> Bool) throws -> [Shown] {
        try Document.all().filter { $0.path != "CHANGELOG.md" }.flatMap { document in
            document.lines.enumerated().flatMap { index, line in
                pieces(of: line).flatMap { commands(in: $0, isProgram) }.map {
                    Shown(words: $0, place: "\(document.path):\(index + 1)")
                }
            }
        }
    }

    /// The parts of a line that are written for a shell.
    private static func pieces(of line: String) -> [String] {
        if line.hasPrefix("    ") { return [line.trimmingCharacters(in: .whitespaces)] }
        if line.hasPrefix("$ ") { return [String(line.dropFirst(2))] }
        return line.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
            .map(\.element)
    }

    private static func commands(in text: String, _ isProgram: (String) -> Bool) -> [[String]] {
        // What stands behind several spaces explains the command.
        let line = text.components(separatedBy: "   ")[0]
        return line.split { "|;&$()".contains($0) }.compactMap { part in
            var words = part.split(separator: " ").map(String.init)
            // Settings of variables may stand before a program.
            words.removeSubrange(..<(words.firstIndex { !$0.contains("=") } ?? words.endIndex))
            guard let program = words.first, isProgram(program) else { return nil }
            if program == "diptych" { words.removeFirst() }
            return words.isEmpty ? nil : words
        }
    }

    private static func options(of command: Shown) -> [String] {
        command.words.filter { $0.hasPrefix("--") && $0.count > 2 }.map { word in
            String(word.prefix { $0 != "=" && $0 != "," && $0 != "." })
        }
    }
}
