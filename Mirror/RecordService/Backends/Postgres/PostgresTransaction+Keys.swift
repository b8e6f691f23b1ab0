internal import Foundation
internal import PostgresDriver

/// Rows of servers' keys.
extension PostgresTransaction {
    private static let keyColumns =
        "id, container, environment, user_name, label, public_key, created_at, revoked_at"
    private static let keysWithUses =
        "SELECT \(keyColumns), used_at FROM server_keys LEFT JOIN token_uses ON token = id"

    private static func key(_ row: PostgresRow) -> ServerKeyRow {
        ServerKeyRow(
            key: ServerKey(
                id: row.text(at: 0), container: row.text(at: 1), environment: row.text(at: 2),
                userRecordName: row.text(at: 3), label: row.text(at: 4),
                createdAt: row.int64(at: 6),
                revokedAt: row.isNull(at: 7) ? nil : row.int64(at: 7),
                lastUsedAt: row.isNull(at: 8) ? nil : row.int64(at: 8)),
            publicKey: row.data(at: 5))
    }

    func serverKeys() throws -> [ServerKeyRow] {
        try all("\(Self.keysWithUses) ORDER BY created_at, id", [], Self.key)
    }

    func serverKey(_ id: String) throws -> ServerKeyRow? {
        try first("\(Self.keysWithUses) WHERE id = $1", [.name(id)], Self.key)
    }

    func add(_ row: ServerKeyRow) throws {
        try connection.send(
            """
            INSERT INTO server_keys(\(Self.keyColumns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """,
            [
                .name(row.key.id), .name(row.key.container), .name(row.key.environment),
                .name(row.key.userRecordName), .name(row.key.label), .bytes(row.publicKey),
                .integer(row.key.createdAt), PostgresValue(row.key.revokedAt),
            ])
    }

    /// One that another process notes at this moment is waited for.
    func noteSignature(_ mark: Data, ofKey id: String, until end: Int64) throws -> Bool {
        try isThere(
            """
            INSERT INTO used_signatures(key, mark, until) VALUES ($1, $2, $3)
            ON CONFLICT (key, mark) DO NOTHING RETURNING 1
            """, [.name(id), .bytes(mark), .integer(end)])
    }

    func removeSignatures(before milliseconds: Int64, limit: Int) throws {
        try connection.send(
            """
            DELETE FROM used_signatures WHERE (key, mark) IN (
                SELECT key, mark FROM used_signatures WHERE until < $1
                ORDER BY key, mark LIMIT $2)
            """, [.integer(milliseconds), PostgresValue(limit)])
    }

    func revokeServerKey(_ id: String, at milliseconds: Int64) throws -> Bool {
        try isThere(
            """
            UPDATE server_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL RETURNING 1
            """, [.integer(milliseconds), .name(id)])
    }
}
