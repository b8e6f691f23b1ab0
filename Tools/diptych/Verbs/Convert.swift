internal import Foundation
internal import Stores

/// `diptych convert`: a store of one type as a store of another.
struct Convert: Verb {
    private static let type = Option("to", "TYPE", "sqlite, xml or binary")

    static let manual = Manual(
        name: "convert", summary: "Copies a store into a new one of another type.",
        operands: ["STORE", "OUT"], options: [type, .model],
        notes: [
            HelpText.wrapped(
                "All objects, links, orders and the application's metadata are copied; STORE is "
                    + "only read. The new store is a store of its own, with its own identity: "
                    + "history and the state of the mirror stay behind. XML and binary stores keep "
                    + "no copy of their model, so they need --model, and have no derived "
                    + "attributes.")
        ],
        examples: [
            ("diptych convert Library.sqlite Library.xml --to xml", "a file to read and compare"),
            (
                "diptych convert Library.xml Again.sqlite --to sqlite --model Library.xcdatamodel",
                "and back"
            ),
        ])

    private let access: StoreAccess
    private let output: URL
    private let type: StoreType

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        output = URL(fileURLWithPath: arguments.operand(1)).absoluteURL
        let word = try arguments.choice(Self.type, among: StoreType.allCases.map(\.word))
        guard let type = word.flatMap(StoreType.named) else {
            throw CommandError(
                "usage", "--to is missing.", hint: "Write --to sqlite, xml or binary.",
                status: .usage)
        }
        self.type = type
    }

    func run(_ console: Console) async throws -> ExitStatus {
        guard FileKind(of: output) == .absent else {
            throw CommandError(
                "exists", "\(output.lastPathComponent) is there already.",
                hint: "Choose another name, or remove the file first.")
        }
        let source = try access.openAny(readOnly: true)
        let copied: (objects: Int, lostLinks: Int)
        do {
            let target = try type.open(
                output, model: try access.model(), readOnly: false, pragmas: access.pragmas)
            copied = try StoreCopy(source: source, target: target).run()
        } catch {
            removeDraft()
            throw error
        }
        if copied.lostLinks > 0 {
            let links = Figure.count(copied.lostLinks, "link")
            console.warn("\(links) led to no object and stayed behind")
        }
        if console.isJSON {
            console.emit([
                "path": .string(output.path), "type": .string(type.rawValue),
                "objects": JSON(copied.objects), "lostLinks": JSON(copied.lostLinks),
            ])
        } else {
            let count = Figure.count(copied.objects, "object")
            console.line("Made \(output.path), \(type.title) store with \(count).")
        }
        return .done
    }

    private func removeDraft() {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: output.path + suffix)
        }
    }
}
