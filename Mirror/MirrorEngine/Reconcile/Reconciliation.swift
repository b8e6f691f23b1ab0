internal import Platform
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Compares the ledger with a zone that was read from its start to its end, after the service, the
/// zone or this store went back to an older state. (docs/MERGE.md §11)
///
/// What the zone showed was settled when it arrived; here is what it did not show: it was deleted
/// and purged, or the service lost it and it is made again.
struct Reconciliation {
    let mirror: MirrorTransaction
    private let lostTime: LostTime?
    private static let pageMax = 500

    init(mirror: MirrorTransaction) throws {
        self.mirror = mirror
        lostTime = try LostTime(mirror.ledger)
    }

    func finish(_ importing: inout RecordImport) throws {
        try eachUnseen(mirror.ledger.unseenEntries, key: \.key) {
            try reconcile($0, &importing)
        }
        try eachUnseen(mirror.ledger.unseenPairs, key: \.key) {
            try reconcile($0, &importing)
        }
        try importing.flush()
        // A role may hide them: whether they are gone tells the answer to their deletion.
        if !mirror.settings.scope.isPublic { try mirror.ledger.forgetUnseenDrops() }
        try mirror.ledger.forgetUnseenAside()
        try mirror.ledger.forgetUnseenShares()
        try mirror.ledger.endReconciling()
    }

    private func eachUnseen<Entry>(
        _ read: (Int64, Int) throws -> [Entry], key: KeyPath<Entry, Int64>,
        _ body: (Entry) throws -> Void
    ) throws {
        var cursor: Int64 = 0
        while true {
            let entries = try read(cursor, Self.pageMax)
            for entry in entries { try body(entry) }
            guard let last = entries.last else { return }
            cursor = last[keyPath: key]
        }
    }

    private func reconcile(_ entry: RecordEntry, _ importing: inout RecordImport) throws {
        let name = entry.recordName
        if isHidden(entry.base, orPurged: entry.needsCloudDelete) { return }
        if entry.needsCloudDelete {
            try mirror.keepForReturn(of: entry)
            try noteDeleted(entry)
            return try importing.forget(entry)
        }
        if isPurged(entry.base) {
            var deletion = Record(recordName: name, recordType: entry.base?.recordType ?? "")
            deletion.deleted = true
            try importing.applyDeletion(of: deletion)
            // Links that went with it are no edits of what is compared after it.
            if try mirror.ledger.entry(named: name) == nil { try noteDeleted(entry) }
            return
        }
        if let base = entry.base, !base.deleted, base.recordChangeTag != nil, lostTime != nil,
            try mirror.ledger.replay(of: name) == nil
        {
            try mirror.ledger.keepReplay(base)
        }
        try mirror.keepForeign(of: entry.base, for: entry.row)
        try mirror.ledger.clearBase(key: entry.key)
        try mirror.ledger.setNeedsUpload(true, key: entry.key)
        importing.outcome.sentAgain += 1
    }

    /// What the zone lacks is deleted here. A late copy of what was sent of it may bring it yet,
    /// which shows by the IDs of the writes: a plain service has no tags that tell.
    private func noteDeleted(_ entry: RecordEntry) throws {
        let name = entry.recordName
        var sent = try mirror.ledger.marksInFlight(name)
        if try mirror.ledger.isPlain { sent += entry.base?.knownWriteIDs ?? [] }
        if try !sent.isEmpty && (entry.base == nil || mirror.ledger.isPlain) {
            try mirror.ledger.noteDeletedUnknown(name, sentUnder: sent)
        } else {
            try mirror.ledger.noteDeleted(name, tag: entry.base?.recordChangeTag)
        }
    }

    private func reconcile(_ entry: PairEntry, _ importing: inout RecordImport) throws {
        if isHidden(entry.base, orPurged: entry.needsDelete) { return }
        if entry.needsDelete {
            try mirror.ledger.noteDeleted(entry.recordName, tag: entry.base?.recordChangeTag)
            return try mirror.ledger.removePair(entry)
        }
        if isPurged(entry.base) {
            return try importing.applyPairDeletion(
                of: Record(recordName: entry.recordName, recordType: RecordNames.pairType))
        }
        try mirror.ledger.clearPairBase(key: entry.key)
        importing.outcome.sentAgain += 1
    }

    /// Whether a role hides a record that the service has: a zone of the public database is read
    /// anew whenever the user's roles change. It stands here as it did, and a deletion of it is
    /// still to be sent; what is older than the oldest deletion that is told may as well be gone.
    private func isHidden(_ base: Record?, orPurged: Bool) -> Bool {
        guard mirror.settings.scope.isPublic, let lostTime, let base, !base.deleted,
            let tag = base.recordChangeTag.flatMap(ChangeTag.init)
        else { return false }
        return lostTime.line.contains(tag) && (orPurged || tag.change > lostTime.line.floor)
    }

    /// Whether a record that the zone does not show was deleted so long ago that the deletion is
    /// forgotten.
    ///
    /// In a zone of another's it may as well have gone out of the share: the feed of one who sees
    /// other shares than before begins anew, without what was seen before.
    private func isPurged(_ base: Record?) -> Bool {
        if mirror.settings.isShared, let base, !base.deleted, base.recordChangeTag != nil {
            return lostTime?.lostTag(of: base) == nil
        }
        guard let lostTime, let tag = base?.recordChangeTag.flatMap(ChangeTag.init) else {
            return false
        }
        return lostTime.line.contains(tag) && tag.change <= lostTime.line.floor
    }
}
