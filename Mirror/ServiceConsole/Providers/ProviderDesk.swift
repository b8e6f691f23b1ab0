internal import Foundation
internal import Platform
internal import RecordServer
internal import RecordService
internal import RecordWire

/// Signing in by a provider: the browser goes there with a question of ours and comes back with a
/// code, for which the provider tells us who it is. (OpenID Connect Core §3.1, RFC 7636)
final class ProviderDesk: Sendable {
    /// A browser that is at the provider.
    private struct Absent {
        let nonce: String
        /// What the code is good for only together with.
        let verifier: String
        /// Of the secret in the browser's cookie.
        let browser: String
        let address: ClientAddress
        let home: String
        let expires: Date
    }

    private struct CodeAnswer: Decodable {
        var identity: String

        private enum CodingKeys: String, CodingKey {
            case identity = "id_token"
        }
    }

    let provider: SignInProvider
    private let accounts: ServiceAccounts
    private let clock: any Clock
    private let documents: ProviderDocuments
    /// By the hash of the state that comes back.
    private let absent = Lock<[String: Absent]>([:])
    private let running = Lock(0)

    static let lifeSeconds = 600.0
    private static let absentMax = 1_000
    private static let absentPerAddressMax = 20
    /// Each holds a thread of the server while the provider is asked.
    private static let runningMax = 4
    static let callbackPath = "/console/signed-in"

    init(_ provider: SignInProvider, accounts: ServiceAccounts, clock: any Clock) {
        self.provider = provider
        self.accounts = accounts
        self.clock = clock
        documents = ProviderDocuments(provider, known: KnownDocuments())
    }

    /// Where the browser is to go, and the secret for its cookie. `home` is this service's address.
    func begin(
        home: String, from address: ClientAddress
    ) throws(RecordError) -> (url: String, secret: String) {
        let places = try asking { () throws(RecordError) in try documents.places(at: clock.now()) }
        let (state, nonce) = (try accounts.drawnSecret(), try accounts.drawnSecret())
        let (verifier, secret) = (try accounts.drawnSecret(), try accounts.drawnSecret())
        try keep(
            Absent(
                nonce: nonce, verifier: verifier, browser: try ConsoleSecret.key(of: secret),
                address: address, home: home,
                expires: clock.now().addingTimeInterval(Self.lifeSeconds)),
            under: ConsoleSecret.key(of: state))
        let query = Self.form([
            ("response_type", "code"), ("client_id", provider.clientID),
            ("redirect_uri", home + Self.callbackPath), ("scope", "openid email profile"),
            ("state", state), ("nonce", nonce), ("code_challenge_method", "S256"),
            ("code_challenge", try Self.challenge(verifier)),
        ])
        let mark = places.authorization.contains("?") ? "&" : "?"
        return ("\(places.authorization)\(mark)\(query)", secret)
    }

    private func keep(_ browser: Absent, under key: String) throws(RecordError) {
        let now = clock.now()
        let hasRoom = absent.withLock { absent in
            absent = absent.filter { $0.value.expires > now }
            let ofAddress = absent.values.count { $0.address == browser.address }
            guard absent.count < Self.absentMax, ofAddress < Self.absentPerAddressMax else {
                return false
            }
            absent[key] = browser
            return true
        }
        guard !hasRoom else { return }
        var error = RecordError(
            .throttled, "Too many are signing in by the provider; try again in some minutes.")
        error.retryAfterSeconds = 60
        throw error
    }

    /// Who came back. `secret` is what the browser's cookie holds. Throws AUTHENTICATION_FAILED for
    /// an answer to no question of ours, and for one that the provider did not sign as it should.
    func finish(_ query: HTTPQuery, secret: String?) throws(RecordError) -> TokenBearer {
        guard let state = query["state"], let secret else { throw Self.unasked }
        let key = try ConsoleSecret.key(of: state)
        let found = absent.withLock { absent in
            defer { absent[key] = nil }
            return absent[key]
        }
        guard let found, found.expires > clock.now(),
            try ConsoleSecret.areEqual(ConsoleSecret.key(of: secret), found.browser),
            query["iss"].map({ $0 == provider.issuer }) ?? true
        else { throw Self.unasked }
        guard let code = query["code"], query["error"] == nil else {
            throw RecordError(.accessDenied, "The provider did not let you in.")
        }
        let claims = try asking { () throws(RecordError) -> ProviderClaims in
            try self.claims(of: code, found)
        }
        return try accounts.bearer(of: claims, provider.policy)
    }

    private func claims(of code: String, _ found: Absent) throws(RecordError) -> ProviderClaims {
        let places = try documents.places(at: clock.now())
        var fields = [
            ("grant_type", "authorization_code"), ("code", code),
            ("redirect_uri", found.home + Self.callbackPath),
            ("code_verifier", found.verifier),
        ]
        var headers = [
            ("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json"),
        ]
        if let secret = provider.clientSecret, !places.takesSecretInForm {
            let client = "\(Self.encoded(provider.clientID)):\(Self.encoded(secret))"
            headers.append(("Authorization", "Basic \(Data(client.utf8).base64EncodedString())"))
        } else {
            fields.append(("client_id", provider.clientID))
            if let secret = provider.clientSecret { fields.append(("client_secret", secret)) }
        }
        guard
            let answer = try? provider.fetch(
                places.token, Data(Self.form(fields).utf8), headers)
        else { throw Self.silent }
        guard answer.status == 200,
            let token = try? JSONDecoder().decode(CodeAnswer.self, from: answer.body).identity
        else {
            throw RecordError(
                .authenticationFailed, "The provider did not take the code; sign in anew.")
        }
        let now = clock.now()
        return try ProviderClaims(
            token: token, keys: documents.keys(for: token, at: now), issuer: provider.issuer,
            client: provider.clientID, nonce: found.nonce, now: now)
    }

    /// Runs what asks the provider, few at once.
    private func asking<Result>(
        _ body: () throws(RecordError) -> Result
    ) throws(RecordError) -> Result {
        let isFree = running.withLock { running in
            guard running < Self.runningMax else { return false }
            running += 1
            return true
        }
        guard isFree else { throw Self.silent }
        defer { running.withLock { $0 -= 1 } }
        return try body()
    }

    private static func challenge(_ verifier: String) throws(RecordError) -> String {
        do {
            return try SecretHash.sha256(verifier).base64EncodedString()
                .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        } catch {
            throw RecordError(.internalError, "The machine cannot hash a secret.")
        }
    }

    private static func form(_ fields: [(String, String)]) -> String {
        fields.map { name, value in "\(name)=\(encoded(value))" }.joined(separator: "&")
    }

    private static func encoded(_ value: String) -> String {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        return value.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }

    static var silent: RecordError {
        var error = RecordError(
            .tryAgainLater, "The provider does not answer as it should; try again in a while.")
        error.retryAfterSeconds = 5
        return error
    }

    private static let unasked = RecordError(
        .authenticationFailed,
        "The provider's answer is to no question of this browser's, or it came late; sign in anew.")
}
