internal import Foundation
internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// Copies all rows and links of one store into an empty one, whatever their types.
///
/// All of it is read of one state of the store, whoever saves meanwhile. Programs' own incremental
/// stores refuse it.
///
/// Rows keep their keys and versions; in a file where all keys differ they get new ones, in the
/// order of the old. Into SQLite they go in batches within one transaction; the other types hold
/// everything in memory anyway and are written once.
///
/// It stops before a batch, with a `CancellationError`, where its task is cancelled.
///
/// Of a one-to-one link that only one end knows the other end gets to know, too. A value whose file
/// is gone and a link to a row that is not there are not in the copy, and are counted.
struct StoreCopy {
    /// What came of it. Queue: the copy's.
    final class Outcome {
        /// How many values were lost before, with their files.
        fileprivate(set) var lostValues = 0
        /// How many links were lost before, with the rows they lead to.
        fileprivate(set) var lostLinks = 0
        /// By their new keys, what rows were in the old store, where they did not keep their keys.
        fileprivate(set) var rows: [Int64: FormerRows.Place] = [:]
    }

    private let layout: ModelLayout
    private let source: any RowReading
    private let target: any RowStore
    private var ids: [RowID: RowID] = [:]
    /// Rows of the source that another points at by a one-to-one, and which point nowhere: by slot,
    /// who does.
    private var openEnds: [RowID: [Int: RowID]] = [:]
    private let keepsKeys: Bool
    private let outcome = Outcome()
    private static let batchCount = 2000

    /// Copies everything.
    static func run(from store: any RowStore, to target: any RowStore) throws -> Outcome {
        try store.readingOneState { source in
            var copy = StoreCopy(layout: store.layout, source: source, target: target)
            try copy.copyRows()
            try target.setMetadata(applicationMetadata(of: store))
            return copy.outcome
        }
    }

    private init(layout: ModelLayout, source: any RowReading, target: any RowStore) {
        self.layout = layout
        self.source = source
        self.target = target
        // The keys of a tree's rows are its own there.
        keepsKeys = target is SQLiteRowStore || target is MemoryRowStore
    }

    private mutating func copyRows() throws {
        try mapKeys()
        try findOpenEnds()
        let copy = self
        if let database = target as? SQLiteRowStore {
            try database.write { _ in
                try copy.forEachChangeSet { _ = try database.save($0) }
            }
        } else {
            var whole = ChangeSet()
            whole.areCopies = true
            try copy.forEachChangeSet { part in
                whole.inserts += part.inserts
                whole.toManys += part.toManys
            }
            if !whole.isEmpty { _ = try target.save(whole) }
        }
    }

    /// The metadata that the application put there.
    private static func applicationMetadata(of store: any RowStore) throws -> [String: Any] {
        try store.metadata().filter { key, _ in
            !StoreMetadataKey.isOwn(key)
        }
    }

    private mutating func mapKeys() throws {
        for entity in layout.entities {
            guard let other = target.layout.entity(named: entity.name) else {
                throw StoreError(
                    .modelMismatch, "The new store's configuration lacks an entity of the old one.",
                    fields: ["entity": entity.name])
            }
            let found = try source.ids(matching: query(entity)).sorted()
            let keys =
                keepsKeys
                ? found.map(\.key)
                : try target.reserveKeys(entity: other.number, count: found.count)
            for (id, key) in zip(found, keys) {
                ids[id] = RowID(entity: other.number, key: key)
            }
        }
    }

    // MARK: Links that one end does not know

    /// A pointing end wins over an end that nobody set; of several claims the first by key.
    private mutating func findOpenEnds() throws {
        for entity in layout.entities {
            let slots = entity.toOnes.indices.filter {
                entity.toOnes[$0].inverseRelationship.map { !$0.isToMany } ?? false
            }
            let mayMiss = entity.attributes.contains {
                $0.attribute.allowsExternalBinaryDataStorage
            }
            guard !slots.isEmpty || mayMiss else { continue }
            try forEachBatch(of: entity) { batch in
                let rows = try source.rows(batch).sorted { $0.id < $1.id }
                outcome.lostValues += rows.reduce(0) { $0 + $1.missing.count }
                for slot in slots { try findOpenEnds(of: rows, entity.toOnes[slot], slot) }
            }
        }
    }

