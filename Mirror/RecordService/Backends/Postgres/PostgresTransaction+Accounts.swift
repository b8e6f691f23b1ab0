internal import Foundation
internal import PostgresDriver

/// Rows of containers, users and tokens, and what they hold.
extension PostgresTransaction {
    func containers() throws -> [String] {
        try all("SELECT name FROM containers ORDER BY name") { $0.text(at: 0) }
    }

    func hasContainer(_ name: String) throws -> Bool {
        try isThere("SELECT 1 FROM containers WHERE name = $1", [.name(name)])
    }

    func addContainer(_ name: String, at milliseconds: Int64) throws {
        try connection.send(
            "INSERT INTO containers(name, created_at) VALUES ($1, $2)",
            [.name(name), .integer(milliseconds)])
    }

    func users() throws -> [ServiceUser] {
        try all("SELECT record_name, label FROM users ORDER BY record_name") {
            ServiceUser(userRecordName: $0.text(at: 0), label: $0.text(at: 1))
        }
    }

    func add(_ user: ServiceUser, at milliseconds: Int64) throws {
        try connection.send(
            "INSERT INTO users(record_name, label, created_at) VALUES ($1, $2, $3)",
            [.name(user.userRecordName), .name(user.label), .integer(milliseconds)])
    }

    // MARK: Tokens

    private static let tokenColumns =
        "id, kind, container, user_name, label, created_at, revoked_at, hash"

    private static let tokensWithUses = """
        SELECT \(tokenColumns), used_at, life, ends_at, former_hash, seed, former_until FROM tokens
        LEFT JOIN token_uses u ON u.token = id LEFT JOIN token_lives l ON l.token = id
        """

    private static func life(_ row: PostgresRow) -> TokenLife? {
        guard !row.isNull(at: 9) else { return nil }
        var life = TokenLife(milliseconds: row.int64(at: 9), endsAt: row.int64(at: 10))
        if !row.isNull(at: 11) {
            life.former = TokenLife.Former(
                hash: row.data(at: 11), seed: row.data(at: 12), until: row.int64(at: 13))
        }
        return life
    }

    private static func token(_ row: PostgresRow) -> TokenRow {
        let life = life(row)
        return TokenRow(
            description: TokenDescription(
                id: row.text(at: 0),
                kind: TokenDescription.Kind(rawValue: row.text(at: 1)) ?? .user,
                container: row.textIfAny(at: 2), userRecordName: row.textIfAny(at: 3),
                label: row.text(at: 4), createdAt: row.int64(at: 5),
                revokedAt: row.isNull(at: 6) ? nil : row.int64(at: 6), expiresAt: life?.endsAt,
                lastUsedAt: row.isNull(at: 8) ? nil : row.int64(at: 8)),
            hash: row.data(at: 7), life: life)
    }

    func tokens() throws -> [TokenRow] {
        try all("\(Self.tokensWithUses) ORDER BY created_at, id", [], Self.token)
    }

    func token(_ id: String) throws -> TokenRow? {
        try first(
            "\(Self.tokensWithUses) WHERE id = $1", [.name(id)], Self.token)
    }

    func add(_ token: TokenRow) throws {
        let description = token.description
        try connection.send(
            """
            INSERT INTO tokens(\(Self.tokenColumns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """,
            [
                .name(description.id), .name(description.kind.rawValue),
                PostgresValue(nameOf: description.container),
                PostgresValue(nameOf: description.userRecordName), .name(description.label),
                .integer(description.createdAt), PostgresValue(description.revokedAt),
                .bytes(token.hash),
            ])
        try saveLife(of: token)
    }

    func renew(_ token: TokenRow, from hash: Data) throws -> Bool {
        let isThere = try isThere(
            "UPDATE tokens SET hash = $1 WHERE id = $2 AND hash = $3 RETURNING 1",
            [.bytes(token.hash), .name(token.description.id), .bytes(hash)])
        if isThere { try saveLife(of: token) }
        return isThere
    }

    private func saveLife(of token: TokenRow) throws {
        guard let life = token.life else { return }
        try connection.send(
            """
            INSERT INTO token_lives(token, life, ends_at, former_hash, seed, former_until)
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (token) DO UPDATE SET
                life = excluded.life, ends_at = excluded.ends_at,
                former_hash = excluded.former_hash, seed = excluded.seed,
                former_until = excluded.former_until
            """,
            [
                .name(token.description.id), .integer(life.milliseconds), .integer(life.endsAt),
                life.former.map { .bytes($0.hash) } ?? .null,
                life.former.map { .bytes($0.seed) } ?? .null, PostgresValue(life.former?.until),
            ])
    }

    func revokeToken(_ id: String, at milliseconds: Int64) throws -> Bool {
        try isThere(
            "UPDATE tokens SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL RETURNING 1",
            [.integer(milliseconds), .name(id)])
    }

    func removeTokens(goneBefore milliseconds: Int64, limit: Int) throws -> Int {
        let gone = try all(
            """
            SELECT id FROM tokens LEFT JOIN token_lives l ON l.token = id
            WHERE revoked_at < $1 OR ends_at < $1 LIMIT $2
            """, [.integer(milliseconds), .integer(Int64(limit))]
        ) { $0.text(at: 0) }
        for id in gone {
            for statement in [
                "DELETE FROM tokens WHERE id = $1", "DELETE FROM token_uses WHERE token = $1",
                "DELETE FROM token_lives WHERE token = $1",
            ] {
                try connection.send(statement, [.name(id)])
            }
        }
        if !gone.isEmpty {
            try connection.send(
                "INSERT INTO forgotten_tokens(one) VALUES (1) ON CONFLICT (one) DO NOTHING")
        }
        return gone.count
    }

    func hasForgottenTokens() throws -> Bool {
        try first("SELECT 1 FROM forgotten_tokens", []) { _ in true } ?? false
    }

    func noteUse(ofToken id: String, at milliseconds: Int64) throws {
        try connection.send(
            """
            INSERT INTO token_uses(token, used_at) VALUES ($1, $2) ON CONFLICT (token)
            DO UPDATE SET used_at = greatest(token_uses.used_at, excluded.used_at)
            """, [.name(id), .integer(milliseconds)])
    }

    // MARK: Usage

    func usage() throws -> [ContainerUsage] {
        try all(
            """
            SELECT d.container, d.environment, count(DISTINCT d.owner), count(z.id),
                coalesce(sum(r.live), 0)::bigint, coalesce(sum(r.gone), 0)::bigint,
                coalesce(sum(r.bytes), 0)::bigint
            FROM databases d LEFT JOIN zones z
                ON z.database = d.id AND NOT z.deleted AND d.scope <> 'shared'::bytea
            LEFT JOIN (
                SELECT zone, sum(CASE WHEN deleted THEN 0 ELSE 1 END) AS live,
                    sum(CASE WHEN deleted THEN 1 ELSE 0 END) AS gone,
                    sum(octet_length(fields)) AS bytes
                FROM records GROUP BY zone) r ON r.zone = z.id
            GROUP BY d.container, d.environment ORDER BY d.container, d.environment
            """
        ) { row in
            func number(_ column: Int32) -> Int { Int(row.int64(at: column)) }
            return ContainerUsage(
                container: row.text(at: 0), environment: row.text(at: 1), users: number(2),
                zones: number(3), records: number(4), deletions: number(5),
                bytes: row.int64(at: 6))
        }
    }
}
