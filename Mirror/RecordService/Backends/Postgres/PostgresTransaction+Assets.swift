internal import Foundation
internal import PostgresDriver
internal import RecordWire

/// Rows of assets. Their files are in a folder.
///
/// Who keeps a content or names one shares a lock, which who removes files has alone: so a file
/// never goes while somebody comes to need it, and zones do not wait for one another.
extension PostgresTransaction {
    func lockAssets() throws {
        _ = try connection.rows("SELECT one FROM asset_guard WHERE one = 1 FOR UPDATE")
        holdsAssets = true
    }

    private func shareAssets() throws {
        guard isWriting, !holdsAssets else { return }
        _ = try connection.rows("SELECT one FROM asset_guard WHERE one = 1 FOR SHARE")
        holdsAssets = true
    }

    // MARK: The secret

    func assetSecret() throws -> [UInt8]? {
        try first("SELECT secret FROM asset_secret", []) { Array($0.data(at: 0)) }
    }

    /// Of two that set it at once the second runs again, and meets the first's.
    func setAssetSecret(_ secret: [UInt8]) throws {
        try connection.send(
            "INSERT INTO asset_secret(one, secret) VALUES (1, $1)", [.bytes(Data(secret))])
    }

    // MARK: The mark

    func assetHome() throws -> NamedAsset? {
        try all("SELECT checksum, size FROM asset_home", []) { row in
            AssetChecksum(row.data(at: 0)).map {
                NamedAsset(checksum: $0, size: row.int64(at: 1))
            }
        }.compactMap(\.self).first
    }

    /// Of two that set it at once the second runs again, and meets the first's.
    func setAssetHome(_ mark: NamedAsset) throws {
        try connection.send(
            "INSERT INTO asset_home(one, checksum, size) VALUES (1, $1, $2)",
            [.bytes(mark.checksum.bytes), .integer(mark.size)])
    }

    // MARK: Contents

    func addAsset(_ checksum: AssetChecksum, size: Int64, at milliseconds: Int64) throws {
        try shareAssets()
        try connection.send(
            """
            INSERT INTO assets(checksum, size, idle_since) VALUES ($1, $2, $3)
            ON CONFLICT (checksum) DO UPDATE SET idle_since = excluded.idle_since
            """, [.bytes(checksum.bytes), .integer(size), .integer(milliseconds)])
    }

    func assetSize(_ checksum: AssetChecksum) throws -> Int64? {
        try number("SELECT size FROM assets WHERE checksum = $1", [.bytes(checksum.bytes)])
    }

    func namedAssets(after checksum: AssetChecksum?, limit: Int) throws -> [NamedAsset] {
        try all(
            """
            SELECT checksum, size FROM assets WHERE checksum > $1 AND EXISTS (
                SELECT 1 FROM asset_uses WHERE asset_uses.checksum = assets.checksum)
            ORDER BY checksum LIMIT $2
            """, [.bytes(checksum?.bytes ?? Data()), PostgresValue(limit)]
        ) { row in
            AssetChecksum(row.data(at: 0)).map {
                NamedAsset(checksum: $0, size: row.int64(at: 1))
            }
        }.compactMap { $0 }
    }

    func usesAsset(_ checksum: AssetChecksum, in database: Int64) throws -> Bool {
        try shareAssets()
        return try isThere(
            "SELECT 1 FROM asset_uses WHERE checksum = $1 AND database = $2 LIMIT 1",
            [.bytes(checksum.bytes), .integer(database)])
    }

    func setAssets(
        _ checksums: Set<AssetChecksum>, of record: String, in zone: Int64, of database: Int64
    ) throws {
        try shareAssets()
        let former = try all(
            "SELECT checksum FROM asset_uses WHERE zone = $1 AND record = $2",
            [.integer(zone), .name(record)]
        ) { AssetChecksum($0.data(at: 0)) }.compactMap { $0 }
        for checksum in former where !checksums.contains(checksum) {
            try removeUse(of: checksum.bytes, by: record, zone)
        }
        for checksum in checksums where !former.contains(checksum) {
            try connection.send(
                "INSERT INTO asset_uses(zone, record, checksum, database) VALUES ($1, $2, $3, $4)",
                [.integer(zone), .name(record), .bytes(checksum.bytes), .integer(database)])
            try setAsset(checksum, idleSince: nil)
        }
    }

