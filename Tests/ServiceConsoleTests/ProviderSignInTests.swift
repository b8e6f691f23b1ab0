import Foundation
import KeyTesting
import MirrorTransport
import Platform
import RecordServer
import RecordService
import ServiceConsole
import Testing

/// A small provider of identities over HTTP, of which a test decides what it says.
private final class SmallProvider: Sendable {
    struct State: Sendable {
        var key: SigningKey
        var keyID = "one"
        var issuer: String?
        var claims: [String: String] = [:]
        /// What the browser brought: by code.
        var questions: [String: [String: String]] = [:]
        var keysAsked = 0
        /// How the client may show who it is; nil: the provider does not say.
        var methods: [String]? = ["client_secret_post"]
        var isAskedByBasic = false
    }

    static let client = "records"
    static let secret = "s3cret &="
    let state: Lock<State>
    private let port = Lock<UInt16>(0)
    private let server = Lock<HTTPServer?>(nil)
    private let clock: any Clock

    var issuer: String { "http://127.0.0.1:\(port.withLock { $0 })" }

    init(clock: any Clock) throws {
        self.clock = clock
        state = Lock(State(key: try SigningKey.rsa()))
        let made = HTTPServer(
            configuration: HTTPConfiguration(), platform: .system,
            answer: { [weak self] request in self?.answer(request) ?? HTTPResponse(status: 500) })
        let found = try made.start(address: "127.0.0.1", port: 0, tls: nil)
        port.withLock { $0 = found }
        server.withLock { $0 = made }
    }

    func stop() { server.withLock { $0 }?.stop() }

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        switch request.path {
        case "/.well-known/openid-configuration":
            let issuer = state.withLock { $0.issuer } ?? issuer
            var document: [String: Any] = [
                "issuer": issuer, "authorization_endpoint": "\(self.issuer)/authorize",
                "token_endpoint": "\(self.issuer)/token", "jwks_uri": "\(self.issuer)/keys",
            ]
            if let methods = state.withLock({ $0.methods }) {
                document["token_endpoint_auth_methods_supported"] = methods
            }
            return json(document)
        case "/keys":
            let entry = state.withLock { state in
                state.keysAsked += 1
                return state.key.webKey(id: state.keyID)
            }
            return json(["keys": [entry]])
        case "/token": return token(request)
        default: return HTTPResponse(status: 404)
        }
    }

    private func json(_ value: Any) -> HTTPResponse {
        HTTPResponse(
            status: 200, body: (try? JSONSerialization.data(withJSONObject: value)) ?? Data())
    }

    private func token(_ request: HTTPRequest) -> HTTPResponse {
        guard case .bytes(let body) = request.body else { return HTTPResponse(status: 400) }
        let form = HTTPQuery(String(decoding: body, as: UTF8.self))
        let question = state.withLock { $0.questions.removeValue(forKey: form["code"] ?? "") }
        let hashed = SigningKey.sha256(Data((form["code_verifier"] ?? "").utf8))
        guard request.method == "POST", let question, isClient(request, form),
            form["grant_type"] == "authorization_code",
            form["redirect_uri"] == question["redirect_uri"],
            SigningKey.base64URL(hashed) == question["code_challenge"]
        else { return HTTPResponse(status: 400) }
        let now = Int(clock.now().timeIntervalSince1970)
        let (key, id, change) = state.withLock { ($0.key, $0.keyID, $0.claims) }
        var claims: [String: Any] = [
            "iss": issuer, "sub": "ann", "aud": Self.client, "iat": now, "exp": now + 300,
            "nonce": question["nonce"] ?? "", "email": "anna@example.org", "email_verified": true,
        ]
        for (name, value) in change { claims[name] = value }
        guard let text = try? JSONSerialization.data(withJSONObject: claims),
            let token = try? key.token(
                #"{"alg":"RS256","kid":"\#(id)"}"#, String(decoding: text, as: UTF8.self))
        else { return HTTPResponse(status: 500) }
        return json(["id_token": token, "access_token": "x", "token_type": "Bearer"])
    }

    /// Whether the client proves who it is, in the one way that it was told.
    private func isClient(_ request: HTTPRequest, _ form: HTTPQuery) -> Bool {
        let isPost = state.withLock { $0.methods } == ["client_secret_post"]
        let basic = Data("\(Self.client):s3cret%20%26%3D".utf8).base64EncodedString()
        guard !isPost else {
            return form["client_secret"] == Self.secret && form["client_id"] == Self.client
                && request.headers["Authorization"] == nil
        }
        state.withLock { $0.isAskedByBasic = true }
        return request.headers["Authorization"] == "Basic \(basic)" && form["client_secret"] == nil
    }

    /// What its page does when a person says yes: the address to which the browser is sent back.
    func consent(_ location: String, code: String = "c0de") throws -> String {
        let parts = try #require(URLComponents(string: location))
        let items = (parts.queryItems ?? []).map { ($0.name, $0.value ?? "") }
        let question = Dictionary(items) { first, _ in first }
        #expect(location.hasPrefix("\(issuer)/authorize?"))
        #expect(question["response_type"] == "code" && question["client_id"] == Self.client)
        #expect(question["scope"]?.contains("openid") == true)
        #expect(question["code_challenge_method"] == "S256")
        state.withLock { $0.questions[code] = question }
        return "/console/signed-in?code=\(code)&state=\(question["state"] ?? "")"
    }
}

