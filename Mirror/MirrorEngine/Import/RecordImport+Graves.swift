internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// What goes with an object that a deletion takes: logged where somebody loses it, and kept so that
/// the object can be restored.
extension RecordImport {
    /// Logs the links that were made here to or from an object that the service no longer has, or
    /// lets them wait for its heir (`RecordImport+Heirs.swift`). Returns whether there were any.
    mutating func logLostLinks(
        of entry: RecordEntry, _ state: ObjectState, by stamp: RecordStamp?
    ) throws -> Bool {
        let links = try lostPairs(of: entry) + lostReferrers(of: entry)
        guard !links.isEmpty else { return false }
        let orphan = Orphan(
            row: entry.row, name: entry.recordName, state: state, links: links, stamp: stamp)
        if try mayHaveHeir(orphan) {
            deletionsAhead.orphans.append(orphan)
        } else {
            for link in links { try logLost(link, by: stamp) }
        }
        return true
    }

    private func lostPairs(of entry: RecordEntry) throws -> [Orphan.Link] {
        try mirror.ledger.pairs(of: entry.recordName).compactMap { pair in
            // What the service knew, its deleter could know.
            guard !pair.needsDelete, pair.base == nil,
                let member = try mirror.lostMember(pair, with: entry.recordName, isLocal: true)
            else { return nil }
            return try .pair(mirror.placed(pair.pair), member)
        }
    }

    private func lostReferrers(of entry: RecordEntry) throws -> [Orphan.Link] {
        try mirror.store.referrers(of: entry.row).compactMap { source, slot in
            guard source != entry.row, let link = try mirror.store.row(source)?.toOnes[slot]
            else { return nil }
            let name = try mirror.ledger.recordName(for: source)
            let layout = try mirror.layout(of: source)
            let agreed = try mirror.ledger.entry(named: name)?.base.flatMap {
                $0.deleted ? nil : mirror.mapping.link(slot, of: layout, in: $0)
            }
            guard agreed?.leads(to: entry.recordName) != true,
                try agreed.map({ try mirror.ledger.row(named: $0.recordName) }) != entry.row
            else { return nil }
            let conflict = deletionConflict(
                .toOne(slot), layout, base: .link(agreed),
                local: .link(NamedLink(entry.recordName)), remote: nil, winner: .remote)
            return .referrer(source, slot, link.orderKey, conflict)
        }
    }

    /// Logs a link that goes with one of its ends.
    mutating func logLost(_ link: Orphan.Link, by stamp: RecordStamp?) throws {
        switch link {
        case .pair(_, let member):
            outcome.conflicts += 1
            try mirror.ledger.log(member, by: stamp)
        case .referrer(let source, _, _, let conflict):
            guard let name = try mirror.ledger.knownName(of: source) else { return }
            try log(conflict, mirror.layout(of: source), name, by: stamp)
        }
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
