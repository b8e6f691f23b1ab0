internal import Foundation
internal import Platform
package import RecordWire
internal import SQLiteDriver

/// Receipts of assets that the service took, until their records are sent: what was uploaded is
/// not uploaded again after a break.
extension Ledger {
    static let receiptTable =
        "CREATE TABLE IF NOT EXISTS ADIPTYCHRECEIPT (ZCHECKSUM VARCHAR PRIMARY KEY, ZRECEIPT "
        + "VARCHAR, ZDATE TIMESTAMP) WITHOUT ROWID"

    /// Past this a service has forgotten it; an earlier end is told by the service.
    private static let receiptSeconds = 30.0 * 86_400

    package func keepReceipt(_ asset: RecordAsset) throws {
        guard let checksum = asset.fileChecksum, let receipt = asset.receipt else { return }
        let now = platform.clock.now()
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHRECEIPT (ZCHECKSUM, ZRECEIPT, ZDATE) VALUES (?, ?, ?)",
            [.text(checksum), .text(receipt), SQLiteValue(now)])
        try connection.run(
            "DELETE FROM ADIPTYCHRECEIPT WHERE ZDATE < ?",
            [SQLiteValue(now.addingTimeInterval(-Self.receiptSeconds))])
    }

    package func receipt(for asset: RecordAsset) throws -> String? {
        guard let checksum = asset.fileChecksum else { return nil }
        return try connection.value(
            "SELECT ZRECEIPT FROM ADIPTYCHRECEIPT WHERE ZCHECKSUM = ?", [.text(checksum)])?.string
    }

    /// Whether all uploads of a record that was sent were made in the last hour.
    func hasFreshReceipts(of record: Record) throws -> Bool {
        let since = SQLiteValue(platform.clock.now().addingTimeInterval(-Self.freshSeconds))
        for case .asset(let asset)? in record.fields.values where asset.receipt != nil {
            let fresh = try connection.value(
                "SELECT 1 FROM ADIPTYCHRECEIPT WHERE ZCHECKSUM = ? AND ZDATE > ?",
                [.text(asset.fileChecksum ?? ""), since])
            guard fresh != nil else { return false }
        }
        return true
    }

    private static let freshSeconds = 3_600.0

    /// The service does not know the assets of a record that was sent.
    package func forgetReceipts(of record: Record) throws {
        for case .asset(let asset)? in record.fields.values {
            guard let checksum = asset.fileChecksum else { continue }
            try connection.run(
                "DELETE FROM ADIPTYCHRECEIPT WHERE ZCHECKSUM = ?", [.text(checksum)])
        }
    }

    /// Names of records that wait for an asset, at most `limit`.
    package func recordsWaitingForAssets(limit: Int) throws -> [String] {
        try connection.rows(
            "SELECT ZRECORDNAME FROM ADIPTYCHASIDE WHERE ZREASON = ? ORDER BY 1 LIMIT ?",
            [.text(KeptRecord.Reason.missingAsset.rawValue), SQLiteValue(limit)]
        ).compactMap { $0[0].string }
    }
}
