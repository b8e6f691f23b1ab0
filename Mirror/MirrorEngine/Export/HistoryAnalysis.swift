internal import Foundation
internal import ObjectModel
internal import Platform
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Reads the history since the last look and notes which objects wait for export.
///
/// Transactions that the mirror itself wrote are passed over: what they leave to export was noted
/// when they were written.
struct HistoryAnalysis {
    let mirror: MirrorTransaction

    /// The net change of one row over the transactions read.
    private struct NetChange {
        var isDeleted = false
        /// It was deleted among them, and is here again.
        var isBack = false
        var needsPairs = false
        var transaction: Int64 = 0
        /// The transaction that inserted the row, where it is among those read.
        var inserted: Int64?
        /// When each property under the rule `latest` was saved last.
        var edits: [String: Date] = [:]
        /// What an update by others than a migration named.
        var edited: Set<String> = []
        /// One-to-one ends that an update named.
        var partners: Set<String> = []
        /// Ordered one-to-manys that an update named: their members may have moved.
        var lists: Set<String> = []
    }

    /// Reads at most `limit` transactions. Returns how many changes were noted, and whether more
    /// are waiting.
    func run(limit: Int) throws -> (noted: Int, moreWaiting: Bool) {
        guard let token = try mirror.ledger.historyToken(), try reaches(token) else {
            return (try fullScan(), false)
        }
        let transactions = try mirror.store.history(after: token, limit: limit)
        guard let last = transactions.last else { return (0, false) }
        let nets = digest(transactions)
        mirror.lists = lists(in: transactions)
        defer { mirror.lists = nil }
        let rows = nets.keys.sorted(by: mirror.settings.exportOrder.precedes)
        let named = Set(try rows.filter { try name($0, nets[$0]) })
        // Before any pair is named after its ends: their names may change.
        for row in rows where !named.contains(row) { try takeBackDeletion(of: row, nets[row]) }
        for row in rows where nets[row]?.inserted != nil && nets[row]?.isDeleted == false {
            try Unlocking.openReturned(row, mirror)
            try mirror.letReturnedLinksWait(of: row)
        }
        for row in rows { try note(row, nets[row] ?? NetChange(), isQueued: named.contains(row)) }
        try noteEdits(of: rows, nets)
        for row in rows { try noteLinks(of: row, nets[row] ?? NetChange()) }
        let live = rows.filter { nets[$0]?.isDeleted == false }
        try SelectionReach(mirror: mirror).settle(live)
        if try mirror.ledger.hasRecordShares() {
            try ShareReach(mirror: mirror).follow(live)
        }
        if nets.contains(where: { mayLeaveOneEnd($0.key, $0.value) }) {
            try mirror.ledger.set(.oneToOneCheck, to: .integer(1))
        }
        try CountWatch(mirror: mirror).name(upTo: last.number)
        if transactions.count < limit { try mirror.ledger.forgetFormerRows() }
        try mirror.faults.reach("export.beforeHistoryToken")
        try mirror.setHistoryToken(last.number)
        try mirror.ledger.finish()
        return (nets.count, transactions.count == limit)
    }

    private func lists(in transactions: [HistoryTransaction]) -> ListMoments {
        var lists = ListMoments(mirror)
        for transaction in transactions where transaction.author != RecordNames.importAuthor {
            lists.note(transaction)
        }
        return lists
    }

    /// Whether the history still reaches back to `token`: older transactions may have been purged.
    private func reaches(_ token: Int64) throws -> Bool {
        guard
            let oldest = try mirror.store.connection.value("SELECT min(Z_PK) FROM ATRANSACTION")?
                .int64
        else { return try mirror.store.lastTransactionNumber() <= token }
        return oldest <= token || oldest == token &+ 1
    }

