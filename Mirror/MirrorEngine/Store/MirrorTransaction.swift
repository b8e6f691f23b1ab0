internal import FoundationEssentials
internal import ObjectModel
internal import Platform
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// The store, its ledger and the mirror's settings within one transaction: what every step of the
/// mirror works on. It is handed to all of them as one reference.
final class MirrorTransaction {
    let store: StoreTransaction
    let ledger: Ledger
    let settings: MirrorSettings
    /// NSStoreUUID, or that of the store that this one is a copy of.
    let storeIdentifier: String
    /// Where downloaded contents wait.
    let assets: AssetFolder
    /// When lists of pairs were edited, while the history is looked at.
    var lists: ListMoments?
    private var hasNamedInsertions = false

    var mapping: RecordMapping { settings.mapping }
    var pairs: PairCatalog { settings.pairs }
    var faults: any FaultPoints { settings.platform.faults }

    var naming: WriteNaming {
        WriteNaming(ledger: ledger, storeIdentifier: storeIdentifier)
    }

    init(
        store: StoreTransaction, settings: MirrorSettings, storeIdentifier: String,
        assets: AssetFolder
    ) {
        self.assets = assets
        self.store = store
        self.settings = settings
        self.storeIdentifier = storeIdentifier
        ledger = Ledger(connection: store.connection, platform: settings.platform)
    }

    /// Notes up to which transaction the history was analysed; what came before may go now.
    func setHistoryToken(_ number: Int64) throws {
        try ledger.set(.historyToken, to: .integer(number))
        try keepHistory(after: number)
    }

    /// The newest transaction of the history. Where there never was one, its number is given away,
    /// so that the first edit is later than what is sent as of now.
    func newestTransaction() throws -> Int64 {
        let newest = try store.lastTransactionNumber()
        guard newest <= 0 else { return newest }
        let skipped = try store.skipTransactionNumber()
        if try ledger.historyToken() != nil { try setHistoryToken(skipped) }
        return skipped
    }

    /// Lets nobody remove history that was not analysed.
    func keepHistory(after number: Int64) throws {
        try store.setHistoryConsumer(
            RecordNames.historyConsumer, lastSeen: number, at: settings.platform.clock.now())
    }

    func layout(of row: RowID) throws -> EntityLayout {
        guard let layout = settings.mapping.layout.entity(row.entity) else {
            throw MirrorError(
                .unknownEntity,
                "The store holds a row of entity number \(row.entity), which the model lacks. "
                    + "Open the store with the model it was written with.")
        }
        return layout
    }

    /// The object's state with its links as record names. A link whose target has not arrived
    /// counts as the target's name, so that its absence is not taken for an edit.
    func state(of row: Row, named name: String) throws -> ObjectState {
        let layout = try layout(of: row.id)
        var state = ObjectState(
            entity: row.id.entity, attributes: mapping.attributes(of: row),
            toOnes: Array(repeating: nil, count: row.toOnes.count))
        if !row.missing.isEmpty { try keepAgreed(row.missing, in: &state, named: name, layout) }
        for (slot, link) in row.toOnes.enumerated() {
            guard let link, let target = try recordName(of: link.target) else { continue }
            state.toOnes[slot] = NamedLink(
                target, orderKey: layout.toOneIsOrdered[slot] ? link.orderKey : nil)
        }
        if state.toOnes.contains(where: { $0 == nil }) && !layout.toOnes.isEmpty {
            try addPendingLinks(to: &state, named: name, layout)
        }
        return state
    }

    /// A value whose file is gone was not cleared by anybody: it stands as the two sides agreed on
    /// it, so that nothing is sent of it, and what the service has can come back.
    private func keepAgreed(
        _ slots: [Int], in state: inout ObjectState, named name: String, _ layout: EntityLayout
    ) throws {
        guard let base = try ledger.entry(named: name)?.base, !base.deleted else { return }
        let agreed = mapping.agreedState(of: base, entity: layout)
        for slot in slots { state.attributes[slot] = agreed.attributes[slot] }
    }

    private func addPendingLinks(
        to state: inout ObjectState, named name: String, _ layout: EntityLayout
    ) throws {
        for link in try ledger.pendingLinks(of: name) {
            guard let slot = layout.toOneSlot(link.property), state.toOnes[slot] == nil else {
                continue
            }
            state.toOnes[slot] = link.target
        }
    }

    /// The record name of a row, made up now when it has none; nil for a row that is not there,
    /// which a link may still point at where a delete rule does nothing.
    func recordName(of row: RowID) throws -> String? {
        if let name = try ledger.knownName(of: row) { return name }
        guard try store.row(row) != nil else { return nil }
        // It may have been inserted in a stretch of the history that is still to be looked at.
        if !hasNamedInsertions { try nameInsertions(in: UnseenHistory(self)) }
        return try ledger.recordName(for: row)
    }

    /// Names all objects that were made since the last look at the history.
    func nameInsertions(in history: UnseenHistory) throws {
        hasNamedInsertions = true
        try history.nameInsertions(self)
    }

    /// Keeps the fields of a record that this model does not know: the record of `row` is to be
    /// made anew, or merged with another. What is sealed for its name is carried with `isRenamed`.
    func keepForeign(of record: Record?, for row: RowID, isRenamed: Bool = false) throws {
        guard let record, !record.deleted else { return }
        var fields = mapping.foreignFields(of: record)
        let seals = mapping.carriedOn(from: record, isRenamed: isRenamed, leaving: &fields)
        if !isRenamed { fields.merge(mapping.lockedFields(of: record)) { own, _ in own } }
        try ledger.keepForeign(fields, of: row)
        try keepCarried(seals, for: row)
    }

