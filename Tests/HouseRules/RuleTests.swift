import Testing

/// Each rule rings for what breaks it and is silent for what does not.
@Suite struct RuleTests {
    @Test(arguments: broken)
    fileprivate func aBrokenRuleIsFound(sample: Sample) {
        let file = SourceFile(path: "Mirror/RecordService/A.swift", text: sample.text)
        #expect(sample.rule.find([file]).count == 1)
    }

    @Test(arguments: kept)
    fileprivate func whatKeepsTheRulesIsSilent(text: Text) {
        let file = SourceFile(path: "Mirror/RecordService/A.swift", text: text.text)
        let readme = SourceFile(path: "Mirror/RecordService/README.md", text: "# Service\n")
        for rule in Rule.all {
            #expect(rule.find([file, readme]).isEmpty, "\(rule.text)")
        }
    }

    @Test func aFindingNamesFileAndLine() throws {
        let file = SourceFile(path: "Sources/Stores/A.swift", text: "a\nb\nlet x = try! f()\n")
        let finding = try #require(Rule.forcedTries.find([file]).first)
        #expect(finding.description == "Sources/Stores/A.swift:3: try!")
    }

    @Test func platformAndToolsMayReadTheClockAndTestsMayForce() {
        let clock = SourceFile(path: "Sources/Platform/A.swift", text: "Date()")
        let tool = SourceFile(path: "Tools/x/A.swift", text: "Date()")
        let test = SourceFile(path: "Tests/A/A.swift", text: "try! f() as! Int")
        for rule in [Rule.clock, .forcedTries, .forcedCasts] {
            #expect(rule.find([clock, tool, test]).isEmpty)
        }
    }

    @Test func vagueFilesAndLongReadmesAreFound() {
        let vague = SourceFile(path: "Sources/Stores/Utils/A.swift", text: "")
        #expect(Rule.vagueFiles.find([vague]).count == 1)
        let apples = SourceFile(path: "Sources/Persistence/NSMigrationManager.swift", text: "")
        #expect(Rule.vagueFiles.find([apples]).isEmpty)
        let code = SourceFile(path: "Sources/Stores/A.swift", text: "")
        let long = SourceFile(
            path: "Sources/Stores/README.md", text: String(repeating: "x\n", count: 61))
        #expect(Rule.readmes.find([code, long]).count == 1)
    }
}

/// A sample is one file of RecordService's.
private struct Sample: Sendable, CustomTestStringConvertible {
    let text: String
    var testDescription: String { Text(text).testDescription }
    let rule: Rule
    init(_ text: String, _ rule: Rule) {
        self.text = text
        self.rule = rule
    }
}

private func many(_ count: Int, _ line: String, between: String = "") -> String {
    between + String(repeating: line + "\n", count: count)
}

private let broken: [Sample] = [
    Sample("let x = try! f()", .forcedTries),
    Sample("let x = y as! Int", .forcedCasts),
    Sample("fatalError(\"no\")", .documentedTrap),
    Sample("preconditionFailure()", .traps),
    Sample("let call = Lock<(@Sendable () -> Void)?>(nil)", .lockedClosures),
    Sample("let now = Date()", .clock),
    Sample("let now = Date.now", .clock),
    Sample("let text = \"\\(Date())\"", .clock),
    Sample("let id = UUID()", .chance),
    Sample("Int.random(in: 0...1)", .chance),
    Sample("try await Task.sleep(for: x)", .sleep),
    Sample("Task { await f() }", .looseTasks),
    Sample("Task(priority: .low) {", .looseTasks),
    Sample("Task.detached {", .looseTasks),
    Sample("DispatchQueue.global().async {", .looseTasks),
    Sample("// TOD" + "O: later", .unfinished),
    Sample("final class LogHelper {\n}", .vagueTypes),
    Sample("struct A: @unchecked Sendable {\n\n\n\n\n}", .uncheckedSendable),
    Sample("let folder = \"/ho" + "me/me/x\"", .machinePaths),
    Sample(String(repeating: "x", count: 101), .lineLength),
    Sample(many(601, ""), .fileLength),
    Sample(many(70, "    g()", between: "func f() {\n") + "}", .functionLength),
    Sample(many(70, "    g()", between: "func f(\n    a: Int\n) {\n") + "}", .functionLength),
    Sample(many(70, "    g()", between: "var x: Int {\n") + "}", .functionLength),
    Sample(many(13, "    let x: Int", between: "struct A {\n") + "}", .storedProperties),
    Sample("internal import MirrorEngine", .imports),
    Sample("import class CoreData.X", .imports),
    Sample("", .readmes),
]

/// A file's text that names itself by its first line.
private struct Text: Sendable, CustomTestStringConvertible {
    let text: String
    init(_ text: String) { self.text = text }
    var testDescription: String { String(text.prefix { $0 != "\n" }.prefix(60)) }
}

private let kept: [Text] = [
    "// try! as! fatalError( Date() UUID() Task { in a comment is only talk",
    "let text = \"try! as! fatalError( Date() Task {\"",
    "let text = #\"a \"quoted\" try! \\(Date())\"#",
    "let text = \"\"\"\n    try! Date()\n    \"\"\"",
    "/* try! /* Date() */ UUID() */", "let when = Date(timeIntervalSince1970: 0)",
    "group.addTask { f() }",
    "// @unchecked: a lock protects it\nstruct A: @unchecked Sendable {}",
    "func f(_ place: Lock<Place>) -> Int", "let all = Lock<[() -> Void]>([])",
    "internal import RecordWire", "internal import Foundation", "let x = y as? Int",
    "protocol P {\n    func f()\n    var x: Int { get }\n}\n"
        + String(repeating: "\n", count: 80),
    "func f(\n    g: () -> Void = {}\n) {\n}", "extension FileManager {\n}",
    "struct A {\n" + String(repeating: "    var x: Int { 1 }\n", count: 30) + "}",
].map { Text($0) }
