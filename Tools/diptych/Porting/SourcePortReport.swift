internal import Foundation

/// Ports sources, and says what was changed and what is left to a person.
struct SourcePortReport {
    private let folder: SourceFolder
    private let isTrial: Bool

    init(_ folder: SourceFolder, isTrial: Bool) {
        self.folder = folder
        self.isTrial = isTrial
    }

    func run(_ console: Console) throws {
        let files = try folder.port(isTrial: isTrial)
        guard !console.isJSON else {
            return console.emit([
                "files": .array(files.filter { !Self.isSilent($0) }.map(Self.json))
            ])
        }
        for file in files where !Self.isSilent(file) {
            console.title(file.file.relativePath)
            for note in file.port.changes { console.line("  \(note.line): changed \(note.what)") }
            for note in file.port.left { console.line("  \(note.line): LEFT TO YOU: \(note.what)") }
        }
        let changed = files.filter(\.isChanged).count
        let left = files.map(\.port.left.count).reduce(0, +)
        console.note(
            "\(isTrial ? "Would change" : "Changed") \(Figure.count(changed, "file")) of "
                + "\(files.count); \(Figure.count(left, "place")) left to you.")
    }

    private static func isSilent(_ file: SourceFolder.Ported) -> Bool {
        !file.isChanged && file.port.left.isEmpty
    }

    private static func json(_ file: SourceFolder.Ported) -> JSON {
        func notes(_ notes: [SourcePort.Note]) -> JSON {
            .array(notes.map { ["line": .integer(Int64($0.line)), "what": .string($0.what)] })
        }
        return [
            "path": .string(file.file.path), "changed": .bool(file.isChanged),
            "changes": notes(file.port.changes), "left": notes(file.port.left),
        ]
    }
}