    private func digest(_ transactions: [HistoryTransaction]) -> [RowID: NetChange] {
        var nets: [RowID: NetChange] = [:]
        for transaction in transactions where transaction.author != RecordNames.importAuthor {
            for change in transaction.changes {
                var net = nets[change.id] ?? NetChange()
                net.transaction = transaction.number
                if !transaction.isComputed { noteEdits(change, at: transaction.date, in: &net) }
                switch change.kind {
                case .insert:
                    // Keys are given once: an insertion after a deletion takes it back.
                    net.isBack = net.isBack || net.isDeleted
                    net.isDeleted = false
                    net.inserted = transaction.number
                    net.needsPairs = true
                case .update:
                    net.needsPairs = net.needsPairs || changesPairs(change)
                    noteRelationships(change, in: &net)
                case .delete: net.isDeleted = true
                }
                nets[change.id] = net
            }
        }
        return nets
    }

    private func noteEdits(_ change: HistoryChange, at date: Date, in net: inout NetChange) {
        for property in timedProperties(of: change) { net.edits[property] = date }
        if change.kind == .update { net.edited.formUnion(change.changedProperties) }
    }

    private func timedProperties(of change: HistoryChange) -> Set<String> {
        mirror.settings.timedProperties(
            of: change.id.entity, among: change.kind == .update ? change.changedProperties : nil)
    }

    private func noteRelationships(_ change: HistoryChange, in net: inout NetChange) {
        guard let layout = mirror.mapping.layout.entity(change.id.entity) else { return }
        for name in change.changedProperties {
            if let slot = layout.toOneSlot(name), layout.toOnes[slot].isOneToOne {
                net.partners.insert(name)
            } else if let slot = layout.toManySlot(name), layout.toManys[slot].ordersToOnes {
                net.lists.insert(name)
            }
        }
    }

    private func changesPairs(_ change: HistoryChange) -> Bool {
        let ends = mirror.pairs.ends(of: change.id.entity)
        guard !ends.isEmpty, let layout = mirror.mapping.layout.entity(change.id.entity) else {
            return false
        }
        return ends.contains { change.changedProperties.contains(layout.toManys[$0.slot].name) }
    }

    /// Names a new object after its insertion, so that a copy of this store gives it the same name;
    /// its line waits for export. Returns false for a row that has a name, or needs none.
    private func name(_ row: RowID, _ net: NetChange?) throws -> Bool {
        guard let net, let inserted = net.inserted, !net.isDeleted,
            mirror.mapping.layout.entity(row.entity) != nil,
            try mirror.ledger.knownName(of: row) == nil
        else { return false }
        var naming = mirror.naming
        let name = try naming.recordName(of: row, insertedIn: inserted)
        try mirror.ledger.addEntry(
            for: row, named: name, needsUpload: true, transaction: net.transaction)
        return true
    }

    private func note(_ row: RowID, _ net: NetChange, isQueued: Bool) throws {
        guard mirror.mapping.layout.entity(row.entity) != nil else { return }
        if net.isDeleted { return try noteDeletion(of: row) }
        try mirror.logUnseenClearings(of: row, net.edited)
        if !isQueued { try mirror.ledger.enqueueUpload(row, transaction: net.transaction) }
        try mirror.noteUserEdit(of: row, net.edited)
        if net.needsPairs { try mirror.comparePairs(of: row) }
        if net.isBack { try compareOwners(of: row) }
    }

    /// A row that was deleted left to-manys that have no inverse, and whose owners' rows do not say
    /// so.
    private func compareOwners(of row: RowID) throws {
        guard let name = try mirror.ledger.knownName(of: row) else { return }
        let owners = try mirror.ledger.pairs(of: name).compactMap { entry in
            entry.pair.first.isExactly(name)
                ? nil : try mirror.ledger.row(named: entry.pair.first)
        }
        for owner in Set(owners).sorted() { try mirror.comparePairs(of: owner) }
    }

    /// Whether the change may have written one end of a one-to-one relationship and not the other.
    private func mayLeaveOneEnd(_ row: RowID, _ net: NetChange) -> Bool {
        guard !net.isDeleted, net.inserted != nil || !net.partners.isEmpty else { return false }
        return mirror.mapping.layout.entity(row.entity).map(OneToOneRepair.concerns) ?? false
    }

