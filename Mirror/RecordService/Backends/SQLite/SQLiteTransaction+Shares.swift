internal import SQLiteDriver

/// Rows of shares.
extension SQLiteTransaction {
    static let shareTables = """
        CREATE TABLE IF NOT EXISTS shares(
            zone INTEGER NOT NULL, name TEXT NOT NULL, guid TEXT NOT NULL UNIQUE,
            container TEXT NOT NULL, environment TEXT NOT NULL, owner TEXT NOT NULL,
            zone_name TEXT NOT NULL, root TEXT,
            PRIMARY KEY (zone, name)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS share_members(
            zone INTEGER NOT NULL, share TEXT NOT NULL, record TEXT NOT NULL,
            change INTEGER NOT NULL, gone INTEGER NOT NULL, time INTEGER NOT NULL,
            PRIMARY KEY (zone, share, record)) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS share_members_by_change
            ON share_members(zone, share, change);
        CREATE INDEX IF NOT EXISTS share_members_by_record
            ON share_members(zone, record) WHERE gone = 0;
        CREATE INDEX IF NOT EXISTS share_members_by_departure
            ON share_members(time) WHERE gone = 1;
        CREATE TABLE IF NOT EXISTS share_grants(
            zone INTEGER NOT NULL, user TEXT NOT NULL, share TEXT NOT NULL,
            writes INTEGER NOT NULL, PRIMARY KEY (zone, user, share)) WITHOUT ROWID;
        """

    // MARK: Shares

    private static let shareColumns =
        "zone, name, guid, container, environment, owner, zone_name, root"

    private static func share(_ row: Statement) -> ShareRow {
        ShareRow(
            zone: row.int64(at: 0), name: row.text(at: 1) ?? "", shortGUID: row.text(at: 2) ?? "",
            database: DatabaseKey.ofUser(
                row.text(at: 5) ?? "", container: row.text(at: 3) ?? "",
                environment: row.text(at: 4) ?? ""),
            zoneName: row.text(at: 6) ?? "", root: row.text(at: 7))
    }

    func hasShares(in zone: Int64) throws -> Bool {
        try first("SELECT 1 FROM shares WHERE zone = ?", [.integer(zone)]) { _ in true } ?? false
    }

    func countShares(in zone: Int64) throws -> Int {
        let count = try first("SELECT count(*) FROM shares WHERE zone = ?", [.integer(zone)]) {
            $0.int64(at: 0)
        }
        return Int(count ?? 0)
    }

    func share(named name: String, in zone: Int64) throws -> ShareRow? {
        try first(
            "SELECT \(Self.shareColumns) FROM shares WHERE zone = ? AND name = ?",
            [.integer(zone), .text(name)], Self.share)
    }

    func share(
        shortGUID: String, container: String, environment: String
    ) throws -> ShareRow? {
        try first(
            """
            SELECT \(Self.shareColumns) FROM shares
            WHERE guid = ? AND container = ? AND environment = ?
            """, [.text(shortGUID), .text(container), .text(environment)], Self.share)
    }

    func share(shortGUID: String) throws -> ShareRow? {
        try first(
            "SELECT \(Self.shareColumns) FROM shares WHERE guid = ?", [.text(shortGUID)],
            Self.share)
    }

    func container(ofShortGUID guid: String) throws -> String? {
        try atService {
            try $0.first(
                "SELECT container FROM share_places WHERE guid = ?", [.text(guid)]
            ) { $0.text(at: 0) } ?? nil
        }
    }

