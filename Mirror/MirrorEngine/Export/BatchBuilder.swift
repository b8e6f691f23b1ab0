internal import Foundation
internal import ObjectModel
internal import Platform
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Derives the next export batch from what the ledger observed: local state against base, line by
/// line.
///
/// Only fields that differ from the base travel, with the base's tag. A line that waits and differs
/// in nothing is settled without a request. What is sent is kept until its answer comes, so that a
/// lost reply can be recognised.
struct BatchBuilder {
    let mirror: MirrorTransaction
    private(set) var batch = ExportBatch()
    private let recordsMax: Int
    /// A record did not fit any more; it begins the next batch.
    private var isClosed = false
    private let packing: AssetPacking
    /// Nothing is sent: what would be, gets its name.
    private var isNaming = false
    /// What alone of an object is looked at while it is named; nil for all.
    private var former: FormerEdit?
    /// What is shared, once somebody asks.
    private var shareReach: ShareReach?
    private static let uploadsMax = 16

    /// `recordsMax` is less than the settings' where the service would not take as many at a time.
    init(mirror: MirrorTransaction, recordsMax: Int, assets: AssetSupport = .none) {
        self.mirror = mirror
        packing = AssetPacking(mirror: mirror, support: assets)
        self.recordsMax = max(1, min(recordsMax, mirror.settings.batchRecordsMax))
    }

    private var isFull: Bool { isClosed || batch.items.count >= recordsMax }
    private var room: Int { recordsMax - batch.items.count }

    /// Returns the next batch; an empty one when nothing waits.
    mutating func build() throws -> ExportBatch {
        // What is in one piece still was sent without an answer, or not at all.
        try mirror.ledger.spreadBatches()
        try addObjects(behind: 0)
        if batch.isEmpty { try addDroppedNames() }
        if !isFull, !batch.isAtomic, batch.uploads.isEmpty { try addPairs() }
        try keepInFlight()
        try mirror.ledger.finish()
        return batch
    }

    /// Returns the next batch of objects whose lines come after `key`.
    mutating func build(behind key: Int64) throws -> ExportBatch {
        try addObjects(behind: key)
        try keepInFlight()
        try mirror.ledger.finish()
        return batch
    }

    /// Names each write, and keeps what was sent under its name until the answer comes.
    private mutating func keepInFlight() throws {
        guard !batch.items.isEmpty else { return }
        batch.identifier = mirror.settings.platform.randomness.uuid().uuidString
        batch.comparisons = try mirror.ledger.comparisons()
        var naming = mirror.naming
        try countSeals()
        let isPlain = try mirror.ledger.isPlain
        var sent = SentBatch(capacity: batch.bytes)
        for index in batch.items.indices where !batch.items[index].subject.isSurvivor {
            let subject = batch.items[index].subject
            var result = batch.items[index].result
            let named = try mirror.mapping.digestible(result)
            var fields = RecordArchive.encodeFields(named.fields)
            let id = try naming.writeID(
                of: named, fields: fields, transaction: subject.transaction)
            if isPlain {
                carry(id, at: index)
                result = batch.items[index].result
            } else {
                batch.items[index].operation.record.writeID = id
            }
            if isPlain || mirror.mapping.sealer != nil {
                fields = RecordArchive.encodeFields(result.fields)
            }
            batch.items[index].keep(fields)
            if subject.isUpsert {
                sent.append(result, mark: id, fields: fields)
            } else {
                sent.append(deletionOf: result.recordName)
            }
        }
        try mirror.ledger.logExport(of: batch)
        try mirror.ledger.keepSent(sent, as: batch.identifier)
    }

    /// A service that takes no IDs is given those of objects as a field.
    private mutating func carry(_ id: String, at index: Int) {
        guard case .object = batch.items[index].subject else { return }
        let field = batch.items[index].result.carriedWrites(adding: id)
        batch.items[index].operation.record.fields[RecordNames.writes] = field
        batch.items[index].result.fields[RecordNames.writes] = field
    }

