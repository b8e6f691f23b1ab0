internal import Foundation
internal import RecordService

/// What a record service knows, as tables or as JSON Lines.
struct ServiceReport {
    private let service: ServiceAdministration
    private let console: Console

    init(_ service: ServiceAdministration, _ console: Console) {
        self.service = service
        self.console = console
    }

    func list(_ work: String) throws {
        switch work {
        case "containers": try listContainers()
        case "users": try listUsers()
        case "tokens": try listTokens()
        case "quotas": try listQuotas()
        case "keys": try listKeys()
        default: try listUsage()
        }
    }

    func print(_ user: ServiceUser) throws {
        guard console.isJSON else { return console.line(user.userRecordName) }
        console.emit(try json(user))
    }

    private func listContainers() throws {
        for name in try service.accounts.containers() {
            if console.isJSON { console.emit(["name": .string(name)]) } else { console.line(name) }
        }
    }

    private func listUsers() throws {
        let users = try service.accounts.users()
        guard !console.isJSON else { return try users.map(json).forEach(console.emit) }
        let names = try service.accounts.passwordNames()
        show(
            ["USER", "LABEL", "EMAIL", "FOUND", "SIGNS IN AS"],
            try users.map { user in
                let profile = try service.accounts.profile(of: user.userRecordName)
                return [
                    user.userRecordName, user.label, profile.emailAddress ?? "",
                    profile.isDiscoverable ? "yes" : "no", names[user.userRecordName] ?? "",
                ]
            })
    }

    private func json(_ user: ServiceUser) throws -> JSON {
        let profile = try service.accounts.profile(of: user.userRecordName)
        return [
            "userRecordName": .string(user.userRecordName), "label": .string(user.label),
            "emailAddress": profile.emailAddress.map(JSON.string) ?? .null,
            "givenName": profile.givenName.map(JSON.string) ?? .null,
            "familyName": profile.familyName.map(JSON.string) ?? .null,
            "discoverable": .bool(profile.isDiscoverable),
        ]
    }

    static func json(_ grant: RoleGrant) -> JSON {
        [
            "recordType": .string(grant.recordType), "role": .string(grant.role),
            "create": .bool(grant.creates), "read": .bool(grant.reads),
            "write": .bool(grant.writes),
        ]
    }

    /// What roles may do, then who has them.
    func listRoles(of container: String) throws {
        let grants = try service.accounts.grants(container: container)
        let members = try service.accounts.roleMembers(container: container)
        guard !console.isJSON else {
            grants.map(Self.json).forEach(console.emit)
            for member in members {
                console.emit([
                    "role": .string(member.role),
                    "userRecordName": .string(member.userRecordName),
                ])
            }
            return
        }
        show(["TYPE", "ROLE", "MAY"], grants.map { [$0.recordType, $0.role, $0.rights] })
        guard !members.isEmpty else { return }
        show(["ROLE", "USER"], members.map { [$0.role, $0.userRecordName] })
    }

    private func listTokens() throws {
        let tokens = try service.accounts.tokens()
        if console.isJSON {
            for token in tokens {
                console.emit([
                    "id": .string(token.id), "kind": .string(token.kind.rawValue),
                    "container": token.container.map(JSON.string) ?? .null,
                    "userRecordName": token.userRecordName.map(JSON.string) ?? .null,
                    "label": .string(token.label), "createdAt": .string(Self.day(token.createdAt)),
                    "revokedAt": token.revokedAt.map { .string(Self.day($0)) } ?? .null,
                    "expiresAt": token.expiresAt.map { .string(Self.day($0)) } ?? .null,
                    "lastUsedAt": token.lastUsedAt.map { .string(Self.day($0)) } ?? .null,
                ])
            }
            return
        }
        show(
            ["ID", "KIND", "FOR", "LABEL", "MADE", "USED", "ENDS", "REVOKED"],
            tokens.map { token in
                [
                    token.id, token.kind.rawValue, token.container ?? token.userRecordName ?? "",
                    token.label, Self.day(token.createdAt), token.lastUsedAt.map(Self.day) ?? "",
                    token.expiresAt.map(Self.day) ?? "", token.revokedAt.map(Self.day) ?? "",
                ]
            })
    }

