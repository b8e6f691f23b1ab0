internal import Foundation
internal import RecordWire
internal import SQLiteDriver

/// Rows of assets. Their files are beside the database.
extension SQLiteTransaction: AssetRows {
    static let assetTables = """
        CREATE TABLE IF NOT EXISTS assets(
            checksum BLOB PRIMARY KEY, size INTEGER NOT NULL, idle_since INTEGER) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS assets_by_idleness ON assets(idle_since)
            WHERE idle_since IS NOT NULL;
        CREATE TABLE IF NOT EXISTS asset_uses(
            zone INTEGER NOT NULL, record TEXT NOT NULL, checksum BLOB NOT NULL,
            database INTEGER NOT NULL,
            PRIMARY KEY (zone, record, checksum)) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS asset_uses_by_content ON asset_uses(checksum, database);
        CREATE INDEX IF NOT EXISTS asset_uses_by_database ON asset_uses(database, checksum);
        CREATE TABLE IF NOT EXISTS asset_receipts(
            id TEXT PRIMARY KEY, database INTEGER NOT NULL, checksum BLOB NOT NULL,
            size INTEGER NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS asset_receipts_by_content ON asset_receipts(checksum, expires);
        CREATE INDEX IF NOT EXISTS asset_receipts_by_age ON asset_receipts(expires);
        CREATE INDEX IF NOT EXISTS asset_receipts_by_database ON asset_receipts(database);
        CREATE TABLE IF NOT EXISTS asset_secret(secret BLOB NOT NULL);
        """

    // MARK: The secret

    func assetSecret() throws -> [UInt8]? {
        try connection.value("SELECT secret FROM asset_secret")?.data.map { Array($0) }
    }

    func setAssetSecret(_ secret: [UInt8]) throws {
        try connection.run("INSERT INTO asset_secret(secret) VALUES (?)", [.blob(Data(secret))])
    }

    // MARK: Contents

    func addAsset(_ checksum: AssetChecksum, size: Int64, at milliseconds: Int64) throws {
        try connection.run(
            """
            INSERT INTO assets(checksum, size, idle_since) VALUES (?, ?, ?)
            ON CONFLICT (checksum) DO UPDATE SET idle_since = excluded.idle_since
            """, [.blob(checksum.bytes), .integer(size), .integer(milliseconds)])
    }

    func assetSize(_ checksum: AssetChecksum) throws -> Int64? {
        try connection.value(
            "SELECT size FROM assets WHERE checksum = ?", [.blob(checksum.bytes)])?.int64
    }

    func namedAssets(after checksum: AssetChecksum?, limit: Int) throws -> [NamedAsset] {
        try all(
            """
            SELECT checksum, size FROM assets WHERE checksum > ? AND EXISTS (
                SELECT 1 FROM asset_uses WHERE asset_uses.checksum = assets.checksum)
            ORDER BY checksum LIMIT ?
            """, [.blob(checksum?.bytes ?? Data()), SQLiteValue(limit)]
        ) { row in
            row.blob(at: 0).flatMap { AssetChecksum($0) }
                .map { NamedAsset(checksum: $0, size: row.int64(at: 1)) }
        }.compactMap { $0 }
    }

    func usesAsset(_ checksum: AssetChecksum, in database: Int64) throws -> Bool {
        try connection.value(
            "SELECT 1 FROM asset_uses WHERE checksum = ? AND database = ? LIMIT 1",
            [.blob(checksum.bytes), .integer(database)]) != nil
    }

    func setAssets(
        _ checksums: Set<AssetChecksum>, of record: String, in zone: Int64, of database: Int64
    ) throws {
        let former = try all(
            "SELECT checksum FROM asset_uses WHERE zone = ? AND record = ?",
            [.integer(zone), .text(record)]
        ) { $0.blob(at: 0).flatMap { AssetChecksum($0) } }
        for checksum in former.compactMap({ $0 }) where !checksums.contains(checksum) {
            try connection.run(
                "DELETE FROM asset_uses WHERE zone = ? AND record = ? AND checksum = ?",
                [.integer(zone), .text(record), .blob(checksum.bytes)])
            try setAsset(checksum, idleSince: 0)
        }
        for checksum in checksums where !former.contains(checksum) {
            try connection.run(
                "INSERT INTO asset_uses(zone, record, checksum, database) VALUES (?, ?, ?, ?)",
                [.integer(zone), .text(record), .blob(checksum.bytes), .integer(database)])
            try setAsset(checksum, idleSince: nil)
        }
    }

