internal import Foundation
internal import Platform
package import RecordWire
internal import SQLiteDriver

/// What a device keeps for the time when the service forgets: what it has seen while it compares,
/// the versions it will repeat, and the names of what was deleted.
extension Ledger {
    /// Deleted names that are kept; older ones go first.
    private static let deletedNamesMax = 100_000

    package var isReconciling: Bool { get throws { try setting(.reconciling) != nil } }

    /// From now on the zone is read from its start and compared with all that is known here.
    ///
    /// Bases, names and pending deletions stay as they are: by them the comparison tells what the
    /// service lost from what was deleted there.
    package func beginReconciling(zone: String) throws {
        try setToken(nil, zone: zone)
        // A loss in the middle of comparing: what was compared stands on the first lost line.
        if try !isReconciling { try setLostLine(try line()) }
        try set(.reconciling, to: .integer(1))
        try set(.comparisons, to: .integer(comparisons() + 1))
        try set(.witness, to: .null)
        try connection.run("DELETE FROM ADIPTYCHSEEN")
        try forgetNewUploads()
    }

    /// How often the store was to be compared with the zone as a whole: what was sent before the
    /// last time was sent to another zone, or to another state of it.
    func comparisons() throws -> Int64 { try setting(.comparisons)?.int64 ?? 0 }

    package func endReconciling() throws {
        try set(.reconciling, to: .null)
        try connection.run("DELETE FROM ADIPTYCHSEEN")
    }

    package func see(_ names: [String]) throws {
        let statement = try connection.prepare(
            "INSERT OR IGNORE INTO ADIPTYCHSEEN (ZRECORDNAME) VALUES (?)")
        defer { statement.reset() }
        for name in names {
            statement.reset()
            try statement.bind(.text(name), at: 1)
            while try statement.step() {}
        }
    }

    // MARK: Versions to repeat

    /// The version of a lost time that is to be sent again.
    package func replay(of name: String) throws -> Record? {
        guard try mayHold(.replays) else { return nil }
        let bytes = try connection.value(
            "SELECT ZRECORD FROM ADIPTYCHREPLAY WHERE ZRECORDNAME = ?", [.text(name)])
        return try bytes?.data.map(Self.decode)
    }

    package func hasReplays() throws -> Bool {
        try connection.value("SELECT 1 FROM ADIPTYCHREPLAY LIMIT 1") != nil
    }

