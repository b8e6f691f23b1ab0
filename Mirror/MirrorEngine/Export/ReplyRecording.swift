internal import Platform
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore

/// What the service's answer to a batch came to.
package struct ReplyOutcome: Hashable, Sendable {
    package var exported = 0
    package var imported = ImportOutcome()
    /// Records that the service will not take as they are.
    package var refused = 0
    /// The service asks to wait this long before the rest is sent.
    package var retryAfterSeconds: Double?
    /// The zone is gone from the service.
    package var zoneIsMissing = false
    /// Records whose newest state must be looked up, because the service did not send it along.
    package var unknownStates: [String] = []
    /// Changes that were noted in the history on the way.
    package var noted = 0

    package init() {}
}

/// Takes note of the service's answer to a batch: bases advance, marks are cleared, conflicts are
/// merged.
struct ReplyRecording {
    let mirror: MirrorTransaction
    private(set) var outcome = ReplyOutcome()
    private var records: [Record] = []
    /// Names of records that the service took.
    private var taken: [String] = []
    /// What was refused because another record has its natural key.
    private var outranked: [(item: ExportBatch.Item, error: RecordError)] = []
    /// What was refused of the mirror's own upkeep, since the record is another user's.
    private var left: [(item: ExportBatch.Item, error: RecordError)] = []
    /// What was refused of somebody's edits, since the record is another user's.
    private var denied: [String] = []
    /// Whether the service took what may have given up a natural key, or room.
    private var mayHaveFreedKeys = false
    private var hasFreedRoom = false
    /// How many records did not fit into the user's quota.
    private var unfitting = 0

    init(mirror: MirrorTransaction) { self.mirror = mirror }

    mutating func record(_ batch: ExportBatch, _ reply: RecordsReply) throws -> ReplyOutcome {
        if let line = reply.epochs { try mirror.ledger.setLine(line) }
        try mirror.ledger.see(
            reply.results.map { result in
                switch result {
                case .record(let record): record.recordChangeTag
                case .failure(let error): error.serverRecord?.recordChangeTag
                }
            })
        try settleSent(batch, reply)
        for (item, result) in zip(batch.items, reply.results) {
            switch result {
            case .record(let record):
                mayHaveFreedKeys = mayHaveFreedKeys || item.operation.kind != .create
                hasFreedRoom = hasFreedRoom || !item.subject.isUpsert
                try accept(item, record)
            case .failure(let error):
                guard !batch.missing.contains(item.operation.record.recordName) else { continue }
                try reject(item, error)
            }
        }
        try mirror.ledger.expectEchoes(of: taken)
        if !records.isEmpty {
            var importing = try RecordImport(mirror: mirror)
            try importing.apply(records)
            outcome.imported = importing.outcome
        }
        try settleOutranked()
        if !left.isEmpty { try settleLeft() }
        try settleDenied()
        // What did not fit beside a deletion may fit behind it.
        if hasFreedRoom {
            outcome.refused -= unfitting
            try mirror.ledger.forgetRefusals(.quotaExceeded)
        }
        try mirror.ledger.logAnswer(toExport: batch.identifier)
        try advanceToken(reply)
        try mirror.ledger.finish()
        return outcome
    }

    /// What the service took as a whole is under way no more. Of another batch each record is to
    /// be found by its name.
    private func settleSent(_ batch: ExportBatch, _ reply: RecordsReply) throws {
        let isWhole =
            reply.results.count == batch.items.count
            && reply.results.allSatisfy { if case .record = $0 { true } else { false } }
        if isWhole, try mirror.ledger.dropSent(batch.identifier) { return }
        try mirror.ledger.spreadBatches()
    }

    // MARK: Accepted

