internal import Foundation
internal import PostgresDriver
internal import RecordWire

/// Records of deleted zones: out of sight with the deletion, removed a slice at a time.
extension PostgresTransaction {
    private static let sliceRowsMax = 500

    /// The zone goes on under a number that no record has.
    func emptied(_ zone: ZoneRow, in database: Int64) throws -> ZoneRow {
        try removeClients(of: [zone.id])
        try connection.send(
            "INSERT INTO doomed_zones(zone, database) VALUES ($1, $2)",
            [.integer(zone.id), .integer(database)])
        var zone = zone
        zone.id =
            try number(
                "UPDATE zones SET id = nextval('zone_ids') WHERE id = $1 RETURNING id",
                [.integer(zone.id)]) ?? zone.id
        hasDoomedRecords = true
        return zone
    }

    /// Removes the next slice; false when none was left. Writers of the database wait meanwhile,
    /// since the slice's fields are counted in it.
    func removeDoomedSlice() throws -> Bool {
        let doomed = try first(
            "SELECT zone, database FROM doomed_zones ORDER BY zone LIMIT 1", []
        ) { (zone: $0.int64(at: 0), database: $0.int64(at: 1)) }
        guard let doomed else { return false }
        _ = try number(
            "SELECT id FROM databases WHERE id = $1 FOR UPDATE", [.integer(doomed.database)])
        var names: [String] = []
        var fields: [(String, RecordFields)] = []
        _ = try chunk(
            where: "zone = $1", order: "name", limit: "$2",
            [.integer(doomed.zone), PostgresValue(Self.sliceRowsMax)]
        ) { row in
            names.append(row.name)
            if !row.isDeleted, let read = try? RecordArchive.decodeFields(row.fields) {
                fields.append((row.type, read))
            }
            return true
        }
        guard !names.isEmpty else {
            if try removeAssets(ofDoomed: doomed.zone, limit: Self.sliceRowsMax) { return true }
            try connection.send(
                "DELETE FROM doomed_zones WHERE zone = $1", [.integer(doomed.zone)])
            return true
        }
        for column in [
            "query_entries WHERE name", "reference_links WHERE source", "natural_keys WHERE name",
        ] {
            try connection.send(
                "DELETE FROM \(column) = ANY($2) AND zone = $1",
                [.integer(doomed.zone), .names(names)])
        }
        try connection.send(
            "DELETE FROM records WHERE zone = $1 AND name = ANY($2)",
            [.integer(doomed.zone), .names(names)])
        let types = FieldTypeSession(doomed.database, self)
        for (type, fields) in fields { try types.remove(fields, of: type) }
        try types.save()
        return true
    }
}