    package func keepReplay(_ record: Record) throws {
        rare.note(.replays)
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHREPLAY (ZRECORDNAME, ZRECORD) VALUES (?, ?)",
            [.text(record.recordName), .blob(RecordArchive.encode(record))])
    }

    package func dropReplay(of name: String) throws {
        try connection.run("DELETE FROM ADIPTYCHREPLAY WHERE ZRECORDNAME = ?", [.text(name)])
    }

    // MARK: Names of what was deleted

    /// Notes a deletion that the service has under `tag`; a service without epochs gives it none
    /// that says anything.
    package func noteDeleted(_ name: String, tag: String?) throws {
        let tag = try isPlain ? "" : tag ?? ""
        guard try isPlain || ChangeTag(text: tag) != nil else { return }
        rare.note(.deletions)
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHDELETED (ZRECORDNAME, ZTAG) VALUES (?, ?)",
            [.text(name), .text(tag)])
    }

    /// Notes a deletion of what the service does not have: it was sent under these IDs and refused,
    /// or lost, and a late copy of a request may still bring it.
    func noteDeletedUnknown(_ name: String, sentUnder writeIDs: [String]) throws {
        guard !writeIDs.isEmpty else { return }
        rare.note(.deletions)
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHDELETED (ZRECORDNAME, ZTAG) VALUES (?, ?)",
            [.text(name), .text(([Self.sentMark] + writeIDs).joined(separator: " "))])
    }

    /// Notes a deletion of what was never sent. A record that was may lead to it, and outlive its
    /// own deletion with another device: its link is to wait for nothing.
    func noteDeletedUnsent(_ name: String) throws {
        rare.note(.deletions)
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHDELETED (ZRECORDNAME, ZTAG) VALUES (?, '')",
            [.text(name)])
    }

    /// The IDs under which a deleted object was sent that the service did not have; none for other
    /// names.
    func writeIDsOfDeletedUnknown(_ name: String) throws -> [String] {
        guard try mayHold(.deletions) else { return [] }
        let text = try connection.value(
            "SELECT ZTAG FROM ADIPTYCHDELETED WHERE ZRECORDNAME = ?", [.text(name)]
        )?.string
        let words = text?.split(separator: " ").map(String.init) ?? []
        return words.first == Self.sentMark ? Array(words.dropFirst()) : []
    }

    private static let sentMark = "sent"

    package func deletionTag(of name: String) throws -> ChangeTag? {
        guard try mayHold(.deletions) else { return nil }
        return try connection.value(
            "SELECT ZTAG FROM ADIPTYCHDELETED WHERE ZRECORDNAME = ?", [.text(name)]
        )?.string.flatMap(ChangeTag.init)
    }

    /// Whether a deletion of the record called `name` is known here.
    func knowsDeletion(of name: String) throws -> Bool {
        guard try mayHold(.deletions) else { return false }
        return try connection.value(
            "SELECT 1 FROM ADIPTYCHDELETED WHERE ZRECORDNAME = ?", [.text(name)]) != nil
    }

    /// Links that wait for an object whose deletion is known.
    package func pendingLinksToDeleted() throws -> [PendingLink] {
        try links("ZRELATEDRECORDNAME IN (SELECT ZRECORDNAME FROM ADIPTYCHDELETED)", [])
    }

    /// Pairs that wait for an object whose deletion is known.
    package func waitingPairsOfDeleted() throws -> [PairEntry] {
        try pairs(
            "p.ZISPENDING = 1 AND p.ZNEEDSDELETE = 0 AND EXISTS (SELECT 1 FROM ADIPTYCHDELETED d "
                + "WHERE d.ZRECORDNAME IN (p.ZRECORDNAME, p.ZRELATEDRECORDNAME))", [])
    }

    package func forgetDeletion(of name: String) throws {
        guard try mayHold(.deletions) else { return }
        try connection.run("DELETE FROM ADIPTYCHDELETED WHERE ZRECORDNAME = ?", [.text(name)])
    }

    /// Forgets the deletions that the service has forgotten too, and the oldest beyond a bound.
    package func forgetOldDeletions(_ line: EpochLine) throws {
        if line.floor > 0 {
            for row in try connection.rows("SELECT ZRECORDNAME, ZTAG FROM ADIPTYCHDELETED") {
                guard let name = row[0].string, let tag = row[1].string.flatMap(ChangeTag.init),
                    tag.change <= line.floor, line.contains(tag)
                else { continue }
                try forgetDeletion(of: name)
            }
        }
        try connection.run(
            "DELETE FROM ADIPTYCHDELETED WHERE Z_PK <= (SELECT max(Z_PK) FROM ADIPTYCHDELETED) - ?",
            [SQLiteValue(Self.deletedNamesMax)])
    }

    // MARK: What the zone does not have

    /// Lines of objects with a base that the zone, read to its end, did not show; after line `key`.
    package func unseenEntries(after key: Int64, limit: Int) throws -> [RecordEntry] {
        try entries(
            "WHERE m.Z_PK > ? AND m.ZENCODEDRECORDASSET IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "
                + "ADIPTYCHSEEN s WHERE s.ZRECORDNAME = m.ZCKRECORDNAME) ORDER BY m.Z_PK LIMIT ?",
            [.integer(key), SQLiteValue(limit)])
    }

    /// The same of pairs.
    package func unseenPairs(after key: Int64, limit: Int) throws -> [PairEntry] {
        try pairs(
            "p.Z_PK > ? AND p.ZSYSTEMFIELDSASSET IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "
                + "ADIPTYCHSEEN s WHERE s.ZRECORDNAME = p.ZCKRECORDID) ORDER BY p.Z_PK LIMIT ?",
            [.integer(key), SQLiteValue(limit)])
    }

    package func clearPairBase(key: Int64) throws {
        try connection.run(
            "DELETE FROM ANSCKMIRROREDRELATIONSHIPSYSTEMFIELDSASSET WHERE Z_PK = ?",
            [.integer(key)])
        try connection.run(
            "UPDATE ANSCKMIRROREDRELATIONSHIP SET ZSYSTEMFIELDSASSET = NULL, ZISUPLOADED = 0 "
                + "WHERE Z_PK = ?", [.integer(key)])
    }

    /// Names still to be dropped that the zone does not show need no dropping.
    package func forgetUnseenDrops() throws {
        try connection.run(
            "UPDATE ANSCKRECORDZONEMOVERECEIPT SET ZNEEDSCLOUDDELETE = 0 WHERE NOT EXISTS "
                + "(SELECT 1 FROM ADIPTYCHSEEN s WHERE s.ZRECORDNAME = "
                + "ANSCKRECORDZONEMOVERECEIPT.ZRECORDNAME)")
    }
}
