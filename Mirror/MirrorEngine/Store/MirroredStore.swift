package import Foundation
internal import ObjectModel
package import Platform
package import RecordWire
internal import SQLiteDriver
package import SQLiteStore
internal import Stores

/// One SQLite store under mirroring: every step of the mirror as one transaction on it.
///
/// Thread-safe by the store's own lock; each function blocks until its transaction is done.
public final class MirroredStore: Sendable {
    /// What the mirror calls itself among those who read a store's history.
    public static let historyConsumer = RecordNames.historyConsumer

    package let store: SQLiteRowStore
    package let settings: MirrorSettings
    let assets: AssetFolder
    private let pragmas = RoundPragmas()
    /// Set once the store has left its coordinator.
    private let hasLeft = Lock(false)
    /// Set once a round has begun.
    private let wasPrepared = Lock(false)
    /// What writes and new objects are named by.
    private let namingIdentifier: String

    /// Where nobody names a database, a zone or an environment, it is the one that the store is
    /// mirrored with. The public database has one zone, whatever name is given.
    package init(
        store: SQLiteRowStore, policy: MergePolicy = MergePolicy(),
        database: MirrorDatabase? = nil, zoneName: String? = nil, zoneOwner: String? = nil,
        environment: String? = nil, keys: SealingKeys? = nil, platform: Environment,
        selecting source: SelectionSource = .remembered,
        adjust: (inout MirrorSettings) -> Void = { _ in }
    ) throws {
        if !store.keepsHistory { try Self.beginHistory(of: store) }
        self.store = store
        namingIdentifier = try Self.originalIdentifier(of: store, platform) ?? store.identifier
        assets = AssetFolder(besides: store.url)
        let isPublic = try (database ?? Self.knownDatabase(of: store)) == .public
        let zoneID =
            try isPublic
            ? ZoneID(zoneName: ZoneID.defaultName)
            : zoneName.map { ZoneID(zoneName: $0, ownerRecordName: zoneOwner) }
                ?? Self.knownZone(of: store, platform)
        var settings = try MirrorSettings(
            layout: store.layout, policy: policy, zoneID: zoneID, keys: keys, platform: platform)
        settings.scope.isPublic = isPublic
        settings.scope.environment =
            try environment ?? Self.knownEnvironment(of: store) ?? Self.standardEnvironment
        try settings.scope.select(source, in: store, platform)
        adjust(&settings)
        self.settings = settings
    }

    /// A store that is mirrored keeps history, whether or not its app asks for it.
    private static func beginHistory(of store: SQLiteRowStore) throws {
        do {
            try store.beginHistory()
        } catch let error as StoreError where error.code == .readOnly {
            throw MirrorError(
                .storeNotMirrorable,
                "The store keeps no history, which mirroring reads changes from. Open it for "
                    + "writing, and not with NSPersistentHistoryTrackingKey false.")
        }
    }

    /// Where nobody names a zone, the one with which the store is mirrored already.
    package static func knownZone(
        of store: SQLiteRowStore, _ platform: Environment
    ) throws -> ZoneID? {
        try store.glance { transaction in
            let ledger = Ledger(connection: transaction.connection, platform: platform)
            guard try Ledger.exists(in: ledger.connection) else { return nil }
            return try ledger.knownZone()
        }
    }

    /// Under which identifier a store was mirrored before it was copied to another place.
    private static func originalIdentifier(
        of store: SQLiteRowStore, _ platform: Environment
    ) throws -> String? {
        try store.glance { transaction in
            let ledger = Ledger(connection: transaction.connection, platform: platform)
            guard try Ledger.exists(in: ledger.connection) else { return nil }
            return try ledger.setting(.origin)?.string
        }
    }

    /// Runs `body` on the store and its ledger in one transaction.
    func write<Result>(_ body: (MirrorTransaction) throws -> Result) throws -> Result {
        // Before as well: another store that is at its place by then would be told of instead.
        try checkStays()
        return try store.write { transaction in
            try checkStays()
            return try body(self.transaction(transaction))
        }
    }

    /// Ends all that would still be written: the store leaves its coordinator, and what is at its
    /// place from now on may be another's. Any thread; waits for nothing.
    package func leave() { hasLeft.withLock { $0 = true } }

    private func checkStays() throws {
        guard hasLeft.withLock({ $0 }) else { return }
        throw MirrorError(
            .stopped, "The store was removed from its coordinator, and is mirrored no more.")
    }

