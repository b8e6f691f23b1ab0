internal import Foundation
internal import Platform
package import RecordWire
internal import SQLiteDriver

/// A record that this version of the model cannot apply, and that waits for one that can.
public struct KeptRecord: Hashable, Sendable {
    /// Why it waits.
    public enum Reason: String, Sendable {
        /// The model has no such entity.
        case unknownEntity
        /// The model has no such relationship; the record is one of its pairs.
        case unknownRelationship
        /// A field has a type or a size that its attribute cannot hold.
        case unreadableField
        /// An object of another entity is here under its name. An object keeps its entity.
        case otherEntity
        /// It leads to an object that has not come, and incomplete graphs are not shown
        /// (`MirrorSession`, `hidesIncompleteGraphs`).
        case incompleteGraph
        /// A value that is an asset could not be fetched; tried again in each round.
        case missingAsset
        /// Nothing of its entity is to come here (`SyncSelection`).
        case notSelected
    }

    public let recordName: String
    public let reason: Reason
}

/// Records that a later model may know. They stand as the service has them.
extension Ledger {
    package func keepAside(_ record: Record, _ reason: KeptRecord.Reason) throws {
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHASIDE (ZRECORDNAME, ZREASON, ZRECORD) "
                + "VALUES (?, ?, ?)",
            [
                .text(record.recordName), .text(reason.rawValue),
                .blob(RecordArchive.encode(record)),
            ])
    }

    package func hasAside() throws -> Bool {
        try connection.value("SELECT 1 FROM ADIPTYCHASIDE LIMIT 1") != nil
    }

    package func dropAside(_ name: String) throws {
        try connection.run("DELETE FROM ADIPTYCHASIDE WHERE ZRECORDNAME = ?", [.text(name)])
        try forgetHeld(name)
    }

    /// The records after the one called `name`, in the order of their names.
    package func aside(after name: String, limit: Int) throws -> [Record] {
        try connection.rows(
            "SELECT ZRECORD FROM ADIPTYCHASIDE WHERE ZRECORDNAME > ? ORDER BY ZRECORDNAME LIMIT ?",
            [.text(name), SQLiteValue(limit)]
        ).compactMap { try $0[0].data.map(Self.decode) }
    }

    /// What is kept aside that the zone, read to its end, did not show. With it goes what was said
    /// of its reading.
    package func forgetUnseenAside() throws {
        let unseen =
            "ADIPTYCHASIDE WHERE NOT EXISTS (SELECT 1 FROM ADIPTYCHSEEN s "
            + "WHERE s.ZRECORDNAME = ADIPTYCHASIDE.ZRECORDNAME)"
        let names = "ZRECORDNAME IN (SELECT ZRECORDNAME FROM \(unseen))"
        try connection.run(
            "DELETE FROM ADIPTYCHREFUSAL WHERE ZCODE IN (?, ?) AND \(names)",
            [
                .text(RecordImport.missingAsset.code.rawValue),
                .text(RecordImport.mismatch.rawValue),
            ])
        try connection.run("DELETE FROM ADIPTYCHHELD WHERE \(names)")
        try connection.run("DELETE FROM \(unseen)")
    }

    package func keptRecords() throws -> [KeptRecord] {
        // The tables of an older version of this library have none.
        let isThere = try connection.value(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ADIPTYCHASIDE'")
        guard isThere != nil else { return [] }
        return try connection.rows(
            "SELECT ZRECORDNAME, ZREASON FROM ADIPTYCHASIDE ORDER BY ZRECORDNAME"
        ).compactMap { row in
            KeptRecord.Reason(rawValue: row[1].string ?? "").map {
                KeptRecord(recordName: row[0].string ?? "", reason: $0)
            }
        }
    }
}
