internal import PostgresDriver

/// What zones hold, and what users may keep.
extension PostgresTransaction {
    func add(_ use: StoredUse, to zone: Int64) throws {
        guard use != StoredUse() else { return }
        try connection.send(
            """
            INSERT INTO zone_usage(zone, records, bytes) VALUES ($1, $2, $3)
            ON CONFLICT (zone) DO UPDATE SET
                records = zone_usage.records + excluded.records,
                bytes = zone_usage.bytes + excluded.bytes
            """, [.integer(zone), .integer(use.records), .integer(use.bytes)])
    }

    func use(ofOwner owner: String) throws -> StoredUse {
        try first(
            """
            SELECT coalesce(sum(u.records), 0)::bigint, coalesce(sum(u.bytes), 0)::bigint
            FROM databases d JOIN zones z ON z.database = d.id JOIN zone_usage u ON u.zone = z.id
            WHERE d.owner = $1
            """, [.name(owner)]
        ) { StoredUse(records: $0.int64(at: 0), bytes: $0.int64(at: 1)) } ?? StoredUse()
    }

    func largestContainers(limit: Int) throws -> [ContainerHolding] {
        try all(
            """
            SELECT d.container, coalesce(sum(u.records), 0)::bigint,
                coalesce(sum(u.bytes), 0)::bigint AS size
            FROM databases d JOIN zones z ON z.database = d.id JOIN zone_usage u ON u.zone = z.id
            GROUP BY d.container ORDER BY size DESC, d.container LIMIT $1
            """, [PostgresValue(limit)]
        ) {
            ContainerHolding(
                container: $0.text(at: 0),
                use: StoredUse(records: $0.int64(at: 1), bytes: $0.int64(at: 2)))
        }
    }

    // MARK: Quotas

    func quota(of user: String) throws -> UserQuota? {
        try first(
            "SELECT records, bytes FROM user_quotas WHERE user_name = $1", [.name(user)],
            of: "user_quotas"
        ) { Self.quota($0, at: 0) }
    }

    func quotas() throws -> [String: UserQuota] {
        let rows = try all("SELECT user_name, records, bytes FROM user_quotas", []) {
            ($0.text(at: 0), Self.quota($0, at: 1))
        }
        return Dictionary(rows) { first, _ in first }
    }

    func setQuota(_ quota: UserQuota?, of user: String) throws {
        guard let quota else {
            return try connection.send(
                "DELETE FROM user_quotas WHERE user_name = $1", [.name(user)])
        }
        try connection.send(
            """
            INSERT INTO user_quotas(user_name, records, bytes) VALUES ($1, $2, $3)
            ON CONFLICT (user_name)
            DO UPDATE SET records = excluded.records, bytes = excluded.bytes
            """,
            [
                .name(user), PostgresValue(quota.recordsMax), PostgresValue(quota.bytesMax),
            ])
    }

    private static func quota(_ row: PostgresRow, at column: Int32) -> UserQuota {
        func number(_ column: Int32) -> Int64? {
            row.isNull(at: column) ? nil : row.int64(at: column)
        }
        return UserQuota(recordsMax: number(column), bytesMax: number(column + 1))
    }
}