    /// An answer counts for a line only while the line stands as the batch met it: another process
    /// may have moved the ledger on meanwhile, and knows the record's newer state then.
    private mutating func accept(_ item: ExportBatch.Item, _ record: Record) throws {
        if !item.subject.isSurvivor { outcome.exported += 1 }
        if item.subject.isUpsert { taken.append(item.result.recordName) }
        try mirror.ledger.forgetNewUploads(of: item.operation.record)
        let name = item.result.recordName
        let sentUpon = item.operation.record.recordChangeTag
        var base = item.result
        base.recordChangeTag = record.recordChangeTag
        base.writeID = item.operation.record.writeID
        base.modified = record.modified
        switch item.subject {
        case .object(let key, let transaction):
            let fields = item.archivedFields.isEmpty ? nil : item.archivedFields
            if try sentUpon != nil || mirror.ledger.mayHold(.foreign)
                || !mirror.ledger.setFirstExported(
                    base, fields: fields, key: key, upTo: transaction)
            {
                guard let entry = try mirror.ledger.entry(key: key, named: name),
                    entry.base?.recordChangeTag == sentUpon
                else { return }
                try mirror.noteKeySent(by: entry)
                try mirror.ledger.setExported(base, fields: fields, key: key, upTo: transaction)
                try mirror.ledger.dropForeign(of: entry.row)
                // What was sent was taken back meanwhile: the service is to hear of that, too.
                if !entry.needsUpload { try mirror.enqueueUpload(entry.row) }
            }
            try mirror.ledger.confirm(CountOperations(base), of: name)
            try mirror.ledger.forgetComputed(of: name)
            if base.parent != nil { try mirror.ledger.forgetAssignedParent(of: name) }
        case .replay(let key):
            guard let entry = try mirror.ledger.entry(key: key, named: name),
                entry.base?.recordChangeTag == sentUpon
            else { return }
            try mirror.ledger.setBase(base, key: key)
            try mirror.ledger.dropReplay(of: base.recordName)
        case .deletedObject:
            guard let entry = try mirror.ledger.entry(named: name) else { return }
            guard entry.needsCloudDelete else { return try returnDeleted(entry, record) }
            try mirror.keepForReturn(of: entry)
            try mirror.removeLine(of: entry)
            try noteDeleted(item, record)
        case .pair(let key): try acceptPair(base, key: key, sentUpon: sentUpon)
        case .deletedPair:
            guard let entry = try mirror.ledger.pair(named: name) else { return }
            try mirror.ledger.removePair(entry)
            try noteDeleted(item, record)
            if !entry.needsDelete { try returnRemoved(entry.pair) }
        case .alias:
            // It came as an object of its own meanwhile.
            guard try mirror.ledger.alias(of: name) != nil else {
                return outcome.unknownStates.append(name)
            }
            try mirror.ledger.markAliasDropped(name)
            try noteDeleted(item, record)
        case .survivor(let key):
            guard let entry = try mirror.ledger.entry(key: key, named: name),
                entry.base?.recordChangeTag == sentUpon
            else { return }
            base.writeID = item.result.writeID
            try mirror.ledger.replaceBase(base, key: key)
        }
    }

    private mutating func acceptPair(_ base: Record, key: Int64, sentUpon: String?) throws {
        guard let entry = try mirror.ledger.pair(named: base.recordName) else {
            // It was taken back meanwhile, and is here again as the service has it.
            return outcome.unknownStates.append(base.recordName)
        }
        guard entry.key == key, entry.base?.recordChangeTag == sentUpon else { return }
        try mirror.ledger.setPairBase(base, key: key)
        // A pair that was moved meanwhile is not there yet as it stands.
        let isMoved = try JoinRecord(base, of: entry.pair) != mirror.placed(entry.pair)
        try mirror.ledger.setPair(key, isUploaded: !isMoved)
    }

    /// The removal of a pair was taken back while it was under way, and the service has it: the
    /// pair goes on under another name.
    private func returnRemoved(_ pair: JoinRecord) throws {
        guard let row = try mirror.ledger.row(named: pair.first) else { return }
        try mirror.comparePairs(of: row)
    }