    /// What an edit of one object's relationships means for the objects at their other ends.
    private func noteLinks(of row: RowID, _ net: NetChange) throws {
        guard !net.isDeleted, let layout = mirror.mapping.layout.entity(row.entity) else { return }
        try dropOutdoneLinks(of: row, layout)
        for name in net.partners.sorted() {
            guard let slot = layout.toOneSlot(name) else { continue }
            let base = try mirror.ledger.entry(for: row)?.base.flatMap { $0.deleted ? nil : $0 }
                .map { mirror.mapping.agreedState(of: $0, entity: layout) }
            try OneToOneRepair(mirror: mirror).follow(row, slot, base: base?.toOnes[slot])
        }
        for name in net.lists.sorted() {
            guard let slot = layout.toManySlot(name) else { continue }
            try noteMoves(in: layout.toManys[slot], slot, of: row, net.transaction)
        }
    }

    /// A link that was set here takes the place of one that waits for its target.
    private func dropOutdoneLinks(of row: RowID, _ layout: EntityLayout) throws {
        guard try mirror.ledger.hasPendingLinks(), let name = try mirror.ledger.knownName(of: row)
        else { return }
        let waiting = try mirror.ledger.pendingLinks(of: name)
        guard !waiting.isEmpty, let held = try mirror.store.row(row) else { return }
        for link in waiting {
            guard let slot = layout.toOneSlot(link.property), held.toOnes[slot] != nil else {
                continue
            }
            try mirror.ledger.dropPending(name, property: link.property)
        }
    }

    /// A move within an ordered one-to-many stands in the history of the owner alone: the members
    /// whose place is not that of their base wait for export. Cost: O(members).
    private func noteMoves(
        in relationship: NSRelationshipDescription, _ slot: Int, of owner: RowID,
        _ transaction: Int64
    ) throws {
        guard let inverse = relationship.inverseRelationship?.name else { return }
        for link in try mirror.store.members(of: owner, toMany: slot) {
            guard let base = try mirror.ledger.entry(for: link.target)?.base,
                let layout = mirror.mapping.layout.entity(link.target.entity),
                let place = layout.toOneSlot(inverse),
                mirror.mapping.link(place, of: layout, in: base)?.orderKey != link.orderKey
            else { continue }
            try mirror.ledger.enqueueUpload(link.target, transaction: transaction)
        }
    }

    /// Gives the edits their times, over all rows in the order in which they were saved: an older
    /// edit must not get a later time because another row was looked at first.
    private func noteEdits(of rows: [RowID], _ nets: [RowID: NetChange]) throws {
        var edits: [(date: Date, order: Int, property: String)] = []
        for (order, row) in rows.enumerated() where mirror.mapping.layout.entity(row.entity) != nil
        {
            guard let net = nets[row], !net.isDeleted else { continue }
            edits += net.edits.map { ($0.value, order, $0.key) }
        }
        edits.sort { ($0.date, $0.order, $0.property) < ($1.date, $1.order, $1.property) }
        for edit in edits {
            try mirror.noteEdit(of: rows[edit.order], edit.property, at: edit.date)
        }
    }

    private func takeBackDeletion(of row: RowID, _ net: NetChange?) throws {
        guard let net, let inserted = net.inserted, !net.isDeleted,
            mirror.mapping.layout.entity(row.entity) != nil
        else { return }
        try takeBackDeletion(of: row, insertedIn: inserted)
    }

    private func takeBackDeletions(insertedIn transaction: Int64) throws {
        for row in try mirror.ledger.deletedRows().sorted()
        where mirror.mapping.layout.entity(row.entity) != nil {
            guard try mirror.store.row(row) != nil else { continue }
            try takeBackDeletion(of: row, insertedIn: transaction)
            try Unlocking.openReturned(row, mirror)
        }
    }

    /// The row of a deletion that waits for export is here again. What the service may have deleted
    /// already does not return under its name: the object goes on under another, and the old one is
    /// an alias of it. A deletion that the service refused never happened. What came meanwhile and
    /// waited for the object finds it.
    private func takeBackDeletion(of row: RowID, insertedIn transaction: Int64) throws {
        guard let entry = try mirror.ledger.entry(for: row), entry.needsCloudDelete else { return }
        let isRefused = try mirror.ledger.refusedDeletion(named: entry.recordName) != nil
        var name = entry.recordName
        if isRefused {
            try mirror.ledger.forgetRefusal(of: entry.recordName)
        } else if try mirror.ledger.wasDeletionSent(key: entry.key) {
            name = try mirror.renameReturned(
                entry, insertedIn: transaction, deletedAt: entry.base?.recordChangeTag)
        }
        try mirror.ledger.unqueueDeletion(key: entry.key)
        var importing = try RecordImport(mirror: mirror)
        try importing.welcome(name, former: entry.recordName)
    }