/// Signing in at the console by a provider.
@Suite struct ProviderSignInTests {
    private let fixture: ConsoleFixture
    private let provider: SmallProvider

    init() throws {
        let clock = HandClock()
        let small = try SmallProvider(clock: clock)
        provider = small
        fixture = try ConsoleFixture(
            clock: clock,
            provider: SignInProvider(
                issuer: small.issuer, clientID: SmallProvider.client,
                clientSecret: SmallProvider.secret
            ) { url, form, headers in
                let answer = try CurlHandle(limits: CurlLimits()).perform(
                    CurlCall(
                        method: form == nil ? "GET" : "POST", url: url, headers: headers,
                        body: form ?? Data()))
                return (answer.status, answer.body)
            })
        try fixture.service.accounts.setProfile(
            UserProfile(emailAddress: "anna@example.org"), of: fixture.anna.userRecordName)
    }

    private static let host = [("Host", "shelf.example.org")]

    /// The browser goes to the provider: where to, and its cookie.
    private func leave() throws -> (location: String, cookie: String) {
        let answer = try fixture.send("GET", "/console/sign-in", headers: Self.host)
        #expect(answer.status == 303, "\(answer.text)")
        let cookie = try #require(answer.headers["Set-Cookie"])
        #expect(cookie.contains("SameSite=Lax") && cookie.contains("HttpOnly"))
        return (
            try #require(answer.headers["Location"]), String(cookie.prefix { $0 != ";" })
        )
    }

    private func comeBack(_ path: String, _ cookie: String?) throws -> HTTPResponse {
        try fixture.send(
            "GET", path, headers: Self.host + (cookie.map { [("Cookie", $0)] } ?? []))
    }

    /// By OpenID Connect the secret goes into the head, unless the provider takes it in the form
    /// alone.
    @Test(arguments: [nil, ["client_secret_basic"], ["client_secret_post", "client_secret_basic"]])
    func theSecretGoesWhereTheProviderTakesIt(methods: [String]?) throws {
        defer { provider.stop() }
        provider.state.withLock { $0.methods = methods }
        #expect(try signIn().status == 303)
        #expect(provider.state.withLock { $0.isAskedByBasic })
    }

    private func signIn() throws -> HTTPResponse {
        let (location, cookie) = try leave()
        return try comeBack(provider.consent(location), cookie)
    }

