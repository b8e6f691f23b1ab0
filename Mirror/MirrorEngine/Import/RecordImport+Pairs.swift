internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

extension RecordImport {
    /// Applies one record of type CDMR.
    mutating func apply(pair record: Record) throws {
        guard let pair = try read(pair: record) else {
            outcome.unknown += 1
            return try keepAside(record, .unknownRelationship)
        }
        try dropAside(record.recordName)
        if let entry = try mirror.ledger.pair(named: record.recordName) {
            try update(entry, with: record, pair)
        } else if try !isDeletedAgain(record) {
            let key = try mirror.ledger.addPair(pair, named: record.recordName, isUploaded: true)
            try mirror.ledger.setPairBase(record, key: key)
            if let entry = try mirror.ledger.pair(named: record.recordName) { try connect(entry) }
            outcome.applied += 1
        }
    }

    private mutating func update(_ entry: PairEntry, with record: Record, _ pair: JoinRecord) throws
    {
        guard entry.base?.recordChangeTag != record.recordChangeTag,
            !isOutdated(record, by: entry.base)
        else { return }
        let lost = lostTime?.lostTag(of: entry.base)
        if let lost, lostTime?.relation(of: record, to: lost) == .ancestor, !entry.needsDelete {
            try mirror.ledger.setPairBase(record, key: entry.key)
            return try mirror.ledger.setPair(entry.key, isUploaded: false)
        }
        let wasSent = try mirror.ledger.lastInFlight(record.recordName) != nil
        try mirror.ledger.setPairBase(record, key: entry.key)
        guard !entry.needsDelete else { return }
        if wasSent || entry.isUploaded { try mirror.ledger.setPair(entry.key, isUploaded: true) }
        if let renewed = try mirror.ledger.pair(named: record.recordName) { try connect(renewed) }
        outcome.applied += 1
    }

    /// Puts a pair into the join table, or lets it wait for an end that has not arrived.
    mutating func connect(_ entry: PairEntry) throws {
        guard let kind = kind(of: entry.pair),
            let (first, isFirstRenamed) = try place(named: entry.pair.first),
            let (second, isSecondRenamed) = try place(named: entry.pair.second)
        else { return try mirror.ledger.setPair(entry.key, isPending: true) }
        guard let slot = try slot(of: kind, from: first, to: second) else {
            if isOfAnotherVersion(entry) {
                return try mirror.ledger.setPair(entry.key, isPending: true)
            }
            guard isFirstRenamed || isSecondRenamed else { return try refuse(entry) }
            try logRelease(of: entry, kind, first: first, second: second)
            return try mirror.ledger.queuePairDeletion(entry)
        }
        if entry.isPending {
            try mirror.ledger.setPair(entry.key, isPending: false)
            try mirror.ledger.forgetRefusal(of: entry.recordName)
        }
        guard try kind.second != nil || outdoesRivals(entry, kind) else { return }
        var change = ToManyChange(owner: first, slot: slot)
        change.added = [Link(second, orderKey: entry.pair.firstOrder)]
        changes.toManys.append(change)
        if kind.first.isOrdered { touched.lists.insert(OrderedList(owner: first, slot: slot)) }
        try connectInverse(entry.pair, kind, first: first, second: second)
        try flush()
        try renameEnds(of: entry, first: first, second: second)
    }

    /// The leading end's slot; nil where an end is of another entity than the relationship's.
    func slot(of kind: PairKind, from first: RowID, to second: RowID) throws -> Int? {
        let owner = try mirror.layout(of: first)
        let declaring = kind.second?.destinationEntity ?? kind.first.entity
        guard owner.entity.isKindOf(entity: declaring),
            try mirror.layout(of: second).entity.fits(kind.first)
        else { return nil }
        return owner.toManySlot(kind.first.name)
    }

    /// Whether the pair's relationship has another place in the version of the model that made it:
    /// ends that do not fit here may fit there, and it waits as what that version alone knows.
    private func isOfAnotherVersion(_ entry: PairEntry) -> Bool {
        guard let base = entry.base, let pair = JoinRecord(base, of: entry.pair) else {
            return false
        }
        return mirror.pairs.named(pair) == nil
    }

    /// Somebody made a pair of what is none: it links nothing, and waits with its reason.
    private func refuse(_ entry: PairEntry) throws {
        try mirror.ledger.setPair(entry.key, isPending: true)
        try mirror.ledger.keepRefusal(of: entry.recordName, Self.wrongEnd)
    }

    private static let wrongEnd = RecordError(
        mismatch, "The pair has an end of another entity than its relationship's.")

