package import Foundation
internal import ObjectModel
package import Platform
package import RecordWire
internal import SQLiteDriver
package import SQLiteStore
internal import Stores

/// One SQLite store under mirroring: every step of the mirror as one transaction on it.
///
/// Thread-safe by the store's own lane; each function blocks until its transaction is done.
public final class MirroredStore: Sendable {
    package let store: SQLiteRowStore
    package let settings: MirrorSettings

    package init(
        store: SQLiteRowStore, policy: MergePolicy = MergePolicy(), zoneName: String? = nil,
        platform: Environment
    ) throws {
        guard store.keepsHistory else {
            throw MirrorError(
                .storeNotMirrorable,
                "The store keeps no history, which mirroring reads changes from. "
                    + "Open it with NSPersistentHistoryTrackingKey.")
        }
        self.store = store
        settings = try MirrorSettings(
            layout: store.layout, policy: policy, zoneName: zoneName, platform: platform)
    }

    /// Runs `body` on the store and its ledger in one transaction.
    func write<Result>(_ body: (MirrorTransaction) throws -> Result) throws -> Result {
        try store.write { try body(MirrorTransaction(store: $0, settings: self.settings)) }
    }

    func read<Result>(_ body: (MirrorTransaction) throws -> Result) throws -> Result {
        try store.read { try body(MirrorTransaction(store: $0, settings: self.settings)) }
    }

    // MARK: Steps

    /// Makes the ledger when there is none, and says where the zone stands. `container` names
    /// service and container; a store that was mirrored with another one is refused.
    package func prepare(container: String) throws -> ZoneEntry {
        try write { mirror in
            let isNew = try mirror.ledger.prepare()
            if isNew { try mirror.ledger.log(.setup, started: now, affected: 0, finished: 0) }
            try check(container, mirror.ledger)
            try noticeModel(mirror.ledger)
            var zone = try mirror.ledger.zone(settings.zoneName)
            zone.waiting = try mirror.ledger.pendingCounts().total
            try mirror.ledger.finish()
            return zone
        }
    }

    package func noteZoneExists() throws {
        try write { try $0.ledger.setZoneExists(true, settings.zoneName) }
    }

    /// Applies one page of the zone's changes and moves the token, in one transaction.
    package func apply(_ page: ZoneChangesReply) throws -> ImportOutcome {
        let started = now
        if faults.isPlanted("import.tokenBeforeRows") {
            try write { try $0.ledger.setToken(page.syncToken, zone: settings.zoneName) }
            try faults.reach("import.betweenTokenAndRows")
        }
        return try write { mirror in
            try catchUp(mirror)
            var importing = RecordImport(mirror: mirror)
            try importing.apply(page.records)
            try repairOneToOnes(mirror, after: page)
            try faults.reach("import.beforeTokenWrite")
            if !faults.isPlanted("import.skipTokenWrite") {
                try mirror.ledger.setToken(page.syncToken, zone: settings.zoneName)
            }
            if !page.moreComing { try mirror.ledger.set(.initialImport, to: .integer(1)) }
            if !page.records.isEmpty {
                try mirror.ledger.logImport(token: page.syncToken)
                try mirror.ledger.log(
                    .import, started: started, affected: page.records.count,
                    finished: importing.outcome.applied)
            }
            return importing.outcome
        }
    }

    /// Applies records that were looked up by name; the token stays.
    package func apply(_ records: [Record]) throws -> ImportOutcome {
        try write { mirror in
            try catchUp(mirror)
            var importing = RecordImport(mirror: mirror)
            try importing.apply(records)
            return importing.outcome
        }
    }

    /// Reads a stretch of the history. Returns how many changes were noted, and whether more are
    /// waiting.
    package func analyse() throws -> (noted: Int, moreWaiting: Bool) {
        try write { try HistoryAnalysis(mirror: $0).run(limit: Self.historyTransactionsMax) }
    }