    private func removeUse(of content: Data, by record: String, _ zone: Int64) throws {
        try connection.send(
            "DELETE FROM asset_uses WHERE zone = $1 AND record = $2 AND checksum = $3",
            [.integer(zone), .name(record), .bytes(content)])
        if let checksum = AssetChecksum(content) { try setAsset(checksum, idleSince: 0) }
    }

    /// Lets go of what records of a deleted zone name, a slice at a time; false where nothing was
    /// left.
    func removeAssets(ofDoomed zone: Int64, limit: Int) throws -> Bool {
        try shareAssets()
        let uses = try all(
            "SELECT record, checksum FROM asset_uses WHERE zone = $1 LIMIT $2",
            [.integer(zone), PostgresValue(limit)]
        ) { ($0.text(at: 0), $0.data(at: 1)) }
        for (record, content) in uses { try removeUse(of: content, by: record, zone) }
        return !uses.isEmpty
    }

    // MARK: Receipts

    func add(_ receipt: AssetReceipt) throws {
        try shareAssets()
        try connection.send(
            """
            INSERT INTO asset_receipts(id, database, checksum, size, expires)
            VALUES ($1, $2, $3, $4, $5)
            """,
            [
                .name(receipt.id), .integer(receipt.database), .bytes(receipt.checksum.bytes),
                .integer(receipt.size), .integer(receipt.expires),
            ])
    }

    func assetReceipt(_ id: String) throws -> AssetReceipt? {
        try shareAssets()
        let found = try first(
            "SELECT database, checksum, size, expires FROM asset_receipts WHERE id = $1",
            [.name(id)]
        ) { row in
            AssetChecksum(row.data(at: 1)).map {
                AssetReceipt(
                    id: id, database: row.int64(at: 0), checksum: $0, size: row.int64(at: 2),
                    expires: row.int64(at: 3))
            }
        }
        return found ?? nil
    }

    func removeReceipt(_ id: String) throws {
        try connection.send("DELETE FROM asset_receipts WHERE id = $1", [.name(id)])
    }

    func assetBytes(ofOwner owner: String, at milliseconds: Int64) throws -> Int64 {
        try number(
            """
            SELECT coalesce(sum(size), 0)::bigint FROM assets WHERE checksum IN (
                SELECT checksum FROM asset_uses
                WHERE database IN (SELECT id FROM databases WHERE owner = $1)
                UNION SELECT checksum FROM asset_receipts
                WHERE database IN (SELECT id FROM databases WHERE owner = $1) AND expires > $2)
            """, [.name(owner), .integer(milliseconds)]) ?? 0
    }

    func removeReceipts(before milliseconds: Int64, limit: Int) throws -> Int {
        try connection.rows(
            """
            DELETE FROM asset_receipts WHERE id IN (
                SELECT id FROM asset_receipts WHERE expires <= $1 ORDER BY expires LIMIT $2)
            RETURNING 1
            """, [.integer(milliseconds), PostgresValue(limit)]
        ).count
    }

    // MARK: What nobody names

    func isAssetUsed(_ checksum: AssetChecksum) throws -> Bool {
        try isThere(
            "SELECT 1 FROM asset_uses WHERE checksum = $1 LIMIT 1", [.bytes(checksum.bytes)])
    }

    func lastPromise(of checksum: AssetChecksum) throws -> Int64? {
        try number(
            "SELECT max(expires) FROM asset_receipts WHERE checksum = $1",
            [.bytes(checksum.bytes)])
    }

    func assetCandidates(before milliseconds: Int64, limit: Int) throws -> [AssetCandidate] {
        try all(
            """
            SELECT checksum, idle_since FROM assets WHERE idle_since <= $1 ORDER BY idle_since
            LIMIT $2
            """, [.integer(milliseconds), PostgresValue(limit)]
        ) { row in
            AssetChecksum(row.data(at: 0)).map {
                AssetCandidate(checksum: $0, idleSince: row.int64(at: 1))
            }
        }.compactMap { $0 }
    }

    func setAsset(_ checksum: AssetChecksum, idleSince milliseconds: Int64?) throws {
        try connection.send(
            "UPDATE assets SET idle_since = $1 WHERE checksum = $2",
            [PostgresValue(milliseconds), .bytes(checksum.bytes)])
    }

    func removeAsset(_ checksum: AssetChecksum) throws {
        try connection.send("DELETE FROM assets WHERE checksum = $1", [.bytes(checksum.bytes)])
    }
}
