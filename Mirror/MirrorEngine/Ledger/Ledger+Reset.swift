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
        try dropDamagedBatches()
        try spreadBatches()
        for row in try connection.rows("SELECT ZRECORDNAME, ZMARK, ZRECORD FROM ADIPTYCHINFLIGHT")
        where row[2].data.flatMap({ try? RecordArchive.decode($0) }) == nil {
            try connection.run(
                "DELETE FROM ADIPTYCHINFLIGHT WHERE ZRECORDNAME = ? AND ZMARK = ?",
                [row[0], row[1]])
        }
    }

    /// Forgets which service this is, and what it refused. All that was agreed on stays: the next
    /// round reads the zone from its start and compares, so that an edit made here is told from a
    /// value that is merely old, and nothing that the service has is sent again. How it speaks
    /// stays known until the next round learns it anew: an answer to a round before may still come.
    func forgetService(zone: String) throws {
        try beginReconciling(zone: zone)
        try forgetZones()
        for key: LedgerKey in [
            .container, .environment, .user, .initialImport, .echoesWriteIDs, .lastError, .retryAt,
            .lastRound,
        ] { try set(key, to: .null) }
        try connection.run("DELETE FROM ADIPTYCHREFUSAL")
        try connection.run("DELETE FROM ADIPTYCHRECEIPT")
        try connection.run("DELETE FROM ADIPTYCHASSETNAME")
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
