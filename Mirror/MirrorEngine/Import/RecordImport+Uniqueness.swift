internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// The same natural key made on two devices becomes one object on all: the smaller record name
/// keeps its identity, relationships move to it, and the service drops the larger name. Every
/// device computes alike; a name that one device alone knows gives way.
extension RecordImport {
    /// What the log calls it where an object loses to the one that it became one with.
    static let uniqueRule = "unique"

    /// Merges a record whose unique key an object here has already. Returns false when there is
    /// none.
    mutating func settleTwin(_ arrival: Arrival) throws -> Bool {
        var found = try holder(of: arrival.state, arrival.layout)
        while let holder = found, try givesUpKey(holder) {
            found = try self.holder(of: arrival.state, arrival.layout)
        }
        guard let holder = found?.row, let row = try mirror.store.row(holder) else { return false }
        guard holder.entity == arrival.layout.number else {
            try settleCousin(arrival)
            return true
        }
        let ownName = try mirror.ledger.recordName(for: holder)
        guard let twin = try mirror.ledger.entry(named: ownName) else { return false }
        let yields = try staysOut(arrival.met, besides: twin)
        let stays = try staysOut(twin, besides: arrival.met)
        let adopts =
            try !stays
            && (yields || arrival.record.recordName < ownName || isKnownHereAlone(twin))
        let name = adopts ? arrival.record.recordName : ownName
        let local = try mirror.state(of: row, named: ownName)
        let result = try objectMerge(of: arrival, with: ownName).merge(
            base: mirror.mapping.untouched(by: arrival.record, entity: arrival.layout),
            local: local, remote: arrival.state)
        outcome.merged += 1
        try mirror.removeLine(of: arrival.entry)
        // After the line, whose end settles what waited under its name: the survivor may bear it.
        for conflict in result.conflicts {
            try log(conflict, arrival.layout, name, by: arrival.record.modified)
        }
        try redirectLinks(from: arrival.entry.row, to: holder)
        if yields || stays { try keepOut(holder) }
        if adopts {
            try mirror.carryKept(for: holder, from: ownName)
            try mirror.keepForeign(
                of: yields ? twin.base?.unshared : twin.base, for: holder, isRenamed: true)
            try adopt(arrival, by: twin)
            let hasMore = try !mirror.ledger.foreign(of: holder).isEmpty
            try mirror.ledger.setNeedsUpload(
                hasMore || result.merged != arrival.state, key: twin.key)
            // What the one here had is nobody's edit of the other.
            try mirror.ledger.markUpkeep(holder)
        } else {
            try mirror.ledger.keepAlias(
                arrival.record.recordName, mergedInto: twin.key, at: arrival.record.recordChangeTag)
            try mirror.keepForeign(
                of: stays ? arrival.record.unshared : arrival.record, for: holder, isRenamed: true)
            try mirror.enqueueUpkeep(holder)
        }
        try keepTimes(of: arrival, named: name, merged: result.merged)
        arrived += [ownName, arrival.record.recordName]
        guard let survivor = try mirror.ledger.entry(named: name),
            try makeRoom(for: result.merged, survivor, arrival.layout)
        else { return true }
        try change(holder, from: local, to: result.merged, arrival.layout, named: name)
        return true
    }

    /// Links of this batch that were made to a row which will not come into being.
    private mutating func redirectLinks(from row: RowID, to other: RowID) throws {
        try flush()
        for (source, slot) in try mirror.store.referrers(of: row) {
            guard var link = try mirror.store.row(source)?.toOnes[slot] else { continue }
            link.target = other
            var update = RowUpdate(id: source)
            update.toOnes = [(slot, link)]
            changes.updates.append(update)
            mergedNames.misnaming.insert(try mirror.ledger.recordName(for: source))
        }
        try flush()
    }

    /// A record whose unique key an object of another entity of the same tree has. It comes in
    /// without its keys, so that either can take the other in.
    private mutating func settleCousin(_ arrival: Arrival) throws {
        var keyless = arrival
        for name in arrival.layout.uniquenessConstraints.flatMap(\.names) {
            if let slot = arrival.layout.attributeSlot(name) {
                keyless.state.attributes[slot] = .null
            } else if let slot = arrival.layout.toOneSlot(name) {
                keyless.state.toOnes[slot] = nil
            }
        }
        try insert(keyless)
        try flush()
        guard try makeRoom(for: arrival.state, arrival.entry, arrival.layout) else { return }
        try change(
            arrival.entry.row, from: keyless.state, to: arrival.state, arrival.layout,
            named: arrival.record.recordName)
    }

