internal import Foundation
internal import SQLiteDriver

/// Rows of passwords.
extension SQLiteTransaction {
    static let passwordTable = """
        CREATE TABLE IF NOT EXISTS user_passwords(
            user TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, salt BLOB NOT NULL,
            hash BLOB NOT NULL, n INTEGER NOT NULL, r INTEGER NOT NULL, p INTEGER NOT NULL,
            changed_at INTEGER NOT NULL) WITHOUT ROWID;
        """

    private static let passwordColumns = "user, name, salt, hash, n, r, p, changed_at"

    private static func password(_ row: Statement) -> PasswordRow {
        PasswordRow(
            user: row.text(at: 0) ?? "", name: row.text(at: 1) ?? "",
            hash: PasswordHash(
                salt: row.blob(at: 2) ?? Data(), hash: row.blob(at: 3) ?? Data(),
                cost: PasswordCost(n: row.int64(at: 4), r: row.int64(at: 5), p: row.int64(at: 6))),
            changedAt: row.int64(at: 7))
    }

    func passwords() throws -> [PasswordRow] {
        try all("SELECT \(Self.passwordColumns) FROM user_passwords ORDER BY user", []) {
            Self.password($0)
        }
    }

    func password(named name: String) throws -> PasswordRow? {
        try first(
            "SELECT \(Self.passwordColumns) FROM user_passwords WHERE name = ?", [.text(name)],
            Self.password)
    }

    func password(of user: String) throws -> PasswordRow? {
        try first(
            "SELECT \(Self.passwordColumns) FROM user_passwords WHERE user = ?", [.text(user)],
            Self.password)
    }

    func save(_ password: PasswordRow) throws {
        let hash = password.hash
        try connection.run(
            """
            INSERT INTO user_passwords(\(Self.passwordColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (user) DO UPDATE SET name = excluded.name, salt = excluded.salt,
                hash = excluded.hash, n = excluded.n, r = excluded.r, p = excluded.p,
                changed_at = excluded.changed_at
            """,
            [
                .text(password.user), .text(password.name), .blob(hash.salt), .blob(hash.hash),
                .integer(hash.cost.n), .integer(hash.cost.r), .integer(hash.cost.p),
                .integer(password.changedAt),
            ])
    }

    func removePassword(of user: String) throws -> Bool {
        try connection.run("DELETE FROM user_passwords WHERE user = ?", [.text(user)]) > 0
    }
}