    func save(_ share: ShareRow) throws {
        try notePlace(ofShortGUID: share.shortGUID)
        try connection.run(
            "INSERT OR REPLACE INTO shares(\(Self.shareColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                .integer(share.zone), .text(share.name), .text(share.shortGUID),
                .text(share.database.container), .text(share.database.environment),
                .text(share.database.owner), .text(share.zoneName), SQLiteValue(share.root),
            ])
    }

    func removeShare(named name: String, in zone: Int64) throws {
        for column in [
            "shares WHERE name", "share_members WHERE share", "share_grants WHERE share",
        ] {
            try connection.run(
                "DELETE FROM \(column) = ? AND zone = ?", [.text(name), .integer(zone)])
        }
    }

    func removeShares(in zone: Int64) throws {
        for table in ["shares", "share_members", "share_grants"] {
            try connection.run("DELETE FROM \(table) WHERE zone = ?", [.integer(zone)])
        }
    }

    // MARK: Members

    private static let memberColumns = "share, record, change, gone, time"

    private static func member(_ row: Statement) -> ShareMember {
        ShareMember(
            share: row.text(at: 0) ?? "", record: row.text(at: 1) ?? "", change: row.int64(at: 2),
            isGone: row.int64(at: 3) != 0, time: row.int64(at: 4))
    }

    private static func marks(_ count: Int) -> String {
        Array(repeating: "?", count: count).joined(separator: ",")
    }

    func share(ofRecord name: String, in zone: Int64) throws -> String? {
        try first(
            "SELECT share FROM share_members WHERE zone = ? AND record = ? AND gone = 0",
            [.integer(zone), .text(name)]
        ) { $0.text(at: 0) ?? "" }
    }

    func member(_ name: String, of share: String, in zone: Int64) throws -> ShareMember? {
        try first(
            """
            SELECT \(Self.memberColumns) FROM share_members
            WHERE zone = ? AND share = ? AND record = ?
            """, [.integer(zone), .text(share), .text(name)], Self.member)
    }

    func save(_ members: [ShareMember], in zone: Int64) throws {
        for member in members {
            try connection.run(
                """
                INSERT OR REPLACE INTO share_members(zone, \(Self.memberColumns))
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                [
                    .integer(zone), .text(member.share), .text(member.record),
                    .integer(member.change), SQLiteValue(member.isGone), .integer(member.time),
                ])
        }
    }

    func members(of shares: [String], _ reading: FeedReading) throws -> [ShareMember] {
        try all(
            """
            SELECT \(Self.memberColumns) FROM share_members
            WHERE zone = ? AND share IN (\(Self.marks(shares.count))) AND change > ? AND change <= ?
            ORDER BY \(reading.order) LIMIT ?
            """,
            [.integer(reading.zone)] + shares.map { .text($0) } + [
                .integer(reading.after), .integer(reading.through),
                SQLiteValue(reading.lookedAtMax),
            ], Self.member)
    }

    func liveMembers(of shares: [String], in zone: Int64, limit: Int) throws -> [String] {
        try all(
            """
            SELECT record FROM share_members
            WHERE zone = ? AND share IN (\(Self.marks(shares.count))) AND gone = 0 LIMIT ?
            """, [.integer(zone)] + shares.map { .text($0) } + [SQLiteValue(limit)]
        ) { $0.text(at: 0) ?? "" }
    }

    func countMembers(of share: String, in zone: Int64) throws -> Int {
        let count = try first(
            "SELECT count(*) FROM share_members WHERE zone = ? AND share = ? AND gone = 0",
            [.integer(zone), .text(share)]
        ) { $0.int64(at: 0) }
        return Int(count ?? 0)
    }

    func removeDepartures(
        before milliseconds: Int64, limit: Int
    ) throws -> [Int64: Int64] {
        let oldest = try all(
            """
            SELECT zone, share, record, change FROM share_members WHERE gone = 1 AND time < ?
            ORDER BY time LIMIT ?
            """, [.integer(milliseconds), SQLiteValue(limit)]
        ) {
            (
                zone: $0.int64(at: 0), share: $0.text(at: 1) ?? "", record: $0.text(at: 2) ?? "",
                change: $0.int64(at: 3)
            )
        }
        var forgotten: [Int64: Int64] = [:]
        for row in oldest {
            try connection.run(
                "DELETE FROM share_members WHERE zone = ? AND share = ? AND record = ?",
                [.integer(row.zone), .text(row.share), .text(row.record)])
            forgotten[row.zone] = max(forgotten[row.zone] ?? 0, row.change)
        }
        return forgotten
    }

    // MARK: Grants

    private static func grant(_ row: Statement) -> ShareGrant {
        ShareGrant(
            share: row.text(at: 0) ?? "", user: row.text(at: 1) ?? "",
            writes: row.int64(at: 2) != 0)
    }

    func grants(in zone: Int64) throws -> [ShareGrant] {
        try all(
            "SELECT share, user, writes FROM share_grants WHERE zone = ? ORDER BY user, share",
            [.integer(zone)], Self.grant)
    }

    func grants(of user: String, in zone: Int64) throws -> [ShareGrant] {
        try all(
            """
            SELECT share, user, writes FROM share_grants WHERE zone = ? AND user = ?
            ORDER BY share
            """, [.integer(zone), .text(user)], Self.grant)
    }

    func setGrants(_ grants: [ShareGrant], of share: String, in zone: Int64) throws {
        try connection.run(
            "DELETE FROM share_grants WHERE zone = ? AND share = ?",
            [.integer(zone), .text(share)])
        for grant in grants {
            try connection.run(
                "INSERT INTO share_grants(zone, user, share, writes) VALUES (?, ?, ?, ?)",
                [
                    .integer(zone), .text(grant.user), .text(share), SQLiteValue(grant.writes),
                ])
        }
    }
}
