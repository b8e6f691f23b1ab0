/// What a new store goes on with of the store that it is a copy of, so that contexts need not know
/// one from the other: numbers, keys and versions.
package struct FormerRows: Sendable {
    /// The numbers of the entities, by name.
    package var numbers: [String: Int32] = [:]
    /// The highest key that was handed out, to rows or to objects that are still to be saved.
    package var lastKey: Int64 = 0
    /// By the keys in a file that has keys of its own.
    package var rows: [Int64: Place] = [:]

    /// A row as it was.
    package struct Place: Sendable {
        package var id: RowID
        package var version: Int64

        package init(id: RowID, version: Int64) {
            self.id = id
            self.version = version
        }
    }

    package init() {}
}

/// A store that tells which keys it has handed out, and takes others as handed out.
package protocol KeyKeeping: RowStore {
    /// The highest key of the entity's tree that was handed out; 0 for none. Throws the failures of
    /// its file. Cost: one statement.
    func lastKey(entity: Int32) throws -> Int64
    /// Makes sure that no key up to `key` is handed out again. Throws the failures of its file.
    /// Cost: one statement.
    func raiseKeys(entity: Int32, to key: Int64) throws
}

/// A store whose rows may have other keys in memory than in its file.
package protocol FileKeyNaming: RowStore {
    /// The key that the file has for a row.
    func fileKey(of row: RowID) -> Int64
    /// The row that has a key in the file; nil where that is one of another entity.
    func row(fileKey: Int64, entity: Int32) -> RowID?
}
