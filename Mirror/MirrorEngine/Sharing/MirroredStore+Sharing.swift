internal import Foundation
internal import ObjectModel
package import Persistence
internal import Platform
package import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
package import Stores

/// Shares of a mirrored store's zone.
extension MirroredStore {
    /// Where the store's records are; with an owner the zone is another user's.
    package var zoneID: ZoneID { settings.zoneID }

    /// Which zone a store is mirrored with; nil before its first round, and after a share ended.
    package static func boundZone(
        of store: NSPersistentStore
    ) throws -> ZoneID? {
        guard let rows = store.rowStore as? SQLiteRowStore else { return nil }
        return try knownZone(of: rows, .system)
    }

    /// Whether the store was ever mirrored with a zone of another's. It waits for another share
    /// then, and is not mirrored with a zone of the user's own.
    package func isOfSharedDatabase() throws -> Bool {
        try settings.isShared
            || read { mirror in
                guard try Ledger.exists(in: mirror.ledger.connection) else { return false }
                return try mirror.ledger.knowsSharedDatabase()
            }
    }

    /// Whether any object is in the store.
    package func isEmpty() throws -> Bool { try objectCount() == 0 }

    /// How many objects are in the store.
    package func objectCount() throws -> Int {
        try store.read { transaction in
            try store.layout.entities.filter { $0.entity.superentity == nil }
                .reduce(0) { try $0 + transaction.count(matching: RowQuery(entity: $1.number)) }
        }
    }

    /// A name for the record below which a new share will be.
    package var newShareRootName: String {
        "share-root-\(settings.platform.randomness.uuid().uuidString)"
    }