    func read<Result>(_ body: (MirrorTransaction) throws -> Result) throws -> Result {
        try store.read { try body(self.transaction($0)) }
    }

    private func transaction(_ transaction: StoreTransaction) throws -> MirrorTransaction {
        MirrorTransaction(
            store: transaction, settings: try present(transaction),
            storeIdentifier: namingIdentifier, assets: assets)
    }

    /// The settings, with what the store keeps of what is to be sent: another process may have
    /// chosen since, and the last choice counts. One's own is made by the first round.
    private func present(_ store: StoreTransaction) throws -> MirrorSettings {
        guard settings.scope.isRemembered || wasPrepared.withLock({ $0 }),
            try Ledger.exists(in: store.connection)
        else { return settings }
        let ledger = Ledger(connection: store.connection, platform: settings.platform)
        var present = settings
        try present.scope.follow(ledger.setting(.selection)?.string ?? "", in: store)
        return present
    }

    // MARK: Steps

    /// Makes the ledger when there is none, and says where the zone stands. `container` names
    /// service and container; a store that was mirrored with another one, or for another user, is
    /// refused.
    package func prepare(
        container: String, caller: CallerReply? = nil, dialect: ServiceDialect = .extended
    ) throws -> ZoneEntry {
        let isFirst = wasPrepared.withLock { !$0 }
        let zone = try write { mirror in
            try pragmas.open(mirror.store.connection)
            try makeLedger(mirror)
            try check(container, mirror.ledger)
            try checkEnvironment(mirror.ledger)
            try checkZone(mirror.ledger)
            try checkUser(caller, mirror.ledger)
            try noticeModel(mirror)
            try SelectionReach(mirror: mirror).checkIsRead()
            try takeZone(isFirst: isFirst, mirror)
            if try SelectionReach(mirror: mirror).notice(), try mirror.ledger.hasAside() {
                try catchUpWithKeys(mirror)
                var importing = try RecordImport(mirror: mirror)
                try importing.applyLeftOut()
            }
            try Unlocking(mirror: mirror).run()
            try CountWatch(mirror: mirror).keepTriggers()
            if let seen = try mirror.ledger.historyToken() { try mirror.keepHistory(after: seen) }
            try mirror.ledger.note(dialect)
            try mirror.ledger.dropOldConflicts()
            try mirror.ledger.retryRefused(
                in: settings.database, of: settings.scope.environment)
            var zone = try mirror.ledger.zone(settings.zoneID)
            zone.client = dialect == .plain ? nil : try mirror.ledger.beginRound()
            zone.client?.wantsWriteIDs =
                try mirror.ledger.hasWritesUnderWay()
                || mirror.store.lastTransactionNumber() > mirror.ledger.historyToken() ?? 0
            zone.marks = LedgerMarks(
                sends: try mirror.ledger.sends(), comparisons: try mirror.ledger.comparisons())
            zone.waitingForAssets = try mirror.ledger.recordsWaitingForAssets(
                limit: settings.batchRecordsMax)
            try mirror.ledger.finish()
            return zone
        }
        wasPrepared.withLock { $0 = true }
        return zone
    }

    package func noteZoneExists() throws {
        try write { try $0.ledger.setZoneExists(true, settings.zoneName) }
    }

