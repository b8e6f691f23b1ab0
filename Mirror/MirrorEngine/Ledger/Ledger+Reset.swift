internal import Foundation
internal import RecordWire
internal import SQLiteDriver

/// Starting over with a service, the same one or another.
extension Ledger {
    /// Makes what can no longer be read readable again: a damaged base counts as one without
    /// values, so that every value here counts as an edit.
    func mendBases() throws {
        let table = "ANSCKRECORDMETADATAENCODEDRECORDASSET"
        for key in try keys(of: table) where try record(key, in: table) == nil {
            let name = try connection.value(
                "SELECT ZCKRECORDNAME FROM ANSCKRECORDMETADATA WHERE Z_PK = ?", [.integer(key)])
            try put(Record(recordName: name?.string ?? "", recordType: ""), key, in: table)
        }
        let pairs = "ANSCKMIRROREDRELATIONSHIPSYSTEMFIELDSASSET"
        for key in try keys(of: pairs) where try record(key, in: pairs) == nil {
            try forgetPairBases("p.Z_PK = \(key)")
        }
        for row in try connection.rows("SELECT ZRECORDNAME, ZMARK, ZRECORD FROM ADIPTYCHSENT")
        where row[2].data.flatMap({ try? RecordArchive.decode($0) }) == nil {
            try connection.run(
                "DELETE FROM ADIPTYCHSENT WHERE ZRECORDNAME = ? AND ZMARK = ?", [row[0], row[1]])
        }
    }

    /// Forgets where the service stands: tokens, tags, refusals, and which service it is.
    ///
    /// Names stay, and so do the values both sides last agreed on: by them the next import tells an
    /// edit made here from a value that is merely old. Deletions still to be told stay as they are.
    func forgetService(zone: String) throws {
        _ = try self.zone(zone)
        try setZoneExists(false, zone)
        try setToken(nil, zone: zone)
        for key: LedgerKey in [
            .container, .initialImport, .echoesWriteIDs, .lastError, .retryAt,
            .lastRound,
        ] { try set(key, to: .null) }
        try connection.run("DELETE FROM ADIPTYCHREFUSAL")
        try dropTags()
        try forgetPairBases("p.ZISUPLOADED = 1 AND p.ZNEEDSDELETE = 0")
        try connection.run(
            "UPDATE ANSCKMIRROREDRELATIONSHIP SET ZISUPLOADED = 0 WHERE ZNEEDSDELETE = 0")
        try connection.run(
            "UPDATE ANSCKRECORDMETADATA SET ZNEEDSUPLOAD = 1, ZPENDINGEXPORTTRANSACTIONNUMBER = 0 "
                + "WHERE ZNEEDSCLOUDDELETE = 0")
    }

    private func dropTags() throws {
        let table = "ANSCKRECORDMETADATAENCODEDRECORDASSET"
        let going = try connection.rows(
            "SELECT Z_PK FROM ANSCKRECORDMETADATA WHERE ZNEEDSCLOUDDELETE = 1")
        let kept = Set(going.compactMap { $0[0].int64 })
        for key in try keys(of: table) where !kept.contains(key) {
            guard var record = try record(key, in: table) else { continue }
            record.recordChangeTag = nil
            try put(record, key, in: table)
        }
    }

    private func forgetPairBases(_ condition: String) throws {
        try connection.run(
            "DELETE FROM ANSCKMIRROREDRELATIONSHIPSYSTEMFIELDSASSET WHERE Z_PK IN "
                + "(SELECT p.ZSYSTEMFIELDSASSET FROM ANSCKMIRROREDRELATIONSHIP p "
                + "WHERE \(condition))")
        try connection.run(
            "UPDATE ANSCKMIRROREDRELATIONSHIP AS p SET ZSYSTEMFIELDSASSET = NULL "
                + "WHERE \(condition)")
    }

    private func keys(of table: String) throws -> [Int64] {
        try connection.rows("SELECT Z_PK FROM \(table)").compactMap { $0[0].int64 }
    }

    /// The record kept there; nil for one that cannot be read.
    private func record(_ key: Int64, in table: String) throws -> Record? {
        let value = try connection.value(
            "SELECT ZBINARYDATA FROM \(table) WHERE Z_PK = ?", [.integer(key)])
        return value?.data.flatMap { try? RecordArchive.decode($0) }
    }

    private func put(_ record: Record, _ key: Int64, in table: String) throws {
        try connection.run(
            "UPDATE \(table) SET ZBINARYDATA = ? WHERE Z_PK = ?",
            [.blob(RecordArchive.encode(record)), .integer(key)])
    }
}
