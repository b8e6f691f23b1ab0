internal import Foundation
internal import Persistence

/// `diptych edit`: a small script of changes, through a context.
struct EditStore: Verb {
    private static let author = Option(
        "author", "NAME", setting: true, "who the history says made the changes")

    static let manual = Manual(
        name: "edit", summary: "Changes a store by a small script or JSON Lines.",
        operands: ["STORE", "SCRIPT"], options: [.model, author],
        notes: [
            """
            Lines of a script (SCRIPT is a file, or - for standard input)
              insert ENTITY alias key=value …      a new object; the alias names it from here on
              set OBJECT key=value …               change it, or all that match
              link OBJECT.relationship OBJECT …    add; at=0 puts it first where there is an order
              unlink OBJECT.relationship OBJECT …  take away
              delete OBJECT                        delete it, or all that match
              save                                 everything since the last save, or nothing of it
              # a remark

            OBJECT is an alias, an x-coredata:// id, or Entity[predicate], such as
            Book[pages > 300]. Values are plain words and numbers, "texts in quotes" with \\n,
            \\t, \\", \\\\ and \\u{…}, true, false, null, dates as 2026-03-14T09:26:53Z, data and
            the bytes of transformables as base64:…. A to-one relationship takes an OBJECT. The end
            of the script saves what is left.

            The same as JSON, one object a line
              {"insert": "Book", "as": "b", "values": {"title": "Emma", "pages": 474}}
              {"link": "b.author", "to": "Author[name == 'Jane']"}
              {"unlink": "b.tags", "from": "t"}
              {"set": "b", "values": {"title": null}}   {"delete": "b"}   {"save": true}
            """
        ],
        examples: [
            (
                "echo 'insert Book b title=\"Emma\" pages=474' | diptych edit Library.sqlite -",
                "one new book"
            ),
            ("diptych edit Library.sqlite changes.txt --author desk", "a file of changes"),
        ])

    private let access: StoreAccess
    private let script: String
    private let author: String?

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        script = arguments.operand(1)
        author = arguments.value(Self.author)
    }

    func run(_ console: Console) async throws -> ExitStatus {
        try access.requireStore()
        let steps = try LineScript.read(try text())
        let model = try access.model()
        let stack = try ObjectStack(access, model: model, author: author)
        let run = ScriptRun(context: stack.context, model: model)
        try stack.context.performAndWait { () throws -> Void in try run.run(steps) }
        let outcome = run.outcome
        if console.isJSON {
            console.emit([
                "saves": JSON(outcome.saves), "inserted": JSON(outcome.inserted),
                "updated": JSON(outcome.updated), "deleted": JSON(outcome.deleted),
                "objects": .object(run.named.map { ($0.name, .string($0.id)) }),
            ])
        } else {
            console.note(
                "\(access.name): \(outcome.inserted) inserted, \(outcome.updated) changed, "
                    + "\(outcome.deleted) deleted, in \(Figure.count(outcome.saves, "save")).")
        }
        return .done
    }

    private func text() throws -> String {
        // Not the reading that cannot throw: it ends the program where there is nothing to read.
        let data =
            script == "-"
            ? try? FileHandle.standardInput.readToEnd() ?? Data()
            : try? GivenFile.data(URL(fileURLWithPath: script))
        guard let data, let text = String(data: data, encoding: .utf8) else {
            throw GivenFile.unreadable(
                script, as: "script", code: "noScript",
                hint: "Give a text file in UTF-8, or - for standard input.")
        }
        return text
    }
}