    /// The ID under which the edit of a line that waits would be sent now, or was under the former
    /// version of the model; nil when nothing would.
    mutating func writeID(of entry: RecordEntry, former: FormerEdit? = nil) throws -> String? {
        guard !entry.needsCloudDelete, let row = try mirror.store.row(entry.row) else { return nil }
        isNaming = true
        self.former = former
        try add(entry, row: row)
        guard let item = batch.items.last else { return nil }
        let named = try mirror.mapping.digestible(item.result)
        var naming = mirror.naming
        return try naming.writeID(
            of: named, fields: RecordArchive.encodeFields(named.fields),
            transaction: item.subject.transaction, saved: former?.saved)
    }

    /// A key is worn out long before two values may have met the same nonce.
    private func countSeals() throws {
        guard let sealer = mirror.mapping.sealer else { return }
        let count = batch.items.reduce(0) { sum, item in
            sum + mirror.mapping.sealsCount(in: item.operation.record, like: item.result)
        }
        if count > 0 { try mirror.ledger.addSeals(count, under: sealer.keys.current) }
    }

    /// Why an object with sealed values waits, until its key is here or a value is smaller; the
    /// others go on.
    private func refusalToSeal(
        _ slots: [PropertySlot], of state: ObjectState, upon base: Record?
    ) -> RecordError? {
        if mirror.mapping.lacksKey(for: slots, of: state, upon: base) {
            let reason = "It has a value that travels sealed, and the key is not here."
            return RecordError(.keyMissing, reason)
        }
        let bytesMax = mirror.settings.sizes.sealedBytesMax
        guard mirror.mapping.isTooLargeToSeal(slots, of: state, bytesMax: bytesMax) else {
            return nil
        }
        return RecordError(
            .sealedTooLarge,
            "It has a value that travels sealed and is larger than \(bytesMax) bytes, which does "
                + "not fit a record; make it smaller.")
    }

    // MARK: Objects

    private mutating func addObjects(behind key: Int64) throws {
        var cursor = key
        while !isFull {
            let entries = try mirror.ledger.pendingEntries(after: cursor, limit: room)
            guard let last = entries.last else { return batch.lastKey = nil }
            cursor = last.key
            let live = entries.filter { !$0.needsCloudDelete }.map(\.row)
            // The rows that are there, in the order of their lines.
            var rows = try mirror.store.rows(live)[...]
            for entry in entries where !isFull {
                var row: Row?
                if !entry.needsCloudDelete, rows.first?.id == entry.row { row = rows.popFirst() }
                try add(entry, row: row)
                if !isClosed { batch.lastKey = entry.key }
            }
        }
    }

    private mutating func add(_ entry: RecordEntry, row: Row?) throws {
        guard !entry.needsCloudDelete else { return try addDeletion(of: entry) }
        guard let row else { return try dropGhost(entry) }
        if try !isNaming && addReplay(of: entry, row) { return }
        let state = try mirror.state(of: row, named: entry.recordName)
        // A base without a tag was agreed on before a reset; this service may not know the record.
        guard let base = entry.base, !base.deleted, base.recordChangeTag != nil else {
            if let refusal = refusalToSeal(state.changes(from: nil), of: state, upon: nil) {
                return try mirror.ledger.keepRefusal(of: entry.recordName, refusal)
            }
            var record = try mirror.mapping.record(named: entry.recordName, for: state)
            if let known = try mirror.ledger.formerBase(of: entry.recordName) {
                mirror.mapping.keepSeals(of: known, in: &record, state)
            }
            if let former { try mirror.leaveOut(allBut: former, of: &record, row.id) }
            if let parent = try assignedParent(of: entry.recordName) { record.parent = parent }
            try addForeign(to: &record.fields, of: row.id, upon: nil)
            try addTimes(to: &record, entity: row.id.entity)
            try addCounts(to: &record, entity: row.id.entity, upon: entry.base)
            record.recordChangeTag = entry.base?.recordChangeTag
            guard let result = try moveAssets(of: &record, entry, upon: nil) else { return }
            return try append(entry, .create, record, result)
        }
        let layout = try mirror.layout(of: row.id)
        var slots = state.changes(
            from: mirror.mapping.agreedState(of: base, entity: layout).adopting(state))
        if let former { slots = slots.filter { mirror.has($0, former, layout) } }
        if let refusal = refusalToSeal(slots, of: state, upon: base) {
            return try mirror.ledger.keepRefusal(of: entry.recordName, refusal)
        }
        var change = Record(
            recordName: entry.recordName, recordType: base.recordType,
            recordChangeTag: base.recordChangeTag)
        change.fields = try mirror.mapping.fields(of: state, in: slots, upon: base)
        try addForeign(to: &change.fields, of: row.id, upon: base)
        if let parent = try assignedParent(of: entry.recordName), base.parent != parent {
            change.parent = parent
        }
        guard !change.fields.isEmpty else {
            if !isNaming { try mirror.ledger.clearUpload(key: entry.key) }
            return
        }
        try addTimes(to: &change, entity: row.id.entity)
        try addCounts(to: &change, entity: row.id.entity, upon: base)
        guard let written = try moveAssets(of: &change, entry, upon: base) else { return }
        var result = base
        result.fields.take(written.fields)
        try append(entry, .update, change, result)
    }

