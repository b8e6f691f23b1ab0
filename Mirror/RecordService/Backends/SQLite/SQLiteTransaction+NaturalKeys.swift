internal import Foundation
internal import SQLiteDriver

/// Rows of natural keys.
extension SQLiteTransaction {
    static let naturalKeyTable = """
        CREATE TABLE IF NOT EXISTS natural_keys(
            zone INTEGER NOT NULL, key TEXT NOT NULL, digest BLOB NOT NULL, name TEXT NOT NULL,
            PRIMARY KEY (zone, key, digest)) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS natural_keys_by_record ON natural_keys(zone, name);
        """

    /// A writing transaction is alone in the file.
    func holdSchema(ofContainer name: String) {}

    func holders(
        of values: [NaturalKeyValue], in zone: Int64
    ) throws -> [NaturalKeyValue: String] {
        var found: [NaturalKeyValue: String] = [:]
        for value in values {
            found[value] = try first(
                "SELECT name FROM natural_keys WHERE zone = ? AND key = ? AND digest = ?",
                [.integer(zone), .text(value.key), .blob(value.digest)]
            ) { $0.text(at: 0) ?? "" }
        }
        return found
    }

    func removeKeys(of names: [String], in zone: Int64) throws {
        for name in names {
            try connection.run(
                "DELETE FROM natural_keys WHERE zone = ? AND name = ?",
                [.integer(zone), .text(name)])
        }
    }

    func addKeys(_ entries: [(value: NaturalKeyValue, name: String)], in zone: Int64) throws {
        for entry in entries {
            try connection.run(
                "INSERT INTO natural_keys(zone, key, digest, name) VALUES (?, ?, ?, ?)",
                [
                    .integer(zone), .text(entry.value.key), .blob(entry.value.digest),
                    .text(entry.name),
                ])
        }
    }

    func removeKey(_ key: String, in zone: Int64) throws {
        try connection.run(
            "DELETE FROM natural_keys WHERE zone = ? AND key = ?", [.integer(zone), .text(key)])
    }

    func zonesForDeclaring(
        container: String, environment: String
    ) throws -> [(id: Int64, name: String, owner: String)] {
        try all(
            """
            SELECT z.id, z.name, d.owner FROM zones z JOIN databases d ON d.id = z.database
            WHERE d.container = ? AND d.environment = ? AND d.scope <> 'shared' AND z.deleted = 0
            ORDER BY z.id
            """, [.text(container), .text(environment)]
        ) { ($0.int64(at: 0), $0.text(at: 1) ?? "", $0.text(at: 2) ?? "") }
    }
}