    /// Applies one page of the zone's changes and moves the token, in one transaction. Returns nil
    /// where another session, or a reset, has moved the ledger on since the page was asked for: a
    /// page from elsewhere must not end a comparison, nor one without write IDs meet writes that
    /// are under way. The same where the zone lacks what a plain service had taken: the ledger then
    /// asks for its start.
    package func apply(
        _ page: ZoneChangesReply, to request: PageRequest
    ) throws -> ImportOutcome? {
        let started = now
        let outcome: ImportOutcome? = try write { mirror in
            guard try !hasLeft(mirror.ledger),
                try mirror.ledger.zone(settings.zoneID).token == request.token,
                try mirror.ledger.comparisons() == request.marks.comparisons,
                try request.toldWriteIDs || !mirror.ledger.hasInFlightWrites()
            else { return nil }
            if try mirror.ledger.lacksEchoes(in: page, to: request) {
                try mirror.ledger.beginReconciling(zone: settings.zoneName)
                return nil
            }
            try catchUpWithKeys(mirror)
            try noteEpochs(page, mirror.ledger)
            var importing = try RecordImport(mirror: mirror, awaiting: request.awaited)
            try importing.apply(
                page.records, holdsBack: settings.hidesIncompleteGraphs && page.moreComing)
            if !page.moreComing { try importing.showHeld() }
            if try !page.moreComing && mirror.ledger.isReconciling {
                try Reconciliation(mirror: mirror).finish(&importing)
            }
            if !page.moreComing { try dropLinksToDeleted(mirror) }
            try repairOneToOnes(mirror, after: page)
            try shareWhatIsLinked(with: page.records, mirror)
            try faults.reach("import.beforeTokenWrite")
            try mirror.ledger.setToken(page.syncToken, zone: settings.zoneName)
            if !page.moreComing { try mirror.ledger.set(.initialImport, to: .integer(1)) }
            if !page.records.isEmpty {
                try mirror.ledger.logImport(token: page.syncToken)
                try mirror.ledger.log(
                    .import, started: started, affected: page.records.count,
                    finished: importing.outcome.applied)
            }
            if try !page.moreComing && mirror.ledger.takeReadingAgain() {
                try mirror.ledger.setToken(nil, zone: settings.zoneName)
                importing.outcome.readsAgain = true
            }
            return importing.outcome
        }
        if outcome != nil { try removeApplied(page.records) }
        return outcome
    }

    /// Links and pairs that wait for an object which was deleted will never find it: once the zone
    /// was read to its end they go, here and at the service.
    private func dropLinksToDeleted(_ mirror: MirrorTransaction) throws {
        for link in try mirror.ledger.pendingLinksToDeleted() {
            guard try mirror.ledger.row(named: link.target.recordName) == nil else { continue }
            try mirror.ledger.dropPending(link.recordName, property: link.property)
            guard let source = try mirror.ledger.row(named: link.recordName) else { continue }
            try logDropped(link, of: source, mirror)
            try mirror.enqueueUpload(source)
        }
        for pair in try mirror.ledger.waitingPairsOfDeleted() {
            let ends = [pair.pair.first, pair.pair.second]
            guard try mirror.ledger.isClear(pair),
                try !ends.allSatisfy({ try mirror.ledger.row(named: $0) != nil })
            else { continue }
            for gone in ends where try mirror.ledger.row(named: gone) == nil {
                guard let lost = try mirror.lostMember(pair, with: gone, isLocal: false) else {
                    continue
                }
                try mirror.ledger.log(lost, by: pair.base?.modified)
            }
            try mirror.ledger.queuePairDeletion(pair)
        }
    }

    private func logDropped(
        _ link: PendingLink, of source: RowID, _ mirror: MirrorTransaction
    ) throws {
        let layout = try mirror.layout(of: source)
        guard let slot = layout.toOneSlot(link.property) else { return }
        var conflict = PropertyConflict(
            slot: .toOne(slot), property: link.property,
            rule: settings.policy.deletion.rawValue, base: .link(nil), local: .link(nil),
            remote: .link(link.target))
        conflict.take(.local)
        let writer = try mirror.ledger.entry(named: link.recordName)?.base?.modified
        try mirror.ledger.log(
            conflict, entity: layout.name, recordName: link.recordName, by: writer)
    }

    /// Applies records that were looked up by name; the token stays. Returns nil as for a page:
    /// where the service has no epochs, only the token tells that what came is older than what
    /// another session applied meanwhile.
    package func apply(
        _ records: [Record], _ line: EpochLine? = nil, to request: PageRequest
    ) throws -> ImportOutcome? {
        let outcome: ImportOutcome? = try write { mirror in
            guard try !hasLeft(mirror.ledger) else { return ImportOutcome() }
            guard try mirror.ledger.comparisons() == request.marks.comparisons,
                try !mirror.ledger.isPlain
                    || mirror.ledger.zone(settings.zoneID).token == request.token
            else { return nil }
            try catchUpWithKeys(mirror)
            if let line { try mirror.ledger.setLine(line) }
            var importing = try RecordImport(mirror: mirror, awaiting: request.awaited)
            try importing.apply(records)
            try shareWhatIsLinked(with: records, mirror)
            return importing.outcome
        }
        if outcome != nil { try removeApplied(records) }
        return outcome
    }

    /// Moves into the file what the log holds, beside whoever reads and writes, on another thread
    /// than theirs. What cannot be moved now is moved by a later commit.
    package func moveLog() { store.moveLog() }

