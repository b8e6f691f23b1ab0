internal import Foundation
internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// Writes the rows of a batch insertion, slice by slice where a store keeps them in one
/// transaction.
struct BatchInsertion {
    private let store: NSPersistentStore
    private let layout: EntityLayout
    private let policy: NSMergePolicyType
    private let author: String?
    private let contextName: String?
    private let keepsIDs: Bool
    private let keys: [TakenKeys]
    private var transaction: Int64?
    /// How many rows were inserted or updated.
    private(set) var count = 0
    /// The rows that were inserted or updated, where they are asked for.
    private(set) var rows: [RowID] = []

    private static let sliceCount = 1000

    init(
        context: NSManagedObjectContext, store: NSPersistentStore, layout: EntityLayout,
        keepsIDs: Bool
    ) {
        self.store = store
        self.layout = layout
        self.keepsIDs = keepsIDs
        policy = context.settings.mergePolicy.mergeType
        author = context.root.transactionAuthor
        contextName = context.root.name
        keys = TakenKeys.all(of: layout, in: store.rowStore)
    }

    mutating func run(_ values: InsertedValues) throws {
        guard let file = store.rowStore as? SQLiteRowStore else {
            return try insert(values.rows(.max))
        }
        var copy = self
        try file.write { _ in
            var slice = try values.rows(Self.sliceCount)
            while !slice.isEmpty {
                try copy.insert(slice)
                slice = try values.rows(Self.sliceCount)
            }
        }
        self = copy
    }

    private mutating func insert(_ values: [InsertedRow]) throws {
        guard !values.isEmpty else { return }
        var changes = ChangeSet()
        changes.author = author
        changes.contextName = contextName
        changes.continuedTransaction = transaction
        let fresh = try store.rowStore.reserveKeys(entity: layout.number, count: values.count)
        let made = zip(values, fresh).map { values, key in
            var row = Row(id: RowID(entity: layout.number, key: key), layout: layout)
            row.attributes = values.attributes
            return row
        }
        let written: [RowID]
        if keys.isEmpty || policy == .errorMergePolicyType {
            changes.inserts = made
            written = made.map(\.id)
        } else {
            written = try settle(made, values, in: &changes)
        }
        guard !changes.isEmpty else { return }
        let outcome = try store.rowStore.save(changes)
        transaction = outcome.transactionNumber ?? transaction
        count += written.count
        if keepsIDs { rows += written }
    }

    // MARK: Unique values

    /// Divides rows into those to insert and those that change the row which has their unique
    /// value. Returns the rows that are written, each once.
    private func settle(
        _ rows: [Row], _ values: [InsertedRow], in changes: inout ChangeSet
    ) throws -> [RowID] {
        let isOverwriting =
            policy == .mergeByPropertyObjectTrumpMergePolicyType
            || policy == .overwriteMergePolicyType
        var keys = self.keys
        var stored: [RowID: Row] = [:]
        for place in keys.indices {
            for row in try keys[place].findHolders(of: rows) { stored[row.id] = row }
        }
        var inserts: [RowID: Int] = [:]
        var updates: [RowID: RowUpdate] = [:]
        var order: [RowID] = []
        for (row, values) in zip(rows, values) {
            if let holder = keys.lazy.compactMap({ $0.holder(of: row) }).first {
                guard isOverwriting else { continue }
                let place = inserts[holder]
                guard let former = place.map({ changes.inserts[$0] }) ?? stored[holder] else {
                    continue
                }
                let given = given(values, to: holder)
                var present = former
                for (slot, value) in given { present.attributes[slot] = value }
                for key in keys.indices { keys[key].move(former, to: present) }
                if let place {
                    changes.inserts[place] = present
                } else {
                    stored[holder] = present
                    if updates[holder] == nil { order.append(holder) }
                    updates[holder, default: RowUpdate(id: holder)].take(given)
                }
                continue
            }
            for place in keys.indices { keys[place].take(row) }
            inserts[row.id] = changes.inserts.count
            changes.inserts.append(row)
            order.append(row.id)
        }
        changes.updates = order.compactMap { updates[$0] }
        return order
    }

    /// The values that a row of the same tree takes of an inserted one, by its own slots.
    private func given(
        _ values: InsertedRow, to holder: RowID
    ) -> [(slot: Int, value: AttributeValue)] {
        guard let own = store.rowStore.layout.entity(holder.entity) else { return [] }
        return values.given.compactMap { slot in
            own.attributeSlot(layout.attributes[slot].name).map { ($0, values.attributes[slot]) }
        }
    }
}

extension RowUpdate {
    fileprivate mutating func take(_ values: [(slot: Int, value: AttributeValue)]) {
        for given in values {
            attributes.removeAll { $0.slot == given.slot }
            attributes.append((given.slot, given.value))
        }
    }
}
