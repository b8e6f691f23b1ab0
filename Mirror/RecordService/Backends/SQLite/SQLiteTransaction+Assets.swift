internal import Foundation
internal import RecordWire
internal import SQLiteDriver

/// Rows of assets. Their files are beside the database.
extension SQLiteTransaction: AssetRows {
    /// The service's: contents, and where they may be named.
    static let contentTables = """
        CREATE TABLE IF NOT EXISTS assets(
            checksum BLOB PRIMARY KEY, size INTEGER NOT NULL, idle_since INTEGER) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS assets_by_idleness ON assets(idle_since)
            WHERE idle_since IS NOT NULL;
        CREATE TABLE IF NOT EXISTS asset_secret(secret BLOB NOT NULL);
        CREATE TABLE IF NOT EXISTS asset_home(checksum BLOB NOT NULL, size INTEGER NOT NULL);
        """

    /// A container's: what records and receipts name, how big that is, and what records let go of,
    /// until the service's file knows it.
    static let assetUseTables = """
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
        CREATE TABLE IF NOT EXISTS asset_sizes(
            checksum BLOB PRIMARY KEY, size INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS asset_releases(
            id INTEGER PRIMARY KEY AUTOINCREMENT, checksum BLOB NOT NULL);
        """

    // MARK: The secret

    func assetSecret() throws -> [UInt8]? {
        try connection.value("SELECT secret FROM asset_secret")?.data.map { Array($0) }
    }

    func setAssetSecret(_ secret: [UInt8]) throws {
        try connection.run("INSERT INTO asset_secret(secret) VALUES (?)", [.blob(Data(secret))])
    }

    // MARK: The mark

    func assetHome() throws -> NamedAsset? {
        try all("SELECT checksum, size FROM asset_home LIMIT 1", []) { row in
            AssetChecksum(row.blob(at: 0) ?? Data()).map {
                NamedAsset(checksum: $0, size: row.int64(at: 1))
            }
        }.compactMap(\.self).first
    }

    func setAssetHome(_ mark: NamedAsset) throws {
        try connection.run(
            "INSERT INTO asset_home(checksum, size) VALUES (?, ?)",
            [.blob(mark.checksum.bytes), .integer(mark.size)])
    }

    // MARK: Contents

    /// In the service's file at once, whatever becomes of this transaction: a content that nobody
    /// names after all is collected.
    func addAsset(_ checksum: AssetChecksum, size: Int64, at milliseconds: Int64) throws {
        let container = surroundings?.container
        try writeAtService { service in
            try service.connection.run(
                """
                INSERT INTO assets(checksum, size, idle_since) VALUES (?, ?, ?)
                ON CONFLICT (checksum) DO UPDATE SET idle_since = excluded.idle_since
                """, [.blob(checksum.bytes), .integer(size), .integer(milliseconds)])
            guard let container else { return }
            try service.noteContent(checksum, namedIn: container)
        }
    }

    func assetSize(_ checksum: AssetChecksum) throws -> Int64? {
        try connection.value(
            "SELECT size FROM \(isOfService ? "assets" : "asset_sizes") WHERE checksum = ?",
            [.blob(checksum.bytes)])?.int64
    }

