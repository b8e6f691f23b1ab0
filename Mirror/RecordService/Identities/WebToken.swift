package import Foundation
package import RecordWire

/// A token that a provider signed, taken apart and not believed yet. (RFC 7515, compact)
struct WebToken {
    private struct Header: Decodable {
        var alg: String
        var kid: String?
        var crit: [String]?
    }

    fileprivate struct Claims: Decodable {
        var iss: String
        var sub: String
        var aud: Audience
        var azp: String?
        var exp: Double
        var iat: Double
        var nbf: Double?
        var nonce: String?
        var email: Word?
        var assurance: Assurance?
        var name: Word?

        private enum CodingKeys: String, CodingKey {
            case iss, sub, aud, azp, exp, iat, nbf, nonce, email, name
            case assurance = "email_verified"
        }
    }

    /// One name, or a list of them.
    fileprivate struct Audience: Decodable {
        var names: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            names = try (try? [container.decode(String.self)]) ?? container.decode([String].self)
        }
    }

    /// Some providers spell it as a text. What is neither is no assurance, and no reason to refuse
    /// who needs none.
    fileprivate struct Assurance: Decodable {
        var isGiven: Bool

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let isTrue = try? container.decode(Bool.self)
            isGiven = isTrue ?? ((try? container.decode(String.self)) == "true")
        }
    }

    /// What a person is called, where it is a text.
    fileprivate struct Word: Decodable {
        var text: String?

        init(from decoder: any Decoder) throws {
            text = try? decoder.singleValueContainer().decode(String.self)
        }
    }

    let algorithm: WebKeys.Algorithm
    let keyID: String?
    /// What the signature is over.
    let signed: [UInt8]
    let signature: [UInt8]
    fileprivate let claims: Claims

    private static let bytesMax = 16 << 10

    /// Throws AUTHENTICATION_FAILED for what is no such token, or signed in a way that is not
    /// taken.
    init(_ text: String) throws(RecordError) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.bytesMax, parts.count == 3,
            let head = Base64URL.bytes(String(parts[0])),
            let body = Base64URL.bytes(String(parts[1])),
            let signature = Base64URL.bytes(String(parts[2])),
            let header = try? JSONDecoder().decode(Header.self, from: Data(head)),
            let claims = try? JSONDecoder().decode(Claims.self, from: Data(body))
        else { throw Self.refused("cannot be read") }
        guard let algorithm = WebKeys.Algorithm(rawValue: header.alg) else {
            throw Self.refused("is not signed by RS256 or ES256")
        }
        guard header.crit == nil else { throw Self.refused("demands what is not known here") }
        self.algorithm = algorithm
        keyID = header.kid
        signed = Array("\(parts[0]).\(parts[1])".utf8)
        self.signature = signature
        self.claims = claims
    }

    static func refused(_ what: String) -> RecordError {
        RecordError(.authenticationFailed, "The provider's token \(what).")
    }
}

/// What a provider says of a person who signed in.
package struct ProviderClaims: Hashable, Sendable {
    package var issuer: String
    /// Names the person at the issuer, for ever.
    package var subject: String
    /// Where the provider made sure that it is the person's.
    package var emailAddress: String?
    package var name: String?

    package init(issuer: String, subject: String, emailAddress: String? = nil, name: String? = nil)
    {
        self.issuer = issuer
        self.subject = subject
        self.emailAddress = emailAddress
        self.name = name
    }

    private static let leewaySeconds = 60.0
    private static let subjectBytesMax = 255

    /// Reads a token and believes it: signed by one of the keys, of this issuer, for this client,
    /// in answer to this nonce, at this time within a minute. Throws AUTHENTICATION_FAILED with the
    /// part that is wrong. (OpenID Connect Core §3.1.3.7)
    package init(
        token text: String, keys: WebKeys, issuer: String, client: String, nonce: String, now: Date
    ) throws(RecordError) {
        let token = try WebToken(text)
        guard keys.haveSigned(token) else {
            throw WebToken.refused("is signed by none of its keys")
        }
        let claims = token.claims
        let second = now.timeIntervalSince1970
        guard claims.iss.isExactly(issuer) else { throw WebToken.refused("is of another issuer") }
        guard claims.aud.names.contains(where: { $0.isExactly(client) }),
            claims.aud.names.count == 1 || claims.azp != nil,
            claims.azp.map({ $0.isExactly(client) }) ?? true
        else { throw WebToken.refused("is for another client") }
        guard claims.exp + Self.leewaySeconds > second else { throw WebToken.refused("is expired") }
        guard claims.iat - Self.leewaySeconds <= second,
            (claims.nbf ?? 0) - Self.leewaySeconds <= second
        else { throw WebToken.refused("is of the future; compare the clocks") }
        guard
            SecretHash.areEqual(Data((claims.nonce ?? "").utf8), Data(nonce.utf8)), !nonce.isEmpty
        else { throw WebToken.refused("answers another question (nonce)") }
        guard (1...Self.subjectBytesMax).contains(claims.sub.utf8.count) else {
            throw WebToken.refused("names nobody")
        }
        self.issuer = claims.iss
        subject = claims.sub
        emailAddress = claims.assurance?.isGiven == true ? claims.email?.text : nil
        name = claims.name?.text
    }
}
