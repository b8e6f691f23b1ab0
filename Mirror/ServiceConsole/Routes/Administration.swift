internal import Foundation
internal import RecordServer
internal import RecordService
internal import RecordWire

/// What an administrator asks for beside records, users and tokens: schemas, roles, quotas, and
/// what administrators did.
enum Administration {
    case schema(container: String, environment: String)
    case takeSchema(container: String)
    case previewDeployment(container: String)
    case deploySchema(container: String)
    case roles(container: String)
    case grant(container: String)
    case removeGrants(container: String, recordType: String)
    case addMember(container: String)
    case removeMember(container: String, role: String, user: String)
    case acts
    case quotas
    case setQuota(user: String)
    case user(UserAdministration)
    case fields(SchemaAdministration)

    /// nil for a path or a method of something else.
    init?(_ method: String, _ words: [String]) {
        switch (method, words.first, words.count) {
        case ("GET", "schemas", 3) where words[2] == "deployment":
            self = .previewDeployment(container: words[1])
        case ("GET", "schemas", 3): self = .schema(container: words[1], environment: words[2])
        case ("POST", "schemas", 2): self = .takeSchema(container: words[1])
        case ("POST", "schemas", 3) where words[2] == "deployment":
            self = .deploySchema(container: words[1])
        case ("GET", "roles", 2): self = .roles(container: words[1])
        case ("POST", "roles", 3) where words[2] == "grants": self = .grant(container: words[1])
        case ("DELETE", "roles", 4) where words[2] == "grants":
            self = .removeGrants(container: words[1], recordType: words[3])
        case ("POST", "roles", 3) where words[2] == "members":
            self = .addMember(container: words[1])
        case ("DELETE", "roles", 5) where words[2] == "members":
            self = .removeMember(container: words[1], role: words[3], user: words[4])
        case ("GET", "audit", 1): self = .acts
        case ("GET", "quotas", 1): self = .quotas
        case ("POST", "quotas", 2): self = .setQuota(user: words[1])
        default:
            if let asked = UserAdministration(method, words) {
                self = .user(asked)
            } else if let asked = SchemaAdministration(method, words) {
                self = .fields(asked)
            } else {
                return nil
            }
        }
    }

    private static let actsMax = 500
    static let schemaBytesMax = 8 << 20

    /// Throws what the service refuses, and BAD_REQUEST for a body that cannot be read.
    func perform(_ accounts: ServiceAccounts, _ request: HTTPRequest) throws -> HTTPResponse {
        switch self {
        case .schema(let container, let environment):
            return try .json(
                of: SchemaAnswer(
                    accounts.schema(container: container, environment: environment)))
        case .takeSchema(let container):
            let wish: ImportWish = try request.wish(bytesMax: Self.schemaBytesMax)
            let schema = try RecordSchema(text: wish.text)
            return try .json(
                of: ChangedLines(
                    accounts.importSchema(schema, container: container, agreed: wish.changes)))
        case .previewDeployment(let container):
            return try .json(
                of: ChangedLines(accounts.previewOfDeployment(container: container)))
        case .deploySchema(let container):
            let agreed = try DeploymentWish.agreed(in: request)
            return try .json(
                of: ChangedLines(
                    accounts.deploySchema(container: container, agreed: agreed)))
        case .roles(let container): return try Self.roles(accounts, container)
        case .grant(let container):
            let wish: GrantWish = try request.wish()
            try accounts.setGrant(wish.grant, container: container)
            return try Self.roles(accounts, container)
        case .removeGrants(let container, let recordType):
            try accounts.removeGrants(recordType: recordType, container: container)
            return try Self.roles(accounts, container)
        case .addMember(let container):
            let wish: MemberWish = try request.wish()
            try accounts.addRole(wish.role, to: wish.user, container: container)
            return try Self.roles(accounts, container)
        case .removeMember(let container, let role, let user):
            try accounts.removeRole(role, from: user, container: container)
            return try Self.roles(accounts, container)
        case .acts: return try .json(of: accounts.recentActs(limit: Self.actsMax))
        case .quotas: return try Self.quotas(accounts)
        case .user(let asked): return try asked.perform(accounts, request)
        case .fields(let asked): return try asked.perform(accounts, request)
        case .setQuota(let user):
            let wish: QuotaWish = try request.wish()
            let quota = UserQuota(recordsMax: wish.recordsMax, bytesMax: wish.bytesMax)
            try accounts.setQuota(quota == UserQuota() ? nil : quota, of: user)
            return try Self.quotas(accounts)
        }
    }

    private static func quotas(_ accounts: ServiceAccounts) throws -> HTTPResponse {
        try .json(of: accounts.holdings().map(HoldingAnswer.init))
    }

    private static func roles(
        _ accounts: ServiceAccounts, _ container: String
    ) throws -> HTTPResponse {
        try .json(
            of: RolesAnswer(
                grants: accounts.grants(container: container).map(GrantWish.init),
                members: accounts.roleMembers(container: container).map {
                    MemberWish(role: $0.role, user: $0.userRecordName)
                }))
    }
}

/// A schema in the language of `.ckdb` files.
struct SchemaText: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable { case text }

    var text: String
}

/// A schema to be taken in, and what was shown of it; without, whatever it changes.
struct ImportWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable { case text, changes }

    var text: String
    var changes: [String]?
}

/// What was shown to whoever deploys; nil: whatever there is.
struct DeploymentWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable { case changes }

    var changes: [String]?

    /// Programs may send no body at all.
    static func agreed(in request: HTTPRequest) throws -> [String]? {
        if case .bytes(let body) = request.body, body.isEmpty { return nil }
        let wish: DeploymentWish = try request.wish(bytesMax: Administration.schemaBytesMax)
        return wish.changes
    }
}

/// What a schema has got, in lines for people.
struct ChangedLines: Encodable {
    var changes: [String]

    init(_ difference: SchemaDifference) { changes = difference.lines }
}

/// What a role may do with records of a type.
struct GrantWish: Wish, Encodable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case recordType, role, creates, reads, writes
    }

    var recordType: String
    var role: String
    var creates: Bool
    var reads: Bool
    var writes: Bool

    init(_ grant: RoleGrant) {
        recordType = grant.recordType
        role = grant.role
        creates = grant.creates
        reads = grant.reads
        writes = grant.writes
    }

    var grant: RoleGrant {
        RoleGrant(
            recordType: recordType, role: role, creates: creates, reads: reads, writes: writes)
    }
}

/// A user who has a role.
struct MemberWish: Wish, Encodable {
    enum CodingKeys: String, CodingKey, CaseIterable { case role, user }

    var role: String
    var user: String
}

/// What a user may have; without a member it is what the service gives to all.
struct QuotaWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable { case recordsMax, bytesMax }

    var recordsMax: Int64?
    var bytesMax: Int64?
}

/// What a user has, and may have where that was set.
struct HoldingAnswer: Encodable {
    var user: String
    var records: Int64
    var bytes: Int64
    var recordsMax: Int64?
    var bytesMax: Int64?

    init(_ holding: UserHolding) {
        user = holding.user.userRecordName
        records = holding.records
        bytes = holding.bytes
        recordsMax = holding.quota?.recordsMax.map { min($0, Self.unlimited) }
        bytesMax = holding.quota?.bytesMax.map { min($0, Self.unlimited) }
    }

    /// The largest whole number of JavaScript stands for no limit.
    private static let unlimited: Int64 = (1 << 53) - 1
}

struct RolesAnswer: Encodable {
    var grants: [GrantWish]
    var members: [MemberWish]
}
