internal import ObjectModel
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Makes both ends of every one-to-one relationship agree, once the zone was read to its end.
///
/// Two devices may have given one object to different partners at the same time; field by field the
/// merge then leaves ends that do not meet. The end that comes first by entity and relationship
/// key decides: of several claims to one partner the one with the smallest record name stays. An
/// end without a value decides nothing: it is filled from the end that points at it, as in stores
/// whose ends were never both written. Every device decides alike, from the records alone; what it
/// changes waits for export, and each link that is let go is a line of the conflict log, under the
/// rule `oneToOne`. Cost: O(rows written since all ends met).
struct OneToOneRepair {
    let mirror: MirrorTransaction
    /// What was left to other users' devices, before it was taken back to be decided anew.
    private var left: [LeftEnds.End] = []

    init(mirror: MirrorTransaction) { self.mirror = mirror }

    /// Whether the model has such relationships at all.
    static func concerns(_ layout: EntityLayout) -> Bool {
        layout.toOnes.contains(where: \.isOneToOne)
    }

    /// Compares the ends that may not meet. What it writes itself is looked at once more next time.
    func run() throws {
        let waiting = try mirror.ledger.waitingEntities()
            .compactMap { mirror.mapping.layout.entity(named: $0)?.entity }
        let ends = LeftEnds(mirror: mirror)
        var repair = self
        if waiting.isEmpty, mirror.mayHoldAnothers { repair.left = try ends.takeBack() }
        let unmet = try UnmetEnds(mirror)
        try repair.run(waiting, unmet)
        if waiting.isEmpty {
            try mirror.ledger.set(.oneToOnesSeen, to: SQLiteValue(unmet.newest))
        }
        try ends.leaveAgain(repair.left)
    }

    private func run(_ waiting: [NSEntityDescription], _ unmet: UnmetEnds) throws {
        for entity in mirror.mapping.layout.entities where !entity.entity.isAbstract {
            for slot in entity.toOnes.indices {
                guard !isWaiting(entity.toOnes[slot], waiting) else { continue }
                try pairOwnInverse(entity, slot, unmet)
                guard let pair = pair(entity, slot) else { continue }
                try dropRivals(pair, unmet)
                try answerClaims(pair, unmet)
            }
        }
    }

    /// Whether an object of either end's entity waits for a decision and is not sent before it:
    /// what this device would make of the ends, others would undo, and so on without end.
    private func isWaiting(
        _ relationship: NSRelationshipDescription, _ waiting: [NSEntityDescription]
    ) -> Bool {
        let ends = [relationship.entity, relationship.destinationEntity].compactMap { $0 }
        return waiting.contains { held in ends.contains { held.isKindOf(entity: $0) } }
    }

    private func pair(_ entity: EntityLayout, _ slot: Int) -> OneToOnePair? {
        let relationship = entity.toOnes[slot]
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
            inverse !== relationship, decides(relationship, inverse),
            let destination = relationship.destinationEntity?.name
                .flatMap({ mirror.mapping.layout.entity(named: $0) }),
            let answerSlot = destination.toOneSlot(inverse.name),
            let here = mirror.store.schema.columns(of: entity.number),
            let there = mirror.store.schema.columns(of: destination.number)
        else { return nil }
        return OneToOnePair(
            claim: here.toOnes[slot], claimTable: here.table, claimSlot: slot, claimEntity: entity,
            answer: there.toOnes[answerSlot], answerTable: there.table, answerSlot: answerSlot,
            answerEntity: destination)
    }

    /// By the keys of the ends, which are the same in all versions of the model.
    private func decides(
        _ one: NSRelationshipDescription, _ other: NSRelationshipDescription
    ) -> Bool {
        let keys = mirror.mapping.keys
        let left = [keys.entity(other.destinationEntity?.name ?? ""), keys.property(one)]
        let right = [keys.entity(one.destinationEntity?.name ?? ""), keys.property(other)]
        return left.lexicographicallyPrecedes(right)
    }

    /// Of several objects that claim one partner, all but the one with the smallest name let go.
    private func dropRivals(_ pair: OneToOnePair, _ unmet: UnmetEnds) throws {
        let (claim, table) = (pair.claim.key, pair.claimTable)
        let limits = unmet.limitsClaims(of: pair.claimEntity, claim, in: table)
        let rivals = try mirror.store.connection.rows(
            "SELECT Z_PK, \(claim) FROM \(table) WHERE \(claim) IN (SELECT \(claim) FROM "
                + "\(table) WHERE \(claim) IS NOT NULL\(limits) GROUP BY \(claim) "
                + "HAVING count(*) > 1) ORDER BY \(claim)")
        var claims: [Int64: [RowID]] = [:]
        for rival in rivals {
            guard let key = rival[0].int64, let partner = rival[1].int64,
                let row = try row(pair.claimEntity, key)
            else { continue }
            claims[partner, default: []].append(row)
        }
        for partner in claims.keys.sorted() {
            let named = try (claims[partner] ?? []).map {
                ($0, try mirror.ledger.recordName(for: $0))
            }
            .sorted { $0.1 < $1.1 }
            for (row, _) in named.dropFirst() { try assign(row, pair.claimProperty, to: nil) }
        }
    }

