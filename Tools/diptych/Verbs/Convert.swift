internal import Foundation
internal import ObjectModel
internal import Persistence
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// `diptych convert`: a store of one type as a store of another.
struct Convert: Verb {
    private static let type = Option(
        "to", "TYPE", words: StoreFileKind.allCases.map(\.word), "sqlite, xml or binary")

    static let manual = Manual(
        name: "convert", summary: "Copies a store into a new one of another type.",
        operands: ["STORE", "OUT"], options: [type, .model],
        notes: [
            HelpText.wrapped(
                "All objects, links, orders and the application's metadata are copied; STORE is "
                    + "only read. The new store is a store of its own, with its own identity: "
                    + "history and the state of the mirror stay behind. XML and binary stores keep "
                    + "no copy of their model, so they need --model, and have no derived "
                    + "attributes. Of a one-to-one link that only one end knows, both ends know "
                    + "in the new store. SQLite has no NaN: no value is in its place, and where "
                    + "one is required nothing is made. Exit status 4: values are missing, as they "
                    + "are NaN or their external files are gone, or links, as the objects they "
                    + "lead to are not there.")
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
    private let type: StoreFileKind

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        output = URL(fileURLWithPath: arguments.operand(1)).absoluteURL
        let word = try arguments.choice(Self.type, among: StoreFileKind.allCases.map(\.word))
        guard let type = word.flatMap(StoreFileKind.named) else {
            throw CommandError(
                "usage", "--to is missing.", hint: "Write --to sqlite, xml or binary.",
                status: .usage)
        }
        self.type = type
    }

    var stopsWhenCancelled: Bool { true }

    func run(_ console: Console) async throws -> ExitStatus {
        guard FileKind(of: output) == .absent else { throw CommandError.exists(output.path) }
        try ParentFolder.require(of: output)
        var missing = MissingValues(console)
        let numbers = try look(&missing)
        let objects = try migrate()
        tellDerived(console)
        numbers.tellRounded(console)
        if console.isJSON {
            console.emit([
                "path": .string(output.path), "type": .string(type.rawValue),
                "objects": JSON(objects),
            ])
        } else {
            let count = Figure.count(objects, "object")
            console.note("Made \(output.path), \(type.title) store with \(count).")
        }
        let status = missing.status("in \(output.path)")
        return numbers.tellLost(console) ? .incomplete : status
    }

    /// Looks for what the new store will not have.
    private func look(_ missing: inout MissingValues) throws -> LostNumbers {
        let store = try access.openAny(readOnly: true)
        try missing.find(in: store)
        var numbers = LostNumbers()
        // What comes from a SQLite store is what such a store keeps.
        if type == .sqlite, !(store is SQLiteRowStore) { try numbers.find(in: store) }
        return numbers
    }

    /// XML and binary stores keep no derived attributes: whoever opens one computes them.
    private func tellDerived(_ console: Console) {
        guard type != .sqlite, let model = try? access.model() else { return }
        let names = model.entities.flatMap { entity in
            entity.attributesByName.values.filter {
                $0 is NSDerivedAttributeDescription
                    && entity.superentity?.attributesByName[$0.name] == nil
            }.map { "\(entity.name ?? "").\($0.name)" }
        }
        guard !names.isEmpty else { return }
        let verb = names.count == 1 ? "is" : "are"
        console.warn(
            "\(names.sorted().joined(separator: ", ")) \(verb) derived and left out: "
                + "\(type.title) store keeps no derived attributes.")
    }

    /// Returns how many objects the new store has.
    private func migrate() throws -> Int {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try access.model())
        let source = try coordinator.addPersistentStore(
            ofType: StoreFileKind(of: access.url).rawValue, configurationName: nil, at: access.url,
            options: [
                NSReadOnlyPersistentStoreOption: true, StoreParameters.leavesOutDerivedOption: true,
            ])
        let made: NSPersistentStore
        do {
            made = try coordinator.migratePersistentStore(
                source, to: output,
                options: [
                    NSPersistentHistoryTrackingKey: true, NSSQLitePragmasOption: access.pragmas,
                    StoreParameters.leavesOutDerivedOption: true,
                ], withType: type.rawValue)
        } catch {
            throw described(error)
        }
        return try made.rowStore.layout.entities.reduce(0) { sum, entity in
            var query = RowQuery(entity: entity.number)
            query.includesSubentities = false
            return sum + (try made.rowStore.count(matching: query))
        }
    }

    private func described(_ error: any Error) -> any Error {
        let known = error as NSError
        // Somebody else was faster.
        if known.code == NSPersistentStoreOperationError, FileKind(of: output) != .absent {
            return CommandError.exists(output.path)
        }
        // What an empty store refuses is wrong in the other one.
        let fault = known.userInfo[NSUnderlyingErrorKey] as? StoreError
        guard (fault?.cause as? SQLiteFault)?.isConstraint == true else { return error }
        return CommandError(
            "corrupt", "\(access.name) has rows that contradict each other.",
            hint: "See what is damaged: `diptych inspect --check`.")
    }
}