    /// A line that the mirror marked is sent as of the newest transaction, so that a mark made
    /// while the batch is under way is no part of what its answer settles.
    private mutating func append(
        _ entry: RecordEntry, _ kind: RecordOperation.Kind, _ record: Record, _ result: Record
    ) throws {
        var transaction = entry.pendingTransaction
        if transaction <= 0 { transaction = try mirror.newestTransaction() }
        let subject = ExportBatch.Subject.object(key: entry.key, transaction: transaction)
        // What is made anew without assets stands as it is sent.
        let isPart = kind == .update || record.hasAssets
        guard append(subject, kind, record, isPart ? result : nil),
            transaction != entry.pendingTransaction
        else { return }
        try mirror.ledger.setPendingTransaction(transaction, key: entry.key)
    }

    /// A version that the service lost is sent again before what was edited upon it, so that other
    /// devices that hold it recognise it.
    private mutating func addReplay(of entry: RecordEntry, _ row: Row) throws -> Bool {
        guard let lost = try mirror.ledger.replay(of: entry.recordName) else { return false }
        if try mirror.ledger.isPlain {
            try mirror.ledger.dropReplay(of: entry.recordName)
            return false
        }
        let live = entry.base.flatMap { $0.deleted || $0.recordChangeTag == nil ? nil : $0 }
        var record = lost
        try settleParent(in: &record.fields)
        record.writeID = nil
        record.recordChangeTag = entry.base?.recordChangeTag
        let result = record
        if let live {
            record.fields = result.fields.filter { live.fields[$0.key] != $0.value }
            for name in live.fields.keys where result.fields[name] == nil {
                record.fields.updateValue(nil, forKey: name)
            }
            if record.fields.isEmpty {
                try mirror.ledger.dropReplay(of: entry.recordName)
                return false
            }
        }
        record.replays = lost.recordChangeTag.map { [Replay(tag: $0)] } ?? []
        let uploads = try packing.address(&record, of: entry, row).uploads
        guard !isHeldUp(by: uploads) else { return true }
        append(.replay(key: entry.key), live == nil ? .create : .update, record, result)
        return true
    }

    /// Fields that this model does not know go with a record that is made anew, or was merged with
    /// another.
    private mutating func addForeign(
        to fields: inout RecordFields, of row: RowID, upon base: Record?
    ) throws {
        var foreign = try mirror.ledger.foreign(of: row)
        guard !foreign.isEmpty else { return }
        try settleParent(in: &foreign)
        let there = CarriedSeals(
            fields[RecordNames.carriedSeals] == nil ? base?.fields ?? [:] : fields)
        let carried = there.union(CarriedSeals(foreign))
        foreign[RecordNames.carriedSeals] = nil
        let locked = mirror.mapping.sealedFieldNames(of: row.entity)
            .filter { fields[$0] == nil && (base?.fields[$0] ?? nil) == nil }
        let missing = foreign.filter { name, _ in
            fields[name] == nil && (base?.fields[name] ?? nil) == nil
                && mirror.mapping.isForeign(name, to: row.entity)
                || locked.contains(name)
        }
        // The service has them all.
        if missing.isEmpty && carried == there { return try mirror.ledger.dropForeign(of: row) }
        fields.merge(missing) { own, _ in own }
        if carried != there { fields[RecordNames.carriedSeals] = carried.field }
    }

    /// The times of edits travel with the values they belong to.
    private func addTimes(to record: inout Record, entity: Int32) throws {
        guard mirror.settings.timedProperties[entity]?.isEmpty == false else { return }
        let times = try mirror.ledger.editTimes(of: record.recordName)
        if let field = times.field { record.fields[RecordNames.editTimes] = field }
    }

