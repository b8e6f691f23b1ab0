internal import Foundation
internal import SQLiteDriver

/// Rows of containers, users and tokens.
extension SQLiteTransaction {
    func containers() throws -> [String] {
        try all("SELECT name FROM containers ORDER BY name") { $0.text(at: 0) ?? "" }
    }

    func hasContainer(_ name: String) throws -> Bool {
        try first("SELECT 1 FROM containers WHERE name = ?", [.text(name)]) { _ in true } ?? false
    }

    func addContainer(_ name: String, at milliseconds: Int64) throws {
        try connection.run(
            "INSERT INTO containers(name, created_at) VALUES (?, ?)",
            [.text(name), .integer(milliseconds)])
    }

    func users() throws -> [ServiceUser] {
        try all("SELECT record_name, label FROM users ORDER BY record_name") {
            ServiceUser(userRecordName: $0.text(at: 0) ?? "", label: $0.text(at: 1) ?? "")
        }
    }

    func add(_ user: ServiceUser, at milliseconds: Int64) throws {
        try connection.run(
            "INSERT INTO users(record_name, label, created_at) VALUES (?, ?, ?)",
            [.text(user.userRecordName), .text(user.label), .integer(milliseconds)])
    }

    static let tokenUseTable = """
        CREATE TABLE IF NOT EXISTS token_uses(
            token TEXT PRIMARY KEY, used_at INTEGER NOT NULL) WITHOUT ROWID;
        """

    private static let tokenColumns =
        "id, kind, container, user, label, created_at, revoked_at, hash"
    private static let tokensWithUses =
        "SELECT \(tokenColumns), used_at FROM tokens LEFT JOIN token_uses ON token = id"

    private static func token(_ row: Statement) -> TokenRow {
        TokenRow(
            description: TokenDescription(
                id: row.text(at: 0) ?? "",
                kind: row.text(at: 1).flatMap(TokenDescription.Kind.init) ?? .user,
                container: row.text(at: 2), userRecordName: row.text(at: 3),
                label: row.text(at: 4) ?? "", createdAt: row.int64(at: 5),
                revokedAt: row.isNull(at: 6) ? nil : row.int64(at: 6),
                lastUsedAt: row.isNull(at: 8) ? nil : row.int64(at: 8)),
            hash: row.blob(at: 7) ?? Data())
    }

    func tokens() throws -> [TokenRow] {
        try all("\(Self.tokensWithUses) ORDER BY created_at, id", [], Self.token)
    }

    func token(_ id: String) throws -> TokenRow? {
        try first(
            "\(Self.tokensWithUses) WHERE id = ?", [.text(id)], Self.token)
    }

    func add(_ token: TokenRow) throws {
        let description = token.description
        try connection.run(
            "INSERT INTO tokens(\(Self.tokenColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                .text(description.id), .text(description.kind.rawValue),
                SQLiteValue(description.container), SQLiteValue(description.userRecordName),
                .text(description.label), .integer(description.createdAt),
                SQLiteValue(description.revokedAt), .blob(token.hash),
            ])
    }

    func revokeToken(_ id: String, at milliseconds: Int64) throws -> Bool {
        try connection.run(
            "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
            [.integer(milliseconds), .text(id)]) > 0
    }

    func noteUse(ofToken id: String, at milliseconds: Int64) throws {
        try connection.run(
            """
            INSERT INTO token_uses(token, used_at) VALUES (?, ?)
            ON CONFLICT (token) DO UPDATE SET used_at = max(used_at, excluded.used_at)
            """, [.text(id), .integer(milliseconds)])
    }
}