    /// Lets go of what records of a deleted zone name, a slice at a time; false where nothing was
    /// left.
    func removeAssets(ofDoomed zone: Int64, limit: Int) throws -> Bool {
        let uses = try all(
            "SELECT record, checksum FROM asset_uses WHERE zone = ? LIMIT ?",
            [.integer(zone), SQLiteValue(limit)]
        ) { ($0.text(at: 0) ?? "", $0.blob(at: 1) ?? Data()) }
        for (record, bytes) in uses {
            try connection.run(
                "DELETE FROM asset_uses WHERE zone = ? AND record = ? AND checksum = ?",
                [.integer(zone), .text(record), .blob(bytes)])
            if let checksum = AssetChecksum(bytes) { try setAsset(checksum, idleSince: 0) }
        }
        return !uses.isEmpty
    }

    // MARK: Receipts

    func add(_ receipt: AssetReceipt) throws {
        try connection.run(
            """
            INSERT INTO asset_receipts(id, database, checksum, size, expires)
            VALUES (?, ?, ?, ?, ?)
            """,
            [
                .text(receipt.id), .integer(receipt.database), .blob(receipt.checksum.bytes),
                .integer(receipt.size), .integer(receipt.expires),
            ])
    }

    func assetReceipt(_ id: String) throws -> AssetReceipt? {
        let found = try first(
            "SELECT database, checksum, size, expires FROM asset_receipts WHERE id = ?",
            [.text(id)]
        ) { row -> AssetReceipt? in
            guard let checksum = row.blob(at: 1).flatMap({ AssetChecksum($0) }) else { return nil }
            return AssetReceipt(
                id: id, database: row.int64(at: 0), checksum: checksum, size: row.int64(at: 2),
                expires: row.int64(at: 3))
        }
        return found ?? nil
    }

    func assetBytes(ofOwner owner: String, at milliseconds: Int64) throws -> Int64 {
        try connection.value(
            """
            SELECT ifnull(sum(size), 0) FROM assets WHERE checksum IN (
                SELECT checksum FROM asset_uses
                WHERE database IN (SELECT id FROM databases WHERE owner = ?1)
                UNION SELECT checksum FROM asset_receipts
                WHERE database IN (SELECT id FROM databases WHERE owner = ?1) AND expires > ?2)
            """, [.text(owner), .integer(milliseconds)])?.int64 ?? 0
    }

    func removeReceipts(before milliseconds: Int64, limit: Int) throws -> Int {
        try connection.run(
            """
            DELETE FROM asset_receipts WHERE id IN (
                SELECT id FROM asset_receipts WHERE expires <= ? ORDER BY expires LIMIT ?)
            """, [.integer(milliseconds), SQLiteValue(limit)])
    }

    // MARK: What nobody names

    func isAssetUsed(_ checksum: AssetChecksum) throws -> Bool {
        try connection.value(
            "SELECT 1 FROM asset_uses WHERE checksum = ? LIMIT 1", [.blob(checksum.bytes)]) != nil
    }

    func lastPromise(of checksum: AssetChecksum) throws -> Int64? {
        try connection.value(
            "SELECT max(expires) FROM asset_receipts WHERE checksum = ?", [.blob(checksum.bytes)])?
            .int64
    }

    func assetCandidates(before milliseconds: Int64, limit: Int) throws -> [AssetCandidate] {
        try all(
            """
            SELECT checksum, idle_since FROM assets WHERE idle_since <= ? ORDER BY idle_since
            LIMIT ?
            """, [.integer(milliseconds), SQLiteValue(limit)]
        ) { row -> AssetCandidate? in
            row.blob(at: 0).flatMap { AssetChecksum($0) }
                .map { AssetCandidate(checksum: $0, idleSince: row.int64(at: 1)) }
        }.compactMap { $0 }
    }

    func setAsset(_ checksum: AssetChecksum, idleSince milliseconds: Int64?) throws {
        try connection.run(
            "UPDATE assets SET idle_since = ? WHERE checksum = ?",
            [SQLiteValue(milliseconds), .blob(checksum.bytes)])
    }

    func removeAsset(_ checksum: AssetChecksum) throws {
        try connection.run("DELETE FROM assets WHERE checksum = ?", [.blob(checksum.bytes)])
    }
}