    /// The zone's shares as the service told them last.
    package func shares() throws -> [Record] {
        try read { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection) else { return [] }
            return try mirror.ledger.shares()
        }
    }

    /// The share that an object is in, or will be by the next export; nil for one in none.
    package func share(of row: RowID) throws -> Record? {
        try read { mirror in
            guard try Ledger.exists(in: mirror.ledger.connection) else { return nil }
            let shares = try mirror.ledger.shares()
            if let whole = shares.first(where: { $0.sharedRoot == nil }) { return whole }
            guard !shares.isEmpty else { return nil }
            let reach = try ShareReach(mirror: mirror)
            var place = try reach.parent(of: row)
            for _ in 0..<100 {
                guard let name = place else { return nil }
                if let share = shares.first(where: { $0.sharedRoot == name }) { return share }
                place = try reach.parent(named: name)
            }
            return nil
        }
    }

    /// Keeps a share as the service answered it.
    package func keep(share: Record) throws {
        try write { mirror in
            try makeLedger(mirror)
            try mirror.ledger.keepShare(share)
        }
    }

    /// Forgets a share that was ended.
    package func drop(share name: String) throws {
        try write { try $0.ledger.dropShare(name) }
    }

    /// Lets what records lead to, that came just now, join the share that they are in: it may have
    /// been made before this device heard of the share.
    func shareWhatIsLinked(with records: [Record], _ mirror: MirrorTransaction) throws {
        guard try mirror.ledger.hasRecordShares() else { return }
        let names = try records.filter { !$0.deleted }
            .flatMap { record in
                try JoinRecord(record, knowing: { try mirror.ledger.row(named: $0) != nil })
                    .map { [$0.first, $0.second] } ?? [record.recordName]
            }
        let reach = try ShareReach(mirror: mirror)
        try reach.follow(names.compactMap(mirror.ledger.row(named:)))
        if settings.isShared, records.contains(where: \.isShare) {
            try reach.follow(unsent(mirror))
        }
    }

    /// Objects that the service knows nothing of. They may have been made before there was a share
    /// that they could join, and be left out by a selection for now.
    private func unsent(_ mirror: MirrorTransaction) throws -> [RowID] {
        var rows: [RowID] = []
        var cursor: Int64 = 0
        while true {
            let entries = try mirror.ledger.unsentEntries(after: cursor, limit: 500)
            guard let last = entries.last else { return rows }
            cursor = last.key
            rows += entries.map(\.row)
        }
    }

    /// Puts objects below the root of a share, with all that is linked with them; the next export
    /// tells it. Returns all of these, without what was deleted. Throws `MirrorError`:
    /// `.alreadyShared` where one is in another share, `.objectDeleted` where none is there. Cost:
    /// a look at the links of each.
    package func share(_ rows: [RowID], below root: String) throws -> Set<RowID> {
        try write { mirror in
            try makeLedger(mirror)
            try catchUp(mirror)
            let shared = try ShareReach(mirror: mirror).share(rows, below: root)
            try mirror.ledger.finish()
            return shared
        }
    }

    /// Throws `MirrorError` (`.alreadyShared`) where one of the objects that were put below a root
    /// came into another share meanwhile, by another device of the owner's.
    package func checkShared(_ rows: Set<RowID>, below root: String) throws {
        try read { mirror in
            let reach = try ShareReach(mirror: mirror)
            for row in rows.sorted() { try reach.check(row, below: root) }
        }
    }

    /// What the signed-in user may do with an object of a zone that others own; nil where nothing
    /// is known of it, or the zone is the user's own.
    package func permission(of row: RowID?) throws -> ShareParticipant.Permission? {
        guard settings.isShared else { return nil }
        let known = try shares()
        // An object that is not sent yet goes where the user may write at all.
        var asked = known
        if let row, let own = try share(of: row) { asked = [own] }
        let permissions = asked.compactMap(\.currentPermission)
        if permissions.contains(.readWrite) { return .readWrite }
        return permissions.first
    }

    /// What the signed-in user may do with the record of an edit, before the service is asked;
    /// nil where nothing is known of it, or the zone is the user's own.
    package func permission(toWrite record: Record) throws -> ShareParticipant.Permission? {
        guard settings.isShared else { return nil }
        return try read { mirror in
            let shares = try mirror.ledger.shares()
            let permissions = Set(shares.compactMap(\.currentPermission))
            guard permissions.count > 1 else { return permissions.first }
            let reach = try ShareReach(mirror: mirror)
            let base = try mirror.ledger.exchanged(record.recordName)
            var place = record.parent ?? base?.parent
            for _ in 0..<100 {
                guard let name = place else { return nil }
                if let share = shares.first(where: { $0.sharedRoot == name }) {
                    return share.currentPermission
                }
                place = try reach.parent(named: name)
            }
            return nil
        }
    }

    /// Whether another process, or another session, found that the zone is shared no more. What was
    /// asked of it before counts for nothing then.
    func hasLeft(_ ledger: Ledger) throws -> Bool {
        try settings.isShared && ledger.knownZone() != settings.zoneID
    }

    /// The zone is shared no more, or the user has left it: its objects leave the store. What was
    /// not sent of them is in the conflict log, and can be restored from it.
    package func leaveZone() throws {
        try write { mirror in
            guard try mirror.ledger.knownZone() == settings.zoneID else { return }
            try catchUp(mirror)
            var importing = try RecordImport(mirror: mirror)
            try importing.expelAll()
            try mirror.ledger.forgetSharedZone()
            try mirror.ledger.set(.leftZone, to: .text(settings.zoneID.text))
            try mirror.ledger.finish()
        }
    }

    /// Makes a store ready for a zone that waited for one since a share ended. What has come into
    /// it meanwhile was not made for another owner: it leaves as all did then, into the log.
    /// `isFirst`: whether no round of this session came before. Throws `.shareEnded` for a session
    /// that had the zone: what it still wants would tie the store to a zone that is closed.
    func takeZone(isFirst: Bool, _ mirror: MirrorTransaction) throws {
        guard settings.isShared, try mirror.ledger.knownZone() == nil,
            let left = try mirror.ledger.setting(.leftZone)?.string
        else { return }
        guard isFirst else { throw MirrorError.shareEnded(settings.zoneID) }
        if !left.isExactly(settings.zoneID.text) {
            try catchUp(mirror)
            var importing = try RecordImport(mirror: mirror)
            try importing.expelAll()
            try mirror.ledger.forgetSharedZone()
        }
        try mirror.ledger.set(.leftZone, to: .null)
    }
}

extension ZoneID {
    /// Its two names as one text.
    fileprivate var text: String { "\(ownerRecordName ?? "")/\(zoneName)" }
}

extension Record {
    /// Of a share: what the user may do who asked for it.
    package var currentPermission: ShareParticipant.Permission? {
        guard let id = currentParticipantID else { return nil }
        return participants?.first { $0.participantID == id }?.permission
    }
}

extension MirrorError {
    /// The zone is closed to the user.
    static func shareEnded(_ zone: ZoneID) -> MirrorError {
        MirrorError(
            .shareEnded,
            "The zone \(zone.zoneName) is not shared with you any more. Its objects have left the "
                + "store; what was not sent of them is in the conflict log.",
            fields: ["zone": zone.zoneName])
    }
}
