public import Foundation
internal import RecordWire
internal import SQLiteDriver
internal import Stores

/// How a store stands towards its service, read from the ledger alone.
public struct MirrorStatus: Sendable {
    public struct Pending: Hashable, Sendable {
        public var inserts = 0
        public var updates = 0
        public var deletes = 0
        /// Pairs of many-to-many relationships that wait.
        public var pairs = 0
        public var total: Int { inserts + updates + deletes + pairs }
    }

    public let zone: String
    /// "service container", as the store was mirrored first.
    public let container: String?
    public let pending: Pending
    /// When the last whole round ended; nil before the first.
    public let lastRound: Date?
    /// Why sync does not run, in words.
    public let lastError: String?
    public let retryAt: Date?
    public let conflictsWaiting: Int
    /// Records that the service will not take as they are, with its reasons.
    public let refusals: [(recordName: String, reason: String)]
    public let initialImportCompleted: Bool
    /// Records that this version of the model cannot apply: they are kept as they are for one that
    /// can, and nothing is written over them.
    public let keptForLater: [KeptRecord]
    let scope: Scope
    let rounds: Rounds

    /// What of the store and of whose zone is meant.
    struct Scope {
        let keptHere: Int
        let zoneOwner: String?
        let database: MirrorDatabase?
        let environment: String?
        let selected: Selected
        let refusedDeletions: [RefusedDeletion]
        let refusedEdits: [RefusedEdit]
    }

    /// A selection for those who show it.
    package struct Selected: Sendable {
        /// Entities with a condition of their own; nil for those of which nothing is sent.
        package var parts: [(entity: String, condition: String?)] = []
        /// Whether entities without a rule are sent whole.
        package var sendsOthers = true
    }

    /// How rounds run by themselves.
    struct Rounds {
        let activity: MirrorActivity?
        let hold: MirrorHold?
        let waitingSince: Date?
    }

    /// Objects that are not to be sent (`SyncSelection`).
    public var keptHere: Int { scope.keptHere }
    /// Whose zone it is, by record name, where another user shares it; nil for one's own.
    public var zoneOwner: String? { scope.zoneOwner }
    /// The database that the store is mirrored with; nil before the first round and after a reset.
    package var database: MirrorDatabase? { scope.database }
    /// The environment that the store is mirrored with, likewise.
    package var environment: String? { scope.environment }
    /// Those of `refusals` that are deletions: their objects can come back
    /// (`MirroredStore.restore(refusedDeletionOf:)`).
    public var refusedDeletions: [RefusedDeletion] { scope.refusedDeletions }
    /// Those of `refusals` that are edits of what the service has: they can be taken back
    /// (`MirroredStore.restore(refusedEditOf:)`).
    public var refusedEdits: [RefusedEdit] { scope.refusedEdits }
    /// What is sent, as far as it is not everything.
    package var selected: Selected { scope.selected }
    /// Which process keeps the store in sync by itself; nil where none ever did.
    public var activity: MirrorActivity? { rounds.activity }
    /// Why rounds do not begin by themselves, and when they will; nil where nothing holds them.
    public var hold: MirrorHold? { rounds.hold }
    /// Since when something waits for export without a break; nil where nothing does.
    public var waitingSince: Date? { rounds.waitingSince }

    /// Whether something has waited for longer than any healthy sync takes.
    public func isStalled(at now: Date) -> Bool {
        waitingSince.map { Self.isStall($0, at: now) } ?? false
    }

    static func isStall(_ since: Date, at now: Date) -> Bool {
        now.timeIntervalSince(since) > stallSeconds
    }

    /// A quarter of an hour: far beyond the longest wait between two tries.
    static let stallSeconds = 900.0

    /// Whether nothing waits, nothing failed, nothing was refused and a whole round was run: the
    /// one answer to whether store and service are equal.
    public var isInSync: Bool {
        pending.total == 0 && lastError == nil && lastRound != nil && conflictsWaiting == 0
            && refusals.isEmpty && initialImportCompleted && hold?.cutsRound != true
    }
}

extension MirroredStore {
    /// Reads where the store stands. Notes changes that were saved since the last round first, so
    /// that none is missed.
    public func status() throws -> MirrorStatus? {
        guard try read({ try Ledger.exists(in: $0.ledger.connection) }) else { return nil }
        while try analyse().moreWaiting {}
        try write { try $0.ledger.noteWaiting() }
        return try read { mirror in
            let ledger = mirror.ledger
            return MirrorStatus(
                zone: settings.zoneName,
                container: try ledger.setting(.container)?.string.map(MirrorDestination.place),
                pending: try ledger.pendingCounts(),
                lastRound: try ledger.date(.lastRound),
                lastError: try ledger.setting(.lastError)?.string
                    ?? SelectionReach(mirror: mirror).doubt(),
                retryAt: try ledger.date(.retryAt), conflictsWaiting: try ledger.waitingConflicts(),
                refusals: try ledger.refusals(),
                initialImportCompleted: try ledger.setting(.initialImport) != nil,
                keptForLater: try ledger.keptRecords(),
                scope: MirrorStatus.Scope(
                    keptHere: try ledger.outsideCount(),
                    zoneOwner: settings.zoneID.ownerRecordName,
                    database: try ledger.knownDatabase(),
                    environment: try ledger.setting(.environment)?.string,
                    selected: mirror.settings.scope.selected(
                        of: settings.mapping.layout.model),
                    refusedDeletions: try mirror.refusedDeletions(),
                    refusedEdits: try mirror.refusedEdits()),
                rounds: MirrorStatus.Rounds(
                    activity: try ledger.activity(), hold: try ledger.hold(),
                    waitingSince: try ledger.date(.waitingSince)))
        }
    }

