internal import RecordWire
internal import SQLiteDriver

/// What zones hold, and what users may keep.
extension SQLiteTransaction {
    func add(_ use: StoredUse, to zone: Int64) throws {
        guard use != StoredUse() else { return }
        try connection.run(
            """
            INSERT INTO zone_usage(zone, records, bytes) VALUES (?1, ?2, ?3)
            ON CONFLICT (zone) DO UPDATE SET records = records + ?2, bytes = bytes + ?3
            """, [.integer(zone), .integer(use.records), .integer(use.bytes)])
    }

    /// A container's transaction sees its own rows, and of the others what is committed.
    func use(ofOwner owner: String) throws -> StoredUse {
        var use = isOfService ? StoredUse() : try ownUse(ofOwner: owner)
        for other in try atOthers(
            try otherContainers(ofOwner: owner), { try $0.ownUse(ofOwner: owner) })
        {
            use = use + other
        }
        return use
    }

    private func ownUse(ofOwner owner: String) throws -> StoredUse {
        try first(
            """
            SELECT ifnull(sum(u.records), 0), ifnull(sum(u.bytes), 0)
            FROM databases d JOIN zones z ON z.database = d.id JOIN zone_usage u ON u.zone = z.id
            WHERE d.owner = ?
            """, [.text(owner)], { Self.use($0, at: 0) }) ?? StoredUse()
    }

    func largestContainers(limit: Int) throws -> [ContainerHolding] {
        let holdings = try atOthers(try containers()) { try $0.ownHolding() }.compactMap(\.self)
        return Array(
            holdings.sorted { ($1.use.bytes, $0.container) < ($0.use.bytes, $1.container) }
                .prefix(limit))
    }

    private func ownHolding() throws -> ContainerHolding? {
        try first(
            """
            SELECT d.container, ifnull(sum(u.records), 0), ifnull(sum(u.bytes), 0)
            FROM databases d JOIN zones z ON z.database = d.id JOIN zone_usage u ON u.zone = z.id
            GROUP BY d.container
            """, []
        ) { ContainerHolding(container: $0.text(at: 0) ?? "", use: Self.use($0, at: 1)) }
    }

    private static func use(_ row: Statement, at column: Int) -> StoredUse {
        StoredUse(records: row.int64(at: column), bytes: row.int64(at: column + 1))
    }

    // MARK: Quotas

    /// A container's transaction reads what is committed, which is kept for as long as it is so.
    func quota(of user: String) throws -> UserQuota? {
        guard let files = surroundings?.files, !isOfService else { return try ownQuota(of: user) }
        return try files.quotas.row(user, at: files.main.version()) {
            .some(try atService { try $0.ownQuota(of: user) })
        } ?? nil
    }

    private func ownQuota(of user: String) throws -> UserQuota? {
        try first(
            "SELECT records, bytes FROM user_quotas WHERE user = ?", [.text(user)],
            { Self.quota($0, at: 0) })
    }

    func quotas() throws -> [String: UserQuota] {
        let rows = try all("SELECT user, records, bytes FROM user_quotas") {
            ($0.text(at: 0) ?? "", Self.quota($0, at: 1))
        }
        return Dictionary(rows) { first, _ in first }
    }

    func setQuota(_ quota: UserQuota?, of user: String) throws {
        guard let quota else {
            try connection.run("DELETE FROM user_quotas WHERE user = ?", [.text(user)])
            return
        }
        try connection.run(
            "INSERT OR REPLACE INTO user_quotas(user, records, bytes) VALUES (?, ?, ?)",
            [.text(user), SQLiteValue(quota.recordsMax), SQLiteValue(quota.bytesMax)])
    }

    private static func quota(_ row: Statement, at column: Int) -> UserQuota {
        func number(_ column: Int) -> Int64? {
            row.isNull(at: column) ? nil : row.int64(at: column)
        }
        return UserQuota(recordsMax: number(column), bytesMax: number(column + 1))
    }
}

/// The tables of what zones hold and users may keep.
enum UsageTables {
    /// Makes the tables where they are missing, and counts what is there; outside of a transaction.
    /// Of a file with a broken page only what is written from now on is counted. Cost: one reading
    /// of all records, once in the life of a file from before the tables.
    static func prepare(_ connection: Connection) throws {
        guard try !areThere(connection) else { return }
        do {
            try make(connection, counting: true)
        } catch let fault as SQLiteFault where fault.isCorrupt {
            try make(connection, counting: false)
        }
    }

    private static func areThere(_ connection: Connection) throws -> Bool {
        try connection.value(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'zone_usage'") != nil
    }

    private static func make(_ connection: Connection, counting: Bool) throws {
        try connection.transaction(.immediate) {
            // Another process may have been here meanwhile.
            guard try !areThere(connection) else { return }
            try connection.script(zoneTable + quotaTable + ownerIndex)
            if counting { try connection.script(count) }
        }
    }

    /// Counts what is there, whatever was counted before; inside a transaction.
    static func countAnew(_ connection: Connection) throws {
        try connection.script("DELETE FROM zone_usage; " + count)
    }

    static let zoneTable = """
        CREATE TABLE zone_usage(
            zone INTEGER PRIMARY KEY, records INTEGER NOT NULL, bytes INTEGER NOT NULL);
        """
    static let quotaTable = """
        CREATE TABLE user_quotas(
            user TEXT PRIMARY KEY, records INTEGER, bytes INTEGER) WITHOUT ROWID;
        """
    static let ownerIndex = "CREATE INDEX databases_by_owner ON databases(owner);"

    private static let count = """
        INSERT INTO zone_usage(zone, records, bytes)
            SELECT r.zone, count(*), ifnull(sum(length(r.fields)), 0)
            FROM records r JOIN zones z ON z.id = r.zone
            WHERE r.deleted = 0 GROUP BY r.zone;
        """
}