    /// Notes what was saved since the last look before anything is merged, so that a deletion made
    /// meanwhile is known.
    func catchUp(_ mirror: MirrorTransaction) throws {
        let analysis = HistoryAnalysis(mirror: mirror)
        while try analysis.run(limit: Self.historyTransactionsMax).moreWaiting {}
    }

    /// Lets the ends of one-to-one relationships meet again. Only at the end of the zone: before,
    /// the other half of a change may still be on its way.
    private func repairOneToOnes(_ mirror: MirrorTransaction, after page: ZoneChangesReply) throws {
        let concerned = page.records.contains { record in
            settings.mapping.entity(of: record).map(OneToOneRepair.concerns) ?? record.deleted
        }
        if concerned { try mirror.ledger.set(.oneToOneCheck, to: .integer(1)) }
        guard !page.moreComing, try mirror.ledger.setting(.oneToOneCheck) != nil else { return }
        _ = try OneToOneRepair(mirror: mirror).run()
        try mirror.ledger.set(.oneToOneCheck, to: .null)
    }

    /// Builds the next batch, of at most `recordsMax` records; empty when nothing waits.
    package func nextBatch(recordsMax: Int? = nil) throws -> ExportBatch {
        try write { mirror in
            var builder = BatchBuilder(mirror: mirror, recordsMax: recordsMax ?? .max)
            return try builder.build()
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

    package func record(_ batch: ExportBatch, _ reply: RecordsReply) throws -> ReplyOutcome {
        let started = now
        return try write { mirror in
            try catchUp(mirror)
            var recording = ReplyRecording(mirror: mirror)
            let outcome = try recording.record(batch, reply)
            try mirror.ledger.log(
                .export, started: started, affected: batch.items.count, finished: outcome.exported)
            try faults.reach("export.beforeReplyCommit")
            return outcome
        }
    }

    /// Reads the zone from its beginning next time.
    package func forgetToken() throws {
        try write { try $0.ledger.setToken(nil, zone: settings.zoneName) }
    }

    /// The service lost the zone: everything here is sent again, and nothing here is deleted.
    package func forgetZone() throws {
        try write { mirror in
            try mirror.ledger.setZoneExists(false, settings.zoneName)
            try mirror.ledger.setToken(nil, zone: settings.zoneName)
            try mirror.ledger.forgetBases()
        }
    }

    /// Keeps how the last round ended, so that a status can say why sync does not run.
    package func noteRound(error: String?, retryAt: Date?) throws {
        try write { mirror in
            try mirror.ledger.set(.lastError, to: SQLiteValue(error))
            try mirror.ledger.set(.retryAt, to: SQLiteValue(retryAt))
            if error == nil { try mirror.ledger.set(.lastRound, to: SQLiteValue(now)) }
            try mirror.ledger.finish()
        }
    }

    package func deviceID() throws -> String {
        try write { mirror in
            _ = try mirror.ledger.prepare()
            return try mirror.ledger.deviceID()
        }
    }

    // MARK: Checks

    private func check(_ container: String, _ ledger: Ledger) throws {
        let known = try ledger.setting(.container)?.string
        guard known == nil || known == container else {
            throw MirrorError(
                .otherContainer,
                "The store is mirrored with \(known ?? ""), not with \(container). "
                    + "Use that service, or run 'diptych reset' to start over with this one.",
                fields: ["known": known ?? "", "asked": container])
        }
        if known == nil { try ledger.set(.container, to: .text(container)) }
    }

    /// A newer model may know records that the older one had to leave aside: the zone is read anew.
    private func noticeModel(_ ledger: Ledger) throws {
        let digest = store.layout.model.versionHashesDigest
        let known = try ledger.setting(.modelDigest)?.string
        if let known, known != digest {
            _ = try ledger.zone(settings.zoneName)
            try ledger.setToken(nil, zone: settings.zoneName)
        }
        if known != digest { try ledger.set(.modelDigest, to: .text(digest)) }
    }

    private var now: Date { settings.platform.clock.now() }
    private var faults: any FaultPoints { settings.platform.faults }
    private static let historyTransactionsMax = 500
}
