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
