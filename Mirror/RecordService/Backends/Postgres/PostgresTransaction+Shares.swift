internal import PostgresDriver

/// Rows of shares.
extension PostgresTransaction {
    private static let shareColumns =
        "zone, name, guid, container, environment, owner, zone_name, root"

    private static func share(_ row: PostgresRow) -> ShareRow {
        ShareRow(
            zone: row.int64(at: 0), name: row.text(at: 1), shortGUID: row.text(at: 2),
            database: DatabaseKey.ofUser(
                row.text(at: 5), container: row.text(at: 3), environment: row.text(at: 4)),
            zoneName: row.text(at: 6), root: row.textIfAny(at: 7))
    }

    func hasShares(in zone: Int64) throws -> Bool {
        try isThere("SELECT 1 FROM shares WHERE zone = $1 LIMIT 1", [.integer(zone)], of: "shares")
    }

    func countShares(in zone: Int64) throws -> Int {
        Int(try number("SELECT count(*) FROM shares WHERE zone = $1", [.integer(zone)]) ?? 0)
    }

    func share(named name: String, in zone: Int64) throws -> ShareRow? {
        try first(
            "SELECT \(Self.shareColumns) FROM shares WHERE zone = $1 AND name = $2",
            [.integer(zone), .name(name)], Self.share)
    }

    func share(shortGUID: String, container: String, environment: String) throws -> ShareRow? {
        try first(
            """
            SELECT \(Self.shareColumns) FROM shares
            WHERE guid = $1 AND container = $2 AND environment = $3
            """, [.name(shortGUID), .name(container), .name(environment)], Self.share)
    }

    func share(shortGUID: String) throws -> ShareRow? {
        try first(
            "SELECT \(Self.shareColumns) FROM shares WHERE guid = $1", [.name(shortGUID)],
            Self.share)
    }

    func container(ofShortGUID guid: String) throws -> String? {
        try share(shortGUID: guid)?.database.container
    }

    func save(_ share: ShareRow) throws {
        try connection.send(
            """
            INSERT INTO shares(\(Self.shareColumns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (zone, name) DO UPDATE SET guid = excluded.guid,
                container = excluded.container, environment = excluded.environment,
                owner = excluded.owner, zone_name = excluded.zone_name, root = excluded.root
            """,
            [
                .integer(share.zone), .name(share.name), .name(share.shortGUID),
                .name(share.database.container), .name(share.database.environment),
                .name(share.database.owner), .name(share.zoneName),
                PostgresValue(nameOf: share.root),
            ])
    }

    func removeShare(named name: String, in zone: Int64) throws {
        for column in [
            "shares WHERE name", "share_members WHERE share", "share_grants WHERE share",
        ] {
            try connection.send(
                "DELETE FROM \(column) = $1 AND zone = $2", [.name(name), .integer(zone)])
        }
    }

    func removeShares(in zone: Int64) throws {
        for table in ["shares", "share_members", "share_grants"] {
            try connection.send("DELETE FROM \(table) WHERE zone = $1", [.integer(zone)])
        }
    }

    // MARK: Members

    private static let memberColumns = "share, record, change, gone, time"

    private static func member(_ row: PostgresRow) -> ShareMember {
        ShareMember(
            share: row.text(at: 0), record: row.text(at: 1), change: row.int64(at: 2),
            isGone: row.bool(at: 3), time: row.int64(at: 4))
    }

    func share(ofRecord name: String, in zone: Int64) throws -> String? {
        try first(
            "SELECT share FROM share_members WHERE zone = $1 AND record = $2 AND NOT gone",
            [.integer(zone), .name(name)]
        ) { $0.text(at: 0) }
    }

    func member(_ name: String, of share: String, in zone: Int64) throws -> ShareMember? {
        try first(
            """
            SELECT \(Self.memberColumns) FROM share_members
            WHERE zone = $1 AND share = $2 AND record = $3
            """, [.integer(zone), .name(share), .name(name)], Self.member)
    }