    /// The deletion was taken back while it was under way, and the service has it: the object goes
    /// on as one of its own.
    private func returnDeleted(_ entry: RecordEntry, _ deletion: Record) throws {
        guard deletion.deleted, entry.base?.deleted == false else { return }
        _ = try mirror.renameReturned(
            entry, insertedIn: mirror.newestTransaction(), deletedAt: deletion.recordChangeTag)
        try mirror.enqueueUpload(entry.row)
    }

    private mutating func noteDeleted(_ item: ExportBatch.Item, _ record: Record) throws {
        try mirror.ledger.noteDeleted(item.result.recordName, tag: record.recordChangeTag)
        // Without a version it may be of what was never there.
        guard record.deleted, item.operation.record.recordChangeTag != nil else { return }
        taken.append(item.result.recordName)
    }

    // MARK: Rejected

    private mutating func reject(_ item: ExportBatch.Item, _ error: RecordError) throws {
        let name = item.operation.record.recordName
        switch error.code.canonical {
        case .conflict, .exists:
            // One whose assets are not here is looked up, so that they are fetched first.
            if let record = error.serverRecord, !record.hasAssets {
                records.append(record)
            } else {
                outcome.unknownStates.append(name)
            }
        case .notFound: try forget(item)
        case .zoneNotFound: outcome.zoneIsMissing = true
        case .atomicError: break
        // What stands here now is sent instead.
        case .assetNotFound where item.subject.isReplay && !item.operation.record.isUploaded:
            try mirror.ledger.dropReplay(of: name)
        case .assetNotFound where item.operation.record.hasReceipts: try meetLostAsset(of: item)
        case .badRequest where try item.operation.record.hasReceipts && mirror.ledger.isPlain:
            try meetRefusedUploads(of: item, error)
        case .validatingReferenceError where try wasForLostShare(item): break
        case let code where item.subject.isSurvivor && code != .accessDenied && !code.isTransient:
            try refuseNames(of: item, error)
        case .uniqueFieldError:
            outranked.append((item, error))
            if let holder = error.serverRecord, !holder.hasAssets { records.append(holder) }
        case let code where code.isTransient:
            outcome.retryAfterSeconds = max(
                outcome.retryAfterSeconds ?? 0, error.retryAfterSeconds ?? 1)
        case .accessDenied where try isUpkeep(item): left.append((item, error))
        default:
            guard try isAsItWasSent(item) else { return }
            outcome.refused += 1
            if error.code.canonical == .quotaExceeded { unfitting += 1 }
            if error.code.canonical == .accessDenied, case .object = item.subject {
                denied.append(name)
            }
            try mirror.ledger.keepRefusal(of: name, error)
        }
    }

    /// Names wait as long as the service takes nothing of the object that took them in.
    private mutating func refuseNames(of item: ExportBatch.Item, _ error: RecordError) throws {
        guard case .survivor(let key) = item.subject else { return }
        for name in try mirror.ledger.namesToDrop(of: key) {
            outcome.refused += 1
            try mirror.ledger.keepRefusal(of: name, error)
        }
    }

    /// Whether the share is gone below whose root the record was to be put: the next batch puts it
    /// where all else is.
    private func wasForLostShare(_ item: ExportBatch.Item) throws -> Bool {
        guard let root = item.operation.record.parent else { return false }
        try mirror.ledger.dropShare(below: root)
        guard try !ShareReach(mirror: mirror).isThere(root) else { return false }
        let name = item.operation.record.recordName
        let base = try mirror.ledger.entry(named: name)?.base
        return try (base ?? mirror.ledger.pair(named: name)?.base)?.parent != root
    }

