internal import Foundation
internal import ObjectModel

/// The rows, links, keys and history of a memory store. Guarded by the store's lock.
struct MemoryTables {
    var metadata: [String: Any] = [:]
    var history: [HistoryTransaction] = []
    var consumers: [String: HistoryConsumer] = [:]
    private(set) var links: MemoryLinks
    private(set) var lastTransaction: Int64 = 0
    private var rows: [Int32: [Int64: Row]] = [:]
    private var constraints: MemoryConstraints
    private var lastKeys: [Int32: Int64] = [:]
    private var lastChange: Int64 = 0
    private let roots: [Int32: Int32]
    private let layout: ModelLayout
    private let derivations: MemoryDerivations

    init(layout: ModelLayout) {
        self.layout = layout
        derivations = MemoryDerivations(layout: layout)
        links = MemoryLinks(layout: layout)
        constraints = MemoryConstraints(layout: layout)
        roots = Dictionary(
            layout.entities.map { ($0.number, Self.root(of: $0, in: layout)) },
            uniquingKeysWith: { first, _ in first })
    }

    private static func root(of entity: EntityLayout, in layout: ModelLayout) -> Int32 {
        var root = entity
        while let parent = root.entity.superentity,
            let above = layout.entity(named: parent.name ?? "")
        {
            root = above
        }
        return root.number
    }

    func row(_ id: RowID) -> Row? { rows[id.entity]?[id.key] }

    /// All rows of these entities, in the order of their keys.
    func rows(of entities: [Int32]) -> [Row] {
        entities.flatMap { rows[$0].map { Array($0.values) } ?? [] }.sorted {
            $0.id.key < $1.id.key
        }
    }

    mutating func reserveKeys(entity: Int32, count: Int) -> [Int64] {
        let root = roots[entity] ?? entity
        let last = lastKeys[root, default: 0]
        lastKeys[root] = last + Int64(max(count, 0))
        return count > 0 ? Array(last + 1...last + Int64(count)) : []
    }

    func lastKey(entity: Int32) -> Int64 { lastKeys[roots[entity] ?? entity, default: 0] }

    /// No key up to `key` is handed out again.
    mutating func raiseKeys(entity: Int32, to key: Int64) {
        lastKeys[roots[entity] ?? entity, default: 0] = max(lastKey(entity: entity), key)
    }

    /// Checks everything first, then writes; a throw leaves the tables as they were.
    /// `now` is the moment of the save.
    mutating func write(_ changes: ChangeSet, now: Date) throws -> SaveOutcome {
        try checkVersions(changes)
        var written: [Row] = []
        written.reserveCapacity(changes.inserts.count + changes.updates.count)
        for row in changes.inserts {
            try checkInsert(row)
            var row = row
            if !changes.areCopies { row.version = 1 }
            written.append(row)
        }
        for update in changes.updates { written.append(try updated(update)) }
        try constraints.check(
            writing: written, deleting: changes.deletes.compactMap { row($0.id) },
            former: { self.row($0) })
        for change in changes.deletes { remove(change.id) }
        var outcome = SaveOutcome()
        outcome.written.reserveCapacity(written.count)
        for row in written {
            put(row)
            outcome.written.append((row.id, row.version))
        }
        for change in changes.toManys {
            for moved in links.apply(change) { setOrderKey(moved) }
        }
        for change in changes.toManys where change.appended.count > 1 {
            for moved in links.arrange(change) { setOrderKey(moved) }
        }
        clearLinks(to: changes.deletes.map(\.id), &outcome)
        outcome.derivedValues = derivations.values(after: changes, in: self, now: now)
        for (id, values) in outcome.derivedValues {
            for (slot, value) in values { rows[id.entity]?[id.key]?.attributes[slot] = value }
        }
        return outcome
    }

    /// Empties to-one links without inverse that lead to rows which are gone. Cost: a walk through
    /// the rows of the entities that have such links.
    private mutating func clearLinks(to deleted: [RowID], _ outcome: inout SaveOutcome) {
        let gone = Set(deleted)
        guard !gone.isEmpty else { return }
        for entity in layout.entities {
            let slots = entity.toOnes.indices.filter {
                entity.toOnes[$0].inverseRelationship == nil
            }
            guard !slots.isEmpty else { continue }
            for row in rows(of: [entity.number]) {
                let cleared = slots.filter {
                    row.toOnes[$0].map { gone.contains($0.target) } == true
                }
                guard !cleared.isEmpty else { continue }
                var row = row
                for slot in cleared { row.toOnes[slot] = nil }
                row.version += 1
                put(row)
                outcome.written.append((row.id, row.version))
                outcome.clearedLinks[row.id] = cleared
            }
        }
    }