    func save(_ members: [ShareMember], in zone: Int64) throws {
        for member in members {
            try connection.send(
                """
                INSERT INTO share_members(zone, \(Self.memberColumns))
                VALUES ($1, $2, $3, $4, $5, $6)
                ON CONFLICT (zone, share, record) DO UPDATE SET change = excluded.change,
                    gone = excluded.gone, time = excluded.time
                """,
                [
                    .integer(zone), .name(member.share), .name(member.record),
                    .integer(member.change), .boolean(member.isGone), .integer(member.time),
                ])
        }
    }

    func members(of shares: [String], _ reading: FeedReading) throws -> [ShareMember] {
        try all(
            """
            SELECT \(Self.memberColumns) FROM share_members
            WHERE zone = $1 AND share = ANY($2) AND change > $3 AND change <= $4
            ORDER BY \(reading.order) LIMIT $5
            """,
            [
                .integer(reading.zone), .names(shares), .integer(reading.after),
                .integer(reading.through), PostgresValue(reading.lookedAtMax),
            ], Self.member)
    }

    func liveMembers(of shares: [String], in zone: Int64, limit: Int) throws -> [String] {
        try all(
            """
            SELECT record FROM share_members
            WHERE zone = $1 AND share = ANY($2) AND NOT gone ORDER BY share, record LIMIT $3
            """, [.integer(zone), .names(shares), PostgresValue(limit)]
        ) { $0.text(at: 0) }
    }

    func countMembers(of share: String, in zone: Int64) throws -> Int {
        let count = try number(
            "SELECT count(*) FROM share_members WHERE zone = $1 AND share = $2 AND NOT gone",
            [.integer(zone), .name(share)])
        return Int(count ?? 0)
    }

    /// The zones are locked first, as every writer does.
    func removeDepartures(before milliseconds: Int64, limit: Int) throws -> [Int64: Int64] {
        let values: [PostgresValue] = [.integer(milliseconds), PostgresValue(limit)]
        let zones = try all(
            """
            SELECT DISTINCT zone FROM (
                SELECT zone FROM share_members WHERE gone AND time < $1
                ORDER BY time LIMIT $2) AS oldest ORDER BY zone
            """, values
        ) { $0.int64(at: 0) }
        guard !zones.isEmpty else { return [:] }
        _ = try connection.rows(
            "SELECT id FROM zones WHERE id = ANY($1) ORDER BY id FOR UPDATE", [.integers(zones)])
        let gone = try all(
            """
            DELETE FROM share_members WHERE (zone, share, record) IN (
                SELECT zone, share, record FROM share_members
                WHERE gone AND time < $1 AND zone = ANY($3)
                ORDER BY time, zone, change LIMIT $2)
            RETURNING zone, change
            """, values + [.integers(zones)]
        ) { ($0.int64(at: 0), $0.int64(at: 1)) }
        return Dictionary(gone, uniquingKeysWith: max)
    }

    // MARK: Grants

    private static func grant(_ row: PostgresRow) -> ShareGrant {
        ShareGrant(share: row.text(at: 0), user: row.text(at: 1), writes: row.bool(at: 2))
    }

    func grants(in zone: Int64) throws -> [ShareGrant] {
        try all(
            """
            SELECT share, user_name, writes FROM share_grants WHERE zone = $1
            ORDER BY user_name, share
            """, [.integer(zone)], Self.grant)
    }

    func grants(of user: String, in zone: Int64) throws -> [ShareGrant] {
        try all(
            """
            SELECT share, user_name, writes FROM share_grants WHERE zone = $1 AND user_name = $2
            ORDER BY share
            """, [.integer(zone), .name(user)], Self.grant)
    }

    func setGrants(_ grants: [ShareGrant], of share: String, in zone: Int64) throws {
        try connection.send(
            "DELETE FROM share_grants WHERE zone = $1 AND share = $2",
            [.integer(zone), .name(share)])
        for grant in grants {
            try connection.send(
                "INSERT INTO share_grants(zone, user_name, share, writes) VALUES ($1, $2, $3, $4)",
                [.integer(zone), .name(grant.user), .name(share), .boolean(grant.writes)])
        }
    }
}