    private func noteDeletion(of row: RowID) throws {
        guard let entry = try mirror.ledger.entry(for: row) else { return }
        if try mirror.ledger.isOutside(entry.recordName) { return try forgetOutside(entry) }
        for pair in try mirror.ledger.pairs(of: entry.recordName) {
            try mirror.ledger.queuePairDeletion(pair)
        }
        let wasSent = try mirror.ledger.lastInFlight(entry.recordName) != nil
        let mayBeKnown = entry.base != nil || wasSent
        if mayBeKnown {
            try mirror.ledger.queueDeletion(key: entry.key)
        } else {
            try mirror.removeLine(of: entry)
            guard mirror.settings.exportOrder.isTarget(row.entity) else { return }
            try mirror.ledger.noteDeletedUnsent(entry.recordName)
        }
    }

    /// What is outside of the selection is deleted here alone. Its pairs wait for it, as the others
    /// have them: it comes again when somebody edits it.
    private func forgetOutside(_ entry: RecordEntry) throws {
        for pair in try mirror.ledger.pairs(of: entry.recordName) {
            if pair.base == nil || pair.needsDelete {
                try mirror.ledger.removePair(pair)
            } else {
                try mirror.ledger.setPair(pair.key, isPending: true, isUploaded: true)
            }
        }
        try mirror.ledger.setOutside(false, entry.recordName)
        try mirror.removeLine(of: entry)
    }

    /// The first look at a store, or one after its history was purged: every row is compared with
    /// its base.
    private func fullScan() throws -> Int {
        let last = try mirror.newestTransaction()
        var noted = 0
        try takeBackDeletions(insertedIn: last)
        // As long as there is no line, none has to be looked for. Pairs name their ends themselves.
        var isFresh = try !mirror.ledger.hasEntries()
        for entity in mirror.settings.exportOrder.entities where !entity.entity.isAbstract {
            isFresh = isFresh && mirror.pairs.ends(of: entity.number).isEmpty
            var query = RowQuery(entity: entity.number)
            query.includesSubentities = false
            let rows = try mirror.store.ids(matching: query)
            defer { noted += rows.count }
            for row in rows {
                if isFresh {
                    try mirror.ledger.addEntry(for: row, inserted: last)
                } else {
                    try mirror.ledger.enqueueUpload(row, transaction: last)
                    try mirror.letReturnedLinksWait(of: row)
                }
                try mirror.comparePairs(of: row)
            }
            try SelectionReach(mirror: mirror).settle(rows)
        }
        if !isFresh { try noteMissingRows() }
        try mirror.ledger.compareAllEnds()
        try CountWatch(mirror: mirror).name(upTo: last)
        try mirror.ledger.forgetFormerRows()
        try mirror.setHistoryToken(last)
        try mirror.ledger.finish()
        return noted
    }

    /// Lines whose row is gone without a trace in the history.
    private func noteMissingRows() throws {
        let lines = try mirror.store.connection.rows(
            "SELECT ZENTITYID, ZENTITYPK FROM ANSCKRECORDMETADATA WHERE ZNEEDSCLOUDDELETE = 0")
        for line in lines {
            guard let entity = line[0].int64, let key = line[1].int64 else { continue }
            let row = RowID(entity: Int32(truncatingIfNeeded: entity), key: key)
            if try mirror.store.row(row) == nil { try noteDeletion(of: row) }
        }
    }
}

extension NSRelationshipDescription {
    /// Whether both ends lead to one object.
    var isOneToOne: Bool { !isToMany && inverseRelationship.map { !$0.isToMany } ?? false }

    /// Whether its members keep their places in their own rows, beside their to-one link.
    var ordersToOnes: Bool {
        isToMany && isOrdered && inverseRelationship.map { !$0.isToMany } ?? false
    }
}