    /// What was counted is told with the counters.
    private func addCounts(to record: inout Record, entity: Int32, upon base: Record?) throws {
        guard mirror.settings.countedSlots[entity] != nil else { return }
        let own = try mirror.ledger.counts(of: record.recordName)
        guard !own.operations.isEmpty else { return }
        let former = base.map { CountOperations($0) } ?? CountOperations()
        if let field = own.upon(former).field { record.fields[RecordNames.counts] = field }
    }

    /// The record below which the next export puts one.
    private mutating func assignedParent(of name: String) throws -> String? {
        guard let parent = try mirror.ledger.assignedParent(of: name), try reach().isThere(parent)
        else { return nil }
        return parent
    }

    /// What is made anew goes below the record where it was, as far as that is there: with a zone
    /// or a service its shares are lost too, and nothing can be put below what is not there.
    private mutating func settleParent(in fields: inout RecordFields) throws {
        guard case .reference(let parent)?? = fields[SharingField.parent] else { return }
        fields[SharingField.parent] =
            try reach().isThere(parent.recordName)
            ? .reference(RecordReference(recordName: parent.recordName)) : nil
    }

    private mutating func reach() throws -> ShareReach {
        let reach = try shareReach ?? ShareReach(mirror: mirror)
        shareReach = reach
        return reach
    }

    private mutating func addDeletion(of entry: RecordEntry) throws {
        guard let base = entry.base else {
            let known = try mirror.ledger.lastInFlight(entry.recordName)
            guard let known else { return try forget(entry) }
            if append(.deletedObject(key: entry.key), .forceDelete, bare(known), known) {
                try mirror.ledger.noteDeletionSent(key: entry.key)
            }
            return
        }
        if append(.deletedObject(key: entry.key), .delete, bare(base), base) {
            try mirror.ledger.noteDeletionSent(key: entry.key)
        }
    }

    /// A line whose row is gone although the history was looked at just now: one that was never
    /// sent would wait for ever.
    private func dropGhost(_ entry: RecordEntry) throws {
        guard entry.base == nil, try mirror.ledger.lastInFlight(entry.recordName) == nil else {
            return
        }
        try forget(entry)
    }

    /// An object that was deleted before the service heard of it.
    private func forget(_ entry: RecordEntry) throws {
        for pair in try mirror.ledger.pairs(of: entry.recordName) {
            try mirror.ledger.queuePairDeletion(pair)
        }
        try mirror.removeLine(of: entry)
    }

    // MARK: Assets

    /// Moves what does not fit a record into assets. Returns the record as it will stand; nil where
    /// it cannot be sent now: an asset has to be uploaded first, or the service takes none of its
    /// size.
    private mutating func moveAssets(
        of record: inout Record, _ entry: RecordEntry, upon base: Record?
    ) throws -> Record? {
        let parcel = try packing.pack(&record, of: entry, upon: base)
        if isNaming { return parcel.result }
        if let refusal = parcel.refusal {
            try mirror.ledger.keepRefusal(of: entry.recordName, refusal)
            return nil
        }
        if parcel.isUndecided || isHeldUp(by: parcel.uploads) { return nil }
        // A plain service takes no asset but one that was uploaded.
        if record.hasAssets, !record.isUploaded, try mirror.ledger.isPlain {
            try mirror.ledger.keepRefusal(of: entry.recordName, ReplyRecording.lostAsset)
            return nil
        }
        return parcel.result
    }

    /// Whether something has to be uploaded first. Records are sent in their order: uploads come in
    /// a batch of their own, and who waits for one ends a batch of others.
    private mutating func isHeldUp(by uploads: [AssetUpload]) -> Bool {
        guard !uploads.isEmpty else { return !batch.uploads.isEmpty }
        if batch.items.isEmpty, batch.uploads.count < Self.uploadsMax {
            batch.uploads += uploads
        } else {
            isClosed = true
        }
        return true
    }

    // MARK: Pairs

    private mutating func addPairs() throws {
        var cursor: Int64 = 0
        // Pairs that need no request leave room for those behind them.
        while !isFull {
            let entries = try mirror.ledger.pendingPairs(after: cursor, limit: room)
            guard let last = entries.last else { return }
            cursor = last.key
            for entry in entries where !isFull {
                entry.needsDelete ? try addDeletion(of: entry) : try add(entry)
            }
        }
    }