    /// Each partner points back at whoever claims it. One that nobody claims keeps whom it points
    /// at, as far as that one is free.
    private func answerClaims(_ pair: OneToOnePair, _ unmet: UnmetEnds) throws {
        let answer = pair.answer.key
        let wrong = try mirror.store.connection.rows(
            "SELECT p.Z_PK, c.Z_PK, p.\(answer) FROM \(pair.answerTable) p "
                + "LEFT JOIN \(pair.claimTable) c ON c.\(pair.claim.key) = p.Z_PK "
                + "WHERE p.\(answer) IS NOT c.Z_PK\(unmet.limitsAnswers(pair))")
        var unclaimed: [(name: String, row: RowID, wanted: Int64)] = []
        for line in wrong {
            guard let key = line[0].int64, let partner = try row(pair.answerEntity, key) else {
                continue
            }
            if let claimant = try line[1].int64.flatMap({ try row(pair.claimEntity, $0) }) {
                if try line[2].int64 == nil && isHereAlone(claimant) { continue }
                try assign(partner, pair.answerProperty, to: claimant)
            } else if let wanted = line[2].int64 {
                unclaimed.append((try mirror.ledger.recordName(for: partner), partner, wanted))
            }
        }
        for (_, partner, wanted) in unclaimed.sorted(by: { $0.name < $1.name }) {
            try fillClaim(of: partner, wanted, pair)
        }
    }

    /// Writes the deciding end of a link of which only the other end has a value.
    private func fillClaim(of partner: RowID, _ wanted: Int64, _ pair: OneToOnePair) throws {
        guard let claimant = try row(pair.claimEntity, wanted) else {
            // It leads to nothing, so there is no link to lose.
            return try set(partner, pair.answerProperty, to: nil)
        }
        let claimed = try self.partner(of: claimant, pair.claimProperty)
        if claimed == partner { return }
        // A claim that waits for its target is no absent one.
        let isFree = try claimed == nil && !awaitsTarget(claimant, pair.claimProperty)
        if try isFree && isHereAlone(partner) { return }
        if isFree {
            try set(claimant, pair.claimProperty, to: partner)
        } else {
            try assign(partner, pair.answerProperty, to: nil)
        }
    }

    /// Whether the service does not take the object, so that others clear what leads to it. An end
    /// that has no value is not filled from it: they would clear that again, and so on without end.
    private func isHereAlone(_ row: RowID) throws -> Bool {
        guard let entry = try mirror.ledger.entry(for: row), entry.base?.deleted ?? true else {
            return false
        }
        return try mirror.ledger.isDenied(entry.recordName)
    }

    /// Whether the link waits for its target.
    private func awaitsTarget(_ row: RowID, _ property: String) throws -> Bool {
        guard try mirror.ledger.hasPendingLinks() else { return false }
        return try mirror.ledger.pendingLinks(of: mirror.ledger.recordName(for: row))
            .contains { $0.property == property }
    }

    /// A relationship that is its own inverse, such as a spouse: by record name, each claim to
    /// somebody who is free is answered, and each other one is let go.
    private func pairOwnInverse(
        _ entity: EntityLayout, _ slot: Int, _ unmet: UnmetEnds
    ) throws {
        let relationship = entity.toOnes[slot]
        guard relationship.inverseRelationship === relationship,
            let columns = mirror.store.schema.columns(of: entity.number)
        else { return }
        let claim = columns.toOnes[slot].key
        let limits = unmet.limitsClaimants(of: entity, claim, in: columns.table)
        let open = try mirror.store.connection.rows(
            "SELECT p.Z_PK FROM \(columns.table) p JOIN \(columns.table) c ON c.Z_PK = p.\(claim) "
                + "WHERE c.\(claim) IS NOT p.Z_PK\(limits)")
        let claimants = try open.compactMap { try $0[0].int64.flatMap { try row(entity, $0) } }
            .map { ($0, try mirror.ledger.recordName(for: $0)) }.sorted { $0.1 < $1.1 }
        for (claimant, _) in claimants {
            guard let wanted = try partner(of: claimant, relationship.name) else { continue }
            let present = try partner(of: wanted, relationship.name)
            if present == claimant { continue }
            if let present, try partner(of: present, relationship.name) == wanted {
                try assign(claimant, relationship.name, to: nil)
            } else {
                try assign(wanted, relationship.name, to: claimant)
            }
        }
    }

