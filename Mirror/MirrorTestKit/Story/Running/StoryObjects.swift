internal import MirrorEngine
internal import SQLiteStore
internal import Stores

/// What a story calls its objects, and where each is on each device: by record name once it has
/// one, else by the row in which it was made.
struct StoryObjects {
    private struct Entry {
        let handle: String
        /// The record names under which it was known, the newest last.
        var names: [String] = []
        /// Its row in the stores in which it was made or found, by the store's name.
        var rows: [String: RowID] = [:]
    }

    private var entries: [Entry] = []

    var handles: [String] { entries.map(\.handle) }

    mutating func made(_ handle: String, row: RowID, in store: String) {
        entries.removeAll { $0.handle == handle }
        var entry = Entry(handle: handle)
        entry.rows[store] = row
        entries.append(entry)
    }

    func contains(_ handle: String) -> Bool { entries.contains { $0.handle == handle } }
    func names(of handle: String) -> [String] {
        entries.first { $0.handle == handle }?.names ?? []
    }

    /// The handle of the object that has a record name.
    func handle(named name: String) -> String? {
        entries.first { $0.names.contains(name) }?.handle
    }

    /// The object's row on a device; nil where it is not there.
    func row(
        of handle: String, in store: String, _ transaction: StoreTransaction, _ ledger: Ledger?
    ) throws -> RowID? {
        guard let entry = entries.first(where: { $0.handle == handle }) else { return nil }
        for name in entry.names.reversed() {
            guard let row = try ledger?.row(named: name), try transaction.row(row) != nil else {
                continue
            }
            return row
        }
        guard let row = entry.rows[store], try transaction.row(row) != nil else { return nil }
        return row
    }

    /// Takes note of the record names that rounds gave, and of the rows that they made.
    mutating func learn(
        in store: String, _ transaction: StoreTransaction, _ ledger: Ledger
    ) throws {
        for index in entries.indices {
            let handle = entries[index].handle
            guard let row = try row(of: handle, in: store, transaction, ledger) else { continue }
            entries[index].rows[store] = row
            if let name = try ledger.knownName(of: row), entries[index].names.last != name {
                entries[index].names.removeAll { $0 == name }
                entries[index].names.append(name)
            }
        }
    }

    /// The store is another file now: a copy of `source`'s, or of a time when some rows were not
    /// made yet, whose keys others may get.
    mutating func replaced(
        _ store: String, byCopyOf source: String, _ exists: (RowID) throws -> Bool
    ) rethrows {
        for index in entries.indices {
            let row = entries[index].rows[source]
            entries[index].rows[store] = try row.flatMap { try exists($0) ? $0 : nil }
        }
    }
}
