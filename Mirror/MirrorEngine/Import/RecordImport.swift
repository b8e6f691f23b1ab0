internal import Foundation
internal import ObjectModel
internal import Platform
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// Applies records of the service to the store: rows, bases and marks, within the caller's
/// transaction.
///
/// The order of the records within a batch does not matter: objects first, then pairs, then
/// deletions, and links whose target is missing wait for it. Applying the same records again
/// changes nothing.
struct RecordImport {
    let mirror: MirrorTransaction
    var outcome = ImportOutcome()
    /// Row changes that are not yet written.
    var changes = ChangeSet()
    /// Objects that came into being here, by name.
    var arrived: [String] = []
    /// What is to be checked once the page is applied.
    var touched = TouchedEnds()
    /// Objects of this page that are still to be settled, by row, and the deletions that come with
    /// it: a unique key may pass from one to another within a page.
    var incomplete: [RowID: Arrival] = [:]
    var deletionsAhead = DeletionsAhead()
    /// Rows that are being settled, with what they are to become.
    var settling: [RowID: ObjectState] = [:]
    /// What came of names that were merged into others.
    var mergedNames = MergedNames()
    /// False where no record waits for a later model; nil until somebody asks.
    private var mayHaveAside: Bool?
    /// Keys that were reserved for new rows of an entity, and how many at once the next time.
    var freshKeys: [Int32: FreshKeys] = [:]
    let outlook: ImportOutlook

    init(mirror: MirrorTransaction, awaiting awaited: Set<String> = []) throws {
        self.mirror = mirror
        outlook = try ImportOutlook(mirror, awaiting: awaited)
        changes.author = RecordNames.importAuthor
        changes.contextName = RecordNames.importAuthor
    }

    /// With `holdsBack` more of the zone is to come, and incomplete graphs are not shown before.
    mutating func apply(_ received: [Record], holdsBack: Bool = false) throws {
        outcome.received += received.count
        let records = try received.map { record in
            var record = try mirror.ledger.named(record).withoutAddresses
            record.fields.makeValues()
            return record
        }
        var objects: [Record] = []
        var pairs: [Record] = []
        var deletions: [Record] = []
        for record in records {
            if try takeSharing(record) { continue }
            if record.deleted {
                deletions.append(record)
            } else if record.recordType == RecordNames.pairType {
                pairs.append(record)
            } else {
                objects.append(record)
            }
        }
        deletionsAhead = DeletionsAhead(deletions)
        if !deletions.isEmpty { try mirror.ledger.forgetRefusals(.quotaExceeded) }
        try applyObjects(holdsBack ? showable(objects) : objects)
        try flush()
        try resolveArrivals()
        try rememberPairs(of: deletions)
        // A pair that moved to another owner is deleted and made again, in this order.
        for record in deletions { try applyPairDeletion(of: record) }
        try flush()
        for record in pairs { try apply(pair: record) }
        try flush()
        for record in deletions { try applyDeletion(of: record) }
        try settleOrphans()
        deletionsAhead = DeletionsAhead()
        try flush()
        try repairOrder()
        try flush()
        try followMovedEnds()
        try sendNames()
        try mirror.ledger.finish()
    }

    /// Writes the gathered changes, so that later steps read them. What they throw ends the import,
    /// and undoes its transaction.
    mutating func flush() throws {
        guard !changes.isEmpty else { return }
        if mirror.settings.countedSlots.isEmpty {
            _ = try mirror.store.save(changes)
        } else {
            try mirror.ledger.withoutCounting { _ = try mirror.store.save(changes) }
        }
        changes.inserts = []
        changes.updates = []
        changes.deletes = []
        changes.toManys = []
    }

    var lostTime: LostTime? { outlook.lostTime }

    // MARK: Records for a later model

    /// Keeps a record that this model does not know as it is.
    mutating func keepAside(_ record: Record, _ reason: KeptRecord.Reason) throws {
        try mirror.ledger.keepAside(record, reason)
        mayHaveAside = true
    }