    // MARK: Keys

    func print(_ key: ServerKey) {
        guard console.isJSON else { return console.line(key.id) }
        console.emit(json(key))
    }

    private func listKeys() throws {
        let keys = try service.accounts.serverKeys()
        guard !console.isJSON else { return keys.map(json).forEach(console.emit) }
        show(
            ["ID", "CONTAINER", "ENVIRONMENT", "USER", "LABEL", "MADE", "USED", "REVOKED"],
            keys.map { key in
                [
                    key.id, key.container, key.environment, key.userRecordName, key.label,
                    Self.day(key.createdAt), key.lastUsedAt.map(Self.day) ?? "",
                    key.revokedAt.map(Self.day) ?? "",
                ]
            })
    }

    private func json(_ key: ServerKey) -> JSON {
        [
            "id": .string(key.id), "container": .string(key.container),
            "environment": .string(key.environment),
            "userRecordName": .string(key.userRecordName), "label": .string(key.label),
            "createdAt": .string(Self.day(key.createdAt)),
            "lastUsedAt": key.lastUsedAt.map { .string(Self.day($0)) } ?? .null,
            "revokedAt": key.revokedAt.map { .string(Self.day($0)) } ?? .null,
        ]
    }

    // MARK: Quotas

    func print(_ holding: UserHolding, _ choice: QuotaChoice) {
        console.did(
            "\(holding.user.userRecordName) may keep \(choice.words(holding)).", json(holding))
    }

    private func json(_ holding: UserHolding) -> JSON {
        [
            "userRecordName": .string(holding.user.userRecordName),
            "label": .string(holding.user.label), "records": .integer(holding.records),
            "bytes": .integer(holding.bytes),
            "recordsMax": .string(QuotaChoice.word(holding.quota?.recordsMax)),
            "bytesMax": .string(QuotaChoice.word(holding.quota?.bytesMax)),
        ]
    }

    private func listQuotas() throws {
        let holdings = try service.accounts.holdings()
        guard !console.isJSON else { return holdings.map(json).forEach(console.emit) }
        show(
            ["USER", "LABEL", "RECORDS", "OF", "BYTES", "OF"],
            holdings.map { holding in
                [
                    holding.user.userRecordName, holding.user.label, String(holding.records),
                    QuotaChoice.word(holding.quota?.recordsMax), String(holding.bytes),
                    QuotaChoice.word(holding.quota?.bytesMax),
                ]
            }, rightAligned: [2, 3, 4, 5])
    }

    private func listUsage() throws {
        let usage = try service.usage()
        if console.isJSON {
            for entry in usage {
                console.emit([
                    "container": .string(entry.container),
                    "environment": .string(entry.environment),
                    "users": .integer(Int64(entry.users)), "zones": .integer(Int64(entry.zones)),
                    "records": .integer(Int64(entry.records)),
                    "deletions": .integer(Int64(entry.deletions)), "bytes": .integer(entry.bytes),
                ])
            }
            return
        }
        show(
            ["CONTAINER", "ENVIRONMENT", "USERS", "ZONES", "RECORDS", "DELETIONS", "BYTES"],
            usage.map { entry in
                [entry.container, entry.environment]
                    + [entry.users, entry.zones, entry.records, entry.deletions].map(String.init)
                    + [String(entry.bytes)]
            }, rightAligned: [2, 3, 4, 5, 6])
    }

    private func show(_ titles: [String], _ rows: [[String]], rightAligned: Set<Int> = []) {
        guard !rows.isEmpty else { return console.line("None.") }
        var table = TextTable(rightAligned: rightAligned)
        table.add(cells: titles)
        rows.forEach { table.add(cells: $0) }
        console.block(table.text)
    }

    private static func day(_ milliseconds: Int64) -> String {
        ISO8601DateFormatter().string(
            from: Date(timeIntervalSince1970: Double(milliseconds) / 1_000))
    }
}