    private mutating func findOpenEnds(
        of rows: [Row], _ relationship: NSRelationshipDescription, _ slot: Int
    ) throws {
        guard let back = relationship.inverseRelationship?.name else { return }
        let targets = try source.rows(rows.compactMap { $0.toOnes[slot]?.target })
        let ends = Dictionary(targets.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        for row in rows {
            guard let target = row.toOnes[slot].flatMap({ ends[$0.target] }),
                let end = layout.entity(target.id.entity)?.toOneSlot(back),
                target.toOnes[end] == nil, openEnds[target.id]?[end] == nil
            else { continue }
            openEnds[target.id, default: [:]][end] = row.id
        }
    }

    private func query(_ entity: EntityLayout) -> RowQuery {
        var query = RowQuery(entity: entity.number)
        query.includesSubentities = false
        return query
    }

    /// First all rows, then the links that are not in rows: a link's ends are there before it.
    private func forEachChangeSet(_ body: (ChangeSet) throws -> Void) throws {
        for entity in layout.entities {
            try forEachBatch(of: entity) { batch in
                var part = ChangeSet()
                part.areCopies = true
                part.inserts = try source.rows(batch).sorted { $0.id < $1.id }.map(moved)
                try body(part)
            }
        }
        for entity in layout.entities {
            let slots = entity.toManys.indices.filter { Self.namesMembers(entity.toManys[$0]) }
            guard !slots.isEmpty else { continue }
            try forEachBatch(of: entity) { batch in
                var part = ChangeSet()
                for owner in batch {
                    part.toManys += try slots.compactMap { try members(of: owner, entity, $0) }
                }
                if !part.isEmpty { try body(part) }
            }
        }
    }

    private func forEachBatch(
        of entity: EntityLayout, _ body: ([RowID]) throws -> Void
    ) throws {
        let all = try source.ids(matching: query(entity)).sorted()
        for start in stride(from: 0, to: all.count, by: Self.batchCount) {
            try Task.checkCancellation()
            try body(Array(all[start..<min(start + Self.batchCount, all.count)]))
        }
    }

    private func moved(_ row: Row) -> Row {
        var moved = row
        moved.id = ids[row.id] ?? row.id
        // A link to a row that is gone ends here; places in orders are set with the owner's order.
        moved.toOnes = row.toOnes.map { link in link.flatMap { ids[$0.target].map { Link($0) } } }
        outcome.lostLinks += zip(row.toOnes, moved.toOnes).count { $0 != nil && $1 == nil }
        for (slot, owner) in openEnds[row.id] ?? [:] {
            moved.toOnes[slot] = ids[owner].map { Link($0) }
        }
        moved.missing = []
        if !keepsKeys {
            outcome.rows[moved.id.key] = .init(id: row.id, version: row.version)
        }
        return moved
    }

    /// Whether a relationship's members are named by the owner: pairs from one of their ends,
    /// orders always.
    private static func namesMembers(_ relationship: NSRelationshipDescription) -> Bool {
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany else {
            return relationship.writesJoinRows
        }
        return relationship.isOrdered
    }

    private func members(
        of owner: RowID, _ entity: EntityLayout, _ slot: Int
    ) throws -> ToManyChange? {
        let relationship = entity.toManys[slot]
        let links = try source.members(of: owner, toMany: slot)
        let members = links.compactMap { ids[$0.target] }
        outcome.lostLinks += links.count - members.count
        guard !members.isEmpty, let place = ids[owner],
            let other = target.layout.entity(place.entity)?.toManySlot(relationship.name)
        else { return nil }
        var change = ToManyChange(owner: place, slot: other)
        let isOneToMany = relationship.inverseRelationship.map { !$0.isToMany } ?? false
        if !isOneToMany { change.added = members.map { Link($0) } }
        if relationship.isOrdered { change.order = members }
        return change
    }
}