    /// Uploads that the service forgot are made again by the next batch. Where they were made just
    /// now, what it lacks is an asset that is not here but by its checksum: the record waits for
    /// whoever has it.
    private mutating func meetLostAsset(of item: ExportBatch.Item) throws {
        let record = item.operation.record
        let isAnothers = try !record.isUploaded && mirror.ledger.hasFreshReceipts(of: record)
        try mirror.ledger.forgetReceipts(of: record)
        guard isAnothers, try isAsItWasSent(item) else { return }
        outcome.refused += 1
        try mirror.ledger.keepRefusal(of: record.recordName, Self.lostAsset)
    }

    /// A plain service does not say whether it forgot the uploads or takes the record in no way: it
    /// is sent with new ones, and where they are refused too it waits. What was uploaded anew for
    /// another record meanwhile is sent at once.
    private mutating func meetRefusedUploads(
        of item: ExportBatch.Item, _ error: RecordError
    ) throws {
        let record = item.operation.record
        guard try mirror.ledger.areLatestUploads(of: record) else { return }
        guard try !mirror.ledger.uploadsAgain(record), try isAsItWasSent(item) else { return }
        outcome.refused += 1
        let reason =
            "The service refuses the object with new uploads of its large values too; it is sent "
            + "again in an hour. It says: \(error.reason)"
        try mirror.ledger.keepRefusal(
            of: record.recordName, RecordError(Self.refusedUploads, reason))
    }

    /// Why a record waits that a plain service refused with new uploads too.
    static let refusedUploads = RecordError.Code(rawValue: "ASSET_REFUSED")

    static let lostAsset = RecordError(
        .assetNotFound,
        "The service lacks a large value of the object that another device wrote, and so does this "
            + "device; the object is sent again in an hour, or once that device has synced.")

    /// Whoever has the key came with the answer: where the model makes one object of the two, that
    /// is done by now, and it is sent anew. The rest is refused, until something is changed or
    /// deleted at the service; where the holder itself is about to be, that is no refusal to tell.
    private mutating func settleOutranked() throws {
        if mayHaveFreedKeys { try mirror.ledger.forgetRefusals(.uniqueFieldError) }
        let names = Set(outranked.map { ExactName($0.item.operation.record.recordName) })
        for (item, error) in outranked where try isAsItWasSent(item) {
            let holder = error.serverRecord?.recordName
            let isFreeSoon = try holder.map { name in
                try !names.contains(ExactName(name)) && mirror.ledger.waits(name)
            }
            if isFreeSoon != true { outcome.refused += 1 }
            try mirror.ledger.keepRefusal(of: item.operation.record.recordName, error)
        }
    }

    /// Whether nobody here edited what was sent: every device makes the same of twins, and who may
    /// write the records tells the service.
    private func isUpkeep(_ item: ExportBatch.Item) throws -> Bool {
        switch item.subject {
        case .alias, .survivor: true
        case .object(let key, _):
            try item.operation.kind == .update && mirror.ledger.isUpkeep(key: key)
                && isAsItWasSent(item)
        case .deletedPair: try hasEndToDrop(item.result.recordName)
        case .replay, .pair, .deletedObject: false
        }
    }

    /// Whether an end of the pair is a name that another object here took in, and that the service
    /// has still: the pair goes with it.
    private func hasEndToDrop(_ name: String) throws -> Bool {
        guard let pair = try mirror.ledger.pair(named: name)?.pair else { return false }
        return try [pair.first, pair.second].contains {
            try mirror.ledger.alias(of: $0)?.isDropped == false
        }
    }

    private mutating func settleLeft() throws {
        var importing = try RecordImport(mirror: mirror)
        for (item, error) in left {
            let name = item.result.recordName
            guard case .object = item.subject else {
                try leave(item.subject, name)
                continue
            }
            guard try isAsItWasSent(item), let entry = try mirror.ledger.entry(named: name),
                try !LeftEnds(mirror: mirror).leave(entry, isUpkeep: true),
                try !importing.giveWay(entry)
            else { continue }
            outcome.refused += 1
            try mirror.ledger.keepRefusal(of: name, error)
        }
        try importing.finishTakingBack()
        outcome.imported += importing.outcome
    }

