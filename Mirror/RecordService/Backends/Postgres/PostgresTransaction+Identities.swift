internal import PostgresDriver

/// Rows of who users are at providers.
extension PostgresTransaction {
    func identity(issuer: String, subject: String) throws -> String? {
        try first(
            "SELECT user_name FROM user_identities WHERE issuer = $1 AND subject = $2",
            [.name(issuer), .name(subject)]
        ) { $0.text(at: 0) }
    }

    func hasIdentity(of user: String, issuer: String) throws -> Bool {
        try isThere(
            "SELECT 1 FROM user_identities WHERE user_name = $1 AND issuer = $2",
            [.name(user), .name(issuer)])
    }

    func addIdentity(
        issuer: String, subject: String, of user: String, at milliseconds: Int64
    ) throws {
        try connection.send(
            """
            INSERT INTO user_identities(issuer, subject, user_name, created_at)
            VALUES ($1, $2, $3, $4)
            ON CONFLICT (issuer, subject) DO UPDATE SET user_name = excluded.user_name
            """, [.name(issuer), .name(subject), .name(user), .integer(milliseconds)])
    }

    func removeIdentities(of user: String) throws -> Bool {
        try isThere(
            "DELETE FROM user_identities WHERE user_name = $1 RETURNING 1", [.name(user)])
    }
}
