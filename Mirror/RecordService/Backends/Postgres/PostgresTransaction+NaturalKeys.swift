internal import Foundation
internal import PostgresDriver

/// Rows of natural keys.
extension PostgresTransaction {
    func holdSchema(ofContainer name: String) throws {
        _ = try number(
            "SELECT 1 FROM containers WHERE name = $1 FOR UPDATE", [.name(name)])
        connection.forgetAnswers(of: "schemas")
    }

    func holders(
        of values: [NaturalKeyValue], in zone: Int64
    ) throws -> [NaturalKeyValue: String] {
        guard !values.isEmpty else { return [:] }
        let rows = try all(
            """
            SELECT key, digest, name FROM natural_keys
            WHERE zone = $1 AND key = ANY($2) AND digest = ANY($3)
            """,
            [
                .integer(zone), .names(Array(Set(values.map(\.key)))),
                .byteStrings(values.map(\.digest)),
            ]
        ) { (NaturalKeyValue(key: $0.text(at: 0), digest: $0.data(at: 1)), $0.text(at: 2)) }
        return Dictionary(rows) { first, _ in first }
    }

    func removeKeys(of names: [String], in zone: Int64) throws {
        guard !names.isEmpty else { return }
        try connection.send(
            "DELETE FROM natural_keys WHERE zone = $1 AND name = ANY($2)",
            [.integer(zone), .names(names)])
    }

    func addKeys(_ entries: [(value: NaturalKeyValue, name: String)], in zone: Int64) throws {
        guard !entries.isEmpty else { return }
        try connection.send(
            """
            INSERT INTO natural_keys(zone, key, digest, name)
            SELECT $1, e.key, e.digest, e.name
            FROM unnest($2::bytea[], $3::bytea[], $4::bytea[]) AS e(key, digest, name)
            """,
            [
                .integer(zone), .names(entries.map(\.value.key)),
                .byteStrings(entries.map(\.value.digest)), .names(entries.map(\.name)),
            ])
    }

    func removeKey(_ key: String, in zone: Int64) throws {
        try connection.send(
            "DELETE FROM natural_keys WHERE zone = $1 AND key = $2", [.integer(zone), .name(key)])
    }

    func zonesForDeclaring(
        container: String, environment: String
    ) throws -> [(id: Int64, name: String, owner: String)] {
        try all(
            """
            SELECT z.id, z.name, d.owner FROM zones z JOIN databases d ON d.id = z.database
            WHERE d.container = $1 AND d.environment = $2 AND d.scope <> $3 AND NOT z.deleted
            ORDER BY z.id FOR UPDATE OF z
            """, [.name(container), .name(environment), .name("shared")]
        ) { ($0.int64(at: 0), $0.text(at: 1), $0.text(at: 2)) }
    }
}