    /// The record is known, or gone.
    mutating func dropAside(_ name: String) throws {
        let mayHave = try mayHaveAside ?? mirror.ledger.hasAside()
        mayHaveAside = mayHave
        if mayHave { try mirror.ledger.dropAside(name) }
    }

    // MARK: Links

    /// The row that a name stands for, where a link can lead to it: what was deleted since the last
    /// look at the history has a line that says nothing of it yet.
    func place(named name: String) throws -> (row: RowID, isRenamed: Bool)? {
        guard let place = try mirror.ledger.place(named: name) else { return nil }
        if outlook.mayBeGone, try mirror.store.row(place.row) == nil { return nil }
        return place
    }

    /// The link of the object called `name` by row, or nil with a note that it waits for its
    /// target.
    mutating func resolve(
        _ link: NamedLink?, _ slot: Int, _ layout: EntityLayout, of name: String
    ) throws -> Link? {
        let relationship = layout.toOnes[slot]
        guard let link else {
            try mirror.ledger.dropPending(name, property: relationship.name)
            return nil
        }
        guard let place = try place(named: link.recordName) else {
            let pending = PendingLink(recordName: name, property: relationship.name, target: link)
            try mirror.ledger.keepPending(pending)
            return nil
        }
        guard try mirror.layout(of: place.row).entity.fits(relationship) else {
            try leaveOut(link, slot, layout, of: name, isRenamed: place.isRenamed)
            return nil
        }
        try mirror.ledger.dropPending(name, property: relationship.name)
        if place.isRenamed { mergedNames.misnaming.insert(name) }
        return Link(place.row, orderKey: link.orderKey)
    }

    /// A link that leads to an object of an entity which its relationship cannot have waits: nobody
    /// here cleared it. Where such an object absorbed the target, the link is let go.
    private mutating func leaveOut(
        _ link: NamedLink, _ slot: Int, _ layout: EntityLayout, of name: String, isRenamed: Bool
    ) throws {
        let property = layout.toOnes[slot].name
        guard isRenamed else {
            return try mirror.ledger.keepPending(
                PendingLink(recordName: name, property: property, target: link))
        }
        try mirror.ledger.dropPending(name, property: property)
        mergedNames.misnaming.insert(name)
        try logRelease(of: link, slot, layout, name)
    }

    /// Marks the objects for export whose records call a target by a former name.
    private mutating func sendNames() throws {
        for name in mergedNames.misnaming.sorted() {
            if let row = try mirror.ledger.row(named: name) { try mirror.enqueueUpkeep(row) }
        }
        mergedNames.misnaming = []
    }

    /// Lets what waited for the object called `former`, which is here again and goes by `name`,
    /// find it, and its own links what came while it was gone.
    mutating func welcome(_ name: String, former: String) throws {
        arrived.append(former)
        try resolveArrivals()
        for link in try mirror.ledger.pendingLinks(of: name) {
            try resolveLinks(to: link.target.recordName)
        }
        try sendNames()
        try repairOrder()
        try flush()
    }

    /// Lets links and pairs that waited for objects of this batch find them.
    mutating func resolveArrivals() throws {
        let names = arrived
        arrived = []
        let hasPendingLinks = try mirror.ledger.hasPendingLinks()
        let hasPairs = try mirror.ledger.hasPairs()
        for name in names {
            if hasPendingLinks { try resolveLinks(to: name) }
            guard hasPairs else { continue }
            for entry in try mirror.ledger.waitingPairs(for: name) { try connect(entry) }
        }
        if hasPairs, !names.isEmpty { try readUnclearPairs() }
        try flush()
    }

