import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordWire

/// A service small enough to see through, behind the real server.
final class TestService: Sendable {
    static let api = "api-token-4711"
    static let user = "user+token/with=signs"
    private let records = Lock<[String: Record]>([:])
    let devices = Lock<[String?]>([])

    var door: Authenticator {
        Authenticator { tokens, container in
            guard container == "iCloud.org.example" else {
                throw RecordError(.accessDenied, "No such container.")
            }
            guard tokens.apiToken == Self.api else {
                throw RecordError(.authenticationFailed, "The API token is unknown.")
            }
            guard let user = tokens.userToken else {
                var error = RecordError(.authenticationRequired, "Sign in.")
                error.redirectURL = "https://example.org/sign-in"
                throw error
            }
            guard user == Self.user else {
                throw RecordError(.authenticationFailed, "The user token is unknown.")
            }
            return Authenticator.Admitted(user: user) { [self] request, target in
                try answer(request, target)
            }
        }
    }

    private func answer(_ request: RecordRequest, _ target: RecordTarget) throws -> RecordResponse {
        devices.withLock { $0.append(target.deviceID) }
        switch request {
        case .caller: return .caller(CallerReply(userRecordName: "_me"))
        case .modifyRecords(let change):
            return .records(RecordsReply(results: change.operations.map { store($0.record) }))
        case .lookupRecords(let wanted):
            return .records(RecordsReply(results: wanted.recordNames.map(find)))
        case .listZones:
            var error = RecordError(.throttled, "Slower, please.")
            error.retryAfterSeconds = 2.5
            throw error
        default:
            throw POSIXError(.EIO)
        }
    }

    private func store(_ record: Record) -> RecordResult {
        var record = record
        record.recordChangeTag = "1"
        records.withLock { $0[record.recordName] = record }
        return .record(record)
    }

    private func find(_ name: String) -> RecordResult {
        records.withLock { $0[name] }.map { .record($0) }
            ?? .failure(RecordError(.notFound, "No such record.", recordName: name))
    }
}

/// A server on a free loopback port with TLS of its own authority, and clients to it.
final class TestServer {
    let service = TestService()
    let server: RecordServer
    let url: URL
    let folder: URL
    let log = Lock<[AccessLogEntry]>([])
    let failures = Lock<[String: String]>([:])

    init(
        clock: any Clock = SystemClock(), _ change: (inout ServerConfiguration) -> Void = { _ in }
    ) throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-server-\(UUID().uuidString)")
        var configuration = ServerConfiguration(tls: .automatic(folder: folder, hosts: []))
        configuration.port = 0
        configuration.accessLog = { [log] entry in log.withLock { $0.append(entry) } }
        configuration.failureLog = { [failures] uuid, error in
            failures.withLock { $0[uuid] = "\(error)" }
        }
        change(&configuration)
        var platform = Environment.system
        platform.clock = clock
        server = RecordServer(
            door: service.door,
            capabilities: ServerCapabilities(limits: ["operationsPerRequest": 200], extensions: []),
            configuration: configuration, platform: platform)
        url = try server.start()
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    func client() throws -> CurlHandle {
        var limits = CurlLimits()
        limits.authorityFile = server.authorityFile
        limits.connectSeconds = 86_400
        limits.totalSeconds = 86_400
        return try CurlHandle(limits: limits)
    }

    static let database = "/database/1/iCloud.org.example/development/private/"
    static let tokens = [
        ("X-Diptych-API-Token", TestService.api), ("X-Diptych-User-Token", TestService.user),
    ]

    func post(
        _ operation: String, _ body: Data, headers: [(String, String)] = TestServer.tokens
    ) -> CurlCall {
        CurlCall(
            method: "POST", url: url.absoluteString + Self.database + operation, headers: headers,
            body: body)
    }

    func get(_ path: String, headers: [(String, String)] = []) -> CurlCall {
        CurlCall(url: url.absoluteString + path, headers: headers)
    }
}
