public import Foundation
public import RecordService
internal import RecordWire

/// A provider of identities by which users sign in (OpenID Connect), and how it is asked.
public struct SignInProvider: Sendable {
    /// Asks an address of the provider: with `form` by POST, else by GET. Throws where no answer
    /// comes; blocks meanwhile, and is to end within some seconds.
    public typealias Fetch =
        @Sendable (_ url: String, _ form: Data?, _ headers: [(String, String)]) throws -> (
            status: Int, body: Data
        )

    /// As the provider spells it: `https://id.example.org/realm`.
    public var issuer: String
    /// What the provider calls this service.
    public var clientID: String
    /// nil for a client without one.
    public var clientSecret: String?
    public var policy: IdentityPolicy
    /// The address of this service as browsers know it; nil: as they call it.
    public var address: String?
    let fetch: Fetch

    /// `fetch` is asked for the provider's own documents and its answers.
    public init(
        issuer: String, clientID: String, clientSecret: String?, policy: IdentityPolicy = .email,
        address: String? = nil, fetch: @escaping Fetch
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.policy = policy
        self.address = address
        self.fetch = fetch
    }

    /// What the page calls it.
    var title: String { URL(string: issuer)?.host() ?? issuer }

    /// Whether a place of a provider may be asked: by TLS, or on this machine.
    public static func isSafe(_ address: String) -> Bool {
        guard let url = URL(string: address), let host = url.host(), !host.isEmpty else {
            return false
        }
        if url.scheme == "https" { return url.user() == nil }
        return url.scheme == "http" && ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host)
    }
}

/// What a provider says of itself, and its keys, kept for a while.
final class ProviderDocuments: Sendable {
    /// (OpenID Connect Discovery §3)
    struct Places: Decodable, Sendable {
        var issuer: String
        var authorization: String
        var token: String
        var keys: String
        var methods: [String]?

        /// Whether a secret goes into the form. The usual way, and the only one that each provider
        /// has to have, is by the head.
        var takesSecretInForm: Bool {
            guard let methods else { return false }
            return methods.contains("client_secret_post")
                && !methods.contains("client_secret_basic")
        }

        private enum CodingKeys: String, CodingKey {
            case issuer
            case authorization = "authorization_endpoint"
            case token = "token_endpoint"
            case keys = "jwks_uri"
            case methods = "token_endpoint_auth_methods_supported"
        }
    }

    private let provider: SignInProvider
    private let known: KnownDocuments

    init(_ provider: SignInProvider, known: KnownDocuments) {
        self.provider = provider
        self.known = known
    }

    /// Throws TRY_AGAIN_LATER where the provider does not answer, or with something else.
    func places(at now: Date) throws(RecordError) -> Places {
        if let places = known.places(at: now) { return places }
        let issuer = provider.issuer
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        let body = try get("\(base)/.well-known/openid-configuration")
        guard let places = try? JSONDecoder().decode(Places.self, from: body),
            places.issuer == provider.issuer,
            [places.authorization, places.token, places.keys].allSatisfy(SignInProvider.isSafe)
        else { throw ProviderDesk.silent }
        known.keep(places, at: now)
        return places
    }

    /// Keys by which `token` can be looked at: where none of those that are known signed it, the
    /// provider may have new ones.
    func keys(for token: String, at now: Date) throws(RecordError) -> WebKeys {
        if let keys = known.keys(at: now),
            keys.suffice(for: token) || !known.mayAskAgain(at: now)
        {
            return keys
        }
        let keys = try WebKeys(json: get(places(at: now).keys))
        known.keep(keys, at: now)
        return keys
    }

    private func get(_ url: String) throws(RecordError) -> Data {
        let answer = try? provider.fetch(url, nil, [("Accept", "application/json")])
        guard let answer, answer.status == 200 else { throw ProviderDesk.silent }
        return answer.body
    }
}