    private mutating func add(_ entry: PairEntry) throws {
        let pair = try mirror.placed(entry.pair)
        var record = pair.record(named: entry.recordName)
        let parent = try parent(of: pair)
        guard let base = entry.base, !base.deleted else {
            record.recordChangeTag = entry.base?.recordChangeTag
            if let parent { record.parent = parent }
            append(.pair(key: entry.key), .create, record, record)
            return
        }
        record.recordChangeTag = base.recordChangeTag
        let known = base.fields.filter { !SharingField.names.contains($0.key) }
        if record.fields == known, parent == nil || parent == base.parent {
            return try mirror.ledger.setPair(entry.key, isUploaded: true)
        }
        if let parent = parent ?? base.parent { record.parent = parent }
        append(.pair(key: entry.key), .update, record, record)
    }

    /// A pair is shared with its ends, unless one stays out of shares.
    private mutating func parent(of pair: JoinRecord) throws -> String? {
        let reach = try reach()
        guard reach.hasRoots else { return nil }
        for end in [pair.first, pair.second] {
            if let row = try mirror.ledger.row(named: end), try reach.staysOut(row) { return nil }
        }
        return try reach.parent(named: pair.first) ?? reach.parent(named: pair.second)
    }

    private mutating func addDeletion(of entry: PairEntry) throws {
        if let base = entry.base {
            append(.deletedPair(key: entry.key), .forceDelete, bare(base), base)
        } else if let known = try mirror.ledger.lastInFlight(entry.recordName) {
            append(.deletedPair(key: entry.key), .forceDelete, bare(known), known)
        } else {
            try mirror.ledger.removePair(entry)
        }
    }

    // MARK: Names

    /// Drops names, each together with a look at the object that took it in: a batch of those is
    /// taken as a whole or not at all. Else two devices that chose other survivors, or one that
    /// deletes the survivor meanwhile, would leave neither.
    private mutating func addDroppedNames() throws {
        let isPublic = mirror.settings.scope.isPublic
        var names: Set<ExactName> = []
        var cursor: Int64 = 0
        while !isFull {
            let dropped = try mirror.ledger.aliasesToDrop(after: cursor, limit: room)
            guard let last = dropped.last else { return }
            cursor = last.key
            for alias in dropped where !names.contains(ExactName(alias.name)) {
                guard batch.isEmpty || !isClosed && room > 1 else { return }
                if !isPublic, let survivor = try mirror.ledger.entry(key: alias.survivor),
                    try !survivor.needsCloudDelete && !add(survivor, besides: &names)
                {
                    return
                }
                names.insert(ExactName(alias.name))
                let record = Record(
                    recordName: alias.name, recordType: "", recordChangeTag: alias.tag)
                append(.alias, alias.tag == nil ? .forceDelete : .delete, record, record)
            }
        }
    }

    /// Looks at a survivor. One that is not at the service waits for its key, which the name has.
    /// Returns false where there is no room.
    private mutating func add(
        _ survivor: RecordEntry, besides names: inout Set<ExactName>
    ) throws -> Bool {
        guard let base = survivor.base, !base.deleted, base.recordChangeTag != nil,
            names.insert(ExactName(survivor.recordName)).inserted
        else { return true }
        return append(.survivor(key: survivor.key), .update, bare(base), base)
    }

    /// Adds an operation if it fits, or is the first: a record larger than any batch goes alone, so
    /// that its refusal is its own. Returns whether it was added.
    @discardableResult
    private mutating func append(
        _ subject: ExportBatch.Subject, _ kind: RecordOperation.Kind, _ record: Record,
        _ result: Record?
    ) -> Bool {
        let bytes = record.approximateBytes
        guard batch.uploads.isEmpty else {
            isClosed = true
            return false
        }
        guard batch.isEmpty || batch.bytes + bytes <= mirror.settings.sizes.batchBytesMax else {
            isClosed = true
            return false
        }
        batch.items.append(.init(subject, RecordOperation(kind, record), result: result))
        batch.bytes += bytes
        return true
    }

    /// A record with its name and tag and no fields.
    private func bare(_ record: Record) -> Record {
        Record(
            recordName: record.recordName, recordType: record.recordType,
            recordChangeTag: record.recordChangeTag)
    }
}
