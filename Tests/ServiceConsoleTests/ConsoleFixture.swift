import Foundation
import Platform
import RecordServer
import RecordService
import RecordWire
import ServiceConsole
import Testing

/// A clock that stands still until it is moved.
final class HandClock: Clock {
    private let seconds = Lock(1_700_000_000.0)

    func advance(seconds more: Double) { seconds.withLock { $0 += more } }

    func now() -> Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }
}

/// A service with a console, two users and an administrator.
struct ConsoleFixture {
    static let container = "iCloud.org.example.notes"

    let service: RecordService
    let console: ServiceConsole
    let clock: HandClock
    let anna: ServiceUser
    let ben: ServiceUser
    let administrator: IssuedToken
    let tokenOfAnna: IssuedToken

    init(
        isEncrypted: Bool = true, audit: AuditLog? = nil, clock: HandClock = HandClock(),
        provider: SignInProvider? = nil, path: String = ":memory:", backups: URL? = nil,
        objects: ObjectPlace? = nil, database: PostgresDatabase? = nil
    ) throws {
        self.clock = clock
        var platform = Environment.system
        platform.clock = clock
        service =
            if let database {
                try RecordService(database: database, platform: platform)
            } else {
                try RecordService(
                    path: path, platform: platform, objects: objects, audit: audit)
            }
        let accounts = service.accounts
        try accounts.createContainer(Self.container)
        anna = try accounts.createUser(label: "Anna")
        ben = try accounts.createUser(label: "Ben")
        administrator = try accounts.issueAdministratorToken(label: "desk")
        tokenOfAnna = try accounts.issueUserToken(
            userRecordName: anna.userRecordName, label: "laptop")
        console = ServiceConsole(
            service: service, isEncrypted: isEncrypted, platform: platform, provider: provider,
            backups: backups,
            statistics: { ServerActivity(connections: 3, requests: 70, heldRequests: 2) })
    }

    /// Sends a request by hand and returns its answer.
    func send(
        _ method: String, _ path: String, _ body: String = "",
        headers: [(String, String)] = [], from address: String? = nil
    ) throws -> HTTPResponse {
        var fields = HTTPHeaders()
        for (name, value) in headers { fields.append(name, value) }
        fields.append("Content-Length", "\(body.utf8.count)")
        let parts = path.split(separator: "?", maxSplits: 1)
        var request = HTTPRequest(
            method: method, path: String(parts[0]),
            query: HTTPQuery(parts.count > 1 ? String(parts[1]) : ""), headers: fields,
            body: .bytes(Data(body.utf8)))
        if let address {
            let parts = address.split(separator: ".").compactMap { UInt64($0) }
            request.address = ClientAddress(prefix: parts.reduce(0) { $0 << 8 | $1 })
        }
        switch try #require(console.admit(request)) {
        case .answer(let response): return response
        case .read(_, let answer):
            switch answer(request) {
            case .response(let response): return response
            case .wait(let wait): return try #require(wait.answer(true))
            case .events: throw ConsoleTestError.stream
            }
        case .stream, .signed: throw ConsoleTestError.stream
        }
    }

    func signIn(_ token: String) throws -> SignedIn {
        let answer = try send("POST", "/console/api/session", #"{"token":"\#(token)"}"#)
        try #require(answer.status == 200)
        let cookie = try #require(answer.headers["Set-Cookie"])
        let session = try answer.object()
        return SignedIn(
            fixture: self, cookie: String(cookie.prefix { $0 != ";" }),
            requestToken: try #require(session["requestToken"] as? String))
    }
}

enum ConsoleTestError: Error { case stream }

/// Somebody signed in, whose page sends what it must.
struct SignedIn {
    let fixture: ConsoleFixture
    let cookie: String
    let requestToken: String

    func get(_ path: String) throws -> HTTPResponse {
        try fixture.send("GET", "/console/api/" + path, headers: [("Cookie", cookie)])
    }

    func send(_ method: String, _ path: String, _ body: String = "") throws -> HTTPResponse {
        try fixture.send(
            method, "/console/api/" + path, body,
            headers: [("Cookie", cookie), ("X-Diptych-Request-Token", requestToken)])
    }
}

extension HTTPResponse {
    func object() throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: body) as? [String: Any])
    }

    func list() throws -> [[String: Any]] {
        try #require(JSONSerialization.jsonObject(with: body) as? [[String: Any]])
    }

    var text: String { String(decoding: body, as: UTF8.self) }
}