    /// Whether nobody else can have heard of the object: the selection leaves it out, or it is yet
    /// to be sent to the public database, where no user may drop another's name.
    private func isKnownHereAlone(_ entry: RecordEntry) throws -> Bool {
        try entry.base == nil
            && (mirror.settings.scope.isPublic || mirror.ledger.isOutside(entry.recordName))
            && mirror.ledger.lastInFlight(entry.recordName) == nil
    }

    /// Whether of two objects that become one `entry` is the one that stays.
    private func keepsName(_ entry: RecordEntry, besides other: RecordEntry) throws -> Bool {
        if try staysOut(entry, besides: other) { return true }
        if try staysOut(other, besides: entry) { return false }
        let isAlone = try isKnownHereAlone(entry)
        return try isAlone == isKnownHereAlone(other)
            ? entry.recordName < other.recordName : !isAlone
    }

    /// Absorbs whoever holds a unique key of `state`, which is to become that of `entry`, or lets
    /// it absorb `entry`: the smaller record name stays. Returns whether `entry` is still there.
    mutating func makeRoom(
        for state: ObjectState, _ entry: RecordEntry, _ layout: EntityLayout
    ) throws -> Bool {
        settling[entry.row] = state
        defer { settling[entry.row] = nil }
        while let found = try holder(of: state, layout, except: entry.row) {
            if try givesUpKey(found) {
                // Whoever was settled first may have absorbed this one.
                let present = try mirror.ledger.entry(named: entry.recordName)
                guard present?.row == entry.row, try mirror.store.row(entry.row) != nil else {
                    return false
                }
                continue
            }
            let holder = found.row
            let name = try mirror.ledger.recordName(for: holder)
            guard let other = try mirror.ledger.entry(named: name) else { return true }
            if try keepsName(entry, besides: other) {
                try absorb(other, into: entry)
            } else {
                try absorb(entry, into: other)
                return false
            }
        }
        return true
    }

    /// Gives the object here the identity of the record that arrived, whose name is smaller.
    private mutating func adopt(_ arrival: Arrival, by twin: RecordEntry) throws {
        mergedNames.areNew = true
        let mayBeKnown = try twin.base != nil || mirror.ledger.lastInFlight(twin.recordName) != nil
        let owners = try oneWayOwners(of: twin.recordName)
        for pair in try mirror.ledger.pairs(of: twin.recordName) {
            try mirror.ledger.queuePairDeletion(pair)
        }
        try mirror.ledger.forgetInFlight(twin.recordName)
        try mirror.ledger.forgetRefusal(of: twin.recordName)
        try mirror.ledger.repoint(
            key: twin.key, to: twin.row, named: arrival.record.recordName)
        try mirror.ledger.rename(twin.recordName, to: arrival.record.recordName)
        try mirror.ledger.setBase(arrival.record, key: twin.key)
        if mayBeKnown {
            try mirror.ledger.keepAlias(
                twin.recordName, mergedInto: twin.key, at: twin.base?.recordChangeTag)
        }
        for (source, _) in try mirror.store.referrers(of: twin.row) {
            try mirror.enqueueUpkeep(source)
        }
        for row in [twin.row] + owners.map(\.owner) { try mirror.comparePairs(of: row) }
    }

    /// The to-manys without inverse that have the object as a member.
    private func oneWayOwners(of name: String) throws -> [ToManyChange] {
        try mirror.ledger.pairs(of: name).compactMap { entry in
            guard entry.pair.second.isExactly(name), !entry.needsDelete, !entry.isPending,
                let kind = mirror.pairs.kind(
                    entityNames: entry.pair.entityNames,
                    relationshipNames: entry.pair.relationshipNames),
                kind.second == nil, let owner = try mirror.ledger.row(named: entry.pair.first),
                let slot = try mirror.layout(of: owner).toManySlot(kind.first.name)
            else { return nil }
            return ToManyChange(owner: owner, slot: slot)
        }
    }

    /// Moves what points at the loser to the survivor and removes the loser; its values are logged.
    private mutating func absorb(_ loser: RecordEntry, into survivor: RecordEntry) throws {
        mergedNames.areNew = true
        let isAlone = try isKnownHereAlone(loser)
        let stays = try staysOut(survivor, besides: loser)
        if stays { try keepOut(survivor.row) }
        try flush()
        try logAbsorbed(loser, into: survivor)
        for (source, slot) in try mirror.store.referrers(of: loser.row) where source != loser.row {
            try moveLink(of: source, slot, to: survivor)
        }
        try moveMembers(of: loser, to: survivor)
        let owners = try moveMembership(of: loser, to: survivor)
        for pair in try mirror.ledger.pairs(of: loser.recordName) {
            try mirror.ledger.queuePairDeletion(pair)
        }
        changes.deletes.append(RowDelete(id: loser.row))
        try flush()
        try mirror.keepForeign(
            of: stays ? loser.base?.unshared : loser.base, for: survivor.row, isRenamed: true)
        try moveForeign(from: loser, to: survivor.row)
        if try !mirror.ledger.foreign(of: survivor.row).isEmpty {
            try mirror.enqueueUpkeep(survivor.row)
        }
        try mirror.ledger.moveAliases(from: loser.key, to: survivor.key)
        try mirror.removeLine(of: loser)
        if !isAlone {
            try mirror.ledger.keepAlias(
                loser.recordName, mergedInto: survivor.key, at: loser.base?.recordChangeTag)
        }
        for row in [survivor.row] + owners { try mirror.comparePairs(of: row) }
        outcome.merged += 1
    }

