import ChildProcesses
import Foundation
import Testing

/// The tutorial is walked from its first command to its last, and says what it is said to say.
@Suite(.enabled(if: BuiltCommand.isPresent, "the command is not built"))
struct TutorialTests {
    /// A command with what the document shows below it.
    struct Step {
        var command: String
        var output: [String]
        var line: Int
    }

    @Test func everyCommandAnswersAsShown() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tutorial-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = Document.root.appendingPathComponent("Tools/demo-model/Library.xcdatamodel")
        try FileManager.default.copyItem(
            at: model, to: folder.appendingPathComponent("Library.xcdatamodel"))
        var walk = Walk(folder: folder)
        defer { walk.end() }
        let steps = try Self.steps()
        #expect(steps.count > 15)
        for step in steps {
            let found = try walk.take(step)
            #expect(
                Self.matches(found, step.output),
                """
                docs/TUTORIAL.md:\(step.line) shows
                \(step.output.joined(separator: "\n"))
                but the command says
                \(found.joined(separator: "\n"))
                """)
        }
    }

    /// The commands of a document's console blocks: lines after `$`, continued by `>`.
    static func steps(of path: String = "docs/TUTORIAL.md") throws -> [Step] {
        var steps: [Step] = []
        for block in try Document(path).blocks where block.language == "console" {
            for (offset, line) in block.lines.enumerated() {
                if line.hasPrefix("$ ") {
                    steps.append(
                        Step(
                            command: String(line.dropFirst(2)), output: [],
                            line: block.line + offset))
                } else if line.hasPrefix("> "), steps.last?.output.isEmpty == true {
                    steps[steps.count - 1].command += "\n\(line.dropFirst(2))"
                } else if !steps.isEmpty {
                    steps[steps.count - 1].output.append(line)
                }
            }
        }
        return steps
    }

    /// Whether the lines are those shown. Where `…` stands alone, lines are left out; elsewhere it
    /// stands for words. Names, dates and figures that differ from run to run count as equal.
    static func matches(_ found: [String], _ shown: [String]) -> Bool {
        let (found, shown) = (found.map(plain), shown.map(plain))
        guard let first = shown.first else { return found.isEmpty }
        if first == "…" {
            let rest = Array(shown.dropFirst())
            return (0...found.count).contains { matches(Array(found.dropFirst($0)), rest) }
        }
        guard let line = found.first, isSame(line, first) else { return false }
        return matches(Array(found.dropFirst()), Array(shown.dropFirst()))
    }

    private static func isSame(_ line: String, _ shown: String) -> Bool {
        let parts = shown.components(separatedBy: "…")
        guard parts.count == 2 else { return line == shown }
        return line.hasPrefix(parts[0]) && line.hasSuffix(parts[1])
            && line.count >= parts[0].count + parts[1].count
    }

    /// The line without what no two runs share, and without the width of columns.
    private static func plain(_ line: String) -> String {
        let patterns = [
            (#"[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}"#, "ID"),
            (#"\b[0-9A-F]{8}\b"#, "ID"), (#"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ"#, "DATE"),
            (#"127\.0\.0\.1:\d+"#, "ADDRESS"), (#"\d+(\.\d+)? (k?B|ms|s)\b"#, "FIGURE"),
            (#"/\S*/(?=records|Library|desk|phone)"#, "/"), (#" +"#, " "),
        ]
        return patterns.reduce(line) { text, pattern in
            text.replacingOccurrences(
                of: pattern.0, with: pattern.1, options: .regularExpression)
        }.trimmingCharacters(in: .whitespaces)
    }
}

/// One walk through the tutorial: a folder, and the service while it runs.
private struct Walk {
    let folder: URL
    private var service: Child?
    private var port = ""

    init(folder: URL) { self.folder = folder }

    mutating func take(_ step: TutorialTests.Step) throws -> [String] {
        let command = step.command.replacing("127.0.0.1:8443", with: "127.0.0.1:\(port)")
        let text: String
        if command.hasPrefix("diptych serve") {
            text = try serve(step.command)
        } else if command == "kill %1" {
            text = end().components(separatedBy: "Ctrl-C ends it.\n").last ?? ""
        } else {
            text = try BuiltCommand.run(command, in: folder).text
        }
        let lines = text.components(separatedBy: "\n")
        return lines.last == "" ? Array(lines.dropLast()) : lines
    }

    /// Starts the service on a free port, so that a test never meets another's.
    private mutating func serve(_ command: String) throws -> String {
        let line = command.replacing(" &", with: "") + " --listen 127.0.0.1:0"
        let child = try BuiltCommand.start(
            "exec \(line)", in: folder, outputs: folder.appendingPathComponent(".outputs"),
            isToldToEnd: true)
        service = child
        for _ in 0..<30_000 where child.isRunning && !child.printed.contains("Ctrl-C ends it.\n") {
            usleep(20_000)
        }
        let address = child.printed.components(separatedBy: "https://127.0.0.1:").dropFirst().first
        port = String((address ?? "").prefix { $0.isNumber })
        return child.printed
    }

    /// Ends the service; returns all that it printed.
    @discardableResult
    mutating func end() -> String {
        guard let child = service else { return "" }
        child.send(SIGTERM)
        child.wait()
        service = nil
        return child.printed
    }
}
