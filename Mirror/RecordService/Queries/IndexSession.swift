internal import RecordWire

/// A value in an index of a database.
struct IndexedForm: Hashable {
    let index: Int64
    let form: QueryForm
}

/// What a write does to the entries of one record.
struct IndexedChange {
    /// Whether all that the record had goes first.
    var clears = false
    /// Whether each entry comes; else it goes.
    var entries: [IndexedForm: Bool] = [:]

    var newCount: Int { entries.values.count { $0 } }
}

/// Keeps the indexes of one database in step with the records that one request writes. A value
/// that stays as it is costs no statement.
final class IndexSession {
    private let transaction: any BackendTransaction
    /// By the record type that they are of.
    private let indexes: [ExactName: [QueryIndexRow]]
    private var changes: [ExactName: IndexedChange] = [:]

    init(_ database: Int64, _ transaction: any BackendTransaction) throws {
        self.transaction = transaction
        indexes = Dictionary(grouping: try transaction.queryIndexes(in: database)) {
            ExactName($0.recordType)
        }
    }

    /// What it means for the indexes that `row` comes in the place of `live`.
    func change(
        from live: RecordRow?, _ former: RecordFields, to row: RecordRow, _ fields: RecordFields
    ) -> IndexedChange {
        var change = IndexedChange()
        guard let own = indexes[ExactName(row.type)] else { return change }
        let new = QueriedRecord(row, fields: fields)
        // Of a record that cannot be read nobody knows what the indexes have.
        guard let live, !former.isEmpty else {
            change.clears = live != nil
            for index in own { change.add(new.indexedForms(index.key), to: index.id) }
            return change
        }
        let old = QueriedRecord(live, fields: former)
        for index in own where new.mayDiffer(from: old, by: index.key) {
            let (before, after) = (old.indexedForms(index.key), new.indexedForms(index.key))
            guard before != after else { continue }
            for form in Set(before).subtracting(after) {
                change.entries[IndexedForm(index: index.id, form: form)] = false
            }
            change.add(Set(after).subtracting(before), to: index.id)
        }
        return change
    }

    func note(_ change: IndexedChange, of name: String) {
        guard change.clears || !change.entries.isEmpty else { return }
        guard !change.clears, let earlier = changes[ExactName(name)] else {
            changes[ExactName(name)] = change
            return
        }
        changes[ExactName(name)] = IndexedChange(
            clears: earlier.clears, entries: earlier.entries.merging(change.entries) { $1 })
    }

    /// Takes note of a deletion.
    func remove(_ row: RecordRow) {
        guard indexes[ExactName(row.type)] != nil else { return }
        note(IndexedChange(clears: true), of: row.name)
    }

    /// Writes what has changed.
    func save(in zone: Int64) throws {
        let cleared = changes.filter(\.value.clears)
        try transaction.removeEntries(ofRecords: cleared.keys.map(\.text).sorted(), in: zone)
        var (going, coming): ([IndexEntry], [IndexEntry]) = ([], [])
        for (name, change) in changes.sorted(by: { $0.key.text < $1.key.text }) {
            for (value, comes) in change.entries {
                let entry = IndexEntry(index: value.index, form: value.form, name: name.text)
                if comes { coming.append(entry) } else if !change.clears { going.append(entry) }
            }
        }
        try transaction.removeEntries(going, in: zone)
        try transaction.addEntries(coming, in: zone)
    }
}

extension IndexedChange {
    fileprivate mutating func add(_ forms: some Sequence<QueryForm>, to index: Int64) {
        for form in forms { entries[IndexedForm(index: index, form: form)] = true }
    }
}

extension QueriedRecord {
    /// False where the forms under a key are the same without a look at them: words are dear.
    fileprivate func mayDiffer(from old: QueriedRecord, by key: QueryIndexKey) -> Bool {
        guard key.kind == .words else { return true }
        guard key.name.text.isEmpty else {
            return !Self.haveSameText(value(key.name), old.value(key.name))
        }
        return Set(fields.keys).union(old.fields.keys).contains { name in
            !Self.haveSameText(fields[name] ?? nil, old.fields[name] ?? nil)
        }
    }

    /// Byte by byte, as forms are; values without text are the same.
    private static func haveSameText(_ one: FieldValue?, _ other: FieldValue?) -> Bool {
        let (one, other) = (texts(of: one), texts(of: other))
        return one.count == other.count && zip(one, other).allSatisfy { $0.isExactly($1) }
    }

    private static func texts(of value: FieldValue?) -> [String] {
        switch value {
        case .string(let text): [text]
        case .list(.string, let elements):
            elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
        default: []
        }
    }
}
