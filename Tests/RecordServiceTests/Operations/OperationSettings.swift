import Foundation
import RecordService
import RecordWire

/// What administrators set, and what users have beside records.
struct OperationSettings {
    struct Grant {
        var creates: Bool
        var reads: Bool
        var writes: Bool
    }

    struct Receipts {
        /// The checksum of the content that each good one is for.
        var good: [String: String] = [:]
        /// The last one for each content.
        var last: [Int: String] = [:]
    }

    static let types = ["Note", "Task"]
    static let roles = ["_icloud", "_creator", "editor"]

    /// By type and role.
    var grants: [String: [String: Grant]] = [:]
    var editors: Set<Int> = []
    var schemas = ModelSchemas()
    var quotas: [Int: Int] = [:]
    var discoverable: Set<Int> = []
    private var world = 0

    /// Tokens that were given out, by user, and whether they are good.
    var tokens: [(user: Int, id: String, secret: String, isGood: Bool)] = []
    var apiToken: String?

    /// Subscriptions of each user in the private database.
    var subscriptions: [Int: [String: RecordSubscription]] = [:]
    var courierTokens: [Int: String] = [:]

    /// What each user got for uploads.
    var receipts: [Int: Receipts] = [:]
    var checksums: [Int: String] = [:]

    mutating func prepare(_ world: Int, _ users: Int) {
        self.world = world
        discoverable = Set((0..<users).filter { $0 % 2 == 0 })
    }

    func email(_ user: Int) -> String { "user\(user)@world\(world).example.org" }

    func profile(_ user: Int) -> UserProfile {
        UserProfile(
            emailAddress: email(user), givenName: "User \(user)",
            isDiscoverable: discoverable.contains(user))
    }

    static func content(_ number: Int) -> Data {
        Data((0..<200 + number * 3_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) })
    }

    /// Forgets what fired once, after notices that are not compared.
    mutating func once(_ user: Int, _ notices: Set<String>) {
        let fired = Set(notices.compactMap { $0.split(separator: " ").dropFirst().first })
        for (id, subscription) in subscriptions[user] ?? [:]
        where subscription.firesOnce && fired.contains(Substring(id)) {
            subscriptions[user]?[id] = nil
        }
    }

    // MARK: Roles

    private func allows(
        _ right: KeyPath<Grant, Bool>, _ type: String, _ user: Int, isCreator: Bool
    ) -> Bool? {
        guard let ofType = grants[type], !ofType.isEmpty else { return nil }
        return ofType.contains { role, grant in
            guard grant[keyPath: right] else { return false }
            switch role {
            case "_icloud": return true
            case "_creator": return isCreator
            default: return editors.contains(user)
            }
        }
    }

    func mayRead(_ type: String, _ user: Int, isCreator: Bool) -> Bool {
        let sees = allows(\.reads, type, user, isCreator: isCreator) ?? true
        return sees
    }

    /// Refuses in the public database what a user's roles do not allow.
    func check(_ operation: ModelOperation, _ zone: ZoneModel, _ user: Int) throws {
        for case .encrypted? in operation.fields.values { throw ModelRefusal(.badRequest) }
        let row = zone.records[operation.name]
        if let row {
            let isCreator = row.creator == user
            guard allows(\.writes, row.type, user, isCreator: isCreator) ?? isCreator,
                mayRead(row.type, user, isCreator: isCreator)
            else { throw ModelRefusal(.accessDenied) }
        }
        let makes = operation.mayCreate || row == nil && operation.kind == .forceDelete
        guard row == nil || row?.isDeleted == true, makes else { return }
        guard allows(\.creates, operation.type, user, isCreator: true) ?? true else {
            throw ModelRefusal(.accessDenied)
        }
    }
}

/// What was declared and deployed.
struct ModelSchemas {
    /// What production takes; nil before it was deployed.
    var deployed: [String: String]?
    /// What development has by a declaration, `Note.title`, with its type.
    var declared: [String: String] = [:]
    /// The fields that are unique in a zone, `Note.title`, in development and in production.
    var keys: [Bool: Set<String>] = [:]

    func isKey(_ field: String, production: Bool) -> Bool {
        keys[production]?.contains(field) == true
    }
}

/// What a participant may do in a zone of another's.
struct ParticipantRules {
    let shares: [String: Bool]
    private var seesAll: Bool { shares[Record.zoneShareName] != nil }
    private var writesAnything: Bool { shares.values.contains(true) }

    private func sees(_ name: String, _ zone: ZoneModel) -> Bool {
        if seesAll { return true }
        guard let record = zone.records[name] else { return false }
        if record.isDeleted { return !record.everIn.isDisjoint(with: shares.keys) }
        return zone.share(of: name).map { shares[$0] != nil } ?? false
    }

    private func writes(_ name: String, _ zone: ZoneModel) -> Bool {
        zone.share(of: name).map { shares[$0] == true } ?? false
    }

    func check(_ operation: ModelOperation, _ zone: ZoneModel) throws {
        let row = zone.records[operation.name]
        let isShare = operation.isShare || row?.type == Record.shareType
        guard let row, sees(operation.name, zone) else {
            return try checkUnseen(operation, row, isShare, zone)
        }
        if isShare {
            guard operation.isDeletion else { throw ModelRefusal(.accessDenied) }
            return
        }
        if row.isDeleted {
            guard writesAnything else { throw ModelRefusal(.accessDenied) }
        } else if !writes(operation.name, zone) {
            throw ModelRefusal(.accessDenied)
        }
        if operation.isDeletion {
            guard row.isDeleted || zone.share(ofRoot: operation.name) == nil else {
                throw ModelRefusal(.accessDenied)
            }
            return
        }
        guard !row.isDeleted, operation.parent == nil || seesAll else {
            return try checkPlace(operation, zone)
        }
    }

    private func checkUnseen(
        _ operation: ModelOperation, _ row: ModelRecord?, _ isShare: Bool, _ zone: ZoneModel
    ) throws {
        guard operation.mayCreate || operation.kind == .forceDelete else {
            throw ModelRefusal(.notFound)
        }
        guard row == nil, !isShare else { throw ModelRefusal(.accessDenied) }
        guard operation.kind != .forceDelete || seesAll else { throw ModelRefusal(.notFound) }
        try checkPlace(operation, zone)
    }

    private func checkPlace(_ operation: ModelOperation, _ zone: ZoneModel) throws {
        guard !seesAll else {
            if shares[Record.zoneShareName] != true { throw ModelRefusal(.accessDenied) }
            return
        }
        guard writesAnything, let parent = operation.parent ?? nil, writes(parent, zone) else {
            throw ModelRefusal(.accessDenied)
        }
    }
}
