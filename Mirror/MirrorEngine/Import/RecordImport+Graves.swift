internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// What goes with an object that a deletion takes: logged where somebody loses it, and kept so that
/// the object can be restored.
extension RecordImport {
    /// Logs the links that were made here to or from an object that the service no longer has.
    /// Returns whether there were any.
    mutating func logLostLinks(of entry: RecordEntry, by stamp: RecordStamp?) throws -> Bool {
        var isAny = false
        for pair in try mirror.ledger.pairs(of: entry.recordName) where !pair.needsDelete {
            // What the service knew, its deleter could know.
            guard pair.base == nil,
                try logLost(pair, with: entry.recordName, isLocal: true, by: stamp)
            else { continue }
            isAny = true
        }
        for (source, slot) in try mirror.store.referrers(of: entry.row) where source != entry.row {
            let name = try mirror.ledger.recordName(for: source)
            let layout = try mirror.layout(of: source)
            let link = NamedLink(entry.recordName)
            let agreed = try mirror.ledger.entry(named: name)?.base.flatMap {
                $0.deleted ? nil : mirror.mapping.link(slot, of: layout, in: $0)
            }
            guard agreed?.leads(to: entry.recordName) != true,
                try agreed.map({ try mirror.ledger.row(named: $0.recordName) }) != entry.row
            else { continue }
            let conflict = deletionConflict(
                .toOne(slot), layout, base: .link(agreed), local: .link(link), remote: nil,
                winner: .remote)
            try log(conflict, layout, name, by: stamp)
            isAny = true
        }
        return isAny
    }

    /// Logs a pair that goes with one of its ends. Returns whether it is one of this model.
    private mutating func logLost(
        _ entry: PairEntry, with gone: String, isLocal: Bool, by stamp: RecordStamp?
    ) throws -> Bool {
        guard let member = try mirror.lostMember(entry, with: gone, isLocal: isLocal) else {
            return false
        }
        outcome.conflicts += 1
        try mirror.ledger.log(member, by: stamp)
        return true
    }

    /// Keeps an object whole that the service no longer has.
    func bury(_ row: Row, _ state: ObjectState, named name: String, base: Record?) throws {
        var state = state
        if mirror.mapping.sealer == nil {
            for slot in mirror.mapping.sealedSlots[state.entity] ?? [] {
                state.attributes[slot] = .null
            }
        }
        var record = try mirror.mapping.record(named: name, for: state)
        if let base, !base.deleted {
            let foreign = mirror.mapping.foreignFields(of: base)
                .merging(mirror.mapping.lockedFields(of: base)) { own, _ in own }
            record.fields.merge(foreign) { own, _ in own }
        }
        try mirror.ledger.keep(Grave(record: record, links: links(of: row, name), isLocal: true))
    }

    /// Keeps an edited object whole that was deleted here.
    func bury(edited record: Record, _ state: ObjectState) throws {
        let pairs = try mirror.ledger.pairs(of: record.recordName)
        try mirror.ledger.keep(
            Grave(
                record: mirror.mapping.inlined(record, with: state),
                links: pairs.compactMap { link(of: $0, record.recordName) },
                isLocal: false))
    }

    /// Takes note of the pairs of the objects that are to be deleted.
    mutating func rememberPairs(of deletions: [Record]) throws {
        guard !deletions.isEmpty, try mirror.ledger.hasPairs() else { return }
        for name in deletions.map(\.recordName) where try mirror.ledger.row(named: name) != nil {
            deletionsAhead.pairs[ExactName(name)] = try mirror.ledger.pairs(of: name)
                .filter { !$0.needsDelete }.map { try mirror.placed($0) }
        }
    }

    private func links(of row: Row, _ name: String) throws -> [Grave.Link] {
        let pairs = try deletionsAhead.pairs[ExactName(name)] ?? mirror.ledger.pairs(of: name)
        var links = pairs.compactMap { link(of: $0, name) }
        for (source, slot) in try mirror.store.referrers(of: row.id) where source != row.id {
            guard let other = try mirror.store.row(source)?.toOnes[slot],
                let otherName = try mirror.recordName(of: source)
            else { continue }
            links.append(
                Grave.Link(
                    kind: .referrer, property: try mirror.layout(of: source).toOnes[slot].name,
                    recordName: otherName, orderKey: other.orderKey))
        }
        return links
    }

    private func link(of entry: PairEntry, _ name: String) -> Grave.Link? {
        let pair = entry.pair
        guard
            let kind = mirror.pairs.kind(
                entityNames: pair.entityNames, relationshipNames: pair.relationshipNames)
        else { return nil }
        if pair.first.isExactly(name) {
            return Grave.Link(
                kind: .member, property: kind.first.name, recordName: pair.second,
                orderKey: pair.firstOrder)
        }
        return Grave.Link(
            kind: kind.second == nil ? .owner : .member,
            property: kind.second?.name ?? kind.first.name, recordName: pair.first,
            orderKey: kind.second == nil ? pair.firstOrder : pair.secondOrder)
    }
}

extension MirrorTransaction {
    /// The line with the places that the pair's members have now.
    func placed(_ entry: PairEntry) throws -> PairEntry {
        var entry = entry
        entry.pair = try placed(entry.pair)
        return entry
    }

    /// How the log calls a pair that goes with its end `gone`: a value of that end's relationship,
    /// or of the owner's where nothing leads back.
    func lostMember(_ entry: PairEntry, with gone: String, isLocal: Bool) throws -> LostMember? {
        let pair = entry.pair
        guard
            let kind = pairs.kind(
                entityNames: pair.entityNames, relationshipNames: pair.relationshipNames)
        else { return nil }
        let isFirst = kind.second == nil || pair.first.isExactly(gone)
        let owner = isFirst ? pair.first : pair.second
        let end = isFirst ? kind.first : kind.second ?? kind.first
        let entity = try ledger.row(named: owner).map { try layout(of: $0).name }
        return LostMember(
            member: isFirst ? pair.second : pair.first, owner: owner,
            entity: entity ?? end.entity.name ?? "", property: end.name,
            rule: settings.policy.deletion.rawValue, base: false, local: isLocal,
            remote: !isLocal, winner: isLocal ? .remote : .local)
    }
}
