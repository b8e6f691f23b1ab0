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
        try addFile(ofContainer: name)
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

    static let tokenLifeTable = """
        CREATE TABLE IF NOT EXISTS token_lives(
            token TEXT PRIMARY KEY, life INTEGER NOT NULL, ends_at INTEGER NOT NULL,
            former_hash BLOB, seed BLOB, former_until INTEGER) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS forgotten_tokens(one INTEGER PRIMARY KEY);
        """

    private static let tokenColumns =
        "id, kind, container, user, label, created_at, revoked_at, hash"
    private static let tokensWithUses = """
        SELECT \(tokenColumns), used_at, life, ends_at, former_hash, seed, former_until FROM tokens
        LEFT JOIN token_uses u ON u.token = id LEFT JOIN token_lives l ON l.token = id
        """

    private static func life(_ row: Statement) -> TokenLife? {
        guard !row.isNull(at: 9) else { return nil }
        var life = TokenLife(milliseconds: row.int64(at: 9), endsAt: row.int64(at: 10))
        if let hash = row.blob(at: 11), let seed = row.blob(at: 12) {
            life.former = TokenLife.Former(hash: hash, seed: seed, until: row.int64(at: 13))
        }
        return life
    }

    private static func token(_ row: Statement) -> TokenRow {
        let life = life(row)
        return TokenRow(
            description: TokenDescription(
                id: row.text(at: 0) ?? "",
                kind: row.text(at: 1).flatMap(TokenDescription.Kind.init) ?? .user,
                container: row.text(at: 2), userRecordName: row.text(at: 3),
                label: row.text(at: 4) ?? "", createdAt: row.int64(at: 5),
                revokedAt: row.isNull(at: 6) ? nil : row.int64(at: 6), expiresAt: life?.endsAt,
                lastUsedAt: row.isNull(at: 8) ? nil : row.int64(at: 8)),
            hash: row.blob(at: 7) ?? Data(), life: life)
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
        try saveLife(of: token)
    }

    func renew(_ token: TokenRow, from hash: Data) throws -> Bool {
        let isThere =
            try connection.run(
                "UPDATE tokens SET hash = ? WHERE id = ? AND hash = ?",
                [.blob(token.hash), .text(token.description.id), .blob(hash)]) > 0
        if isThere { try saveLife(of: token) }
        return isThere
    }

    private func saveLife(of token: TokenRow) throws {
        guard let life = token.life else { return }
        try connection.run(
            """
            INSERT OR REPLACE INTO token_lives(
                token, life, ends_at, former_hash, seed, former_until) VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                .text(token.description.id), .integer(life.milliseconds), .integer(life.endsAt),
                life.former.map { .blob($0.hash) } ?? .null,
                life.former.map { .blob($0.seed) } ?? .null, SQLiteValue(life.former?.until),
            ])
    }

    func revokeToken(_ id: String, at milliseconds: Int64) throws -> Bool {
        try connection.run(
            "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
            [.integer(milliseconds), .text(id)]) > 0
    }

    func removeTokens(goneBefore milliseconds: Int64, limit: Int) throws -> Int {
        let gone = try all(
            """
            SELECT id FROM tokens LEFT JOIN token_lives l ON l.token = id
            WHERE revoked_at < ?1 OR ends_at < ?1 LIMIT ?2
            """, [.integer(milliseconds), SQLiteValue(limit)]
        ) { $0.text(at: 0) ?? "" }
        for id in gone {
            for statement in [
                "DELETE FROM tokens WHERE id = ?", "DELETE FROM token_uses WHERE token = ?",
                "DELETE FROM token_lives WHERE token = ?",
            ] {
                try connection.run(statement, [.text(id)])
            }
        }
        if !gone.isEmpty {
            try connection.run("INSERT OR IGNORE INTO forgotten_tokens(one) VALUES (1)")
        }
        return gone.count
    }

    func hasForgottenTokens() throws -> Bool {
        try first("SELECT 1 FROM forgotten_tokens", []) { _ in true } ?? false
    }

    func noteUse(ofToken id: String, at milliseconds: Int64) throws {
        try connection.run(
            """
            INSERT INTO token_uses(token, used_at) VALUES (?, ?)
            ON CONFLICT (token) DO UPDATE SET used_at = max(used_at, excluded.used_at)
            """, [.text(id), .integer(milliseconds)])
    }
}
