package import Foundation
package import Platform
package import RecordService
package import RecordWire

/// A record service in this process, with one container and one user, reached without a socket.
///
/// With a folder it keeps its rows in a file there, so that it can be killed, copied and put back.
package final class SimulatedService: Sendable {
    private struct State {
        var service: RecordService
        /// How often the service was opened; each opening has a file of its own.
        var openings = 0
        var copies = 0
        var credentials: Credentials?
        /// The other users behind devices that are not the owner's, by the devices' IDs.
        var users: [String: String] = [:]
    }

    private struct Credentials {
        let api: String
        let user: IssuedToken
    }

    private let state: Lock<State>
    package var service: RecordService { state.withLock { $0.service } }
    private var credentials: Credentials? { state.withLock { $0.credentials } }
    private let platform: Environment
    private let limits: ServiceLimits
    package let dialect: ServiceDialect
    private let folder: URL?
    package static let container = "iCloud.test.world"

    package init(
        platform: Environment, folder: URL? = nil, limits: ServiceLimits = ServiceLimits(),
        dialect: ServiceDialect = .extended
    ) throws {
        self.platform = platform
        self.dialect = dialect
        self.folder = folder
        self.limits = limits
        state = Lock(State(service: try Self.open(Self.file(folder, 0), platform, limits, dialect)))
        try service.accounts.createContainer(Self.container)
    }

    private static func open(
        _ file: URL?, _ platform: Environment, _ limits: ServiceLimits,
        _ dialect: ServiceDialect
    ) throws -> RecordService {
        let service = try RecordService(
            path: file?.path ?? ":memory:", platform: platform, limits: limits,
            dialect: dialect)
        // A kill while it removes what is left of deleted zones is told by the next request.
        try? platform.faults.reach("service.opened")
        return service
    }

    private static func file(_ folder: URL?, _ opening: Int) -> URL? {
        folder?.appendingPathComponent("service\(opening).sqlite")
    }

    // MARK: Requests

    /// Answers as the service does for a caller whom somebody else has checked.
    package func handle(_ request: RecordRequest, from device: String) throws -> RecordResponse {
        if let user = state.withLock({ $0.users[device] }) {
            return try handle(request, from: device, of: user)
        }
        return try service.handle(
            request, target: Self.target(device), caller: Caller(userRecordName: Self.owner))
    }

    /// From now on the device of that ID is another user's.
    func give(_ device: String, to user: String) { state.withLock { $0.users[device] = user } }

    /// Answers another user, who sees what is shared with it, and asks about invitations.
    package func handle(
        _ request: RecordRequest, from device: String, of user: String
    ) throws -> RecordResponse {
        var target = Self.target(device)
        switch request {
        case .resolveShares, .acceptShares: break
        default: target.database = "shared"
        }
        return try service.handle(request, target: target, caller: Caller(userRecordName: user))
    }

    /// Answers a user about the public database; the owner of the other zones where none is named.
    func handlePublic(
        _ request: RecordRequest, from device: String, of user: String?
    ) throws -> RecordResponse {
        var target = Self.target(device)
        target.database = "public"
        return try service.handle(
            request, target: target, caller: Caller(userRecordName: user ?? Self.owner))
    }

    /// The name of the user whose the zone is.
    package static let owner = "user"

    /// Answers as over a connection: the request and its answer travel as bytes, and tokens say who
    /// calls.
    package func handleOverWire(
        _ request: RecordRequest, from device: String, in format: WireFormat = .json
    ) throws -> RecordResponse {
        let sent = try WireCodec.encode(request, as: format)
        let told: (body: Data, format: WireFormat)
        do {
            let arrived = try WireCodec.decodeRequest(
                path: sent.path, method: sent.method, body: sent.body, format: sent.format)
            let caller = try service.authenticate(
                apiToken: credentials?.api, userToken: credentials?.user.secret,
                container: Self.container)
            let answer = try service.handle(arrived, target: Self.target(device), caller: caller)
            told = try WireCodec.encode(answer, to: arrived, as: format)
        } catch let error as RecordError {
            throw try WireCodec.decodeError(WireCodec.encode(error))
        }
        return try WireCodec.decodeResponse(to: request, told.body, format: told.format)
    }

    private static func target(_ device: String) -> RecordTarget {
        RecordTarget(container: container, deviceID: device)
    }

    /// All live records of a zone by name, read through the change feed as a new device would.
    package func records(inZone name: String) throws -> [String: Record] {
        try feed(ofZone: name).filter { !$0.value.deleted }
    }

    /// The last state of all records of a zone by name, deletions included.
    func feed(ofZone name: String) throws -> [String: Record] {
        try feed(of: ZoneID(zoneName: name)) { request in
            credentials == nil
                ? try handle(request, from: "observer")
                : try handleOverWire(request, from: "observer")
        }
    }

    /// All live records that a zone shows to another user.
    func records(in zone: ZoneID, shownTo user: String) throws -> [String: Record] {
        try feed(of: zone) { try handle($0, from: "observer", of: user) }
            .filter { !$0.value.deleted }
    }

    private func feed(
        of zoneID: ZoneID, _ send: (RecordRequest) throws -> RecordResponse
    ) throws -> [String: Record] {
        var records: [String: Record] = [:]
        var token: String?
        while true {
            let zone = ZoneChanges.Zone(zoneID: zoneID, syncToken: token)
            let response = try send(.zoneChanges(ZoneChanges(zones: [zone])))
            guard case .zoneChanges(let pages) = response, let page = pages.first,
                page.failure == nil
            else { return records }
            for record in page.records {
                records[record.recordName] = try withDigests(record)
            }
            token = page.syncToken
            if !page.moreComing { return records }
        }
    }

    // MARK: Accounts

    /// Makes a user with tokens; from then on `handleOverWire` lets it in.
    func issueTokens() throws {
        let api = try service.accounts.issueAPIToken(container: Self.container, label: "world")
        let user = try service.accounts.createUser(label: "world")
        try keep(
            Credentials(
                api: api.secret,
                user: service.accounts.issueUserToken(
                    userRecordName: user.userRecordName, label: "world")))
    }

    func revokeToken() throws {
        guard let credentials else { return }
        try service.accounts.revoke(tokenID: credentials.user.description.id)
    }

    /// Gives the user another token. A service that was put back knows the user by the name that
    /// it gave it then.
    func renewToken() throws {
        guard let old = credentials, let name = try service.accounts.users().first?.userRecordName
        else { return }
        let user = try service.accounts.issueUserToken(userRecordName: name, label: "world")
        keep(Credentials(api: old.api, user: user))
    }

    private func keep(_ credentials: Credentials) {
        state.withLock { $0.credentials = credentials }
    }

    // MARK: Files

    /// The process is killed and starts again over its file, as the last commit left it.
    package func kill() throws {
        try reopen(from: Self.file(folder, state.withLock { $0.openings }))
    }

    /// A copy of the service's file as it stands.
    package func copy() throws -> URL? {
        let (opening, number) = state.withLock { state in
            state.copies += 1
            return (state.openings, state.copies)
        }
        guard let folder, let file = Self.file(folder, opening) else { return nil }
        let copy = folder.appendingPathComponent("copy\(number).sqlite")
        try SimulatedFiles.copy(file, to: copy)
        return copy
    }

    /// Puts the service back to a copy of its file.
    package func restore(_ copy: URL) throws {
        try reopen(from: copy)
        try renewTokens()
    }

    /// Tokens that were issued after the copy was made are unknown to it.
    private func renewTokens() throws {
        guard let credentials else { return }
        let api = try service.accounts.issueAPIToken(container: Self.container, label: "world")
        keep(Credentials(api: api.secret, user: credentials.user))
        try renewToken()
    }

    /// Puts an empty service in the place of this one.
    package func lose() throws {
        try open(Self.file(folder, nextOpening()))
        try service.accounts.createContainer(Self.container)
        if credentials != nil { try issueTokens() }
    }

    private func reopen(from file: URL?) throws {
        guard let file, let next = Self.file(folder, nextOpening()) else { return }
        try SimulatedFiles.copy(file, to: next)
        try open(next)
    }

    private func nextOpening() -> Int {
        state.withLock { state in
            state.openings += 1
            return state.openings
        }
    }

    private func open(_ file: URL?) throws {
        let service = try Self.open(file, platform, limits, dialect)
        state.withLock { $0.service = service }
    }
}

/// SQLite files as a power cut or a backup finds them: the database and its journal.
enum SimulatedFiles {
    static func copy(_ file: URL, to other: URL) throws {
        // With the folders of a service's containers and of its assets.
        for suffix in ["", "-wal", ".containers", "-assets"] {
            let from = file.path + suffix
            guard FileManager.default.fileExists(atPath: from) else { continue }
            try? FileManager.default.removeItem(atPath: other.path + suffix)
            try FileManager.default.copyItem(atPath: from, toPath: other.path + suffix)
        }
    }
}