    /// Reads a stretch of the history. Returns whether more of it is waiting, and at its end how
    /// many records wait for export, whoever noted them.
    package func analyse() throws -> (waiting: Int, moreWaiting: Bool) {
        try write { mirror in
            try noticeModel(mirror)
            let read = try HistoryAnalysis(mirror: mirror)
                .run(limit: settings.historyTransactionsMax)
            let waiting = try read.moreWaiting ? 0 : mirror.ledger.pendingCounts().total
            return (waiting, read.moreWaiting)
        }
    }

    /// Notes what was saved since the last look before anything is merged, so that a deletion made
    /// meanwhile is known. Returns how many changes were noted.
    @discardableResult
    func catchUp(_ mirror: MirrorTransaction) throws -> Int {
        try noticeModel(mirror)
        let analysis = HistoryAnalysis(mirror: mirror)
        var noted = 0
        while true {
            let read = try analysis.run(limit: settings.historyTransactionsMax)
            noted += read.noted
            guard read.moreWaiting else { return noted }
        }
    }

    /// As `catchUp`, before something is merged or sent. Throws `.keyMissing` where another process
    /// has opened values meanwhile with a key that this one lacks: what it cannot read would count
    /// as edited by whoever can.
    @discardableResult
    private func catchUpWithKeys(_ mirror: MirrorTransaction) throws -> Int {
        try Unlocking(mirror: mirror).checkKeys()
        return try catchUp(mirror)
    }

    /// Lets the ends of one-to-one relationships meet again. Only at the end of the zone: before,
    /// the other half of a change may still be on its way.
    private func repairOneToOnes(_ mirror: MirrorTransaction, after page: ZoneChangesReply) throws {
        let concerned = page.records.contains { record in
            settings.mapping.entity(of: record).map(OneToOneRepair.concerns) ?? record.deleted
        }
        if concerned { try mirror.ledger.set(.oneToOneCheck, to: .integer(1)) }
        guard !page.moreComing, try mirror.ledger.setting(.oneToOneCheck) != nil else { return }
        try OneToOneRepair(mirror: mirror).run()
        // What waits for a decision is looked at again after it.
        guard try mirror.ledger.waitingConflicts() == 0 else { return }
        try mirror.ledger.set(.oneToOneCheck, to: .null)
    }

    /// Builds the next batch, of at most `recordsMax` records; empty when nothing waits, or when
    /// the zone is to be read before. The history is looked at first: a row that changed since
    /// would travel with its new values and the times of its old ones.
    package func nextBatch(
        recordsMax: Int? = nil, assets: AssetSupport = .none
    ) throws -> ExportBatch {
        try write { mirror in
            let noted = try catchUpWithKeys(mirror)
            var batch = ExportBatch()
            if try mirror.ledger.isReconciling {
                batch.needsReading = true
            } else {
                var builder = BatchBuilder(
                    mirror: mirror, recordsMax: recordsMax ?? .max, assets: assets)
                batch = try builder.build()
            }
            batch.noted = noted
            return batch
        }
    }

    /// Builds the batch of the objects whose lines come after those of `batch`, which is under way;
    /// nil where there are none, or where other things follow.
    package func nextBatch(
        behind batch: ExportBatch, recordsMax: Int, assets: AssetSupport = .none
    ) throws -> ExportBatch? {
        guard let key = batch.lastKey else { return nil }
        return try write { mirror in
            let noted = try catchUpWithKeys(mirror)
            guard try !mirror.ledger.isReconciling else { return nil }
            var builder = BatchBuilder(mirror: mirror, recordsMax: recordsMax, assets: assets)
            var next = try builder.build(behind: key)
            next.noted = noted
            return next
        }
    }

    /// The service takes a batch's records in no request: each is put aside with the reason until
    /// its object changes.
    package func refuse(_ batch: ExportBatch, _ error: RecordError) throws -> ReplyOutcome {
        let results = batch.items.map { item in
            var own = error
            own.recordName = item.operation.record.recordName
            return RecordResult.failure(own)
        }
        return try record(batch, RecordsReply(results: results))
    }

