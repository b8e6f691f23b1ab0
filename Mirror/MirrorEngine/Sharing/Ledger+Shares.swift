internal import Foundation
internal import RecordWire
internal import SQLiteDriver

/// The zone's shares as the service told them last, and the places in them that objects are to
/// take.
extension Ledger {
    static let shareTables = [
        "CREATE TABLE IF NOT EXISTS ADIPTYCHSHARE (ZRECORDNAME VARCHAR PRIMARY KEY, ZROOT VARCHAR, "
            + "ZRECORD BLOB) WITHOUT ROWID",
        "CREATE TABLE IF NOT EXISTS ADIPTYCHROOT (ZRECORDNAME VARCHAR PRIMARY KEY, ZROOT VARCHAR) "
            + "WITHOUT ROWID",
    ]

    /// Keeps a share. What was refused for want of a permission is tried once more: it may be there
    /// now.
    func keepShare(_ share: Record) throws {
        rare.note(.shares)
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHSHARE (ZRECORDNAME, ZROOT, ZRECORD) VALUES (?, ?, ?)",
            [
                .text(share.recordName), SQLiteValue(share.sharedRoot),
                .blob(RecordArchive.encode(share)),
            ])
        try connection.run(
            "DELETE FROM ADIPTYCHREFUSAL WHERE ZCODE = ?",
            [.text(RecordError.Code.accessDenied.rawValue)])
    }

    /// Forgets a share that ended, with the places in it that objects were still to take.
    func dropShare(_ name: String) throws {
        guard try mayHold(.shares) else { return }
        try connection.run(
            "DELETE FROM ADIPTYCHROOT WHERE ZROOT IN (SELECT ZROOT FROM ADIPTYCHSHARE "
                + "WHERE ZRECORDNAME = ?)", [.text(name)])
        try connection.run("DELETE FROM ADIPTYCHSHARE WHERE ZRECORDNAME = ?", [.text(name)])
    }

    /// Forgets a share whose root the service does not have, likewise.
    func dropShare(below root: String) throws {
        guard try mayHold(.shares) || mayHold(.roots) else { return }
        for table in ["ADIPTYCHROOT", "ADIPTYCHSHARE"] {
            try connection.run("DELETE FROM \(table) WHERE ZROOT = ?", [.text(root)])
        }
    }

    /// Forgets the shares that the zone, read to its end, did not show.
    func forgetUnseenShares() throws {
        let names = try connection.rows(
            "SELECT ZRECORDNAME FROM ADIPTYCHSHARE WHERE NOT EXISTS (SELECT 1 FROM ADIPTYCHSEEN s "
                + "WHERE s.ZRECORDNAME = ADIPTYCHSHARE.ZRECORDNAME)")
        for name in names.compactMap({ $0[0].string }) { try dropShare(name) }
    }

    /// All shares of the zone that are known here, by name.
    func shares() throws -> [Record] {
        guard try mayHold(.shares) else { return [] }
        return try connection.rows("SELECT ZRECORD FROM ADIPTYCHSHARE ORDER BY ZRECORDNAME")
            .compactMap { try $0[0].data.map(Self.decode) }
    }

    /// Whether records, and not the whole zone, are shared.
    func hasRecordShares() throws -> Bool {
        guard try mayHold(.shares) else { return false }
        return try connection.value(
            "SELECT 1 FROM ADIPTYCHSHARE WHERE ZROOT IS NOT NULL LIMIT 1") != nil
    }

    // MARK: Places

    /// The record below which one is to be put by the next export; nil where it stays.
    func assignedParent(of name: String) throws -> String? {
        guard try mayHold(.roots) else { return nil }
        return try connection.value(
            "SELECT ZROOT FROM ADIPTYCHROOT WHERE ZRECORDNAME = ?", [.text(name)])?.string
    }

    func assign(parent: String, to name: String) throws {
        rare.note(.roots)
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHROOT (ZRECORDNAME, ZROOT) VALUES (?, ?)",
            [.text(name), .text(parent)])
    }

    /// The object goes on under another name.
    func renameSharing(_ name: String, to other: String) throws {
        guard try mayHold(.roots) else { return }
        try connection.run(
            "UPDATE OR REPLACE ADIPTYCHROOT SET ZRECORDNAME = ? WHERE ZRECORDNAME = ?",
            [.text(other), .text(name)])
    }

    /// The record is where it was to be put.
    func forgetAssignedParent(of name: String) throws {
        guard try mayHold(.roots) else { return }
        try connection.run("DELETE FROM ADIPTYCHROOT WHERE ZRECORDNAME = ?", [.text(name)])
    }

    /// Forgets a zone that is shared no more, and all that was known of its records; the conflict
    /// log stays.
    func forgetSharedZone() throws {
        for table in [
            "ANSCKRECORDMETADATA", "ANSCKRECORDMETADATAENCODEDRECORDASSET",
            "ANSCKMIRROREDRELATIONSHIP", "ANSCKMIRROREDRELATIONSHIPSYSTEMFIELDSASSET",
            "ANSCKIMPORTPENDINGRELATIONSHIP", "ANSCKRECORDZONEMOVERECEIPT",
            "ANSCKRECORDZONEMETADATA", "ADIPTYCHINFLIGHT", "ADIPTYCHBATCH", "ADIPTYCHEDIT",
            "ADIPTYCHREFUSAL",
            "ADIPTYCHSEEN", "ADIPTYCHREPLAY", "ADIPTYCHDELETED", "ADIPTYCHASIDE",
            "ADIPTYCHFOREIGN", "ADIPTYCHHELD", "ADIPTYCHCOUNT", "ADIPTYCHSHARE", "ADIPTYCHROOT",
            "ADIPTYCHRECEIPT", "ADIPTYCHOUTSIDE", "ADIPTYCHALIAS",
        ] { try connection.run("DELETE FROM \(table)") }
        try forgetFormerBases()
        try connection.run(
            "UPDATE ADIPTYCHCONFLICT SET ZWINNER = 'remote' WHERE ZWINNER = 'waiting'")
        for key: LedgerKey in [
            .initialImport, .echoesWriteIDs, .plainDialect, .witness, .line, .lostLine,
            .reconciling, .retryAt, .lastRound, .oneToOneCheck, .oneToOnesSeen, .waitingSince,
        ] { try set(key, to: .null) }
    }
}
