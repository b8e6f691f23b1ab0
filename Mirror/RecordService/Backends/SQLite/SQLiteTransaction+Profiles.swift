internal import SQLiteDriver

/// Rows of profiles.
extension SQLiteTransaction {
    static let profileTable = """
        CREATE TABLE IF NOT EXISTS profiles(
            user TEXT PRIMARY KEY, email TEXT, given_name TEXT, family_name TEXT,
            discoverable INTEGER NOT NULL) WITHOUT ROWID;
        CREATE UNIQUE INDEX IF NOT EXISTS profiles_by_email ON profiles(email)
            WHERE email IS NOT NULL;
        """

    private static let profileColumns = "user, email, given_name, family_name, discoverable"

    private static func profile(_ row: Statement) -> ProfileRow {
        ProfileRow(
            user: row.text(at: 0) ?? "", emailAddress: row.text(at: 1),
            givenName: row.text(at: 2), familyName: row.text(at: 3),
            isDiscoverable: row.int64(at: 4) != 0)
    }

    func profile(of user: String) throws -> ProfileRow? {
        try atService {
            try $0.first(
                "SELECT \(Self.profileColumns) FROM profiles WHERE user = ?", [.text(user)],
                Self.profile)
        }
    }

    func profile(emailAddress: String) throws -> ProfileRow? {
        try atService {
            try $0.first(
                "SELECT \(Self.profileColumns) FROM profiles WHERE email = ?",
                [.text(emailAddress)], Self.profile)
        }
    }

    func save(_ profile: ProfileRow) throws {
        try connection.run(
            "INSERT OR REPLACE INTO profiles(\(Self.profileColumns)) VALUES (?, ?, ?, ?, ?)",
            [
                .text(profile.user), SQLiteValue(profile.emailAddress),
                SQLiteValue(profile.givenName), SQLiteValue(profile.familyName),
                SQLiteValue(profile.isDiscoverable),
            ])
    }
}
