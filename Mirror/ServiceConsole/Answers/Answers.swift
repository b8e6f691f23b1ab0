internal import Foundation
internal import RecordServer
internal import RecordService
internal import RecordWire

/// What the page is told. Times are milliseconds since 1970.
struct SessionAnswer: Encodable {
    var isAdministrator: Bool
    var user: String?
    var label: String
    /// Goes into a header of each request that changes anything.
    var requestToken: String
    /// Whether requests may wait for changes.
    var waits: Bool
    /// Whether it began with a password, which can be changed.
    var hasPassword: Bool
    /// Where the records are, told to administrators: whether backups are made here.
    var storage: StorageKind?

    init(_ session: ConsoleSession, _ service: RecordService) {
        isAdministrator = session.isAdministrator
        user = session.bearer.userRecordName
        label = session.bearer.label
        requestToken = session.requestToken
        waits = service.dialect == .extended
        storage = isAdministrator ? service.storageKind : nil
        hasPassword = if case .password = session.bearer.proof { true } else { false }
    }
}

struct StatusAnswer: Encodable {
    struct Usage: Encodable {
        var container: String
        var environment: String
        var users: Int
        var zones: Int
        var records: Int
        var deletions: Int
        var bytes: Int64

        init(_ usage: ContainerUsage) {
            container = usage.container
            environment = usage.environment
            users = usage.users
            zones = usage.zones
            records = usage.records
            deletions = usage.deletions
            bytes = usage.bytes
        }
    }

    var now: Int64
    var started: Int64
    var connections: Int
    var requests: Int
    var heldRequests: Int
    var dialect: String
    var usage: [Usage]
    var hour: [RecentHour.Minute]
}

struct UserAnswer: Encodable {
    var userRecordName: String
    var label: String

    init(_ user: ServiceUser) {
        userRecordName = user.userRecordName
        label = user.label
    }
}

struct TokenAnswer: Encodable {
    var id: String
    var kind: String
    var container: String?
    var user: String?
    var label: String
    var created: Int64
    var revoked: Int64?
    var lastUsed: Int64?
    /// nil for one without an end.
    var expires: Int64?
    /// Whether the session that asks began with it.
    var isOwn: Bool

    init(_ token: TokenDescription, own: String?) {
        id = token.id
        kind = token.kind.rawValue
        container = token.container
        user = token.userRecordName
        label = token.label
        created = token.createdAt
        revoked = token.revokedAt
        lastUsed = token.lastUsedAt
        expires = token.expiresAt
        isOwn = token.id == own
    }
}

struct IssuedAnswer: Encodable {
    var administrator: String?
    var api: String?
    var user: String?
}

struct RecordTypeAnswer: Encodable {
    struct Field: Encodable {
        var name: String
        var type: String
        var records: Int64
    }

    var name: String
    var fields: [Field]

    init(_ type: RecordTypeDescription) {
        name = type.name
        fields = type.fields.map { Field(name: $0.name, type: $0.type, records: $0.records) }
    }
}

extension HTTPResponse {
    static func json(of value: some Encodable) throws -> HTTPResponse {
        .json(try JSONEncoder().encode(value))
    }
}

extension Date {
    var milliseconds: Int64 { Int64(timeIntervalSince1970 * 1_000) }
}
