internal import RecordService

/// What `diptych service roles` does.
enum RoleDeed {
    static let grant = Option("grant", "ROLE", "roles: let this one do --rights with --type")
    static let type = Option("type", "TYPE", "roles: the record type of --grant")
    static let rights = Option(
        "rights", "RIGHTS", "roles: of create, read and write, with commas; or none")
    static let ungrant = Option("ungrant", "TYPE", "roles: forget what was granted for this one")
    static let give = Option("give", "ROLE", "roles: give this one to --user")
    static let take = Option("take", "ROLE", "roles: take this one from --user")
    static let user = Option("user", "USER", "roles: whom --give and --take mean")
    /// Those of which one decides what is done.
    static let deeds = [grant, ungrant, give, take]
    static let options = [grant, type, rights, ungrant, give, take, user]

    case list
    case grant(RoleGrant)
    case ungrant(String)
    case give(String, user: String)
    case take(String, user: String)

    init(_ arguments: Arguments) throws {
        if let role = arguments.value(Self.grant) {
            var grant = RoleGrant(recordType: try Self.needed(Self.type, arguments), role: role)
            let rights = try Self.needed(Self.rights, arguments)
            for word in rights.split(separator: ",") {
                switch word {
                case "create": grant.creates = true
                case "read": grant.reads = true
                case "write": grant.writes = true
                case "none": continue
                default:
                    throw CommandError(
                        "usage", "--rights cannot be '\(rights)'.",
                        hint: "Write create,read,write, some of them, or none.", status: .usage)
                }
            }
            self = .grant(grant)
        } else if let type = arguments.value(Self.ungrant) {
            self = .ungrant(type)
        } else if let role = arguments.value(Self.give) {
            self = .give(role, user: try Self.needed(Self.user, arguments))
        } else if let role = arguments.value(Self.take) {
            self = .take(role, user: try Self.needed(Self.user, arguments))
        } else {
            self = .list
        }
    }

    private static func needed(_ option: Option, _ arguments: Arguments) throws -> String {
        if let value = arguments.value(option) { return value }
        throw CommandError(
            "usage", "--\(option.name) is missing.", hint: "Write \(option.spelling).",
            status: .usage)
    }

    func perform(
        in container: String, _ accounts: ServiceAccounts, _ report: ServiceReport,
        _ console: Console
    ) throws {
        switch self {
        case .list:
            try report.listRoles(of: container)
        case .grant(let grant):
            try accounts.setGrant(grant, container: container)
            console.did(
                "\(grant.role) may \(grant.rights) records of the type \(grant.recordType).",
                ServiceReport.json(grant))
        case .ungrant(let type):
            try accounts.removeGrants(recordType: type, container: container)
            console.did(
                "For \(type) the service's own rules hold.", ["ungranted": .string(type)])
        case .give(let role, let name):
            let user = try accounts.user(called: name)
            try accounts.addRole(role, to: user.userRecordName, container: container)
            tell("\(user.label) has the role \(role).", role, of: user, has: true, console)
        case .take(let role, let name):
            let user = try accounts.user(called: name)
            try accounts.removeRole(role, from: user.userRecordName, container: container)
            tell(
                "\(user.label) does not have the role \(role) any more.", role, of: user,
                has: false, console)
        }
    }

    private func tell(
        _ words: String, _ role: String, of user: ServiceUser, has: Bool, _ console: Console
    ) {
        console.did(
            words,
            [
                "role": .string(role), "userRecordName": .string(user.userRecordName),
                "given": .bool(has),
            ])
    }
}

extension RoleGrant {
    /// In words: `create, read`, or `not touch`.
    var rights: String {
        let words = [
            creates ? "create" : nil, reads ? "read" : nil, writes ? "write" : nil,
        ].compactMap { $0 }
        return words.isEmpty ? "not touch" : words.joined(separator: ", ")
    }
}
