internal import Foundation
package import RecordWire
internal import SQLiteDriver
package import Stores

/// Fields that this version of the model does not know, of objects whose record is to be made anew:
/// they go out with it. A row that was deleted here keeps them, since its deletion may be undone.
extension Ledger {
    /// So many of the newest are kept.
    private static let foreignMax: Int64 = 100_000

    /// Adds `fields` to what is kept for a row.
    package func keepForeign(_ fields: RecordFields, of row: RowID) throws {
        guard !fields.isEmpty else { return }
        var record = Record(recordName: "", recordType: "")
        record.fields = try foreign(of: row).merging(fields) { _, new in new }
        rare.note(.foreign)
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHFOREIGN (ZENTITYID, ZENTITYPK, ZRECORD) "
                + "VALUES (?, ?, ?)", Self.values(row) + [.blob(RecordArchive.encode(record))])
        try connection.run(
            "DELETE FROM ADIPTYCHFOREIGN WHERE Z_PK <= ?",
            [.integer(connection.lastInsertedRowID - Self.foreignMax)])
    }

    package func foreign(of row: RowID) throws -> RecordFields {
        guard try mayHold(.foreign) else { return [:] }
        let bytes = try connection.value(
            "SELECT ZRECORD FROM ADIPTYCHFOREIGN WHERE ZENTITYID = ? AND ZENTITYPK = ?",
            Self.values(row))
        return try bytes?.data.map(Self.decode)?.fields ?? [:]
    }

    package func dropForeign(of row: RowID) throws {
        guard try mayHold(.foreign) else { return }
        try connection.run(
            "DELETE FROM ADIPTYCHFOREIGN WHERE ZENTITYID = ? AND ZENTITYPK = ?", Self.values(row))
    }
}
