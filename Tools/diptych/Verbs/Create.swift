internal import Foundation
internal import SQLiteStore
internal import Stores

/// `diptych create`: an empty store of a model.
struct Create: Verb {
    static let manual = Manual(
        name: "create", summary: "Makes an empty store of a model.", operands: ["STORE"],
        options: [.model],
        examples: [
            ("diptych create Library.sqlite --model Library.xcdatamodel", "an empty library"),
            ("diptych create Copy.sqlite --model Library.sqlite", "of the model in another store"),
        ])

    private let access: StoreAccess

    init(_ arguments: Arguments) throws {
        _ = try arguments.required(.model)
        access = StoreAccess(arguments)
    }

    func run(_ console: Console) async throws -> ExitStatus {
        let model = try access.model()
        let store = try access.create(model: model)
        let entities = store.layout.entities.map(\.name)
        if console.isJSON {
            console.emit([
                "store": [
                    "path": .string(access.url.path), "type": "SQLite",
                    "uuid": .string(store.identifier),
                ],
                "entities": .array(entities.map(JSON.string)),
                "notes": .array(store.schemaNotes.map { .string($0.description) }),
            ])
        } else {
            for note in store.schemaNotes { console.warn(note.description) }
            console.note(
                "Made \(access.url.path) with "
                    + Figure.count(entities.count, "entity", "entities") + "."
            )
        }
        return .done
    }
}