    /// The conflict log, oldest first. A value that was logged as it is sealed, since its key was
    /// not here, is shown once it is.
    public func conflicts(waitingOnly: Bool = false) throws -> [ConflictEntry] {
        try read { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection) else { return [] }
            return try mirror.ledger.conflicts(waitingOnly: waitingOnly)
                .map(mirror.mapping.opening)
        }
    }

    /// The events of setup, import and export, oldest first.
    public func events() throws -> [MirrorEvent] {
        try read { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection) else { return [] }
            return try mirror.ledger.events()
        }
    }

    /// How many records wait for export, with those saved since the last look at the history.
    func waitingTotal() throws -> Int {
        while try analyse().moreWaiting {}
        return try pendingTotal()
    }

    /// Since when something waits for export, where that is too long; nil else. Cost: one look.
    func stalledSince(_ now: Date) throws -> Date? {
        try read { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection),
                let since = try mirror.ledger.date(.waitingSince),
                MirrorStatus.isStall(since, at: now)
            else { return nil }
            return since
        }
    }

    /// For how many seconds from `now` on the service asked to be left alone; 0 where it did not.
    /// A time that is further away than it can have asked for was noted by another clock. Cost: one
    /// look.
    func patienceSeconds(at now: Date) throws -> Double {
        try read { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection),
                let until = try mirror.ledger.date(.retryAt)
            else { return 0 }
            let seconds = until.timeIntervalSince(now)
            return (0...MirrorSession.patienceSecondsMax).contains(seconds) ? seconds : 0
        }
    }

    /// Lets what may have been cured meanwhile be sent again: what the service's schema did not
    /// take, and in a round that somebody asked for what did not fit into the user's quota.
    func retryCurable(isAskedFor: Bool) throws {
        let mayWait = try read { mirror in
            try Ledger.exists(in: mirror.ledger.connection) && mirror.ledger.mayHold(.refusals)
        }
        guard mayWait else { return }
        try write { mirror in
            try mirror.ledger.retryRefusedBySchema(of: settings.scope.environment)
            if isAskedFor { try mirror.ledger.forgetRefusals(.quotaExceeded) }
        }
    }

    /// How many records wait for export. Cost: one look at the waiting lines.
    func pendingTotal() throws -> Int { try read { try $0.ledger.pendingCounts().total } }
}

extension Ledger {
    func date(_ key: LedgerKey) throws -> Date? {
        try setting(key)?.double.map { Date(timeIntervalSinceReferenceDate: $0) }
    }

    func pendingCounts() throws -> MirrorStatus.Pending {
        var pending = MirrorStatus.Pending()
        try connection.forEachRow(
            "SELECT sum(ZNEEDSUPLOAD = 1 AND ZENCODEDRECORDASSET IS NULL), "
                + "sum(ZNEEDSUPLOAD = 1 AND ZENCODEDRECORDASSET IS NOT NULL), "
                + "sum(ZNEEDSCLOUDDELETE = 1) FROM ANSCKRECORDMETADATA "
                + "WHERE (ZNEEDSUPLOAD = 1 OR ZNEEDSCLOUDDELETE = 1)"
                + (try withoutOutside("ZCKRECORDNAME"))
        ) { row in
            pending.inserts = Int(row.int64(at: 0))
            pending.updates = Int(row.int64(at: 1))
            pending.deletes = Int(row.int64(at: 2))
        }
        pending.pairs = try count(
            "ANSCKMIRROREDRELATIONSHIP WHERE (ZISUPLOADED = 0 OR ZNEEDSDELETE = 1)"
                + (try withoutOutside(
                    "ANSCKMIRROREDRELATIONSHIP.ZRECORDNAME, ZRELATEDRECORDNAME")))
        pending.deletes += try count("ANSCKRECORDZONEMOVERECEIPT WHERE ZNEEDSCLOUDDELETE = 1")
        return pending
    }

    package func refusals() throws -> [(recordName: String, reason: String)] {
        try connection.rows("SELECT ZRECORDNAME, ZCODE, ZREASON FROM ADIPTYCHREFUSAL ORDER BY 1")
            .map {
                ($0[0].string ?? "", "\($0[1].string ?? ""): \($0[2].string ?? "")")
            }
    }

    private func count(_ rest: String) throws -> Int {
        Int(try connection.value("SELECT count(*) FROM \(rest)")?.int64 ?? 0)
    }
}
