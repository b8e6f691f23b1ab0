internal import Foundation

/// `diptych export`: a store as JSON Lines.
struct Export: Verb {
    static let manual = Manual(
        name: "export", summary: "Prints every object of a store as JSON Lines.",
        operands: ["STORE"], options: [.model],
        notes: [
            HelpText.wrapped(
                "One object a line: its id, entity, values and relationships, the ids of other "
                    + "lines. Values are exact: dates are ISO 8601 with every digit, decimals and "
                    + "64-bit integers texts, data base64. What has no value is left out, and so "
                    + "are transient and derived attributes. 'diptych import' reads it back. "
                    + "A value whose external file is gone is named under \"missing\", and so is "
                    + "a relationship that leads to an object which is not there; the "
                    + "exit status is 4. Memory does not grow with the store. "
                    + "STORE may be SQLite, XML or binary; the last two need --model.")
        ],
        examples: [
            ("diptych export Library.sqlite > library.jsonl", "everything"),
            ("diptych export Library.sqlite | grep '\"entity\":\"Book\"'", "the books"),
        ])

    private let access: StoreAccess

    init(_ arguments: Arguments) throws { access = StoreAccess(arguments) }

    func run(_ console: Console) async throws -> ExitStatus {
        let export = LineExport(
            try access.openAny(readOnly: true), progress: ProgressMeter(console),
            missing: MissingValues(console))
        do {
            try export.run()
        } catch is LineOutput.Closed {
            return .outputClosed
        }
        return export.missing.status("in the output")
    }
}