    private func checkVersions(_ changes: ChangeSet) throws {
        var conflicts: [SaveConflicts.Conflict] = []
        func check(_ id: RowID, _ expected: Int64?) {
            guard let expected else { return }
            let stored = row(id)
            guard stored?.version != expected else { return }
            conflicts.append(.init(id: id, expectedVersion: expected, stored: stored))
        }
        for update in changes.updates { check(update.id, update.expectedVersion) }
        for delete in changes.deletes { check(delete.id, delete.expectedVersion) }
        guard conflicts.isEmpty else { throw SaveConflicts(conflicts) }
    }

    private func checkInsert(_ row: Row) throws {
        guard let entity = layout.entity(row.id.entity) else {
            throw MemoryRowStore.unknownEntity(row.id.entity)
        }
        let fits =
            row.attributes.count == entity.attributes.count
            && row.toOnes.count == entity.toOnes.count
        guard fits, self.row(row.id) == nil else {
            throw StoreError(
                .invalidValue,
                "The row cannot be inserted: its key is taken or its values do not fit the entity.",
                fields: ["entity": entity.name, "key": String(row.id.key)])
        }
    }

    private func updated(_ update: RowUpdate) throws -> Row {
        guard var row = row(update.id) else {
            throw StoreError(
                .missingRow, "The row to update is not in the store; read it again or insert it.",
                fields: ["entity": String(update.id.entity), "key": String(update.id.key)])
        }
        row.version += 1
        for (slot, value) in update.attributes { row.attributes[slot] = value }
        for (slot, link) in update.toOnes { row.toOnes[slot] = link }
        return row
    }

    private mutating func put(_ row: Row) {
        let former = self.row(row.id)
        constraints.replace(former, with: row)
        links.relink(row, former: former)
        rows[row.id.entity, default: [:]][row.id.key] = row
        let root = roots[row.id.entity] ?? row.id.entity
        lastKeys[root] = max(lastKeys[root, default: 0], row.id.key)
    }

    private mutating func remove(_ id: RowID) {
        guard let row = rows[id.entity]?.removeValue(forKey: id.key) else { return }
        constraints.replace(row, with: nil)
        links.unlink(row)
    }

    /// An ordered one-to-many keeps its order in the members' own links.
    private mutating func setOrderKey(_ place: MemoryLinks.Place) {
        rows[place.member.entity]?[place.member.key]?.toOnes[place.slot]?.orderKey = place.orderKey
    }

    /// Appends the transaction of a change set that was just written; `deleted` are the rows as
    /// they were. Nil where nothing is left to tell.
    mutating func record(
        _ changes: ChangeSet, cleared: [RowID: [Int]], deleted: [Row], date: Date
    ) -> Int64? {
        let updates = changes.updates.filter { !$0.isEmpty }
        guard changes.inserts.count + updates.count + cleared.count + deleted.count > 0 else {
            return nil
        }
        lastTransaction += 1
        var transaction = HistoryTransaction(number: lastTransaction, date: date)
        transaction.author = changes.author
        transaction.contextName = changes.contextName
        for row in changes.inserts { append(.insert, row.id, to: &transaction) }
        for update in updates {
            append(.update, update.id, properties: names(of: update), to: &transaction)
        }
        for (row, slots) in cleared.sorted(by: { $0.key < $1.key }) {
            let names = slots.compactMap { layout.entity(row.entity)?.toOnes[$0].name }
            append(.update, row, properties: names, to: &transaction)
        }
        for row in deleted {
            append(.delete, row.id, tombstone: tombstone(of: row), to: &transaction)
        }
        history.append(transaction)
        return lastTransaction
    }

    private mutating func append(
        _ kind: HistoryChange.Kind, _ id: RowID, properties: [String] = [],
        tombstone: [String: AttributeValue] = [:], to transaction: inout HistoryTransaction
    ) {
        lastChange += 1
        transaction.changes.append(
            HistoryChange(
                number: lastChange, kind: kind, id: id, changedProperties: properties,
                tombstone: tombstone))
    }

    private func tombstone(of row: Row) -> [String: AttributeValue] {
        guard let entity = layout.entity(row.id.entity) else { return [:] }
        var kept: [String: AttributeValue] = [:]
        for (slot, place) in entity.attributes.enumerated()
        where place.attribute.preservesValueInHistoryOnDeletion && !row.attributes[slot].isNull {
            kept[place.name] = row.attributes[slot]
        }
        return kept
    }

    private func names(of update: RowUpdate) -> [String] {
        guard let entity = layout.entity(update.id.entity) else { return [] }
        return update.attributes.map { entity.attributes[$0.slot].name }
            + update.toOnes.map { entity.toOnes[$0.slot].name }
            + update.changedToManys.map { entity.toManys[$0].name }
    }
}
