import Foundation
import Testing

/// docs/COMMAND.md holds the help of every verb, word for word.
///
/// With `DIPTYCH_WRITE_DOCUMENTS=1` the test writes the help of today into the document.
@Suite(.enabled(if: BuiltCommand.isPresent, "the command is not built"))
struct CommandReferenceTests {
    private static let path = "docs/COMMAND.md"

    @Test func theReferenceIsTheHelp() throws {
        if ProcessInfo.processInfo.environment["DIPTYCH_WRITE_DOCUMENTS"] == "1" { try write() }
        let document = try Document(Self.path)
        let blocks = document.blocks.filter { $0.language == "text" }
        var verbs: [String] = []
        for block in blocks {
            let verb = block.heading.replacing("diptych", with: "").trimmingCharacters(
                in: .whitespaces)
            if !verb.isEmpty { verbs.append(verb) }
            #expect(
                try block.text == help(of: verb),
                """
                The help of '\(verb)' changed. \
                DIPTYCH_WRITE_DOCUMENTS=1 DIPTYCH_TESTS=DocumentationTests swift test \
                --filter CommandReferenceTests writes it into \(Self.path).
                """)
        }
        #expect(try verbs == self.verbs())
    }

    private func help(of verb: String) throws -> String {
        let run = try BuiltCommand.run("diptych \(verb) --help", in: Document.root)
        #expect(run.status == 0)
        return run.text.trimmingCharacters(in: .newlines)
    }

    /// The verbs the command lists, in its order.
    private func verbs() throws -> [String] {
        let lines = try help(of: "").components(separatedBy: "\n")
        let list = lines.drop { $0 != "Verbs" }.dropFirst().prefix { !$0.isEmpty }
        return list.compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    /// Keeps what stands above the first heading of a verb, and writes the rest anew.
    private func write() throws {
        let document = try Document(Self.path)
        var lines = Array(document.lines.prefix { !$0.hasPrefix("## ") })
        for verb in [""] + (try verbs()) {
            let title = verb.isEmpty ? "diptych" : "diptych \(verb)"
            lines += ["## \(title)", "", "```text", try help(of: verb), "```", ""]
        }
        lines.removeLast()
        try Data((lines.joined(separator: "\n") + "\n").utf8)
            .write(to: Document.root.appendingPathComponent(Self.path))
    }
}