    /// Ends that were written with links of one's own follow from those, which are taken by now.
    private mutating func settleDenied() throws {
        for name in denied {
            guard let entry = try mirror.ledger.entry(named: name), !entry.needsCloudDelete,
                try LeftEnds(mirror: mirror).leave(entry, isUpkeep: false)
            else { continue }
            outcome.refused -= 1
        }
    }

    /// A pair that is left waits for its end, which may be an object of its own again.
    private func leave(_ subject: ExportBatch.Subject, _ name: String) throws {
        if case .survivor(let key) = subject { return try mirror.ledger.leaveAliases(of: key) }
        guard case .deletedPair = subject else { return try mirror.ledger.leaveAlias(name) }
        guard let pair = try mirror.ledger.pair(named: name), pair.needsDelete else { return }
        try mirror.ledger.setPair(
            pair.key, isPending: true, isUploaded: true, needsDelete: false)
    }

    /// Whether what was refused is still what waits for export. What was edited or deleted while it
    /// was under way is sent anew: the refusal of what it was must not hold it up.
    private func isAsItWasSent(_ item: ExportBatch.Item) throws -> Bool {
        let name = item.result.recordName
        switch item.subject {
        case .object(_, let transaction):
            guard let entry = try mirror.ledger.entry(named: name) else { return false }
            return entry.needsUpload && !entry.needsCloudDelete
                && (1...transaction).contains(entry.pendingTransaction)
        case .replay:
            return try mirror.ledger.entry(named: name)?.needsCloudDelete == false
        case .pair:
            guard let entry = try mirror.ledger.pair(named: name), !entry.needsDelete else {
                return false
            }
            return try JoinRecord(item.result, of: entry.pair)
                == mirror.placed(entry.pair)
        case .deletedObject: return try mirror.ledger.entry(named: name)?.needsCloudDelete == true
        case .deletedPair: return try mirror.ledger.pair(named: name)?.needsDelete == true
        case .alias, .survivor: return true
        }
    }

    /// The service does not know the record: what was to be deleted is gone, what was to be changed
    /// is sent whole.
    private mutating func forget(_ item: ExportBatch.Item) throws {
        let name = item.result.recordName
        let sentUpon = item.operation.record.recordChangeTag
        switch item.subject {
        case .object(let key, _), .replay(let key), .survivor(let key):
            guard let entry = try mirror.ledger.entry(key: key, named: name),
                entry.base?.recordChangeTag == sentUpon
            else { return }
            try mirror.keepForeign(of: entry.base, for: entry.row)
            try mirror.ledger.clearBase(key: key)
            if item.subject.isSurvivor { try mirror.enqueueUpkeep(entry.row) }
        case .pair(let key):
            guard let entry = try mirror.ledger.pair(named: name), entry.key == key,
                entry.base?.recordChangeTag == sentUpon
            else { return }
            try mirror.ledger.connection.run(
                "UPDATE ANSCKMIRROREDRELATIONSHIP SET ZSYSTEMFIELDSASSET = NULL WHERE Z_PK = ?",
                [.integer(key)])
        case .deletedObject, .deletedPair:
            let marks = try mirror.ledger.marksInFlight(name)
            try accept(item, item.result)
            if sentUpon == nil {
                try mirror.ledger.noteDeletedUnknown(name, sentUnder: marks)
            }
        case .alias: try accept(item, item.result)
        }
    }

    /// When nobody else wrote to the zone since this device last read it, its own writes need not
    /// be read back.
    private func advanceToken(_ reply: RecordsReply) throws {
        let zone = try mirror.ledger.zone(mirror.settings.zoneID)
        guard let token = zone.token, token == reply.previousSyncToken, let next = reply.syncToken
        else { return }
        try mirror.faults.reach("export.beforeTokenWrite")
        try mirror.ledger.setToken(next, zone: zone.name)
    }
}
