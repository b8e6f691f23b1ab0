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
        for place in keys.indices { try keys[place].findHolders(of: rows) }
        var inserts: [RowID: Int] = [:]
        var updates: [RowID: RowUpdate] = [:]
        var order: [RowID] = []
        for (row, values) in zip(rows, values) {
            if let holder = keys.lazy.compactMap({ $0.holder(of: row) }).first {
                guard isOverwriting else { continue }
                if let place = inserts[holder] {
                    for slot in values.given {
                        changes.inserts[place].attributes[slot] = row.attributes[slot]
                    }
                } else {
                    if updates[holder] == nil { order.append(holder) }
                    let before = updates[holder] ?? RowUpdate(id: holder)
                    updates[holder] = update(before, with: values)
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

    private func update(_ update: RowUpdate, with values: InsertedRow) -> RowUpdate {
        guard let own = store.rowStore.layout.entity(update.id.entity) else { return update }
        var update = update
        for slot in values.given {
            guard let place = own.attributeSlot(layout.attributes[slot].name) else { continue }
            update.attributes.removeAll { $0.slot == place }
            update.attributes.append((place, values.attributes[slot]))
        }
        return update
    }
}
