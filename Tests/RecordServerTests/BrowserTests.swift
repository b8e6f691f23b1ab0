import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// What browsers ask: for other addresses' pages, and for a share's page.
@Suite struct BrowserTests {
    /// A clock that stands until it is moved.
    private final class StillClock: Clock {
        private let seconds = Lock(Date().timeIntervalSince1970)
        func advance(days: Double) { seconds.withLock { $0 += days * 86_400 } }
        func now() -> Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }
    }

    /// A real service on the network, with one user whose token lasts thirty days.
    private final class Desk {
        static let container = "iCloud.org.example"
        static let origin = "https://notes.example.org"
        let service: RecordService
        let server: RecordServer
        let url: URL
        let folder: URL
        let clock = StillClock()
        let user: ServiceUser
        let api: String
        let token: IssuedToken

        init(
            dialect: ServiceDialect = .extended,
            _ change: (inout ServerConfiguration) -> Void = { _ in }
        ) throws {
            folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("diptych-browser-\(UUID().uuidString)")
            var platform = Environment.system
            platform.clock = clock
            service = try RecordService(platform: platform, dialect: dialect)
            let accounts = service.accounts
            try accounts.createContainer(Self.container)
            user = try accounts.createUser(label: "Anna")
            api = try accounts.issueAPIToken(container: Self.container, label: "t").secret
            token = try accounts.issueUserToken(
                userRecordName: user.userRecordName, label: "t", days: 30)
            var configuration = ServerConfiguration(tls: .automatic(folder: folder, hosts: []))
            configuration.port = 0
            change(&configuration)
            server = RecordServer(service: service, configuration: configuration)
            url = try server.start()
        }

        deinit {
            server.stop()
            try? FileManager.default.removeItem(at: folder)
        }

        static let callerPath = "/database/1/\(container)/development/private/users/caller"

        func send(
            _ method: String = "GET", _ path: String = Desk.callerPath, token: String? = nil,
            headers: [(String, String)] = [], body: String = ""
        ) throws -> CurlAnswer {
            var limits = CurlLimits()
            limits.authorityFile = server.authorityFile
            var headers = headers
            if let token {
                headers.append(("X-Diptych-API-Token", api))
                headers.append(("X-Diptych-User-Token", token))
            }
            return try CurlHandle(limits: limits).perform(
                CurlCall(
                    method: method, url: url.absoluteString + path, headers: headers,
                    body: Data(body.utf8)))
        }
    }

    private static let rotation = "x-apple-cloudkit-web-auth-token"
    private static let end = "x-diptych-token-expires"

    // MARK: Tokens

    @Test func answersSayWhenATokenEndsAndCarryTheNext() throws {
        let desk = try Desk { $0.throttle = nil }
        let young = try desk.send(token: desk.token.secret)
        #expect(young.status == 200 && young.headers[Self.rotation] == nil)
        #expect(young.headers[Self.end]?.hasSuffix("Z") == true)
        desk.clock.advance(days: 21)
        let due = try desk.send(token: desk.token.secret)
        let next = try #require(due.headers[Self.rotation])
        #expect(try desk.send(token: desk.token.secret).headers[Self.rotation] == next)
        #expect(try desk.send(token: next).status == 200)
        desk.clock.advance(days: 1)
        let late = try desk.send(token: desk.token.secret)
        #expect(late.status == 421 && late.headers[Self.rotation] == nil)
        #expect(try desk.send(token: next).status == 200)
    }

    @Test func whoIsLateHearsWhereToSignIn() throws {
        let desk = try Desk { $0.annex = ServerAnnex(signInPath: "/console") { _ in nil } }
        desk.clock.advance(days: 31)
        let late = try desk.send(token: desk.token.secret)
        #expect(late.status == 421)
        let error = try WireCodec.decodeError(late.body)
        #expect(error.code == .authenticationRequired)
        #expect(error.redirectURL == desk.url.absoluteString + "/console")
        let stranger = try WireCodec.decodeError(try desk.send().body)
        #expect(stranger.code == .authenticationRequired && stranger.redirectURL == nil)
    }

    /// Its clients open the page and wait for a token, which no page here hands back.
    @Test func thePlainDialectNamesNoPageThatHandsNoTokenBack() throws {
        let desk = try Desk(dialect: .plain) {
            $0.annex = ServerAnnex(signInPath: "/console") { _ in nil }
        }
        desk.clock.advance(days: 31)
        let tokens = "?ckAPIToken=\(desk.api)&ckWebAuthToken=\(desk.token.secret)"
        for query in [tokens, "?ckAPIToken=\(desk.api)"] {
            let answer = try desk.send("GET", Desk.callerPath + query)
            let error = try WireCodec.decodeError(answer.body)
            #expect(error.code == .authenticationRequired && error.redirectURL == nil)
        }
    }

    @Test func thePlainDialectCarriesTheNextTokenItself() throws {
        let desk = try Desk(dialect: .plain)
        desk.clock.advance(days: 21)
        func ask(_ token: String) throws -> CurlAnswer {
            try desk.send(
                "GET", Desk.callerPath + "?ckAPIToken=\(desk.api)&ckWebAuthToken=\(token)")
        }
        let first = try ask(desk.token.secret)
        let next = try #require(first.headers[Self.rotation])
        #expect(!next.hasPrefix(desk.token.secret) && first.headers[Self.end] == nil)
        let second = try ask(next)
        #expect(second.status == 200)
        desk.clock.advance(days: 15)
        #expect(try ask(second.headers[Self.rotation] ?? "").status == 200)
    }

    // MARK: Origins

    private func allows(_ answer: CurlAnswer) -> String? {
        answer.headers["access-control-allow-origin"]
    }

    private func preflight(_ desk: Desk, _ path: String, _ origin: String) throws -> CurlAnswer {
        try desk.send(
            "OPTIONS", path,
            headers: [("Origin", origin), ("Access-Control-Request-Method", "POST")])
    }

    @Test func noOtherAddressIsAllowedUnlessTold() throws {
        let desk = try Desk()
        let answer = try desk.send(token: desk.token.secret, headers: [("Origin", Desk.origin)])
        #expect(answer.status == 200 && allows(answer) == nil)
        let asked = try preflight(desk, Desk.callerPath, Desk.origin)
        #expect(asked.status >= 400 && allows(asked) == nil)
    }

    @Test func anAllowedOriginReadsAnswersAndRefusals() throws {
        let desk = try Desk { _ = $0.http.origins.allow(Desk.origin, container: Desk.container) }
        let origin = [("Origin", Desk.origin)]
        let asked = try preflight(desk, Desk.callerPath, Desk.origin)
        #expect(asked.status == 204 && allows(asked) == Desk.origin && asked.body.isEmpty)
        #expect(asked.headers["access-control-allow-methods"]?.contains("POST") == true)
        let named = asked.headers["access-control-allow-headers"] ?? ""
        #expect(named.contains("X-Diptych-User-Token") && named.contains("Content-Type"))
        #expect(asked.headers["access-control-allow-credentials"] == nil)
        let tooMany = Array(repeating: "a=b", count: 40).joined(separator: "&")
        for answer in [
            try desk.send(token: desk.token.secret, headers: origin),
            try desk.send(headers: origin),
            try desk.send("DELETE", token: desk.token.secret, headers: origin),
            try desk.send("POST", token: desk.token.secret, headers: origin, body: "{"),
            try desk.send("GET", "/capabilities", headers: origin),
            try desk.send("POST", "/assets/nothing", headers: origin),
            try desk.send("GET", Desk.callerPath + "?" + tooMany, headers: origin),
        ] {
            #expect(allows(answer) == Desk.origin)
            #expect(answer.headers["vary"]?.contains("Origin") == true)
            #expect(
                answer.headers["access-control-expose-headers"]?.contains("Retry-After") == true)
        }
    }

    @Test(arguments: [
        "https://notes.example.org.evil.org", "http://notes.example.org", "null",
        "https://notes.example.org:8443", "https://NOTES.example.org",
    ]) func otherOriginsAreNot(_ origin: String) throws {
        let desk = try Desk { _ = $0.http.origins.allow(Desk.origin) }
        let answer = try desk.send(token: desk.token.secret, headers: [("Origin", origin)])
        #expect(allows(answer) == nil && answer.headers["vary"]?.contains("Origin") == true)
        #expect(allows(try preflight(desk, Desk.callerPath, origin)) == nil)
        // Who asks without an origin is not told of one.
        #expect(allows(try desk.send(token: desk.token.secret)) == nil)
    }

    @Test func anOriginOfOneContainerIsNoneOfAnother() throws {
        let desk = try Desk { _ = $0.http.origins.allow(Desk.origin, container: "iCloud.other") }
        #expect(allows(try preflight(desk, Desk.callerPath, Desk.origin)) == nil)
        let other = Desk.callerPath.replacing(Desk.container, with: "iCloud.other")
        #expect(allows(try preflight(desk, other, Desk.origin)) == Desk.origin)
    }

    @Test(arguments: [
        "", "*", "null", "https://", "https://a.org/", "https://a.org/x", "a.org", "ftp://a.org",
        "https://a.org:443", "http://a.org:80", "https://u@a.org", "https://A.org",
        "https://a.org?",
        "https://a.org\r\nX: y",
    ]) func whatIsNoOriginIsNotTaken(_ text: String) {
        var origins = AllowedOrigins()
        let isTaken = origins.allow(text)
        #expect(!isTaken && origins.isEmpty)
    }

    // MARK: Shares

    private func share(
        _ desk: Desk, _ permission: ShareParticipant.Permission, title: String
    ) throws -> String {
        let caller = Caller(userRecordName: desk.user.userRecordName)
        let target = RecordTarget(container: Desk.container)
        let zone = ZoneID(zoneName: "notes")
        _ = try desk.service.handle(
            .modifyZones([ZoneOperation(.create, zone)]), target: target, caller: caller)
        var share = Record(recordName: "s", recordType: Record.shareType)
        share.sharedRoot = "a"
        share.publicPermission = permission
        share.fields["cloudkit.title"] = .string(title)
        let answer = try desk.service.handle(
            .modifyRecords(
                ModifyRecords(
                    operations: [
                        RecordOperation(.create, Record(recordName: "a", recordType: "Note")),
                        RecordOperation(.create, share),
                    ], zoneID: zone)), target: target, caller: caller)
        guard case .records(let reply) = answer, case .record(let made) = reply.results[1] else {
            throw POSIXError(.EIO)
        }
        return try #require(made.shortGUID)
    }

    @Test func aPublicSharesPageSaysWhatItIsAndHowToTakePart() throws {
        let desk = try Desk()
        let title = "<script>alert('x')</script>\u{202E}&\"\u{1B}[31m"
        let guid = try share(desk, .readOnly, title: title)
        let answer = try desk.send("GET", "/share/\(guid)")
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "text/html; charset=utf-8")
        let policy = answer.headers["content-security-policy"] ?? ""
        #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("script"))
        #expect(answer.headers["referrer-policy"] == "no-referrer")
        let page = String(decoding: answer.body, as: UTF8.self)
        let address = "\(desk.url.absoluteString)/share/\(guid)"
        #expect(page.contains("diptych share STORE accept \(address)"))
        #expect(page.contains("&lt;script&gt;alert(&#39;x&#39;)") && !page.contains("<script"))
        #expect(!page.unicodeScalars.contains { ["\u{202E}", "\u{1B}"].contains($0) })
        #expect(page.contains("read them") && page.contains(Desk.container))
        #expect(!page.contains(desk.user.userRecordName) && !page.contains("Anna"))
        #expect(try desk.send("HEAD", "/share/\(guid)").status == 200)
        #expect(try desk.send("POST", "/share/\(guid)").status == 405)
    }

    @Test func theStyleIsTheOneThatThePolicyNames() throws {
        let desk = try Desk()
        let answer = try desk.send("GET", "/share/none")
        let page = String(decoding: answer.body, as: UTF8.self)
        let style = try #require(page.firstMatch(of: /<style>(.*)<\/style>/)?.1)
        let hash = try SecretHash.sha256(String(style)).base64EncodedString()
        #expect(answer.headers["content-security-policy"]?.contains("'sha256-\(hash)'") == true)
    }

    @Test func aShareOfInvitedPeopleIsNotToldFromNone() throws {
        let desk = try Desk()
        let guid = try share(desk, .none, title: "Secret")
        func page(_ guid: String) throws -> (Int, String) {
            let answer = try desk.send("GET", "/share/\(guid)")
            let text = String(decoding: answer.body, as: UTF8.self).replacing(guid, with: "GUID")
            return (answer.status, text)
        }
        let known = try page(guid)
        let unknown = try page(String(guid.reversed()))
        #expect(known == unknown && known.0 == 404)
        #expect(!known.1.contains("Secret") && known.1.contains("accept"))
        // What is no short GUID is no page.
        for wrong in ["", "a/b", "%3Cb%3E", "a%20b", String(repeating: "a", count: 65)] {
            let answer = try desk.send("GET", "/share/\(wrong)")
            #expect(answer.status == 404)
            #expect(answer.headers["content-type"]?.hasPrefix("application/json") == true)
        }
    }

    @Test func aShareThatEndedIsGone() throws {
        let desk = try Desk()
        let guid = try share(desk, .readWrite, title: "Notes")
        #expect(try desk.send("GET", "/share/\(guid)").status == 200)
        _ = try desk.service.handle(
            .modifyRecords(
                ModifyRecords(
                    operations: [
                        RecordOperation(
                            .forceDelete, Record(recordName: "s", recordType: Record.shareType))
                    ], zoneID: ZoneID(zoneName: "notes"))),
            target: RecordTarget(container: Desk.container),
            caller: Caller(userRecordName: desk.user.userRecordName))
        #expect(try desk.send("GET", "/share/\(guid)").status == 404)
    }
}
