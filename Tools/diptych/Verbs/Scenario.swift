internal import Foundation
internal import MirrorTestKit
internal import MirrorTransport
internal import RecordWire

/// `diptych scenario`: plays conflict stories, or writes one to begin with.
struct Scenario: Verb {
    private static let wide = Option("wide", nil, "a table, however wide")

    static let manual = Manual(
        name: "scenario", summary: "Plays conflict stories: who holds what after each step.",
        operands: ["WORK", "FILE"], works: Work.allCases.map(\.rawValue),
        repeatsLastOperand: true,
        options: [wide] + ServiceChannel.options + [ServiceChannel.insecure],
        readsSettingsBesideStore: false,
        notes: [
            """
            WORK is one of
              run FILE…   play each story and compare it with what it expects
              new FILE    write a story to begin with; - prints it
            """,
            HelpText.wrapped(
                "A story says in plain lines which devices there are, what each edits and when it "
                    + "syncs, what goes wrong, and what is expected: docs/STORIES.md has the "
                    + "lines, Examples/scenarios further stories. Stores, engine and service are "
                    + "the real ones, in this process; time stands still, so that a story comes "
                    + "out the same each time. With --service the records go to that service, "
                    + "into a zone of their own that is deleted in the end."),
            HelpText.wrapped(
                "Exit status 1: an expectation failed, or a step could not be done. 2: a line "
                    + "cannot be understood."),
        ],
        examples: [
            ("diptych scenario new milk.story", "something to change"),
            ("diptych scenario run milk.story", "play it"),
            ("diptych scenario run milk.story --wide --json", "for programs"),
        ])

    private enum Work: String, CaseIterable { case run, new }

    private let work: Work
    private let files: [String]
    private let isWide: Bool
    private let service: ServiceChannel?

    init(_ arguments: Arguments) throws {
        work = try arguments.work(Work.self)
        files = Array(arguments.operands.dropFirst())
        isWide = arguments.has(Self.wide)
        let isElsewhere = work == .run && arguments.has(MirrorOptions.service)
        service = isElsewhere ? try ServiceChannel(arguments) : nil
        guard work == .run || files.count == 1 else {
            throw CommandError(
                "usage", "'\(files[1])' is one word too many.",
                hint: "Write diptych scenario new FILE.", status: .usage)
        }
    }

    /// The zone of a story at a service elsewhere is deleted before.
    var stopsWhenCancelled: Bool { service != nil }

    func run(_ console: Console) async throws -> ExitStatus {
        guard work == .run else {
            try writeNew(console)
            return .done
        }
        let stop = CancelFlag()
        try await withTaskCancellationHandler {
            try play(console, stop)
        } onCancel: {
            stop.cancel()
        }
        return .done
    }

    private func writeNew(_ console: Console) throws {
        guard files[0] != "-" else { return console.block(StoryFile.template) }
        let url = URL(fileURLWithPath: files[0]).absoluteURL
        try ParentFolder.require(of: url)
        do {
            try NewFile.make(url) {
                try Data(StoryFile.template.utf8).write(to: url, options: .withoutOverwriting)
            }
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError(
                "cannotWrite", "\(files[0]) cannot be written.",
                hint: "Choose a name that no file has yet, in a folder that you may write to.")
        }
        if console.isJSON {
            console.emit(["story": .string(url.path)])
        } else {
            console.note(
                "Wrote \(files[0]); play it: diptych scenario run \(ShellWord.file(files[0]))")
        }
    }

    // MARK: Playing

    private func play(_ console: Console, _ stop: CancelFlag) throws {
        service?.warn(console)
        let stories = try files.map(StoryFile.init)
        var failed: [(file: String, failure: String)] = []
        for file in stories {
            let rules: [String?] =
                file.story.comparedRules.isEmpty ? [nil] : file.story.comparedRules
            for rule in rules {
                try Task.checkCancellation()
                let report = try StoryStage(service: service, stop: stop)
                    .play(file.story, rule: rule)
                try Task.checkCancellation()
                show(report, of: file, console)
                failed += report.failures.map {
                    let line = $0.line > 0 ? ", line \($0.line)" : ""
                    return (file.name + line, $0.failure ?? "")
                }
            }
        }
        guard let first = failed.first else { return }
        let more = failed.count > 1 ? " And \(failed.count - 1) more." : ""
        throw CommandError(
            "expectationFailed", "\(first.file): \(first.failure)\(more)",
            hint: "The table shows who held what before it.")
    }

    private func show(_ report: StoryReport, of file: StoryFile, _ console: Console) {
        guard !console.isJSON else { return console.emit(report.json(file: file.name)) }
        let rule = report.rule.map { ", under \($0)" } ?? ""
        console.title("\(report.title.isEmpty ? file.name : report.title)\(rule)")
        console.block(StoryPages(report: report, width: console.width).text(isWide: isWide))
        let expected = report.steps.count(where: \.isExpectation)
        let outcome =
            report.holds ? "holds" : Figure.count(report.failures.count, "failure")
        console.line(
            "\(file.name): \(outcome), \(Figure.count(report.steps.count, "step")), "
                + "\(Figure.count(expected, "expectation")).")
        console.line("")
    }
}