    mutating func resolveLinks(to name: String) throws {
        let waiting = try mirror.ledger.pendingLinks(to: name)
        guard !waiting.isEmpty, let (target, isRenamed) = try place(named: name) else { return }
        for pending in waiting {
            guard let source = try mirror.ledger.row(named: pending.recordName),
                let slot = try mirror.layout(of: source).toOneSlot(pending.property)
            else { continue }
            guard let row = try mirror.store.row(source), row.toOnes[slot] == nil else {
                try mirror.ledger.dropPending(pending.recordName, property: pending.property)
                continue
            }
            let layout = try mirror.layout(of: source)
            guard try mirror.layout(of: target).entity.fits(layout.toOnes[slot]) else {
                try leaveOut(
                    pending.target, slot, layout, of: pending.recordName, isRenamed: isRenamed)
                continue
            }
            try mirror.ledger.dropPending(pending.recordName, property: pending.property)
            guard try makeRoom(for: pending.target, of: row, slot)
            else { continue }
            var update = RowUpdate(id: source)
            update.toOnes = [(slot, Link(target, orderKey: pending.target.orderKey))]
            changes.updates.append(update)
            noteList(of: source, slot: slot, target: target)
            if isRenamed { mergedNames.misnaming.insert(pending.recordName) }
        }
    }

    /// Lets an object with the same unique key be absorbed before a link that is part of the key is
    /// written. Returns whether `row` is still there.
    mutating func makeRoom(for link: NamedLink?, of row: Row, _ slot: Int) throws -> Bool {
        let layout = try mirror.layout(of: row.id)
        let name = layout.toOnes[slot].name
        guard layout.uniquenessConstraints.contains(where: { $0.names.contains(name) }) else {
            return true
        }
        try flush()
        let own = try mirror.ledger.recordName(for: row.id)
        guard let entry = try mirror.ledger.entry(named: own) else { return true }
        var state = try mirror.state(of: row, named: own)
        state.toOnes[slot] = link
        return try makeRoom(for: state, entry, layout)
    }
}

/// What an import finds as it begins.
struct ImportOutlook {
    /// How lost versions stand to what the service has; nil with a service without epochs.
    let lostTime: LostTime?
    /// Contents of assets that are to be had, and did not come, by the names of their files.
    let awaited: Set<String>
    /// Whether something was saved since the last look at the history: a row may be gone whose line
    /// stands as it did.
    let mayBeGone: Bool

    init(_ mirror: MirrorTransaction, awaiting awaited: Set<String> = []) throws {
        self.awaited = awaited
        lostTime = try LostTime(mirror.ledger)
        let seen = try mirror.ledger.historyToken()
        mayBeGone = try seen.map { try mirror.store.lastTransactionNumber() > $0 } ?? false
    }
}

/// Relationships that a page changed, to be checked at its end.
struct TouchedEnds {
    /// Ordered lists, for members at the same place.
    var lists: Set<OrderedList> = []
    /// One-to-one ends that other users moved.
    var moved: [RecordImport.MovedEnd] = []
}

/// Names of records that stand for other objects now.
struct MergedNames {
    /// A name was merged into another since this page began.
    var areNew = false
    /// Objects whose records call a target by such a name: they are sent with its own, which stays
    /// when the former one is dropped.
    var misnaming: Set<String> = []
}

/// The deletions of a page.
struct DeletionsAhead {
    /// Those that are still to be applied.
    var records: [Record] = []
    /// The names of all.
    private(set) var names: Set<ExactName> = []
    /// The pairs of the objects that are deleted: theirs may be deleted first.
    var pairs: [ExactName: [PairEntry]] = [:]
    /// What went by them, with links that are still to be led elsewhere, or logged.
    var orphans: [Orphan] = []

    init(_ records: [Record] = []) {
        self.records = records
        names = Set(records.map { ExactName($0.recordName) })
    }
}

/// Keys for new rows, reserved in growing numbers: a page of new objects needs a few statements for
/// them, and one with a single new object wastes none.
struct FreshKeys {
    private var keys: ArraySlice<Int64> = []
    private var next = 1
    private static let nextMax = 64

    mutating func take(_ reserve: (Int) throws -> [Int64]) rethrows -> Int64? {
        if keys.isEmpty {
            keys = try reserve(next)[...]
            next = min(next * 2, Self.nextMax)
        }
        return keys.popFirst()
    }
}