    @Test func aUserOfTheProviderSignsIn() throws {
        defer { provider.stop() }
        let ways = try fixture.send("GET", "/console/api/ways").object()
        #expect(ways["provider"] as? String == "127.0.0.1")
        let (location, cookie) = try leave()
        #expect(
            location.contains("redirect_uri=https%3A%2F%2Fshelf.example.org%2Fconsole%2Fsigned-in"))
        let path = try provider.consent(location)
        let answer = try comeBack(path, cookie)
        #expect(answer.status == 303 && answer.headers["Location"] == "/console")
        let session = try #require(answer.headers["Set-Cookie"])
        #expect(session.contains("SameSite=Strict"))
        let own = String(session.prefix { $0 != ";" })
        let found = try fixture.send(
            "GET", "/console/api/session", headers: [("Cookie", own)]
        ).object()
        #expect(found["user"] as? String == fixture.anna.userRecordName)
        // An answer is good once.
        #expect(try comeBack(path, cookie).status == 401)
        try fixture.service.accounts.removeIdentities(of: fixture.anna.userRecordName)
        let ended = try fixture.send("GET", "/console/api/session", headers: [("Cookie", own)])
        #expect(ended.status == 401)
    }

    @Test func anAnswerToNoQuestionOfThisBrowserIsRefused() throws {
        defer { provider.stop() }
        let (location, cookie) = try leave()
        let path = try provider.consent(location)
        let (_, other) = try leave()
        #expect(try comeBack(path, other).status == 401)
        #expect(try comeBack(path, cookie).status == 401)
        let (second, mine) = try leave()
        let good = try provider.consent(second)
        #expect(try comeBack(good, nil).status == 401)
        let (third, own) = try leave()
        let late = try provider.consent(third)
        fixture.clock.advance(seconds: 601)
        #expect(try comeBack(late, own).status == 401)
        #expect(try comeBack("/console/signed-in?code=c0de&state=x", mine).status == 401)
        let (fourth, last) = try leave()
        let refused = try provider.consent(fourth).replacing("code=c0de", with: "error=denied")
        #expect(try comeBack(refused, last).status == 403)
    }

    @Test func tokensThatAreNotForUsAreRefused() throws {
        defer { provider.stop() }
        for (claim, value) in [("nonce", "other"), ("aud", "other"), ("iss", "http://evil")] {
            provider.state.withLock { $0.claims = [claim: value] }
            let answer = try signIn()
            #expect(answer.status == 401 && answer.headers["Set-Cookie"] == nil)
            #expect(answer.text.contains("The provider's token"))
        }
        provider.state.withLock { $0.claims = ["email": "stranger@example.org"] }
        #expect(try signIn().status == 403)
        provider.state.withLock { $0.claims = [:] }
        let (location, cookie) = try leave()
        let path = try provider.consent(location)
        provider.state.withLock { $0.questions["c0de"]?["code_challenge"] = "other" }
        #expect(try comeBack(path, cookie).status == 401)
        #expect(try signIn().status == 303)
    }

    /// A provider may give its new key a name of its own, or that of the former one.
    @Test(arguments: ["two", "one"])
    func newKeysAreReadWhenTheFormerSignedNoToken(_ name: String) throws {
        provider.state.withLock { $0.keyID = "one" }
        defer { provider.stop() }
        #expect(try signIn().status == 303)
        #expect(try signIn().status == 303)
        #expect(provider.state.withLock { $0.keysAsked } == 1)
        let next = try SigningKey.rsa()
        provider.state.withLock { ($0.key, $0.keyID) = (next, name) }
        // Not more often than once a minute.
        #expect(try signIn().status == 401)
        fixture.clock.advance(seconds: 61)
        #expect(try signIn().status == 303)
        #expect(provider.state.withLock { $0.keysAsked } == 2)
    }

    @Test func aProviderThatSaysSomethingElseIsNotBelieved() throws {
        provider.state.withLock { $0.issuer = "https://evil.example.org" }
        let wrong = try fixture.send("GET", "/console/sign-in", headers: Self.host)
        #expect(wrong.status == 503 && wrong.headers["Location"] == nil)
        provider.stop()
        #expect(try fixture.send("GET", "/console/sign-in", headers: Self.host).status == 503)
        for unsafe in ["http://id.example.org", "ftp://x", "https://", "id.example.org", ""] {
            #expect(!SignInProvider.isSafe(unsafe))
        }
        #expect(SignInProvider.isSafe("https://id.example.org/realm"))
        let without = try ConsoleFixture()
        #expect(try without.send("GET", "/console/sign-in", headers: Self.host).status == 404)
    }
}
