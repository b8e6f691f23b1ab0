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

/// The keys in the file of rows that go on with those of a former store: there each tree of
/// entities may have had its own, while those of the file are all different.
struct FileKeys: Sendable {
    private var keys: [RowID: Int64] = [:]
    private var rows: [Int64: RowID] = [:]

    init(_ former: FormerRows) {
        keys.reserveCapacity(former.rows.count)
        for (key, place) in former.rows {
            keys[place.id] = key
            rows[key] = place.id
        }
    }

    func key(of row: RowID) -> Int64 { keys[row] ?? row.key }

    func row(of key: Int64, entity: Int32) -> RowID? {
        let row = rows[key] ?? RowID(entity: entity, key: key)
        // One that is not in the file yet has its own key, unless it is another row's there.
        return row.entity == entity && self.key(of: row) == key ? row : nil
    }

    /// Gives a new row its own key in the file, or the next one where another row has that.
    mutating func add(_ row: RowID, after lastKey: inout Int64) {
        guard keys[row] == nil else { return }
        var key = row.key
        if rows[key] != nil {
            lastKey += 1
            key = lastKey
        }
        keys[row] = key
        rows[key] = row
    }
}
