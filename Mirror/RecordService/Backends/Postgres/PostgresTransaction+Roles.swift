internal import PostgresDriver
internal import RecordWire

/// Rows of roles, profiles and schemas.
extension PostgresTransaction {
    private static let grantColumns = "record_type, role, creates, reads, writes"

    private static func roleGrant(_ row: PostgresRow) -> RoleGrantRow {
        RoleGrantRow(
            recordType: row.text(at: 0), role: row.text(at: 1), creates: row.bool(at: 2),
            reads: row.bool(at: 3), writes: row.bool(at: 4))
    }

    func roleGrants(container: String) throws -> [RoleGrantRow] {
        try all(
            """
            SELECT \(Self.grantColumns) FROM role_grants WHERE container = $1
            ORDER BY record_type, role
            """, [.name(container)], Self.roleGrant)
    }

    func roleGrants(of recordType: String, container: String) throws -> [RoleGrantRow] {
        try all(
            """
            SELECT \(Self.grantColumns) FROM role_grants
            WHERE container = $1 AND record_type = $2 ORDER BY role
            """, [.name(container), .name(recordType)], Self.roleGrant)
    }

    func save(_ grant: RoleGrantRow, container: String) throws {
        try connection.send(
            """
            INSERT INTO role_grants(container, \(Self.grantColumns))
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (container, record_type, role) DO UPDATE SET
                creates = excluded.creates, reads = excluded.reads, writes = excluded.writes
            """,
            [
                .name(container), .name(grant.recordType), .name(grant.role),
                .boolean(grant.creates), .boolean(grant.reads), .boolean(grant.writes),
            ])
    }

    func removeRoleGrants(of recordType: String, container: String) throws -> Bool {
        try isThere(
            "DELETE FROM role_grants WHERE container = $1 AND record_type = $2 RETURNING 1",
            [.name(container), .name(recordType)])
    }

    func roleMembers(container: String) throws -> [(role: String, user: String)] {
        try all(
            """
            SELECT role, user_name FROM role_members WHERE container = $1
            ORDER BY role, user_name
            """, [.name(container)]
        ) { (role: $0.text(at: 0), user: $0.text(at: 1)) }
    }

    func roles(of user: String, container: String) throws -> [String] {
        try all(
            "SELECT role FROM role_members WHERE container = $1 AND user_name = $2 ORDER BY role",
            [.name(container), .name(user)]
        ) { $0.text(at: 0) }
    }

    func addRole(_ role: String, to user: String, container: String) throws {
        try connection.send(
            """
            INSERT INTO role_members(container, user_name, role) VALUES ($1, $2, $3)
            ON CONFLICT (container, user_name, role) DO NOTHING
            """, [.name(container), .name(user), .name(role)])
    }

    func removeRole(_ role: String, from user: String, container: String) throws -> Bool {
        try isThere(
            """
            DELETE FROM role_members WHERE container = $1 AND user_name = $2 AND role = $3
            RETURNING 1
            """, [.name(container), .name(user), .name(role)])
    }

    // MARK: Profiles

    private static let profileColumns =
        "user_name, email, given_name, family_name, discoverable"

    private static func profile(_ row: PostgresRow) -> ProfileRow {
        ProfileRow(
            user: row.text(at: 0), emailAddress: row.textIfAny(at: 1),
            givenName: row.textIfAny(at: 2), familyName: row.textIfAny(at: 3),
            isDiscoverable: row.bool(at: 4))
    }

    func profile(of user: String) throws -> ProfileRow? {
        try first(
            "SELECT \(Self.profileColumns) FROM profiles WHERE user_name = $1", [.name(user)],
            Self.profile)
    }

    func profile(emailAddress: String) throws -> ProfileRow? {
        try first(
            "SELECT \(Self.profileColumns) FROM profiles WHERE email = $1", [.name(emailAddress)],
            Self.profile)
    }

    func save(_ profile: ProfileRow) throws {
        try connection.send(
            """
            INSERT INTO profiles(\(Self.profileColumns)) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (user_name) DO UPDATE SET email = excluded.email,
                given_name = excluded.given_name, family_name = excluded.family_name,
                discoverable = excluded.discoverable
            """,
            [
                .name(profile.user), PostgresValue(nameOf: profile.emailAddress),
                PostgresValue(nameOf: profile.givenName),
                PostgresValue(nameOf: profile.familyName), .boolean(profile.isDiscoverable),
            ])
    }

    // MARK: Schemas

    func schemaText(container: String, environment: String) throws -> String? {
        try first(
            "SELECT body FROM schemas WHERE container = $1 AND environment = $2",
            [.name(container), .name(environment)], of: "schemas"
        ) { $0.text(at: 0) }
    }

    func saveSchema(_ text: String, container: String, environment: String) throws {
        try connection.send(
            """
            INSERT INTO schemas(container, environment, body) VALUES ($1, $2, $3)
            ON CONFLICT (container, environment) DO UPDATE SET body = excluded.body
            """, [.name(container), .name(environment), .name(text)])
    }

    func countUses(
        of field: FieldKey, container: String, environment: String
    ) throws -> FieldHolders {
        try first(
            """
            SELECT coalesce(sum(f.records), 0)::bigint, count(*)
            FROM field_uses f JOIN databases d ON d.id = f.database
            WHERE d.container = $1 AND d.environment = $2 AND f.record_type = $3 AND f.field = $4
            """,
            [
                .name(container), .name(environment), .name(field.recordType.text),
                .name(field.field.text),
            ]
        ) { FieldHolders(records: Int($0.int64(at: 0)), databases: Int($0.int64(at: 1))) }
            ?? FieldHolders()
    }

    func usedFields(
        container: String, environment: String, limit: Int
    ) throws -> [(key: FieldKey, type: String)] {
        try all(
            """
            SELECT DISTINCT f.record_type, f.field, f.type
            FROM field_uses f JOIN databases d ON d.id = f.database
            WHERE d.container = $1 AND d.environment = $2
            ORDER BY f.record_type, f.field, f.type LIMIT $3
            """, [.name(container), .name(environment), PostgresValue(limit)]
        ) { (FieldKey($0.text(at: 1), of: $0.text(at: 0)), $0.text(at: 2)) }
    }

    func fieldUses(in database: Int64, limit: Int) throws -> [(FieldKey, FieldUse)] {
        try all(
            """
            SELECT record_type, field, type, records FROM field_uses
            WHERE database = $1 ORDER BY record_type, field LIMIT $2
            """, [.integer(database), PostgresValue(limit)]
        ) {
            (
                FieldKey($0.text(at: 1), of: $0.text(at: 0)),
                FieldUse(type: $0.text(at: 2), records: $0.int64(at: 3))
            )
        }
    }
}