    /// Marks the row for export because the mirror itself changed it.
    func enqueueUpload(_ row: RowID) throws { try ledger.enqueueUpload(row, transaction: 0) }

    /// As `enqueueUpload`, for what every device does by itself with what came.
    func enqueueUpkeep(_ row: RowID) throws { try ledger.enqueueUpkeep(row) }

    /// Whether records here may be another user's, who alone changes them.
    var mayHoldAnothers: Bool {
        settings.scope.isPublic || settings.zoneID.ownerRecordName != nil
    }

    /// Gives a property under the rule `latest` the time of an edit. Edits are told in the order in
    /// which they were saved: each gets a later time than those before.
    func noteEdit(of row: RowID, _ property: String, at date: Date) throws {
        let time = try ledger.tick(at: date)
        let name = try ledger.recordName(for: row)
        let key = mapping.keys.property(property, of: try layout(of: row).name)
        try ledger.setEditTime(time, of: name, key)
    }

    /// Brings the pair lines of one object in step with the store's join tables: new members wait
    /// for upload, missing ones for deletion, moved ones for another upload.
    func comparePairs(of row: RowID) throws {
        let ends = pairs.ends(of: row.entity)
        guard !ends.isEmpty else { return }
        let name = try ledger.recordName(for: row)
        for end in ends { try comparePairs(of: row, named: name, at: end) }
    }

    private func comparePairs(of row: RowID, named name: String, at end: PairCatalog.End) throws {
        var members: [RowID: Link] = [:]
        for link in try store.members(of: row, toMany: end.slot) { members[link.target] = link }
        var known = try ledger.memberLines(of: name, isFirst: end.isFirst, kind: end.kind)
        if end.kind.isReflexive {
            known += try ledger.memberLines(of: name, isFirst: !end.isFirst, kind: end.kind)
        }
        var seen = Set<RowID>()
        for line in known {
            if let row = line.row, let link = members[row] {
                seen.insert(row)
                if line.isPending { try ledger.setPair(line.key, isPending: false) }
                try compareOrder(of: line, with: link, from: name, at: end)
            } else if !line.isPending, let entry = try ledger.pair(key: line.key) {
                try ledger.queuePairDeletion(entry)
            }
        }
        let added = try members.keys.filter { !seen.contains($0) }.sorted().compactMap { row in
            try recordName(of: row).map { (name: $0, row: row) }
        }
        for (other, target) in added.sorted(by: { $0.name < $1.name }) {
            let pair = JoinRecord(
                kind: end.kind, first: end.isFirst ? name : other,
                second: end.isFirst ? other : name)
            if end.kind.second == nil {
                // The member left its former owner, whose own row does not say so.
                for rival in try ledger.rivals(of: pair, kind: end.kind)
                where !rival.isPending || !rival.hasInverse {
                    try ledger.queuePairDeletion(rival)
                }
            }
            try ledger.addPair(
                pair, named: newName(of: pair, at: end, row, target), isUploaded: false)
        }
    }

    /// The name of a pair that came to be since the last look at the history goes by the list of
    /// its leading end, or by the other's where that was not edited.
    private func newName(
        of pair: JoinRecord, at end: PairCatalog.End, _ row: RowID, _ target: RowID?
    ) -> String {
        let kind = end.kind
        let (first, second) = end.isFirst ? (row, target) : (target, row)
        let leading = first.flatMap { lists?.moment(of: kind.first.name, $0) }
        let other = kind.second.flatMap { inverse in
            second.flatMap { lists?.moment(of: inverse.name, $0) }
        }
        let both = [leading, other].compactMap { $0 }
        let saved =
            kind.isReflexive ? both.min { $0.transaction < $1.transaction } : both.first
        guard let saved else { return settings.platform.timeOrderedUUID().spelled }
        return naming.recordName(of: pair, isReflexive: kind.isReflexive, saved: saved)
    }

    private func compareOrder(
        of line: MemberLine, with link: Link, from name: String, at end: PairCatalog.End
    ) throws {
        guard end.kind.isOrdered, !line.isPending, let key = link.orderKey,
            let entry = try ledger.pair(key: line.key)
        else { return }
        let leads = end.kind.isReflexive ? entry.pair.first.isExactly(name) : end.isFirst
        let known = leads ? entry.pair.firstOrder : entry.pair.secondOrder
        guard known != key else { return }
        try ledger.setPair(entry.key, isUploaded: false)
        try ledger.forgetRefusal(of: entry.recordName)
    }

    /// The pair with the places its members have now, where a side is ordered.
    func placed(_ pair: JoinRecord) throws -> JoinRecord {
        guard
            let kind = pairs.kind(
                entityNames: pair.entityNames, relationshipNames: pair.relationshipNames),
            kind.isOrdered, let first = try ledger.row(named: pair.first),
            let second = try ledger.row(named: pair.second)
        else { return pair }
        var pair = pair
        if kind.first.isOrdered {
            pair.firstOrder = try place(of: second, among: first, in: kind.first.name)
        }
        if let inverse = kind.second, inverse.isOrdered {
            pair.secondOrder = try place(of: first, among: second, in: inverse.name)
        }
        return pair
    }

    private func place(of member: RowID, among owner: RowID, in name: String) throws -> Int64? {
        guard let slot = try layout(of: owner).toManySlot(name) else { return nil }
        return try store.place(of: member, in: owner, toMany: slot)
    }
}
