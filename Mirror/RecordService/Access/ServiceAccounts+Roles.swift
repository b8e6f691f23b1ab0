internal import Platform
public import RecordWire

/// What a role allows with the records of one type in a container's public databases.
public struct RoleGrant: Hashable, Sendable {
    public var recordType: String
    /// `_world`, `_icloud`, `_creator` or a role of the container's own.
    public var role: String
    public var creates: Bool
    public var reads: Bool
    public var writes: Bool

    public init(
        recordType: String, role: String, creates: Bool = false, reads: Bool = false,
        writes: Bool = false
    ) {
        self.recordType = recordType
        self.role = role
        self.creates = creates
        self.reads = reads
        self.writes = writes
    }
}

/// A user's role.
public struct RoleMember: Hashable, Sendable {
    public var role: String
    public var userRecordName: String

    public init(role: String, userRecordName: String) {
        self.role = role
        self.userRecordName = userRecordName
    }
}

/// Roles and what they allow. As soon as a record type has one grant, what is not granted for it is
/// refused; before, `PublicAccess` decides. A running service knows of changes at once.
extension ServiceAccounts {
    private static let nameBytesMax = 255

    /// All grants of a container by type and role. Throws NOT_FOUND when there is no such
    /// container.
    public func grants(container: String) throws(RecordError) -> [RoleGrant] {
        try requireContainer(container)
        return try backend.read(.container(container)) { try $0.roleGrants(container: container) }
            .map {
                RoleGrant(
                    recordType: $0.recordType, role: $0.role, creates: $0.creates, reads: $0.reads,
                    writes: $0.writes)
            }
    }

    /// Keeps what a role may do with a type, in the place of what it could. Throws NOT_FOUND for an
    /// unknown container, BAD_REQUEST for a name that is none, and for `_world` where it would
    /// write: nobody is signed in then.
    public func setGrant(_ grant: RoleGrant, container: String) throws(RecordError) {
        try requireContainer(container)
        try check(grant.recordType)
        if !StandardRole.names.contains(grant.role) { try checkRole(grant.role) }
        guard grant.role != StandardRole.world || !grant.creates && !grant.writes else {
            throw RecordError(
                .badRequest, "_world can only read; grant creating and writing to _icloud.")
        }
        try backend.write(.container(container)) {
            try $0.save(
                RoleGrantRow(
                    recordType: grant.recordType, role: grant.role, creates: grant.creates,
                    reads: grant.reads, writes: grant.writes), container: container)
        }
        tellAccessChanged()
        try audit?.note(
            .grantChanged, grant.recordType,
            [
                "container": container, "role": grant.role, "creates": "\(grant.creates)",
                "reads": "\(grant.reads)", "writes": "\(grant.writes)",
            ])
    }

    /// Lets `PublicAccess` decide of a type again. Throws NOT_FOUND where nothing was granted.
    public func removeGrants(
        recordType: String, container: String
    ) throws(RecordError) {
        try requireContainer(container)
        guard
            try backend.write(
                .container(container),
                {
                    try $0.removeRoleGrants(of: recordType, container: container)
                })
        else { throw RecordError(.notFound, "Nothing is granted for \(recordType).") }
        tellAccessChanged()
        try audit?.note(.grantChanged, recordType, ["container": container, "role": "none"])
    }

    /// The users who have roles, by role. Throws NOT_FOUND when there is no such container.
    public func roleMembers(container: String) throws(RecordError) -> [RoleMember] {
        try requireContainer(container)
        return try backend.read(.container(container)) { try $0.roleMembers(container: container) }
            .map {
                RoleMember(role: $0.role, userRecordName: $0.user)
            }
    }

    /// Gives a user a role of the container's own. Throws NOT_FOUND for an unknown container or
    /// user, BAD_REQUEST for a role that every container has.
    public func addRole(
        _ role: String, to userRecordName: String, container: String
    ) throws(RecordError) {
        try requireContainer(container)
        try checkRole(role)
        guard try users().contains(where: { $0.userRecordName == userRecordName }) else {
            throw RecordError(.notFound, "There is no user \(userRecordName); create one first.")
        }
        try backend.write(.container(container)) {
            try $0.addRole(role, to: userRecordName, container: container)
        }
        tellAccessChanged()
        try audit?.note(
            .roleChanged, userRecordName, ["container": container, "given": role])
    }

    /// Takes a role away. Throws NOT_FOUND where the user does not have it.
    public func removeRole(
        _ role: String, from userRecordName: String, container: String
    ) throws(RecordError) {
        try requireContainer(container)
        guard
            try backend.write(
                .container(container),
                {
                    try $0.removeRole(role, from: userRecordName, container: container)
                })
        else { throw RecordError(.notFound, "\(userRecordName) does not have the role \(role).") }
        tellAccessChanged()
        try audit?.note(
            .roleChanged, userRecordName, ["container": container, "taken": role])
    }

    /// A name as schemas have it: a letter, then letters, digits and underscores.
    private func checkRole(_ role: String) throws(RecordError) {
        let isName =
            role.utf8.first.map { (0x41...0x5A).contains($0 & 0xDF) } == true
            && role.utf8.allSatisfy {
                (0x41...0x5A).contains($0 & 0xDF) || (0x30...0x39).contains($0) || $0 == 0x5F
            }
        guard isName, role.utf8.count <= Self.nameBytesMax else {
            throw RecordError(
                .badRequest,
                "A role of your own begins with a letter and has letters, digits and underscores; "
                    + "those of every container are \(StandardRole.names.joined(separator: ", ")).")
        }
    }

    private func check(_ recordType: String) throws(RecordError) {
        guard !recordType.isEmpty, recordType.utf8.count <= Self.nameBytesMax else {
            throw RecordError(
                .badRequest, "A record type has 1 to \(Self.nameBytesMax) bytes.")
        }
    }
}
