internal import Foundation
internal import SQLiteDriver
internal import Stores

/// Writes change sets: rows, to-many relationships, history. Used under the store's lock, inside a
/// transaction.
///
/// Deletes come first and inserts last, so that a unique key can pass from one row to another in
/// one save.
final class ChangeWriter {
    let schema: StoreSchema
    private let rows: RowWriter
    private let toManys: ToManyWriter
    private let oneWayLinks: OneWayLinks
    private let reader: RowReader
    private let uniqueKeys: UniqueKeys
    private let keys: KeyRegister
    var history: (log: HistoryLog, reader: HistoryReader)?
    /// The last update's bitmap: the next one mostly changes the same properties.
    private var lastBitmap: (update: RowUpdate, bitmap: ChangeBitmap?)?

    init(
        connection: Connection, schema: StoreSchema, reader: RowReader, keys: KeyRegister,
        history: (log: HistoryLog, reader: HistoryReader)?, rows: RowWriter
    ) {
        self.schema = schema
        self.reader = reader
        self.keys = keys
        self.history = history
        self.rows = rows
        toManys = ToManyWriter(connection: connection, schema: schema, reader: reader)
        oneWayLinks = OneWayLinks(connection: connection, schema: schema)
        uniqueKeys = UniqueKeys(connection: connection, schema: schema, reader: reader)
    }

    func apply(_ changes: ChangeSet) throws -> SaveOutcome {
        toManys.begin()
        var outcome = SaveOutcome()
        outcome.written.reserveCapacity(changes.inserts.count + changes.updates.count)
        var conflicts: [SaveConflicts.Conflict] = []
        let graves = try delete(changes.deletes, &conflicts)
        for index in changes.updates.indices {
            try update(changes.updates[index...], &conflicts, &outcome)
        }
        guard conflicts.isEmpty else { throw SaveConflicts(conflicts) }
        try insert(changes.inserts, areCopies: changes.areCopies, &outcome)
        for change in changes.toManys { try toManys.write(change) }
        for change in changes.toManys where change.appended.count > 1 {
            try toManys.arrange(change)
        }
        let cleared = try clearLinks(to: graves, changes, &outcome)
        outcome.transactionNumber = try writeHistory(of: changes, cleared: cleared, graves: graves)
        return outcome
    }

    /// Empties the links without inverse that point at rows which are gone; returns the updates
    /// that the caller does not know of.
    private func clearLinks(
        to graves: [HistoryLog.Entry], _ changes: ChangeSet, _ outcome: inout SaveOutcome
    ) throws -> [RowUpdate] {
        let found = try oneWayLinks.leading(to: graves.map(\.id))
        for update in found {
            guard let version = try rows.update(update) else { continue }
            outcome.written.append((update.id, version))
            outcome.clearedLinks[update.id] = update.toOnes.map(\.slot)
        }
        return found
    }

    // MARK: Rows

    private func insert(
        _ inserts: [Row], areCopies: Bool, _ outcome: inout SaveOutcome
    ) throws {
        var next = 0
        while next < inserts.count {
            let several = try rows.insertSeveral(inserts[next...])
            if several == 0 { try insert(inserts[next], isCopy: areCopies) }
            next += max(several, 1)
        }
        if areCopies { try rows.keepVersions(of: inserts) }
        var highest: [Int32: Int64] = [:]
        var last: (entity: Int32, key: Int64) = (0, 0)
        for index in inserts.indices {
            let id = inserts[index].id
            outcome.written.append((id, 1))
            if id.entity != last.entity {
                if last.key > highest[last.entity] ?? 0 { highest[last.entity] = last.key }
                last = (id.entity, 0)
            }
            last.key = max(last.key, id.key)
        }
        if last.key > highest[last.entity] ?? 0 { highest[last.entity] = last.key }
        for (entity, key) in highest {
            guard let root = schema.columns(of: entity)?.root else { continue }
            try keys.raise(Int64(root), to: key)
        }
    }

    private func insert(_ row: Row, isCopy: Bool) throws {
        do {
            try rows.insert(row, orders: toManys, isCopy: isCopy)
        } catch let fault as SQLiteFault where fault.isConstraint {
            throw try uniqueKeys.violation(by: row)?.violation ?? failure(row.id, fault)
        }
    }

    /// Writes the first of `updates`; the others are those still to come, which may give up a key
    /// it wants.
    private func update(
        _ updates: ArraySlice<RowUpdate>, _ conflicts: inout [SaveConflicts.Conflict],
        _ outcome: inout SaveOutcome
    ) throws {
        guard var update = updates.first else { return }
        for index in update.toOnes.indices {
            let (slot, link) = update.toOnes[index]
            update.toOnes[index].link = try toManys.ordered(link, slot, of: update.id.entity)
        }
        if let version = try write(update, later: updates.dropFirst()) {
            outcome.written.append((update.id, version))
        } else if let expected = update.expectedVersion {
            conflicts.append(
                .init(id: update.id, expectedVersion: expected, stored: try reader.row(update.id)))
        } else {
            throw StoreError(
                .missingRow, "A row to be changed is not in the store; it was deleted meanwhile.",
                fields: ["entity": schema.name(of: update.id.entity), "key": "\(update.id.key)"])
        }
    }

