internal import PostgresDriver

/// Rows of passwords.
extension PostgresTransaction {
    private static let passwordColumns = "user_name, name, salt, hash, n, r, p, changed_at"

    private static func password(_ row: PostgresRow) -> PasswordRow {
        PasswordRow(
            user: row.text(at: 0), name: row.text(at: 1),
            hash: PasswordHash(
                salt: row.data(at: 2), hash: row.data(at: 3),
                cost: PasswordCost(n: row.int64(at: 4), r: row.int64(at: 5), p: row.int64(at: 6))),
            changedAt: row.int64(at: 7))
    }

    func passwords() throws -> [PasswordRow] {
        try all("SELECT \(Self.passwordColumns) FROM user_passwords ORDER BY user_name") {
            Self.password($0)
        }
    }

    func password(named name: String) throws -> PasswordRow? {
        try first(
            "SELECT \(Self.passwordColumns) FROM user_passwords WHERE name = $1", [.name(name)],
            Self.password)
    }

    func password(of user: String) throws -> PasswordRow? {
        try first(
            "SELECT \(Self.passwordColumns) FROM user_passwords WHERE user_name = $1",
            [.name(user)], Self.password)
    }

    func save(_ password: PasswordRow) throws {
        let hash = password.hash
        try connection.send(
            """
            INSERT INTO user_passwords(\(Self.passwordColumns))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (user_name) DO UPDATE SET name = excluded.name, salt = excluded.salt,
                hash = excluded.hash, n = excluded.n, r = excluded.r, p = excluded.p,
                changed_at = excluded.changed_at
            """,
            [
                .name(password.user), .name(password.name), .bytes(hash.salt), .bytes(hash.hash),
                .integer(hash.cost.n), .integer(hash.cost.r), .integer(hash.cost.p),
                .integer(password.changedAt),
            ])
    }

    func removePassword(of user: String) throws -> Bool {
        try isThere(
            "DELETE FROM user_passwords WHERE user_name = $1 RETURNING 1", [.name(user)])
    }
}