    /// What was to go out with the loser's record goes out with the survivor's.
    private func moveForeign(from loser: RecordEntry, to survivor: RowID) throws {
        var record = Record(recordName: loser.recordName, recordType: "")
        record.fields = try mirror.ledger.foreign(of: loser.row)
        guard !record.fields.isEmpty else { return }
        if let entity = mirror.mapping.layout.entity(loser.row.entity) {
            record.fields[RecordNames.entityName] = .string(mirror.mapping.keys.entity(entity.name))
        }
        try mirror.keepForeign(of: record, for: survivor, isRenamed: true)
        try mirror.ledger.dropForeign(of: loser.row)
    }

    /// Puts the survivor in the loser's place in to-manys without inverse, unless it has another
    /// owner there. Returns the owners.
    private mutating func moveMembership(
        of loser: RecordEntry, to survivor: RecordEntry
    ) throws -> [RowID] {
        let taken = try oneWayOwners(of: survivor.recordName)
        let entity = try mirror.layout(of: survivor.row).entity
        var owners: [RowID] = []
        for var change in try oneWayOwners(of: loser.recordName) {
            let relationship = try mirror.layout(of: change.owner).toManys[change.slot]
            let isTaken = try taken.contains {
                try mirror.layout(of: $0.owner).toManys[$0.slot] === relationship
            }
            guard !isTaken, change.owner != loser.row, entity.fits(relationship) else { continue }
            change.added = [Link(survivor.row)]
            changes.toManys.append(change)
            owners.append(change.owner)
        }
        return owners
    }

    /// Points a to-one at the survivor. Where it cannot hold it, or the survivor has a partner of
    /// its own, the link is let go.
    private mutating func moveLink(
        of source: RowID, _ slot: Int, to survivor: RecordEntry
    ) throws {
        let relationship = try mirror.layout(of: source).toOnes[slot]
        // A row that was absorbed meanwhile has no links any more.
        guard let row = try mirror.store.row(source),
            try makeRoom(for: NamedLink(survivor.recordName), of: row, slot)
        else { return }
        var link = row.toOnes[slot]
        link?.target = survivor.row
        let target = try mirror.layout(of: survivor.row)
        if !target.entity.fits(relationship) {
            let layout = try mirror.layout(of: row.id)
            let name = try mirror.ledger.recordName(for: row.id)
            let state = try mirror.state(of: row, named: name)
            try logRelease(of: state.toOnes[slot], slot, layout, name)
            link = nil
        }
        if let inverse = relationship.inverseRelationship, !inverse.isToMany,
            let place = target.toOneSlot(inverse.name), link != nil
        {
            let partner = try mirror.store.row(survivor.row)?.toOnes[place]
            if partner == nil, source != survivor.row {
                var update = RowUpdate(id: survivor.row)
                update.toOnes = [(place, Link(source))]
                changes.updates.append(update)
                try mirror.enqueueUpkeep(survivor.row)
            } else {
                link = nil
            }
        }
        var update = RowUpdate(id: source)
        update.toOnes = [(slot, link)]
        changes.updates.append(update)
        if link != nil { noteList(of: source, slot: slot, target: survivor.row) }
        try mirror.enqueueUpkeep(source)
    }

    /// Gives the loser's pairs to the survivor, as far as it has the same relationships.
    private mutating func moveMembers(of loser: RecordEntry, to survivor: RecordEntry) throws {
        let (old, new) = (
            try mirror.layout(of: loser.row), try mirror.layout(of: survivor.row)
        )
        for end in mirror.pairs.ends(of: loser.row.entity) {
            let relationship = old.toManys[end.slot]
            guard let slot = new.toManySlot(relationship.name), new.toManys[slot] === relationship
            else { continue }
            var change = ToManyChange(owner: survivor.row, slot: slot)
            change.added = try mirror.store.members(of: loser.row, toMany: end.slot)
                .map { Link($0.target == loser.row ? survivor.row : $0.target) }
            if !change.added.isEmpty { changes.toManys.append(change) }
        }
    }

