internal import Foundation
internal import ObjectModel
internal import Stores

/// Copies every object of one store into another, empty one of the same model.
struct StoreCopy {
    let source: any RowStore
    let target: any RowStore

    /// Returns how many objects were copied, and how many links led to no object.
    func run() throws -> (objects: Int, lostLinks: Int) {
        try source.reading {
            var gathering = Gathering(source: source, target: target)
            try gathering.addRows()
            try gathering.addLinks()
            _ = try target.save(gathering.changes)
            try target.setMetadata(source.metadata())
            return (gathering.changes.inserts.count, gathering.lostLinks)
        }
    }
}

/// What is to be saved in the target.
private struct Gathering {
    let source: any RowStore
    let target: any RowStore
    private(set) var changes = ChangeSet()
    private(set) var lostLinks = 0
    private var rows: [Row] = []
    private var ids: [RowID: RowID] = [:]

    init(source: any RowStore, target: any RowStore) {
        self.source = source
        self.target = target
    }

    mutating func addRows() throws {
        for entity in source.layout.entities {
            var query = RowQuery(entity: entity.number)
            query.includesSubentities = false
            let found = try source.rows(matching: query).sorted { $0.id < $1.id }
            guard !found.isEmpty, let place = target.layout.entity(named: entity.name) else {
                continue
            }
            let keys = try target.reserveKeys(entity: place.number, count: found.count)
            for (row, key) in zip(found, keys) {
                ids[row.id] = RowID(entity: place.number, key: key)
            }
            rows += found
        }
    }

    mutating func addLinks() throws {
        for row in rows {
            guard let entity = source.layout.entity(row.id.entity), let id = ids[row.id] else {
                continue
            }
            var copy = Row(
                id: id, version: 1, attributes: row.attributes,
                toOnes: Array(repeating: nil, count: row.toOnes.count))
            for (slot, link) in row.toOnes.enumerated() {
                guard let link else { continue }
                copy.toOnes[slot] = ids[link.target].map { Link($0) }
                if copy.toOnes[slot] == nil { lostLinks += 1 }
            }
            changes.inserts.append(copy)
            for (slot, relationship) in entity.toManys.enumerated() {
                try addMembers(of: row.id, relationship, slot, to: id)
            }
        }
    }

    private mutating func addMembers(
        of owner: RowID, _ relationship: NSRelationshipDescription, _ slot: Int, to id: RowID
    ) throws {
        let isMirrored = relationship.inverseRelationship.map { !$0.isToMany } ?? false
        guard relationship.isOrdered || !isMirrored else { return }
        let all = try source.members(of: owner, toMany: slot)
        let members = all.compactMap { ids[$0.target] }
        lostLinks += all.count - members.count
        guard !members.isEmpty else { return }
        var change = ToManyChange(owner: id, slot: slot)
        if !isMirrored { change.added = members.map { Link($0) } }
        if relationship.isOrdered { change.order = members }
        changes.toManys.append(change)
    }
}
