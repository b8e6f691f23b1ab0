internal import Foundation
internal import Stores

/// `diptych import`: JSON Lines into a store.
struct ImportObjects: Verb {
    static let manual = Manual(
        name: "import", summary: "Adds the objects of JSON Lines to a store.",
        operands: ["STORE", "FILE"], options: [.model],
        notes: [
            HelpText.wrapped(
                "FILE is what 'diptych export' printed, or - for standard input. The objects are "
                    + "added to those the store has, all in one save or none. Links lead to lines "
                    + "of the same file. Uniqueness constraints and required attributes are kept; "
                    + "a missing attribute has no value, not its default.")
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

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        file = arguments.operand(1)
    }

    func run(_ console: Console) async throws -> ExitStatus {
        let store = try access.openAny(readOnly: false)
        let changes = try LineImport(try text(), into: store).changes
        if !changes.isEmpty { _ = try store.save(changes) }
        if console.isJSON {
            console.emit(["inserted": JSON(changes.inserts.count)])
        } else {
            let count = Figure.count(changes.inserts.count, "object")
            console.note("\(access.name): \(count) imported.")
        }
        return .done
    }

    private func text() throws -> String {
        let data =
            file == "-"
            ? FileHandle.standardInput.readDataToEndOfFile()
            : try? Data(contentsOf: URL(fileURLWithPath: file))
        guard let data, let text = String(data: data, encoding: .utf8) else {
            throw CommandError(
                "noFile", "The file \(file) cannot be read.",
                hint: "Give a text file in UTF-8, or - for standard input.")
        }
        return text
    }
}
