internal import Foundation
package import RecordWire
internal import SQLiteDriver

/// How a service of the plain dialect calls the contents of assets, whose checksums are computed in
/// a way that only it knows. Bases, files and states know a content by its SHA-256; which of the
/// service's names stands for it is learnt with each upload and each download. (MERGE §14)
extension Ledger {
    static let assetNameTables = [
        "CREATE TABLE IF NOT EXISTS ADIPTYCHASSETNAME (Z_PK INTEGER PRIMARY KEY, ZNAME VARCHAR "
            + "UNIQUE, ZCHECKSUM VARCHAR, ZSIZE INTEGER, ZUPLOAD BLOB)",
        "CREATE INDEX IF NOT EXISTS ADIPTYCH_ASSETCONTENT ON ADIPTYCHASSETNAME (ZCHECKSUM)",
    ]

    /// A name that is forgotten costs a download where it comes again.
    private static let assetNamesMax: Int64 = 100_000

    /// Takes note of the service's name for a content; `upload` is what it answered to an upload
    /// of this device. Cost: one row.
    func keepAssetName(_ name: String, of content: RecordAsset, upload: RecordAsset? = nil) throws {
        let key =
            try connection.value("SELECT max(Z_PK) + 1 FROM ADIPTYCHASSETNAME")?.int64 ?? 1
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHASSETNAME (Z_PK, ZNAME, ZCHECKSUM, ZSIZE, ZUPLOAD) "
                + "VALUES (?, ?, ?, ?, ?)",
            [
                .integer(key), .text(name), .text(content.fileChecksum ?? ""),
                .integer(content.size ?? 0),
                try upload.map { .blob(try JSONEncoder().encode($0)) } ?? .null,
            ])
        try connection.run(
            "DELETE FROM ADIPTYCHASSETNAME WHERE Z_PK <= ?",
            [.integer(key - Self.assetNamesMax)])
    }

    /// What the service answered to the last upload of a content; nil where none is known.
    func upload(of content: RecordAsset) throws -> RecordAsset? {
        let found = try connection.value(
            "SELECT ZUPLOAD FROM ADIPTYCHASSETNAME WHERE ZCHECKSUM = ? AND ZUPLOAD IS NOT NULL "
                + "ORDER BY Z_PK DESC LIMIT 1", [.text(content.fileChecksum ?? "")])
        guard case .blob(let bytes)? = found else { return nil }
        return try? JSONDecoder().decode(RecordAsset.self, from: bytes)
    }

    /// The record with each asset under the SHA-256 of its content. One whose content was never
    /// here gets a name that no content has, so that it is fetched. Cost: a row for each asset;
    /// nothing with a service that speaks in digests.
    package func named(_ record: Record) throws -> Record {
        guard record.hasAssets, try isPlain else { return record }
        var named = record
        for (field, value) in record.fields {
            guard case .asset(var asset)? = value, let name = asset.fileChecksum else { continue }
            let known = try content(named: name) ?? AssetStandIn.unknown(name).asset
            (asset.fileChecksum, asset.size) = (known.fileChecksum, known.size)
            named.fields[field] = .asset(asset)
        }
        return named
    }

    private func content(named name: String) throws -> RecordAsset? {
        let row = try connection.rows(
            "SELECT ZCHECKSUM, ZSIZE FROM ADIPTYCHASSETNAME WHERE ZNAME = ?", [.text(name)]
        ).first
        guard let row, let checksum = row[0].string, let size = row[1].int64 else { return nil }
        var asset = RecordAsset()
        (asset.fileChecksum, asset.size) = (checksum, size)
        return asset
    }
}
