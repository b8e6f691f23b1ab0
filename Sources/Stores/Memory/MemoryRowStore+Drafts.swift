package import Platform

// Saves in two steps, for stores that write a file between.
extension MemoryRowStore {
    /// The tables as `changes` would leave them. Nobody sees them before `install`.
    func draft(_ changes: ChangeSet) throws -> (tables: MemoryTables, outcome: SaveOutcome) {
        var copy = tables.withLock { $0 }
        let outcome = try copy.write(changes, now: platform.clock.now())
        return (copy, outcome)
    }

    /// Puts a draft in place; the caller lets nobody write meanwhile.
    func install(_ draft: MemoryTables) {
        tables.withLock { $0 = draft }
    }

    /// Saves `changes` unless `commit`, which runs when they are known to fit, throws. The caller
    /// lets nobody write meanwhile.
    package func save(_ changes: ChangeSet, commit: () throws -> Void) throws -> SaveOutcome {
        let draft = try draft(changes)
        try commit()
        install(draft.tables)
        return draft.outcome
    }

    /// A store without history that holds the objects of `graph`, which came from `path`.
    package convenience init(
        loading graph: StoredGraph, layout: ModelLayout, platform: Environment, path: String
    ) throws {
        let names = try GraphNames(layout)
        let changes = try GraphLoading.changes(
            from: graph, layout: layout, names: names, path: path)
        self.init(
            layout: layout, platform: platform, identifier: graph.identifier, keepsHistory: false)
        try load(changes, path: path)
    }

    /// Takes in the rows of a file.
    func load(_ changes: ChangeSet, path: String) throws {
        do {
            install(try draft(changes).tables)
        } catch let violation as UniquenessViolation {
            throw StoreError(
                .corrupt, "Objects in the store's file break a uniqueness constraint of the model.",
                fields: [
                    "path": path, "entity": violation.entity,
                    "constraint": violation.constraint.joined(separator: ", "),
                ], cause: violation)
        }
    }
}
