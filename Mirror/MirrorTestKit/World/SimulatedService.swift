package import Foundation
package import Platform
package import RecordService
package import RecordWire

/// A record service in this process, with one container and one user, reached without a socket.
///
/// With a folder it keeps its rows in a file there, so that it can be killed, copied and put back.
package final class SimulatedService {
    package private(set) var service: RecordService
    private let platform: Environment
    private let limits: ServiceLimits
    private let folder: URL?
    /// How often the service was opened; each opening has a file of its own.
    private var openings = 0
    private var copies = 0
    private var credentials: (api: String, user: IssuedToken)?
    package static let container = "iCloud.test.world"

    package init(
        platform: Environment, folder: URL? = nil, limits: ServiceLimits = ServiceLimits()
    ) throws {
        self.platform = platform
        self.folder = folder
        self.limits = limits
        service = try Self.open(Self.file(folder, 0), platform, limits)
        try service.accounts.createContainer(Self.container)
    }

    private static func open(
        _ file: URL?, _ platform: Environment, _ limits: ServiceLimits
    ) throws -> RecordService {
        try RecordService(path: file?.path ?? ":memory:", platform: platform, limits: limits)
    }

    private static func file(_ folder: URL?, _ opening: Int) -> URL? {
        folder?.appendingPathComponent("service\(opening).sqlite")
    }

    // MARK: Requests

    /// Answers as the service does for a caller whom somebody else has checked.
    package func handle(_ request: RecordRequest, from device: String) throws -> RecordResponse {
        try service.handle(
            request, target: Self.target(device), caller: Caller(userRecordName: "user"))
    }

    /// Answers as over a connection: the request and its answer travel as bytes, and tokens say who
    /// calls.
    package func handleOverWire(
        _ request: RecordRequest, from device: String
    ) throws -> RecordResponse {
        let sent = try WireCodec.encode(request)
        let body: Data
        do {
            let arrived = try WireCodec.decodeRequest(
                path: sent.path, method: sent.method, body: sent.body)
            let caller = try service.authenticate(
                apiToken: credentials?.api, userToken: credentials?.user.secret,
                container: Self.container)
            let answer = try service.handle(arrived, target: Self.target(device), caller: caller)
            body = try WireCodec.encode(answer, to: arrived)
        } catch let error as RecordError {
            throw try WireCodec.decodeError(WireCodec.encode(error))
        }
        return try WireCodec.decodeResponse(to: request, body)
    }

    private static func target(_ device: String) -> RecordTarget {
        RecordTarget(container: container, deviceID: device)
    }

    /// All live records of a zone by name, read through the change feed as a new device would.
    package func records(inZone name: String) throws -> [String: Record] {
        var records: [String: Record] = [:]
        var token: String?
        while true {
            let zone = ZoneChanges.Zone(zoneID: ZoneID(zoneName: name), syncToken: token)
            let request = RecordRequest.zoneChanges(ZoneChanges(zones: [zone]))
            let response =
                credentials == nil
                ? try handle(request, from: "observer")
                : try handleOverWire(request, from: "observer")
            guard case .zoneChanges(let pages) = response, let page = pages.first,
                page.failure == nil
            else { return records }
            for record in page.records {
                records[record.recordName] = record.deleted ? nil : record
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
        credentials = (
            api.secret,
            try service.accounts.issueUserToken(
                userRecordName: user.userRecordName, label: "world")
        )
    }

    func revokeToken() throws {
        guard let credentials else { return }
        try service.accounts.revoke(tokenID: credentials.user.description.id)
    }

    /// Gives the same user another token.
    func renewToken() throws {
        guard let old = credentials, let name = old.user.description.userRecordName else { return }
        let user = try service.accounts.issueUserToken(userRecordName: name, label: "world")
        credentials = (old.api, user)
    }

    // MARK: Files

    /// The process is killed and starts again over its file, as the last commit left it.
    package func kill() throws {
        guard let folder else { return }
        try reopen(from: Self.file(folder, openings))
    }

    /// A copy of the service's file as it stands.
    package func copy() throws -> URL? {
        guard let folder, let file = Self.file(folder, openings) else { return nil }
        copies += 1
        let copy = folder.appendingPathComponent("copy\(copies).sqlite")
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
        guard credentials != nil else { return }
        let api = try service.accounts.issueAPIToken(container: Self.container, label: "world")
        credentials?.api = api.secret
        try renewToken()
    }

    /// Puts an empty service in the place of this one.
    package func lose() throws {
        openings += 1
        service = try Self.open(Self.file(folder, openings), platform, limits)
        try service.accounts.createContainer(Self.container)
        if credentials != nil { try issueTokens() }
    }

    private func reopen(from file: URL?) throws {
        openings += 1
        guard let file, let next = Self.file(folder, openings) else { return }
        try SimulatedFiles.copy(file, to: next)
        service = try Self.open(next, platform, limits)
    }
}

/// SQLite files as a power cut or a backup finds them: the database and its journal.
enum SimulatedFiles {
    static func copy(_ file: URL, to other: URL) throws {
        for suffix in ["", "-wal"] {
            let from = file.path + suffix
            guard FileManager.default.fileExists(atPath: from) else { continue }
            try? FileManager.default.removeItem(atPath: other.path + suffix)
            try FileManager.default.copyItem(atPath: from, toPath: other.path + suffix)
        }
    }
}