    private func write(_ update: RowUpdate, later: ArraySlice<RowUpdate>) throws -> Int64? {
        var parkedCount = 0
        while true {
            do {
                return try rows.update(update)
            } catch let fault as SQLiteFault where fault.isConstraint {
                // Each round parks one holder, so there are at most as many rounds as constraints.
                guard parkedCount <= schema.constraints.count else { throw fault }
                parkedCount += 1
                guard let stored = try reader.row(update.id),
                    let (violation, columns) = try uniqueKeys.violation(by: stored.applying(update))
                else { throw failure(update.id, fault) }
                guard let holder = violation.holder,
                    later.contains(where: { $0.id == holder && gives(up: columns, $0) })
                else { throw violation }
                try rows.park(holder, columns: columns)
            }
        }
    }

    private func gives(up columns: [String], _ update: RowUpdate) -> Bool {
        guard let own = schema.columns(of: update.id.entity) else { return false }
        let written =
            update.attributes.map { own.attributes[$0.slot].name }
            + update.toOnes.map { own.toOnes[$0.slot].key }
        return Set(columns).isSubset(of: written)
    }

    private func delete(
        _ deletes: [RowDelete], _ conflicts: inout [SaveConflicts.Conflict]
    ) throws -> [HistoryLog.Entry] {
        var graves: [HistoryLog.Entry] = []
        for delete in deletes {
            let tombstone = try tombstone(of: delete.id)
            if try rows.delete(delete) {
                graves.append(.init(kind: .delete, id: delete.id, tombstone: tombstone))
            } else if let expected = delete.expectedVersion {
                conflicts.append(
                    .init(
                        id: delete.id, expectedVersion: expected, stored: try reader.row(delete.id))
                )
            }
        }
        return graves
    }

    private func failure(_ id: RowID, _ fault: SQLiteFault) -> StoreError {
        StoreError(
            .failed,
            "A row breaks a rule of the file that is not in the model, or its key is taken.",
            fields: ["entity": schema.name(of: id.entity), "key": "\(id.key)"], cause: fault)
    }

    // MARK: History

    private func tombstone(of id: RowID) throws -> [SQLiteValue] {
        guard history != nil, let columns = schema.columns(of: id.entity) else { return [] }
        let slots = schema.preservedSlots(of: id.entity)
        guard !slots.isEmpty, let row = try reader.row(id) else { return [] }
        return slots.map { slot in
            ValueCoding.encode(row.attributes[slot], as: columns.attributes[slot].kind.inTombstone)
                ?? .null
        }
    }

    /// Writes inserts, updates and deletes, in this order. Returns nil when there is nothing to
    /// write.
    private func writeHistory(
        of changes: ChangeSet, cleared: [RowUpdate], graves: [HistoryLog.Entry]
    ) throws -> Int64? {
        guard let history else { return nil }
        let updates = changes.updates.filter { !$0.isEmpty } + toManys.displaced + cleared
        let (inserted, updated) = (changes.inserts.count, updates.count)
        let count = inserted + updated + graves.count
        guard count > 0 else { return nil }
        let number = try history.log.transaction(of: changes)
        try history.log.write(count: count, transaction: number) { index in
            if index < inserted { return .init(kind: .insert, id: changes.inserts[index].id) }
            guard index < inserted + updated else { return graves[index - inserted - updated] }
            let update = updates[index - inserted]
            return .init(
                kind: .update, id: update.id, bitmap: bitmap(of: update, history.reader))
        }
        lastBitmap = nil
        return number
    }

    private func bitmap(of update: RowUpdate, _ reader: HistoryReader) -> ChangeBitmap? {
        if let lastBitmap, lastBitmap.update.changesSame(as: update) { return lastBitmap.bitmap }
        let bitmap = reader.columns(of: update.id.entity).map {
            ChangeBitmap($0.bitmap(of: update))
        }
        lastBitmap = (update, bitmap)
        return bitmap
    }
}

extension RowUpdate {
    /// Whether another update is of the same entity and slots.
    fileprivate func changesSame(as other: RowUpdate) -> Bool {
        id.entity == other.id.entity && changedToManys == other.changedToManys
            && attributes.elementsEqual(other.attributes) { $0.slot == $1.slot }
            && toOnes.elementsEqual(other.toOnes) { $0.slot == $1.slot }
    }
}
