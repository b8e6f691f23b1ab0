internal import Foundation
internal import SQLiteDriver

/// Rows of servers' keys.
extension SQLiteTransaction {
    static let keyTable = """
        CREATE TABLE IF NOT EXISTS server_keys(
            id TEXT PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
            user TEXT NOT NULL, label TEXT NOT NULL, public_key BLOB NOT NULL,
            created_at INTEGER NOT NULL, revoked_at INTEGER) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS used_signatures(
            key TEXT NOT NULL, mark BLOB NOT NULL, until INTEGER NOT NULL,
            PRIMARY KEY (key, mark)) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS used_signatures_by_end ON used_signatures(until);
        """

    private static let keyColumns =
        "id, container, environment, user, label, public_key, created_at, revoked_at"
    private static let keysWithUses =
        "SELECT \(keyColumns), used_at FROM server_keys LEFT JOIN token_uses ON token = id"

    private static func key(_ row: Statement) -> ServerKeyRow {
        ServerKeyRow(
            key: ServerKey(
                id: row.text(at: 0) ?? "", container: row.text(at: 1) ?? "",
                environment: row.text(at: 2) ?? "", userRecordName: row.text(at: 3) ?? "",
                label: row.text(at: 4) ?? "", createdAt: row.int64(at: 6),
                revokedAt: row.isNull(at: 7) ? nil : row.int64(at: 7),
                lastUsedAt: row.isNull(at: 8) ? nil : row.int64(at: 8)),
            publicKey: row.blob(at: 5) ?? Data())
    }

    func serverKeys() throws -> [ServerKeyRow] {
        try all("\(Self.keysWithUses) ORDER BY created_at, id", [], Self.key)
    }

    func serverKey(_ id: String) throws -> ServerKeyRow? {
        try first("\(Self.keysWithUses) WHERE id = ?", [.text(id)], Self.key)
    }

    func add(_ row: ServerKeyRow) throws {
        try connection.run(
            "INSERT INTO server_keys(\(Self.keyColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                .text(row.key.id), .text(row.key.container), .text(row.key.environment),
                .text(row.key.userRecordName), .text(row.key.label), .blob(row.publicKey),
                .integer(row.key.createdAt), SQLiteValue(row.key.revokedAt),
            ])
    }

    func noteSignature(_ mark: Data, ofKey id: String, until end: Int64) throws -> Bool {
        try connection.run(
            "INSERT OR IGNORE INTO used_signatures(key, mark, until) VALUES (?, ?, ?)",
            [.text(id), .blob(mark), .integer(end)]) > 0
    }

    func removeSignatures(before milliseconds: Int64, limit: Int) throws {
        try connection.run(
            """
            DELETE FROM used_signatures WHERE (key, mark) IN (
                SELECT key, mark FROM used_signatures WHERE until < ? ORDER BY until LIMIT ?)
            """, [.integer(milliseconds), SQLiteValue(limit)])
    }

    func revokeServerKey(_ id: String, at milliseconds: Int64) throws -> Bool {
        try connection.run(
            "UPDATE server_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
            [.integer(milliseconds), .text(id)]) > 0
    }
}
