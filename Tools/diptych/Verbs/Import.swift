internal import Foundation

/// `diptych import`: JSON Lines into a store.
struct ImportObjects: Verb {
    private static let longestLine = Option(
        "longest-line", "MB", "refuse lines longer than this (64)")

    static let manual = Manual(
        name: "import", summary: "Adds the objects of JSON Lines to a store.",
        operands: ["STORE", "FILE"], options: [.model, longestLine],
        notes: [
            HelpText.wrapped(
                "FILE is what 'diptych export' printed, or - for standard input. The objects are "
                    + "added to those the store has, all or none: a bad line, Ctrl-C or a crash "
                    + "leaves the store as it was. Links lead to lines of the same file, earlier "
                    + "or later; of a link that one line names, both ends are set. Uniqueness "
                    + "constraints and required attributes are kept; a missing attribute has no "
                    + "value, not its default. A SQLite store takes no NaN, and decimals that it "
                    + "rounds, of more than about 15 digits, are counted. Memory does not grow "
                    + "with the file where STORE is SQLite.")
        ],
        examples: [
            (
                "diptych create Copy.sqlite --model Library.xcdatamodel && \\\n"
                    + "      diptych export Library.sqlite | diptych import Copy.sqlite -",
                "a copy"
            )
        ])

    private let access: StoreAccess
    private let file: String
    private let lineMegabytes: Int

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        file = arguments.operand(1)
        lineMegabytes = try arguments.number(Self.longestLine, in: 1...4096) ?? 64
    }

    var mindsSignals: Bool { true }

    func run(_ console: Console) async throws -> ExitStatus {
        let interruption = Interruption()
        defer { interruption.end() }
        let source = try LineSource(
            file, lineBytesMax: lineMegabytes << 20, interruption: interruption)
        let store = try access.openAny(readOnly: false)
        let work = try LineImport(
            source, into: store, progress: ProgressMeter(console), interruption: interruption)
        let outcome = try work.run()
        if console.isJSON {
            console.emit([
                "inserted": JSON(outcome.objectCount), "missing": JSON(outcome.missingCount),
            ])
        } else {
            let count = Figure.count(outcome.objectCount, "object")
            console.note("\(access.name): \(count) imported.")
        }
        outcome.numbers.tellRounded(console)
        guard outcome.missingCount > 0 else { return .done }
        let count = Figure.count(outcome.missingCount, "value")
        console.warn("\(count) had been lost before the export, and have none here.")
        return .incomplete
    }
}
