internal import SQLiteDriver
internal import Stores

/// Gives properties and entities that a version of the model renamed their new names in the tables
/// of the ledger that speak of them: the conflict log, the graves of objects that can be restored,
/// and links that wait for their targets.
struct LedgerNames {
    let mirror: MirrorTransaction
    let former: ModelCatalog?

    /// One entity under two versions of the model.
    private struct Renaming {
        var entity: String
        var newEntity: String
        /// By their former names; only those that changed.
        var properties: [String: String]
    }

    func rename() throws {
        try renamePairs()
        let renamings = self.renamings
        guard !renamings.isEmpty else { return }
        try renameConflicts(renamings)
        let names = Dictionary(
            renamings.map { ($0.newEntity, $0.properties) }, uniquingKeysWith: { one, _ in one })
        try renamePendingLinks(names)
        try renameGraves(names)
    }

    /// Lines that an older version of this library wrote under the plain names of its model, and
    /// those of relationships that have another place in this model.
    private func renamePairs() throws {
        let kinds = try mirror.ledger.connection.rows(
            "SELECT DISTINCT ZCDENTITYNAME, ZRELATIONSHIPNAME FROM ANSCKMIRROREDRELATIONSHIP")
        for kind in kinds {
            let (entities, relationships) = (kind[0].string ?? "", kind[1].string ?? "")
            guard
                mirror.pairs.kind(entityNames: entities, relationshipNames: relationships) == nil
            else { continue }
            let entries = try mirror.ledger.pairs(
                "p.ZCDENTITYNAME = ? AND p.ZRELATIONSHIPNAME = ?", kind)
            for entry in entries {
                let known =
                    mirror.pairs.named(entry.pair)
                    ?? former.flatMap { mirror.pairs.known(entry.pair, in: $0) }
                    ?? mirror.pairs.moved(entry.pair)
                if let known { try mirror.ledger.rename(pair: entry.key, to: known) }
                // Of several owners the row kept one; the others are not let go by anybody.
                if let known, entry.hasInverse, hasOneOwner(known) {
                    try mirror.ledger.setPair(entry.key, isPending: true)
                }
            }
        }
    }

    private func hasOneOwner(_ pair: JoinRecord) -> Bool {
        let kind = mirror.pairs.kind(
            entityNames: pair.entityNames, relationshipNames: pair.relationshipNames)
        return kind.map { $0.second == nil } ?? false
    }

    private var renamings: [Renaming] {
        let present = ModelCatalog(mirror.mapping, keepsAside: true)
        return (former?.entities ?? []).compactMap { old in
            guard let new = present.entity(withKey: old.key) else { return nil }
            var properties: [String: String] = [:]
            for property in old.properties {
                let same = new.properties.first { $0.key == property.key }
                if let same, same.name != property.name { properties[property.name] = same.name }
            }
            for (key, name) in old.toManys {
                if let other = new.toManys[key], other != name { properties[name] = other }
            }
            guard new.name != old.name || !properties.isEmpty else { return nil }
            return Renaming(entity: old.name, newEntity: new.name, properties: properties)
        }
    }

    /// In one statement, since a name that is given up may be another's now.
    private func renameConflicts(_ renamings: [Renaming]) throws {
        var (entities, properties, values) = ("", "", ([SQLiteValue](), [SQLiteValue]()))
        for renaming in renamings {
            if renaming.newEntity != renaming.entity {
                entities += "WHEN ZENTITY = ? THEN ? "
                values.0 += [.text(renaming.entity), .text(renaming.newEntity)]
            }
            for (old, new) in renaming.properties.sorted(by: { $0.key < $1.key }) {
                properties += "WHEN ZENTITY = ? AND ZPROPERTY = ? THEN ? "
                values.1 += [.text(renaming.entity), .text(old), .text(new)]
            }
        }
        func changed(_ column: String, _ cases: String) -> String {
            cases.isEmpty ? "\(column) = \(column)" : "\(column) = CASE \(cases)ELSE \(column) END"
        }
        try mirror.ledger.connection.run(
            "UPDATE ADIPTYCHCONFLICT SET \(changed("ZENTITY", entities)), "
                + changed("ZPROPERTY", properties), values.0 + values.1)
    }

    /// The new names of properties, by entities under their new names and by former names.
    private typealias NewNames = [String: [String: String]]

    private func renamePendingLinks(_ names: NewNames) throws {
        for link in try mirror.ledger.links("1", []) {
            guard let row = try mirror.ledger.row(named: link.recordName),
                let entity = mirror.mapping.layout.entity(row.entity)?.name,
                let name = names[entity]?[link.property]
            else { continue }
            try mirror.ledger.dropPending(link.recordName, property: link.property)
            var renamed = link
            renamed.property = name
            try mirror.ledger.keepPending(renamed)
        }
    }

    /// A deleted object's links are named by relationships of its own, and of those that led to it.
    private func renameGraves(_ names: NewNames) throws {
        for name in try mirror.ledger.graveNames() {
            guard var grave = try mirror.ledger.grave(of: name) else { continue }
            let former = grave.links
            for (index, link) in former.enumerated() {
                let owner = link.kind == .member ? name : link.recordName
                guard let entity = try entity(of: owner),
                    let renamed = names[entity]?[link.property]
                else { continue }
                grave.links[index].property = renamed
            }
            if grave.links != former { try mirror.ledger.keep(grave) }
        }
    }

    /// The entity of an object that is here, or can be restored.
    private func entity(of name: String) throws -> String? {
        if let row = try mirror.ledger.row(named: name) {
            return mirror.mapping.layout.entity(row.entity)?.name
        }
        return try mirror.ledger.grave(of: name)
            .flatMap { mirror.mapping.entity(of: $0.record)?.name }
    }
}
