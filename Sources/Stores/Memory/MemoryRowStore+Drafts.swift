internal import Platform

// Saves in two steps, for stores that write a file between.
extension MemoryRowStore {
    /// The tables as `changes` would leave them. Nobody sees them before `install`.
    func draft(_ changes: ChangeSet) throws -> (tables: MemoryTables, outcome: SaveOutcome) {
        var copy = tables.withLock { $0 }
        let outcome = try copy.write(changes)
        return (copy, outcome)
    }

    /// Puts a draft in place; the caller lets nobody write meanwhile.
    func install(_ draft: MemoryTables) {
        tables.withLock { $0 = draft }
    }
}
