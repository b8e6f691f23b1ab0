internal import PostgresDriver
internal import RecordWire

/// Rows of epochs and instances, and what is forgotten.
extension PostgresTransaction {
    func currentEpoch() throws -> UInt64 {
        UInt64(bitPattern: try number("SELECT epoch FROM service", of: "service") ?? 0)
    }

    func serviceID() throws -> UInt64 {
        UInt64(bitPattern: try number("SELECT id FROM service", of: "service") ?? 0)
    }

    func clockMark() throws -> ClockMark? {
        try first("SELECT believed, doubted_since, seen FROM clock_mark", []) {
            ClockMark(
                believed: $0.int64(at: 0), doubtedSince: $0.isNull(at: 1) ? nil : $0.int64(at: 1),
                seen: $0.int64(at: 2))
        }
    }

    func save(_ mark: ClockMark) throws {
        try connection.send(
            """
            INSERT INTO clock_mark(one, believed, doubted_since, seen) VALUES (1, $1, $2, $3)
            ON CONFLICT (one) DO UPDATE SET believed = excluded.believed,
                doubted_since = excluded.doubted_since, seen = excluded.seen
            """,
            [
                .integer(mark.believed), mark.doubtedSince.map { .integer($0) } ?? .null,
                .integer(mark.seen),
            ])
    }

    func epochs(of place: CountedPlace, _ id: Int64) throws -> [EpochLine.Epoch] {
        try all(
            "SELECT epoch, first FROM epochs WHERE place = $1 AND kind = $2 ORDER BY first",
            [.integer(id), .integer(place.rawValue)], of: "epochs"
        ) {
            EpochLine.Epoch(id: UInt64(bitPattern: $0.int64(at: 0)), first: $0.int64(at: 1))
        }
    }

    func add(_ epoch: EpochLine.Epoch, to place: CountedPlace, _ id: Int64) throws {
        try connection.send(
            "INSERT INTO epochs(place, kind, epoch, first) VALUES ($1, $2, $3, $4)",
            [
                .integer(id), .integer(place.rawValue), .integer(Int64(bitPattern: epoch.id)),
                .integer(epoch.first),
            ])
    }

    func removeEpochs(
        of place: CountedPlace, _ id: Int64, before epoch: EpochLine.Epoch
    ) throws {
        try connection.send(
            "DELETE FROM epochs WHERE place = $1 AND kind = $2 AND first < $3",
            [.integer(id), .integer(place.rawValue), .integer(epoch.first)])
    }

    func instance(_ id: String, in zone: Int64) throws -> InstanceRow? {
        try first(
            "SELECT round, nonce, seen_at FROM instances WHERE zone = $1 AND id = $2",
            [.integer(zone), .name(id)], of: "instances"
        ) {
            InstanceRow(
                id: id, round: $0.int64(at: 0), nonce: $0.text(at: 1), seenAt: $0.int64(at: 2))
        }
    }

    func save(_ instance: InstanceRow, in zone: Int64) throws {
        try connection.send(
            """
            INSERT INTO instances(zone, id, round, nonce, seen_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (zone, id) DO UPDATE SET round = excluded.round, nonce = excluded.nonce,
                seen_at = excluded.seen_at
            """,
            [
                .integer(zone), .name(instance.id), .integer(instance.round),
                .name(instance.nonce), .integer(instance.seenAt),
            ])
    }

    func instanceCount(in zone: Int64) throws -> Int {
        let count = try first(
            "SELECT count(*) FROM instances WHERE zone = $1", [.integer(zone)], of: "instances"
        ) { $0.int64(at: 0) }
        return Int(count ?? 0)
    }

    func removeInstances(in zone: Int64, but instancesMax: Int) throws {
        try connection.send(
            """
            DELETE FROM instances WHERE zone = $1 AND id IN (
                SELECT id FROM instances WHERE zone = $1 ORDER BY seen_at DESC, id OFFSET $2)
            """, [.integer(zone), PostgresValue(instancesMax)])
    }

    // MARK: Forgetting

    /// The zones are locked first, as every writer of a record does.
    func removeDeletions(before milliseconds: Int64, limit: Int) throws -> [Int64: Int64] {
        let zones = try all(
            """
            SELECT DISTINCT zone FROM (
                SELECT zone FROM records WHERE deleted AND modified_at < $1
                ORDER BY modified_at LIMIT $2) AS oldest ORDER BY zone
            """, [.integer(milliseconds), PostgresValue(limit)]
        ) { $0.int64(at: 0) }
        guard !zones.isEmpty else { return [:] }
        _ = try connection.rows(
            "SELECT id FROM zones WHERE id = ANY($1) ORDER BY id FOR UPDATE", [.integers(zones)])
        let gone = try all(
            """
            DELETE FROM records WHERE (zone, name) IN (
                SELECT zone, name FROM records
                WHERE deleted AND modified_at < $1 AND zone = ANY($3)
                ORDER BY modified_at, zone, change LIMIT $2)
            RETURNING zone, change
            """, [.integer(milliseconds), PostgresValue(limit), .integers(zones)]
        ) { ($0.int64(at: 0), $0.int64(at: 1)) }
        return Dictionary(gone, uniquingKeysWith: max)
    }

    func raiseFloor(of zone: Int64, to change: Int64) throws {
        try connection.send(
            "UPDATE zones SET floor = greatest(floor, $1) WHERE id = $2",
            [.integer(change), .integer(zone)])
    }

    func removeDeletedZones(in database: Int64, but zonesMax: Int) throws -> Int64? {
        let last = try number(
            """
            SELECT database_change FROM zones WHERE database = $1 AND deleted
            ORDER BY database_change DESC LIMIT 1 OFFSET $2
            """, [.integer(database), PostgresValue(zonesMax)])
        guard let last else { return nil }
        let gone = try all(
            """
            DELETE FROM zones WHERE database = $1 AND deleted AND database_change <= $2
            RETURNING id
            """, [.integer(database), .integer(last)]
        ) { $0.int64(at: 0) }
        try removeClients(of: gone)
        return last
    }

    /// Forgets the epochs and the instances of zones, and what they held.
    func removeClients(of zones: [Int64]) throws {
        try connection.send(
            "DELETE FROM epochs WHERE place = ANY($1) AND kind = $2",
            [.integers(zones), .integer(CountedPlace.zone.rawValue)])
        for table in ["instances", "zone_usage"] {
            try connection.send("DELETE FROM \(table) WHERE zone = ANY($1)", [.integers(zones)])
        }
    }
}