    /// Takes note of the service's answer to a batch. Where another session, or a reset, has begun
    /// to compare the store with the zone meanwhile, the answer is as good as lost: it may be that
    /// of a zone which is gone.
    package func record(_ batch: ExportBatch, _ reply: RecordsReply) throws -> ReplyOutcome {
        let started = now
        return try write { mirror in
            guard try !hasLeft(mirror.ledger),
                try batch.comparisons == mirror.ledger.comparisons()
            else { return ReplyOutcome() }
            let noted = try catchUpWithKeys(mirror)
            var recording = ReplyRecording(mirror: mirror)
            var outcome = try recording.record(batch, reply)
            outcome.noted = noted
            try mirror.ledger.log(
                .export, started: started, affected: batch.items.count, finished: outcome.exported)
            try faults.reach("export.beforeReplyCommit")
            return outcome
        }
    }

    /// Remembers what a page tells of the zone's epochs, and what it shows while the zone is
    /// compared.
    private func noteEpochs(_ page: ZoneChangesReply, _ ledger: Ledger) throws {
        if let line = page.epochs {
            try ledger.setLine(line)
            try ledger.forgetOldDeletions(line)
        }
        if page.echoesWriteIDs, try ledger.setting(.echoesWriteIDs) == nil {
            try ledger.set(.echoesWriteIDs, to: .integer(1))
        }
        try ledger.see(page.records.map(\.recordChangeTag))
        if try ledger.isReconciling { try ledger.see(page.records.map(\.recordName)) }
    }

    /// The service went back to an older state, or forgot: the zone is read from its start and
    /// compared with what is known here.
    package func reconcile() throws {
        try write { try $0.ledger.beginReconciling(zone: settings.zoneName) }
    }

    /// The service lost the zone: it is made again, and everything here is compared with it.
    package func forgetZone() throws {
        try write { mirror in
            try mirror.ledger.setZoneExists(false, settings.zoneName)
            try mirror.ledger.beginReconciling(zone: settings.zoneName)
        }
    }

    /// Another file goes by this store's name: it takes a new one, unless another session on this
    /// very file has begun a later round.
    package func renewInstance(after round: Int64) throws {
        try write { mirror in
            _ = try mirror.ledger.renewInstance(after: round)
            try mirror.ledger.finish()
        }
    }

    /// Keeps how the last round ended, so that a status can say why sync does not run. The first
    /// round may have ended before there was a ledger.
    package func noteRound(error: String?, retryAt: Date?) throws {
        try write { mirror in
            try makeLedger(mirror)
            try mirror.ledger.set(.lastError, to: SQLiteValue(error))
            try mirror.ledger.set(.retryAt, to: SQLiteValue(retryAt))
            if error == nil {
                try mirror.ledger.set(.lastRound, to: SQLiteValue(now))
                try mirror.ledger.forgetFormerEdits()
            }
            try mirror.ledger.set(.hold, to: .null)
            try mirror.ledger.noteWaiting()
            try mirror.ledger.spreadBatches()
            try mirror.ledger.finish()
            try pragmas.close(mirror.store.connection)
        }
    }

    package func deviceID() throws -> String {
        try write { mirror in
            try makeLedger(mirror)
            return try mirror.ledger.deviceID()
        }
    }

    /// Makes the ledger where there is none, which is an event of its own.
    func makeLedger(_ mirror: MirrorTransaction) throws {
        let isNew = try mirror.ledger.prepare()
        if isNew { try mirror.ledger.log(.setup, started: now, affected: 0, finished: 0) }
    }

    // MARK: Checks

    private func check(_ container: String, _ ledger: Ledger) throws {
        let known = try ledger.setting(.container)?.string
        let isSame = known.map {
            MirrorDestination.spelled($0) == MirrorDestination.spelled(container)
        }
        guard isSame ?? true else {
            throw MirrorError(
                .otherContainer,
                "The store is mirrored with \(known ?? ""), not with \(container). "
                    + "Use that service, or run 'diptych reset' to start over with this one.",
                fields: ["known": known ?? "", "asked": container])
        }
        if known == nil { try ledger.set(.container, to: .text(container)) }
    }

    private func checkZone(_ ledger: Ledger) throws {
        guard let known = try ledger.knownZone(), known != settings.zoneID else { return }
        let other = known.zoneName == settings.zoneName ? " of another user" : ""
        throw MirrorError(
            .otherContainer,
            "The store is mirrored with the zone \(known.zoneName), not with "
                + "\(settings.zoneName)\(other). "
                + "Use that zone, or run 'diptych reset' to start over with this one.",
            fields: ["known": known.zoneName, "asked": settings.zoneName])
    }

    private var now: Date { settings.platform.clock.now() }
    private var faults: any FaultPoints { settings.platform.faults }
}