    /// A pair is let go because an end of it became an object of another entity. The end that is
    /// not finds it in the log.
    private mutating func logRelease(
        of entry: PairEntry, _ kind: PairKind, first: RowID, second: RowID
    ) throws {
        var (owner, member, property) = (first, entry.pair.second, kind.first.name)
        if let inverse = kind.second, try mirror.layout(of: second).entity.fits(kind.first) {
            (owner, member, property) = (second, entry.pair.first, inverse.name)
        }
        outcome.conflicts += 1
        let lost = LostMember(
            member: member, owner: try mirror.ledger.recordName(for: owner),
            entity: try mirror.layout(of: owner).name, property: property, rule: "unique")
        try mirror.ledger.log(lost, by: entry.base?.modified)
    }

    /// A pair of an object that was absorbed becomes a pair of the one that absorbed it.
    private func renameEnds(of entry: PairEntry, first: RowID, second: RowID) throws {
        guard
            try mirror.ledger.knownName(of: first)?.isExactly(entry.pair.first) != true
                || mirror.ledger.knownName(of: second)?.isExactly(entry.pair.second) != true
        else { return }
        try mirror.ledger.queuePairDeletion(entry)
        try mirror.comparePairs(of: first)
    }

    /// A member of a to-many without inverse has one owner. Where two devices gave it two, the pair
    /// with the smaller name stays and the service drops the other; one that is not to be sent
    /// gives way. One of a version in which there may be several waits. Returns whether `entry`
    /// stays.
    private mutating func outdoesRivals(_ entry: PairEntry, _ kind: PairKind) throws -> Bool {
        var rivals = try mirror.ledger.rivals(of: entry.pair, kind: kind).filter { !$0.isPending }
        if !rivals.isEmpty, entry.hasInverse {
            try mirror.ledger.setPair(entry.key, isPending: true)
            return false
        }
        for rival in rivals where rival.hasInverse {
            try mirror.ledger.setPair(rival.key, isPending: true)
        }
        rivals.removeAll(where: \.hasInverse)
        if let winner = try rivals.first(where: { try !outdoes(entry, $0) }) {
            try logLostMember(of: entry, kind, to: winner)
            try mirror.ledger.queuePairDeletion(entry)
            return false
        }
        for rival in rivals {
            try logLostMember(of: rival, kind, to: entry)
            try mirror.ledger.queuePairDeletion(rival)
        }
        return true
    }

    private func outdoes(_ entry: PairEntry, _ rival: PairEntry) throws -> Bool {
        let isAlone = try isKnownHereAlone(entry)
        return try isAlone == isKnownHereAlone(rival)
            ? entry.recordName < rival.recordName : !isAlone
    }

    /// Whether nobody else can have heard of the pair: the selection leaves one of its ends out.
    private func isKnownHereAlone(_ entry: PairEntry) throws -> Bool {
        guard !entry.isUploaded, entry.base == nil,
            try mirror.ledger.lastInFlight(entry.recordName) == nil
        else { return false }
        return try [entry.pair.first, entry.pair.second].contains(where: mirror.ledger.isOutside)
    }

    /// The owner that loses a member to another one finds it in the log.
    private mutating func logLostMember(
        of entry: PairEntry, _ kind: PairKind, to winner: PairEntry
    ) throws {
        guard let owner = try mirror.ledger.row(named: entry.pair.first) else { return }
        outcome.conflicts += 1
        let lost = LostMember(
            member: entry.pair.second, owner: try mirror.ledger.recordName(for: owner),
            entity: try mirror.layout(of: owner).name, property: kind.first.name,
            rule: "oneOwner")
        try mirror.ledger.log(lost, by: winner.base?.modified)
    }

    /// The place among the other side's ordered members, where that side is ordered.
    mutating func connectInverse(
        _ pair: JoinRecord, _ kind: PairKind, first: RowID, second: RowID
    ) throws {
        guard let inverse = kind.second, inverse.isOrdered,
            let slot = try mirror.layout(of: second).toManySlot(inverse.name)
        else { return }
        var change = ToManyChange(owner: second, slot: slot)
        change.added = [Link(first, orderKey: pair.secondOrder)]
        changes.toManys.append(change)
        touched.lists.insert(OrderedList(owner: second, slot: slot))
    }

    /// Takes a pair out of the join table.
    mutating func disconnect(_ entry: PairEntry) throws {
        guard let kind = kind(of: entry.pair),
            let first = try mirror.ledger.row(named: entry.pair.first),
            let second = try mirror.ledger.row(named: entry.pair.second),
            let slot = try slot(of: kind, from: first, to: second)
        else { return }
        var change = ToManyChange(owner: first, slot: slot)
        change.removed = [second]
        changes.toManys.append(change)
    }

    func isReflexive(_ pair: JoinRecord) -> Bool { kind(of: pair)?.isReflexive ?? false }

    func kind(of pair: JoinRecord) -> PairKind? {
        mirror.pairs.kind(
            entityNames: pair.entityNames, relationshipNames: pair.relationshipNames)
    }
}
