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

    /// `asset` is what the service answered to the upload of `content`.
    package func keepReceipt(_ asset: RecordAsset, of content: RecordAsset) throws {
        guard let checksum = content.fileChecksum, let receipt = asset.receipt else { return }
        if try isPlain, let name = asset.fileChecksum {
            try keepAssetName(name, of: content, upload: asset)
        }
        let now = platform.clock.now()
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHRECEIPT (ZCHECKSUM, ZRECEIPT, ZDATE) VALUES (?, ?, ?)",
            [.text(checksum), .text(receipt), SQLiteValue(now)])
        try connection.run(
            "DELETE FROM ADIPTYCHRECEIPT WHERE ZDATE < ?",
            [SQLiteValue(now.addingTimeInterval(-Self.receiptSeconds))])
    }

    /// The asset as a record that is sent names it, which is as the service answered its upload;
    /// nil where it has to be uploaded first.
    func uploaded(_ asset: RecordAsset) throws -> RecordAsset? {
        guard let checksum = asset.fileChecksum,
            let receipt = try connection.value(
                "SELECT ZRECEIPT FROM ADIPTYCHRECEIPT WHERE ZCHECKSUM = ?", [.text(checksum)]
            )?.string
        else { return nil }
        if try isPlain { return try upload(of: asset) }
        var asset = asset
        asset.receipt = receipt
        return asset
    }

    /// Whether all uploads of a record that was sent were made in the last hour.
    func hasFreshReceipts(of record: Record) throws -> Bool {
        let now = platform.clock.now()
        let since = SQLiteValue(now.addingTimeInterval(-Self.freshSeconds))
        for case .asset(let asset)? in try named(record).fields.values where asset.receipt != nil {
            let fresh = try connection.value(
                "SELECT 1 FROM ADIPTYCHRECEIPT WHERE ZCHECKSUM = ? AND ZDATE > ? AND ZDATE <= ?",
                [.text(asset.fileChecksum ?? ""), since, SQLiteValue(now)])
            guard fresh != nil else { return false }
        }
        return true
    }

    private static let freshSeconds = 3_600.0

    /// Whether no upload of a record that was sent was made anew, or forgotten, since.
    func areLatestUploads(of record: Record) throws -> Bool {
        for case .asset(let asset)? in try named(record).fields.values where asset.receipt != nil {
            let latest = try connection.value(
                "SELECT ZRECEIPT FROM ADIPTYCHRECEIPT WHERE ZCHECKSUM = ?",
                [.text(asset.fileChecksum ?? "")])
            guard latest?.string == asset.receipt else { return false }
        }
        return true
    }

    /// Whether a record that a plain service refused is to be sent with new uploads, whose former
    /// receipts are forgotten then: it has no code for one that it forgot. Each content is uploaded
    /// anew once an hour at most, unless the service took it meanwhile or has lost time since; one
    /// that another record has, too, does not hold up the rest.
    func uploadsAgain(_ record: Record) throws -> Bool {
        let now = platform.clock.now()
        let since = SQLiteValue(now.addingTimeInterval(-Self.freshSeconds))
        var isNews = false
        for case .asset(let asset)? in try named(record).fields.values {
            guard let checksum = asset.fileChecksum else { continue }
            let mark = Self.newUpload(of: checksum)
            let former = try connection.value(
                "SELECT 1 FROM ADIPTYCHRECEIPT WHERE ZCHECKSUM = ? AND ZDATE > ? AND ZDATE <= ?",
                [mark, since, SQLiteValue(now)])
            guard former == nil else { continue }
            isNews = true
            try connection.run(
                "INSERT OR REPLACE INTO ADIPTYCHRECEIPT (ZCHECKSUM, ZDATE) VALUES (?, ?)",
                [mark, SQLiteValue(now)])
            try forgetReceipt(of: checksum)
        }
        return isNews
    }

    /// The service took the contents of a record that was sent: where it loses them later, they
    /// may be uploaded again at once.
    func forgetNewUploads(of record: Record) throws {
        guard record.hasReceipts, try isPlain else { return }
        for case .asset(let asset)? in try named(record).fields.values {
            guard let checksum = asset.fileChecksum else { continue }
            try connection.run(
                "DELETE FROM ADIPTYCHRECEIPT WHERE ZCHECKSUM = ?", [Self.newUpload(of: checksum)])
        }
    }

    /// All of that, as when the service was put back.
    func forgetNewUploads() throws {
        try connection.run(
            "DELETE FROM ADIPTYCHRECEIPT WHERE ZCHECKSUM LIKE ?", [Self.newUpload(of: "%")])
    }

    /// The key of the line that tells when a content was uploaded anew.
    private static func newUpload(of checksum: String) -> SQLiteValue { .text("again \(checksum)") }

    /// The service does not know the assets of a record that was sent.
    package func forgetReceipts(of record: Record) throws {
        for case .asset(let asset)? in try named(record).fields.values {
            if let checksum = asset.fileChecksum { try forgetReceipt(of: checksum) }
        }
    }

    private func forgetReceipt(of checksum: String) throws {
        try connection.run("DELETE FROM ADIPTYCHRECEIPT WHERE ZCHECKSUM = ?", [.text(checksum)])
    }

    /// Names of records that wait for an asset, at most `limit`. Where more wait, chance says which
    /// part of them it is: those whose assets never come stand before no others.
    package func recordsWaitingForAssets(limit: Int) throws -> [String] {
        let reason = SQLiteValue.text(KeptRecord.Reason.missingAsset.rawValue)
        let limit = max(1, limit)
        let waiting = try connection.value(
            "SELECT COUNT(*) FROM ADIPTYCHASIDE WHERE ZREASON = ?", [reason])
        let parts = (Int(waiting?.int64 ?? 0) + limit - 1) / limit
        let part = parts > 1 ? Int(platform.randomness.next() % UInt64(parts)) : 0
        return try connection.rows(
            "SELECT ZRECORDNAME FROM ADIPTYCHASIDE WHERE ZREASON = ? ORDER BY 1 LIMIT ? OFFSET ?",
            [reason, SQLiteValue(limit), SQLiteValue(limit * part)]
        ).compactMap { $0[0].string }
    }
}