    func namedAssets(after checksum: AssetChecksum?, limit: Int) throws -> [NamedAsset] {
        var named: [NamedAsset] = []
        var last = checksum?.bytes ?? Data()
        while named.count < limit {
            let page = try all(
                "SELECT checksum, size FROM assets WHERE checksum > ? ORDER BY checksum LIMIT ?",
                [.blob(last), SQLiteValue(limit)]
            ) { ($0.blob(at: 0) ?? Data(), $0.int64(at: 1)) }
            guard let end = page.last?.0 else { return named }
            for (bytes, size) in page where named.count < limit {
                guard let checksum = AssetChecksum(bytes), try isAssetUsed(checksum) else {
                    continue
                }
                named.append(NamedAsset(checksum: checksum, size: size))
            }
            last = end
        }
        return named
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
            try release(checksum.bytes)
        }
        for checksum in checksums where !former.contains(checksum) {
            try connection.run(
                "INSERT INTO asset_uses(zone, record, checksum, database) VALUES (?, ?, ?, ?)",
                [.integer(zone), .text(record), .blob(checksum.bytes), .integer(database)])
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
            try release(bytes)
        }
        return !uses.isEmpty
    }

    /// The service's file hears of it later: a release that is told before it is committed might be
    /// looked at, and forgotten, too soon.
    private func release(_ checksum: Data) throws {
        try connection.run(
            "INSERT INTO asset_releases(checksum) VALUES (?)", [.blob(checksum)])
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
        try connection.run(
            "INSERT OR IGNORE INTO asset_sizes(checksum, size) VALUES (?, ?)",
            [.blob(receipt.checksum.bytes), .integer(receipt.size)])
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
        let others = try otherContainers(ofOwner: owner)
        guard !others.isEmpty else {
            let values: [SQLiteValue] = [.text(owner), .integer(milliseconds)]
            return try connection.value(
                "SELECT ifnull(sum(size), 0) FROM (\(Self.ownContents))", values)?.int64 ?? 0
        }
        var sizes = try ownContents(of: owner, at: milliseconds)
        for other in try atOthers(others, { try $0.ownContents(of: owner, at: milliseconds) }) {
            sizes.merge(other) { first, _ in first }
        }
        return sizes.values.reduce(0, &+)
    }

    private func ownContents(
        of owner: String, at milliseconds: Int64
    ) throws -> [Data: Int64] {
        Dictionary(
            try all(Self.ownContents, [.text(owner), .integer(milliseconds)]) {
                ($0.blob(at: 0) ?? Data(), $0.int64(at: 1))
            }, uniquingKeysWith: { first, _ in first })
    }

    private static let ownContents = """
        SELECT checksum, size FROM asset_sizes WHERE checksum IN (
            SELECT checksum FROM asset_uses
            WHERE database IN (SELECT id FROM databases WHERE owner = ?1)
            UNION SELECT checksum FROM asset_receipts
            WHERE database IN (SELECT id FROM databases WHERE owner = ?1) AND expires > ?2)
        """

    func removeReceipts(before milliseconds: Int64, limit: Int) throws -> Int {
        let old = try all(
            """
            SELECT id, checksum FROM asset_receipts WHERE expires <= ? ORDER BY expires LIMIT ?
            """, [.integer(milliseconds), SQLiteValue(limit)]
        ) { ($0.text(at: 0) ?? "", $0.blob(at: 1) ?? Data()) }
        for (id, checksum) in old { try removeReceipt(id, for: checksum) }
        return old.count
    }

    func removeReceipt(_ id: String) throws {
        guard let receipt = try assetReceipt(id) else { return }
        try removeReceipt(id, for: receipt.checksum.bytes)
    }

    private func removeReceipt(_ id: String, for checksum: Data) throws {
        try connection.run("DELETE FROM asset_receipts WHERE id = ?", [.text(id)])
        try forgetSize(of: checksum)
    }

    /// Of a content that nothing in the container names any more.
    private func forgetSize(of checksum: Data) throws {
        try connection.run(
            """
            DELETE FROM asset_sizes WHERE checksum = ?1
            AND NOT EXISTS (SELECT 1 FROM asset_uses WHERE checksum = ?1)
            AND NOT EXISTS (SELECT 1 FROM asset_receipts WHERE checksum = ?1)
            """, [.blob(checksum)])
    }

    /// What records let go of since it was last told, the oldest first.
    func releases(limit: Int) throws -> [(id: Int64, checksum: Data)] {
        try all(
            "SELECT id, checksum FROM asset_releases ORDER BY id LIMIT ?", [SQLiteValue(limit)]
        ) { ($0.int64(at: 0), $0.blob(at: 1) ?? Data()) }
    }

    func forget(_ releases: [(id: Int64, checksum: Data)]) throws {
        for release in releases {
            try connection.run("DELETE FROM asset_releases WHERE id = ?", [.integer(release.id)])
            try forgetSize(of: release.checksum)
        }
    }

    // MARK: What nobody names

    func isAssetUsed(_ checksum: AssetChecksum) throws -> Bool {
        try atPlaces(of: checksum) {
            try $0.connection.value(
                "SELECT 1 FROM asset_uses WHERE checksum = ? LIMIT 1", [.blob(checksum.bytes)])
                != nil
        }.contains { $0 == true }
    }

    /// Where a container cannot be read its records may name the content: for a day, as it were.
    func lastPromise(of checksum: AssetChecksum) throws -> Int64? {
        let found = try atPlaces(of: checksum) {
            try $0.connection.value(
                "SELECT max(expires) FROM asset_receipts WHERE checksum = ?",
                [.blob(checksum.bytes)])?.int64 ?? .min
        }
        let last = found.map { $0 ?? surroundings?.unreadableUntil ?? .max }.max()
        return last == .min ? nil : last
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
        for table in ["assets", "asset_places"] {
            try connection.run(
                "DELETE FROM \(table) WHERE checksum = ?", [.blob(checksum.bytes)])
        }
    }
}
