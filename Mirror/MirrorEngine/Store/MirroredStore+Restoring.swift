internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
package import Stores

/// An object that is there again after its deletion.
public struct RestoredObject: Hashable, Sendable {
    /// How an object comes back.
    public enum Way: Hashable, Sendable {
        /// As an object of its own on all devices, which waits for export.
        case madeAnew
        /// As the service has it: it had refused the deletion, and nothing is sent.
        case tookBackDeletion
        /// As `tookBackDeletion`, with the next round, which fetches large values of it.
        case comesWithNextRound
    }

    /// The name of its record: another than before where it was made anew.
    public let recordName: String
    package let row: RowID
    /// Links that could not be made again, because the object at the other end is gone or has
    /// another partner since.
    public let linksLost: Int
    public let way: Way
}

extension MirroredStore {
    /// Makes the deleted object of which a line of the conflict log speaks anew, as the side had it
    /// that lost against the deletion, with its links. It waits for export then, and is an object
    /// of its own on all devices. The log's lines are then of the new object. Where the service
    /// refused the deletion, that is taken back instead (`restore(refusedDeletionOf:)`).
    ///
    /// Throws `MirrorError`: `.unknownConflict` where there is no such line or its object lives,
    /// `.objectDeleted` where nothing is kept of it (its lines are older than this version, or it
    /// was absorbed by another), `.unknownEntity`, `.keyMissing` where it has sealed values, and
    /// `.keyTaken` where another object has its unique key. Cost: one transaction, as large as the
    /// object's links.
    @discardableResult
    public func restore(objectOfConflict id: Int64) throws -> RestoredObject {
        try write { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection) else { throw Self.unknown(id) }
            try catchUp(mirror)
            guard let line = try mirror.ledger.conflict(id) else {
                throw Self.unknown(id)
            }
            if try mirror.ledger.row(named: line.recordName) != nil {
                throw MirrorError(
                    .unknownConflict,
                    "The object of conflict \(id) is there. Put a value of it back with "
                        + "'diptych conflicts --resolve'.")
            }
            if let entry = try mirror.ledger.refusedDeletion(named: line.recordName),
                let object = try takeBack([entry], mirror).first
            {
                return object
            }
            guard let grave = try mirror.ledger.grave(of: line.recordName) else {
                throw MirrorError(
                    .objectDeleted,
                    "Nothing but its logged values is kept of the object of conflict \(id), so it "
                        + "cannot be restored.")
            }
            return try restore(grave, mirror)
        }
    }

    private func restore(_ grave: Grave, _ mirror: MirrorTransaction) throws -> RestoredObject {
        var restoring = try Restoring(grave, mirror)
        do {
            try restoring.save()
        } catch let violation as UniquenessViolation {
            throw Self.taken(violation)
        }
        // The look at the history names the new object, as it names any other.
        try catchUp(mirror)
        let name = try mirror.ledger.recordName(for: restoring.row.id)
        try mirror.keepForeign(of: grave.record, for: restoring.row.id, isRenamed: true)
        try mirror.ledger.moveLines(
            ofRestored: grave.record.recordName, to: name, isLocal: grave.isLocal,
            rules: DeletionRule.allCases.map(\.rawValue) + [RecordImport.shareEndRule])
        try mirror.ledger.dropGrave(of: grave.record.recordName)
        for lost in restoring.leftOut { try lost.keep(in: mirror.ledger) }
        try moveLinks(from: grave.record.recordName, to: name, mirror)
        try mirror.ledger.finish()
        return RestoredObject(
            recordName: name, row: restoring.row.id, linksLost: restoring.linksLost,
            way: .madeAnew)
    }

    /// What the log and other graves say of links to an object is of the new one, too.
    private func moveLinks(
        from name: String, to other: String, _ mirror: MirrorTransaction
    ) throws {
        let mapping = mirror.mapping
        try mirror.ledger.moveLoggedLinks(from: name, to: other) { entity, property in
            guard let layout = mapping.layout.entity(named: entity) else { return false }
            return layout.toOneSlot(property) != nil || layout.toManySlot(property) != nil
        }
        for graveName in try mirror.ledger.graveNames() {
            guard var grave = try mirror.ledger.grave(of: graveName) else { continue }
            let former = grave
            for index in grave.links.indices where grave.links[index].recordName.isExactly(name) {
                grave.links[index].recordName = other
            }
            if let layout = mapping.entity(of: grave.record) {
                for slot in layout.toOnes.indices {
                    let field = mapping.fieldNames(of: .toOne(slot), layout).plain
                    guard case .string(let link)?? = grave.record.fields[field],
                        link.isExactly(name)
                    else { continue }
                    grave.record.fields[field] = .string(other)
                }
            }
            if grave.links != former.links || grave.record.fields != former.record.fields {
                try mirror.ledger.keep(grave)
            }
        }
    }

    static func taken(_ violation: UniquenessViolation) -> MirrorError {
        let key = violation.constraint.joined(separator: ", ")
        return MirrorError(
            .keyTaken,
            "Another \(violation.entity) has that \(key) already; change it there first.")
    }

    private static func unknown(_ id: Int64) -> MirrorError {
        MirrorError(
            .unknownConflict,
            "There is no conflict \(id). 'diptych conflicts' lists those there are.")
    }
}

/// The changes that bring a deleted object back.
private struct Restoring {
    let mirror: MirrorTransaction
    private(set) var row: Row
    /// Links that could not be made again, as far as their other ends may come back.
    private(set) var leftOut: [LeftOutLink] = []
    private(set) var linksLost = 0
    private var changes = ChangeSet()

