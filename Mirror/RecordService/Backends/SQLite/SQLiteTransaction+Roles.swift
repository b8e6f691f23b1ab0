internal import SQLiteDriver

/// Rows of roles.
extension SQLiteTransaction {
    static let roleTables = """
        CREATE TABLE IF NOT EXISTS role_grants(
            container TEXT NOT NULL, record_type TEXT NOT NULL, role TEXT NOT NULL,
            creates INTEGER NOT NULL, reads INTEGER NOT NULL, writes INTEGER NOT NULL,
            PRIMARY KEY (container, record_type, role)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS role_members(
            container TEXT NOT NULL, user TEXT NOT NULL, role TEXT NOT NULL,
            PRIMARY KEY (container, user, role)) WITHOUT ROWID;
        """

    private static let grantColumns = "record_type, role, creates, reads, writes"

    private static func roleGrant(_ row: Statement) -> RoleGrantRow {
        RoleGrantRow(
            recordType: row.text(at: 0) ?? "", role: row.text(at: 1) ?? "",
            creates: row.int64(at: 2) != 0, reads: row.int64(at: 3) != 0,
            writes: row.int64(at: 4) != 0)
    }

    func roleGrants(container: String) throws -> [RoleGrantRow] {
        try all(
            """
            SELECT \(Self.grantColumns) FROM role_grants WHERE container = ?
            ORDER BY record_type, role
            """, [.text(container)], Self.roleGrant)
    }

    func roleGrants(of recordType: String, container: String) throws -> [RoleGrantRow] {
        try all(
            """
            SELECT \(Self.grantColumns) FROM role_grants
            WHERE container = ? AND record_type = ? ORDER BY role
            """, [.text(container), .text(recordType)], Self.roleGrant)
    }

    func save(_ grant: RoleGrantRow, container: String) throws {
        try connection.run(
            """
            INSERT OR REPLACE INTO role_grants(container, \(Self.grantColumns))
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                .text(container), .text(grant.recordType), .text(grant.role),
                SQLiteValue(grant.creates), SQLiteValue(grant.reads), SQLiteValue(grant.writes),
            ])
    }

    func removeRoleGrants(of recordType: String, container: String) throws -> Bool {
        try connection.run(
            "DELETE FROM role_grants WHERE container = ? AND record_type = ?",
            [.text(container), .text(recordType)]) > 0
    }

    func roleMembers(container: String) throws -> [(role: String, user: String)] {
        try all(
            "SELECT role, user FROM role_members WHERE container = ? ORDER BY role, user",
            [.text(container)]
        ) { (role: $0.text(at: 0) ?? "", user: $0.text(at: 1) ?? "") }
    }

    func roles(of user: String, container: String) throws -> [String] {
        try all(
            "SELECT role FROM role_members WHERE container = ? AND user = ? ORDER BY role",
            [.text(container), .text(user)]
        ) { $0.text(at: 0) ?? "" }
    }

    func addRole(_ role: String, to user: String, container: String) throws {
        try connection.run(
            "INSERT OR REPLACE INTO role_members(container, user, role) VALUES (?, ?, ?)",
            [.text(container), .text(user), .text(role)])
    }

    func removeRole(_ role: String, from user: String, container: String) throws -> Bool {
        try connection.run(
            "DELETE FROM role_members WHERE container = ? AND user = ? AND role = ?",
            [.text(container), .text(user), .text(role)]) > 0
    }
}
