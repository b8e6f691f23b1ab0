internal import SQLiteDriver

/// Rows of who users are at providers.
extension SQLiteTransaction {
    static let identityTable = """
        CREATE TABLE IF NOT EXISTS user_identities(
            issuer TEXT NOT NULL, subject TEXT NOT NULL, user TEXT NOT NULL,
            created_at INTEGER NOT NULL, PRIMARY KEY (issuer, subject)) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS user_identities_by_user ON user_identities(user);
        """

    func identity(issuer: String, subject: String) throws -> String? {
        try first(
            "SELECT user FROM user_identities WHERE issuer = ? AND subject = ?",
            [.text(issuer), .text(subject)]
        ) { $0.text(at: 0) } ?? nil
    }

    func hasIdentity(of user: String, issuer: String) throws -> Bool {
        try first(
            "SELECT 1 FROM user_identities WHERE user = ? AND issuer = ?",
            [.text(user), .text(issuer)]
        ) { _ in true } ?? false
    }

    func addIdentity(
        issuer: String, subject: String, of user: String, at milliseconds: Int64
    ) throws {
        try connection.run(
            """
            INSERT OR REPLACE INTO user_identities(issuer, subject, user, created_at)
            VALUES (?, ?, ?, ?)
            """, [.text(issuer), .text(subject), .text(user), .integer(milliseconds)])
    }

    func removeIdentities(of user: String) throws -> Bool {
        try connection.run("DELETE FROM user_identities WHERE user = ?", [.text(user)]) > 0
    }
}
