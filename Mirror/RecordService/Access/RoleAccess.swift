internal import RecordWire

/// The roles that every container has.
enum StandardRole {
    /// Everybody, also who is not signed in.
    static let world = "_world"
    /// Who is signed in.
    static let icloud = "_icloud"
    /// Who made the record.
    static let creator = "_creator"

    static let names = [world, icloud, creator]
}

/// What a caller may do in a public database: by the grants of the record type, or by the service's
/// own rules for types that have none.
final class RoleAccess: RecordAccess {
    private let rules: PublicAccess
    private let user: String
    private let roles: Set<String>
    private let grants: [ExactName: [RoleGrantRow]]
    let seesAll: Bool

    init(
        _ rules: PublicAccess, user: String, container: String,
        _ transaction: any BackendTransaction
    ) throws {
        self.rules = rules
        self.user = user
        let all = try transaction.roleGrants(container: container)
        grants = Dictionary(grouping: all) { ExactName($0.recordType) }
        var roles: Set = [StandardRole.world]
        if !user.isEmpty { roles.insert(StandardRole.icloud) }
        if !user.isEmpty, !all.isEmpty {
            roles.formUnion(try transaction.roles(of: user, container: container))
        }
        self.roles = roles
        seesAll = grants.values.allSatisfy { $0.contains { $0.reads && roles.contains($0.role) } }
    }

    /// It is another when other records are seen than before, and the same at all services.
    var view: HiddenView? {
        get throws {
            let types = grants.keys.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
            let hidden = types.compactMap { type -> (name: String, butOwn: Bool)? in
                guard allows(\.reads, type.text, isCreator: false) == false else { return nil }
                let ofOwn = allows(\.reads, type.text, isCreator: !user.isEmpty) == true
                return (type.text, ofOwn)
            }
            return try HiddenView(hiding: hidden, from: user)
        }
    }

    func sees(_ row: RecordRow) -> Bool {
        seesAll
            || !hasLostType(row)
                && allows(\.reads, row.type, isCreator: isCreator(of: row)) ?? true
    }

    /// Of a record that a damaged file lost nobody knows the type, nor who may do what with it.
    private func hasLostType(_ row: RecordRow) -> Bool { row.type.isEmpty && !row.isDeleted }

    func check(_ operation: RecordOperation, on row: RecordRow?) throws {
        let record = operation.record
        for case .encrypted? in record.fields.values {
            throw RecordError(
                .badRequest, "Encrypted fields are not supported in the public database.")
        }
        if let row {
            try checkType(of: row)
            let isCreator = isCreator(of: row)
            let writes =
                allows(\.writes, row.type, isCreator: isCreator)
                ?? (rules.usersWrite || isCreator || row.created.userRecordName == nil)
            guard writes, sees(row) else {
                throw RecordError(
                    .accessDenied,
                    "The record is another user's, and your roles do not let you change or delete "
                        + "records of its type.")
            }
        }
        if row == nil || row?.isDeleted == true { try checkUsersName(record.recordName) }
        guard row == nil || row?.isDeleted == true, operation.kind.mayCreate else {
            return try checkTombstone(operation, row)
        }
        guard allows(\.creates, record.recordType, isCreator: true) ?? rules.usersCreate else {
            throw RecordError(
                .accessDenied, "Your roles do not let you make records of this type.")
        }
    }

    /// A record that is called as a user is looked up as that user's: nobody else makes it or
    /// closes its name.
    private func checkUsersName(_ name: String) throws {
        guard !name.isExactly(user), ServiceUser.isRecordName(name) else { return }
        throw RecordError(
            .accessDenied, "The name is that of a user, who alone may make a record of this name.")
    }

    private func checkType(of row: RecordRow) throws {
        guard !hasLostType(row) || grants.isEmpty && rules.usersWrite else {
            throw RecordError(
                .accessDenied,
                "Whose record it is was lost with a damaged file; nobody may change it.")
        }
    }

    /// Who may make no records closes no names either.
    private func checkTombstone(_ operation: RecordOperation, _ row: RecordRow?) throws {
        guard row == nil, operation.kind == .forceDelete else { return }
        let type = operation.record.recordType
        guard allows(\.creates, type, isCreator: true) ?? rules.usersCreate else {
            throw RecordError(.accessDenied, "Your roles do not let you make or close this name.")
        }
    }

    private func isCreator(of row: RecordRow) -> Bool {
        !user.isEmpty && row.created.userRecordName == user
    }

    /// nil where nothing is granted for the type.
    private func allows(
        _ right: KeyPath<RoleGrantRow, Bool>, _ recordType: String, isCreator: Bool
    ) -> Bool? {
        grants[ExactName(recordType)]?.contains { grant in
            guard grant[keyPath: right] else { return false }
            return roles.contains(grant.role)
                || isCreator && grant.role.isExactly(StandardRole.creator)
        }
    }
}