    init(_ grave: Grave, _ mirror: MirrorTransaction) throws {
        self.mirror = mirror
        guard let layout = mirror.mapping.entity(of: grave.record), !layout.entity.isAbstract,
            let key = try mirror.store.reserveKeys(entity: layout.number, count: 1).first
        else {
            throw MirrorError(
                .unknownEntity,
                "The object is of an entity that the store's model has no more, so it cannot be "
                    + "restored.")
        }
        guard mirror.mapping.lockedFields(of: grave.record).isEmpty else {
            throw MirrorError(
                .keyMissing,
                "The object has a sealed value whose key is not here. Give the key file, and "
                    + "restore it then.")
        }
        row = Row(id: RowID(entity: layout.number, key: key), layout: layout)
        let state = mirror.mapping.agreedState(of: grave.record, entity: layout)
        // A content that is nowhere any more cannot come back with the rest.
        row.attributes = state.attributes.map { AssetStandIn($0) == nil ? $0 : .null }
        for slot in row.toOnes.indices {
            try setLink(slot, state.toOnes[slot], layout, grave.record.recordName)
        }
        for link in grave.links where !link.recordName.isExactly(grave.record.recordName) {
            try add(link, layout, grave.record.recordName)
        }
    }

    mutating func save() throws {
        changes.inserts = [row]
        _ = try mirror.store.apply(changes)
    }

    private mutating func setLink(
        _ slot: Int, _ link: NamedLink?, _ layout: EntityLayout, _ ownName: String
    ) throws {
        guard let link else { return }
        let relationship = layout.toOnes[slot]
        if link.recordName.isExactly(ownName) {
            row.toOnes[slot] = Link(row.id, orderKey: link.orderKey)
        } else if let target = try mirror.ledger.row(named: link.recordName),
            try mirror.layout(of: target).entity.fits(relationship),
            try isFree(relationship.inverseRelationship, of: target)
        {
            row.toOnes[slot] = Link(target, orderKey: link.orderKey)
        } else {
            linksLost += 1
            let back = Grave.Link(
                kind: .referrer, property: relationship.name, recordName: ownName,
                orderKey: link.orderKey)
            leftOut.append(LeftOutLink(from: link.recordName, back))
        }
    }

    /// Whether the other end of a one-to-one has no partner yet.
    private func isFree(_ inverse: NSRelationshipDescription?, of target: RowID) throws -> Bool {
        guard let inverse, !inverse.isToMany,
            let slot = try mirror.layout(of: target).toOneSlot(inverse.name)
        else { return true }
        return try mirror.store.row(target)?.toOnes[slot] == nil
    }

    private mutating func add(
        _ link: Grave.Link, _ layout: EntityLayout, _ ownName: String
    ) throws {
        guard let other = try mirror.ledger.row(named: link.recordName) else {
            linksLost += 1
            if let back = back(along: link, layout, ownName) {
                leftOut.append(LeftOutLink(from: link.recordName, back))
            }
            return
        }
        switch link.kind {
        case .member: try addMember(Link(other, orderKey: link.orderKey), link, to: row.id, layout)
        case .owner:
            let owner = try mirror.layout(of: other)
            try addMember(Link(row.id, orderKey: link.orderKey), link, to: other, owner)
        case .referrer:
            let referrer = try mirror.layout(of: other)
            guard let slot = referrer.toOneSlot(link.property),
                layout.entity.fits(referrer.toOnes[slot]),
                try mirror.store.row(other)?.toOnes[slot] == nil
            else {
                linksLost += 1
                return
            }
            var update = RowUpdate(id: other)
            update.toOnes = [(slot, Link(row.id, orderKey: link.orderKey))]
            changes.updates.append(update)
        }
    }

    /// A membership as it is seen from the other end; nil for a to-one, which the other has itself.
    private func back(
        along link: Grave.Link, _ layout: EntityLayout, _ ownName: String
    ) -> Grave.Link? {
        switch link.kind {
        case .referrer: return nil
        case .owner:
            return Grave.Link(
                kind: .member, property: link.property, recordName: ownName,
                orderKey: link.orderKey)
        case .member:
            guard let slot = layout.toManySlot(link.property) else { return nil }
            guard let inverse = layout.toManys[slot].inverseRelationship else {
                return Grave.Link(
                    kind: .owner, property: link.property, recordName: ownName,
                    orderKey: link.orderKey)
            }
            return Grave.Link(kind: .member, property: inverse.name, recordName: ownName)
        }
    }

    private mutating func addMember(
        _ member: Link, _ link: Grave.Link, to owner: RowID, _ layout: EntityLayout
    ) throws {
        guard let slot = layout.toManySlot(link.property),
            try mirror.layout(of: member.target).entity.fits(layout.toManys[slot])
        else {
            linksLost += 1
            return
        }
        var change = ToManyChange(owner: owner, slot: slot)
        change.added = [member]
        changes.toManys.append(change)
        guard owner != row.id else { return }
        var mark = RowUpdate(id: owner)
        mark.changedToManys = [slot]
        changes.updates.append(mark)
    }
}

/// A link of a restored object whose other end is gone: should that be restored too, it is made.
private struct LeftOutLink {
    /// The name of the other end.
    let end: String
    /// The link as it is seen from there.
    let link: Grave.Link

    init(from end: String, _ link: Grave.Link) {
        self.end = end
        self.link = link
    }

    func keep(in ledger: Ledger) throws {
        guard var grave = try ledger.grave(of: end),
            !grave.links.contains(where: {
                $0.kind == link.kind && $0.property == link.property
                    && $0.recordName.isExactly(link.recordName)
            })
        else { return }
        grave.links.append(link)
        try ledger.keep(grave)
    }
}