    private mutating func logAbsorbed(
        _ loser: RecordEntry, into survivor: RecordEntry
    ) throws {
        guard let lost = try mirror.store.row(loser.row) else { return }
        // What was about to be written is what is lost.
        let state = try settling[loser.row] ?? mirror.state(of: lost, named: loser.recordName)
        try logLost(
            state, try mirror.layout(of: loser.row), to: survivor.row, by: loser.base?.modified)
    }

    /// A record came under a name that was merged into another object here: what it says besides
    /// is logged, and what cannot be read here goes on with the other.
    mutating func logOutdone(_ record: Record, _ layout: EntityLayout) throws {
        if let tag = record.recordChangeTag {
            try mirror.ledger.setAliasTag(tag, of: record.recordName)
        }
        guard let row = try mirror.ledger.row(named: record.recordName) else { return }
        try mirror.keepForeign(of: record, for: row, isRenamed: true)
        if try !mirror.ledger.foreign(of: row).isEmpty { try mirror.enqueueUpkeep(row) }
        guard var state = try? mirror.mapping.storedState(of: record, entity: layout)
        else { return }
        _ = try fill(&state, nil)
        try logLost(state, layout, to: row, by: record.modified)
    }

    /// Logs the values that an object loses to the one it is merged into.
    private mutating func logLost(
        _ lostState: ObjectState, _ layout: EntityLayout, to survivor: RowID,
        by stamp: RecordStamp?
    ) throws {
        guard let kept = try mirror.store.row(survivor) else { return }
        let name = try mirror.ledger.recordName(for: survivor)
        // Objects of two entities have no values in common to compare.
        let keptState =
            lostState.entity == kept.id.entity
            ? try mirror.state(of: kept, named: name) : ObjectState(empty: layout)
        // An absent value is none to lose.
        let present = Set(lostState.changes(from: nil))
        for slot in lostState.changes(from: keptState) where present.contains(slot) {
            var conflict = PropertyConflict(
                slot: slot, property: slot.name(in: layout), rule: Self.uniqueRule,
                base: keptState.value(slot), local: keptState.value(slot),
                remote: lostState.value(slot))
            conflict.take(.local)
            try log(conflict, layout, name, by: stamp)
        }
    }

    /// Logs a link that is let go because the object it leads to became one of another entity.
    mutating func logRelease(
        of link: NamedLink?, _ slot: Int, _ layout: EntityLayout, _ name: String
    ) throws {
        var conflict = PropertyConflict(
            slot: .toOne(slot), property: layout.toOnes[slot].name, rule: Self.uniqueRule,
            base: .link(link), local: .link(link), remote: .link(nil))
        conflict.take(.remote)
        try log(conflict, layout, name)
    }

    /// The row other than `own` that has one of the unique keys of `state` already.
    func holder(
        of state: ObjectState, _ layout: EntityLayout, except own: RowID? = nil
    ) throws -> KeyHolder? {
        for constraint in layout.uniquenessConstraints {
            guard let values = try key(of: state, layout, constraint.names) else { continue }
            let declaring = mirror.mapping.layout.entity(named: constraint.entity) ?? layout
            let row = try mirror.store.holder(
                of: constraint.names, values: values, in: declaring.number)
            if let row, row != own { return KeyHolder(row: row, names: constraint.names) }
        }
        return nil
    }

    /// The values of a unique key; nil when one is missing, since then it is nobody's.
    func key(
        of state: ObjectState, _ layout: EntityLayout, _ names: [String]
    ) throws -> [AttributeValue]? {
        var values: [AttributeValue] = []
        for name in names {
            if let slot = layout.attributeSlot(name), !state.attributes[slot].isNull {
                values.append(state.attributes[slot])
            } else if let slot = layout.toOneSlot(name), let link = state.toOnes[slot],
                let target = try mirror.ledger.row(named: link.recordName)
            {
                values.append(.integer(target.key))
            } else {
                return nil
            }
        }
        return values
    }
}

extension EntityLayout {
    /// The names of each uniqueness constraint, inherited ones included, and who declares it.
    var uniquenessConstraints: [(entity: String, names: [String])] {
        var constraints: [(entity: String, names: [String])] = []
        var entity: NSEntityDescription? = self.entity
        while let current = entity {
            constraints += current.uniquenessConstraintNames.filter { !$0.isEmpty }
                .map { (current.name ?? "", $0) }
            entity = current.superentity
        }
        return constraints
    }

    var hasUniquenessConstraints: Bool { !uniquenessConstraints.isEmpty }
}

extension NSEntityDescription {
    /// Whether objects of this entity can stand at the other end of `relationship`.
    func fits(_ relationship: NSRelationshipDescription) -> Bool {
        relationship.destinationEntity.map { isKindOf(entity: $0) } ?? true
    }
}
