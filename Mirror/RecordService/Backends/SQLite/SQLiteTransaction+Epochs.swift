internal import RecordWire
internal import SQLiteDriver

/// Rows of epochs and instances.
extension SQLiteTransaction {
    func currentEpoch() throws -> UInt64 {
        UInt64(
            bitPattern: try connection.value("SELECT epoch FROM service")?.int64 ?? 0)
    }

    func serviceID() throws -> UInt64 {
        UInt64(bitPattern: try connection.value("SELECT id FROM service")?.int64 ?? 0)
    }

    static let clockTable = """
        CREATE TABLE IF NOT EXISTS clock_mark(
            one INTEGER PRIMARY KEY, believed INTEGER NOT NULL, doubted_since INTEGER,
            seen INTEGER NOT NULL);
        """

    func clockMark() throws -> ClockMark? {
        try first("SELECT believed, doubted_since, seen FROM clock_mark", []) {
            ClockMark(
                believed: $0.int64(at: 0), doubtedSince: $0.isNull(at: 1) ? nil : $0.int64(at: 1),
                seen: $0.int64(at: 2))
        }
    }

    func save(_ mark: ClockMark) throws {
        try connection.run(
            "INSERT OR REPLACE INTO clock_mark(one, believed, doubted_since, seen) "
                + "VALUES (1, ?, ?, ?)",
            [
                .integer(mark.believed), mark.doubtedSince.map { .integer($0) } ?? .null,
                .integer(mark.seen),
            ])
    }

    func epochs(of place: CountedPlace, _ id: Int64) throws -> [EpochLine.Epoch] {
        try all(
            "SELECT epoch, first FROM epochs WHERE kind = ? AND place = ? ORDER BY first",
            [.integer(place.rawValue), .integer(id)]
        ) {
            EpochLine.Epoch(id: UInt64(bitPattern: $0.int64(at: 0)), first: $0.int64(at: 1))
        }
    }

    func add(_ epoch: EpochLine.Epoch, to place: CountedPlace, _ id: Int64) throws {
        try connection.run(
            "INSERT INTO epochs(kind, place, epoch, first) VALUES (?, ?, ?, ?)",
            [
                .integer(place.rawValue), .integer(id), .integer(Int64(bitPattern: epoch.id)),
                .integer(epoch.first),
            ])
    }

    func removeEpochs(
        of place: CountedPlace, _ id: Int64, before epoch: EpochLine.Epoch
    ) throws {
        try connection.run(
            "DELETE FROM epochs WHERE kind = ? AND place = ? AND first < ?",
            [.integer(place.rawValue), .integer(id), .integer(epoch.first)])
    }

    func instance(_ id: String, in zone: Int64) throws -> InstanceRow? {
        try first(
            "SELECT round, nonce, seen_at FROM instances WHERE zone = ? AND id = ?",
            [.integer(zone), .text(id)]
        ) {
            InstanceRow(
                id: id, round: $0.int64(at: 0), nonce: $0.text(at: 1) ?? "",
                seenAt: $0.int64(at: 2))
        }
    }

    func save(_ instance: InstanceRow, in zone: Int64) throws {
        try connection.run(
            "INSERT OR REPLACE INTO instances(zone, id, round, nonce, seen_at) "
                + "VALUES (?, ?, ?, ?, ?)",
            [
                .integer(zone), .text(instance.id), .integer(instance.round),
                .text(instance.nonce), .integer(instance.seenAt),
            ])
    }

    func instanceCount(in zone: Int64) throws -> Int {
        Int(
            try connection.value(
                "SELECT count(*) FROM instances WHERE zone = ?", [.integer(zone)])?.int64 ?? 0)
    }

    func removeInstances(in zone: Int64, but instancesMax: Int) throws {
        try connection.run(
            "DELETE FROM instances WHERE zone = ?1 AND id IN (SELECT id FROM instances "
                + "WHERE zone = ?1 ORDER BY seen_at DESC, id LIMIT -1 OFFSET ?2)",
            [.integer(zone), SQLiteValue(instancesMax)])
    }

    func removeDeletions(before milliseconds: Int64, limit: Int) throws -> [Int64: Int64] {
        let values: [SQLiteValue] = [.integer(milliseconds), SQLiteValue(limit)]
        let oldest =
            "FROM records WHERE deleted = 1 AND modified_at < ? "
            + "ORDER BY modified_at, rowid LIMIT ?"
        let old = try all(
            "SELECT zone, max(change) FROM (SELECT zone, change \(oldest)) GROUP BY zone", values
        ) { ($0.int64(at: 0), $0.int64(at: 1)) }
        try connection.run("DELETE FROM records WHERE rowid IN (SELECT rowid \(oldest))", values)
        return Dictionary(uniqueKeysWithValues: old)
    }

    func raiseFloor(of zone: Int64, to change: Int64) throws {
        try connection.run(
            "UPDATE zones SET floor = max(floor, ?) WHERE id = ?",
            [.integer(change), .integer(zone)])
    }

    func removeDeletedZones(in database: Int64, but zonesMax: Int) throws -> Int64? {
        let last = try first(
            "SELECT database_change FROM zones WHERE database = ? AND deleted = 1 "
                + "ORDER BY database_change DESC LIMIT 1 OFFSET ?",
            [.integer(database), SQLiteValue(zonesMax)]
        ) { $0.int64(at: 0) }
        guard let last else { return nil }
        let gone =
            "SELECT id FROM zones WHERE database = ?1 AND deleted = 1 "
            + "AND database_change <= ?2"
        for table in ["epochs WHERE kind = 1 AND place", "instances WHERE zone"] {
            try connection.run(
                "DELETE FROM \(table) IN (\(gone))", [.integer(database), .integer(last)])
        }
        try connection.run(
            "DELETE FROM zones WHERE database = ?1 AND deleted = 1 AND database_change <= ?2",
            [.integer(database), .integer(last)])
        return last
    }
}
