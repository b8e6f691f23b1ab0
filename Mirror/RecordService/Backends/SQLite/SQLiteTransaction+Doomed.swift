internal import Foundation
internal import RecordWire
internal import SQLiteDriver

/// Records of deleted zones: out of sight with the deletion, removed a slice at a time, so that
/// nobody waits for the end of a big zone.
extension SQLiteTransaction {
    private static let sliceRowsMax = 500
    private static let sliceBytesMax = 4 << 20

    static let doomedTable = """
        CREATE TABLE IF NOT EXISTS doomed_zones(
            zone INTEGER PRIMARY KEY, database INTEGER NOT NULL);
        """

    /// The zone goes on under a number that no record has.
    func emptied(_ zone: ZoneRow, in database: Int64) throws -> ZoneRow {
        let next = try nextZoneID()
        var zone = zone
        for table in [
            "epochs WHERE kind = 1 AND place", "instances WHERE zone", "zone_usage WHERE zone",
        ] {
            try connection.run("DELETE FROM \(table) = ?", [.integer(zone.id)])
        }
        try connection.run(
            "INSERT INTO doomed_zones(zone, database) VALUES (?, ?)",
            [.integer(zone.id), .integer(database)])
        try connection.run(
            "UPDATE zones SET id = ? WHERE id = ?", [.integer(next), .integer(zone.id)])
        zone.id = next
        hasDoomedRecords = true
        return zone
    }

    /// A number that no zone has, nor records that are still to be removed.
    func nextZoneID() throws -> Int64 {
        let last = try connection.value(
            "SELECT max(ifnull((SELECT max(id) FROM zones), 0), "
                + "ifnull((SELECT max(zone) FROM doomed_zones), 0))")
        return (last?.int64 ?? 0) + 1
    }

    /// Removes the next slice; false when none was left.
    func removeDoomedSlice() throws -> Bool {
        let doomed = try first("SELECT zone, database FROM doomed_zones LIMIT 1", []) {
            (zone: $0.int64(at: 0), database: $0.int64(at: 1))
        }
        guard let doomed else { return false }
        let slice = try slice(of: doomed.zone)
        guard !slice.rows.isEmpty else {
            if try removeAssets(ofDoomed: doomed.zone, limit: Self.sliceRowsMax) { return true }
            try connection.run("DELETE FROM doomed_zones WHERE zone = ?", [.integer(doomed.zone)])
            return true
        }
        for row in slice.rows {
            for column in [
                "query_entries WHERE name", "reference_links WHERE source",
                "natural_keys WHERE name",
            ] {
                try connection.run(
                    "DELETE FROM \(column) = (SELECT name FROM records WHERE rowid = ?) "
                        + "AND zone = ?", [.integer(row), .integer(doomed.zone)])
            }
            try connection.run("DELETE FROM records WHERE rowid = ?", [.integer(row)])
        }
        let types = FieldTypeSession(doomed.database, self)
        for (type, fields) in slice.fields { try types.remove(fields, of: type) }
        try types.save()
        return true
    }

    private func slice(
        of zone: Int64
    ) throws -> (rows: [Int64], fields: [(String, RecordFields)]) {
        let statement = try connection.prepare(
            "SELECT rowid, type, fields, deleted FROM records WHERE zone = ? LIMIT ?")
        defer { statement.reset() }
        try statement.bind([.integer(zone), SQLiteValue(Self.sliceRowsMax)])
        var rows: [Int64] = []
        var fields: [(String, RecordFields)] = []
        var bytes = 0
        while bytes < Self.sliceBytesMax, try statement.step() {
            rows.append(statement.int64(at: 0))
            let archive = statement.blob(at: 2) ?? Data()
            bytes += archive.count
            guard statement.int64(at: 3) == 0,
                let read = try? RecordArchive.decodeFields(archive)
            else { continue }
            fields.append((statement.text(at: 1) ?? "", read))
        }
        return (rows, fields)
    }
}