    private func partner(of row: RowID, _ property: String) throws -> RowID? {
        guard let slot = try mirror.layout(of: row).toOneSlot(property) else { return nil }
        return try mirror.store.row(row)?.toOnes[slot]?.target
    }

    /// The row of a key in an entity's tree, with its concrete entity.
    private func row(_ entity: EntityLayout, _ key: Int64) throws -> RowID? {
        for number in mirror.mapping.layout.family(of: entity) {
            if let row = try mirror.store.row(RowID(entity: number, key: key)) { return row.id }
        }
        return nil
    }

    // MARK: A link that somebody chose

    /// Lets the other ends follow an edit made here that wrote one end only, such as a line of an
    /// import or an edit by another program. `base` is what the end had before.
    func follow(_ row: RowID, _ slot: Int, base: NamedLink?) throws {
        let layout = try mirror.layout(of: row)
        let relationship = layout.toOnes[slot]
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
            let present = try mirror.store.row(row)?.toOnes[slot]
        else {
            try release(row, slot, base: base)
            return
        }
        guard try partner(of: present.target, inverse.name) != row else { return }
        let name = try mirror.ledger.recordName(for: present.target)
        if let base, !base.leads(to: name) { try meet(row, slot) }
    }

    /// The end was cleared here: whoever it led to lets go too. An end that never had a value was
    /// not cleared. Returns whether one did.
    @discardableResult
    func release(_ row: RowID, _ slot: Int, base: NamedLink?) throws -> Bool {
        let relationship = try mirror.layout(of: row).toOnes[slot]
        guard let base, let inverse = relationship.inverseRelationship, !inverse.isToMany,
            let former = try mirror.ledger.row(named: base.recordName),
            try partner(of: former, inverse.name) == row
        else { return false }
        try set(former, inverse.name, to: nil)
        return true
    }

    /// Makes the other ends meet a link that somebody chose: the partner answers it, and whoever
    /// was linked with either lets go.
    func meet(_ row: RowID, _ slot: Int) throws {
        let layout = try mirror.layout(of: row)
        let relationship = layout.toOnes[slot]
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany else { return }
        let partner = try partner(of: row, relationship.name)
        for (other, place) in try mirror.store.referrers(of: row) where other != partner {
            let end = try mirror.layout(of: other).toOnes[place]
            if end === inverse { try set(other, end.name, to: nil) }
        }
        guard let partner else { return }
        if let rival = try self.partner(of: partner, inverse.name), rival != row {
            try set(rival, relationship.name, to: nil)
        }
        try set(partner, inverse.name, to: row)
    }

    // MARK: Writing

    /// Sets a link by rule; one that is let go is logged.
    private func assign(_ row: RowID, _ property: String, to target: RowID?) throws {
        let former = try partner(of: row, property)
        try set(row, property, to: target)
        guard let former, former != target else { return }
        let layout = try mirror.layout(of: row)
        guard let slot = layout.toOneSlot(property),
            !left.contains(where: { $0.row == row && $0.slot == slot && $0.former == target })
        else { return }
        var conflict = PropertyConflict(
            slot: .toOne(slot), property: property, rule: "oneToOne", base: .link(nil),
            local: .link(try link(former)), remote: .link(try target.map(link)))
        conflict.take(.remote)
        try mirror.ledger.log(
            conflict, entity: layout.name, recordName: mirror.ledger.recordName(for: row),
            by: mirror.ledger.entry(for: row)?.base?.modified)
    }

    private func link(_ row: RowID) throws -> NamedLink {
        NamedLink(try mirror.ledger.recordName(for: row))
    }

    private func set(_ row: RowID, _ property: String, to target: RowID?) throws {
        guard let slot = try mirror.layout(of: row).toOneSlot(property) else { return }
        var changes = ChangeSet()
        changes.author = RecordNames.importAuthor
        var update = RowUpdate(id: row)
        update.toOnes = [(slot, target.map { Link($0) })]
        changes.updates = [update]
        _ = try mirror.store.apply(changes)
        try mirror.enqueueUpkeep(row)
    }
}

/// A one-to-one relationship by its deciding end, which claims a partner; that one answers.
struct OneToOnePair {
    let claim: LinkColumns
    let claimTable: String
    let claimSlot: Int
    let claimEntity: EntityLayout
    let answer: LinkColumns
    let answerTable: String
    let answerSlot: Int
    let answerEntity: EntityLayout

    var claimProperty: String { claimEntity.toOnes[claimSlot].name }
    var answerProperty: String { answerEntity.toOnes[answerSlot].name }
}
