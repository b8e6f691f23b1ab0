import Foundation
import KeyTesting
import RecordService
import RecordWire
import Testing

/// Which tokens of a provider are believed.
@Suite struct ProviderTokenTests {
    private static let issuer = "https://id.example.org/realm"
    private static let client = "records"
    private static let nonce = "n-0S6_WzA2Mj"
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private let rsa: SigningKey
    private let curve: SigningKey
    private let keys: WebKeys

    init() throws {
        rsa = try SigningKey.rsa()
        curve = try SigningKey.p256()
        keys = try Self.keys([rsa.webKey(id: "r"), curve.webKey(id: "c", ["alg": "ES256"])])
    }

    private static func keys(_ entries: [[String: String]]) throws -> WebKeys {
        try WebKeys(json: JSONSerialization.data(withJSONObject: ["keys": entries]))
    }

    private func claims(_ change: [String: Any?] = [:]) throws -> String {
        var claims: [String: Any] = [
            "iss": Self.issuer, "sub": "248289761001", "aud": Self.client, "nonce": Self.nonce,
            "exp": 1_700_000_300, "iat": 1_699_999_990, "email": "Ann@example.org",
            "email_verified": true, "name": "Ann",
        ]
        for (key, value) in change { claims[key] = value }
        return String(
            decoding: try JSONSerialization.data(withJSONObject: claims), as: UTF8.self)
    }

    private static let rs256 = #"{"alg":"RS256","kid":"r","typ":"JWT"}"#
    private static let es256 = #"{"alg":"ES256","kid":"c"}"#

    private func read(_ token: String, _ other: WebKeys? = nil) -> String {
        do throws(RecordError) {
            let claims = try ProviderClaims(
                token: token, keys: other ?? keys, issuer: Self.issuer, client: Self.client,
                nonce: Self.nonce, now: Self.now)
            return "\(claims.subject) \(claims.emailAddress ?? "-")"
        } catch {
            return error.code == .authenticationFailed ? error.reason : "\(error)"
        }
    }

    @Test func goodTokensAreBelieved() throws {
        for (key, head) in [(rsa, Self.rs256), (curve, Self.es256)] {
            #expect(read(try key.token(head, claims())) == "248289761001 Ann@example.org")
        }
        for change: [String: Any?] in [
            ["aud": [Self.client]], ["aud": ["x", Self.client], "azp": Self.client],
            // Clocks differ by less than a minute.
            ["exp": 1_699_999_950], ["iat": 1_700_000_050], ["nbf": 1_700_000_050],
        ] {
            #expect(read(try rsa.token(Self.rs256, claims(change))).hasPrefix("248289761001"))
        }
        for assurance: Any? in [false, "false", nil, "yes", 1, [true]] {
            let token = try rsa.token(Self.rs256, claims(["email_verified": assurance]))
            #expect(read(token) == "248289761001 -")
        }
        // What a person is called is nothing that has to be there.
        for change: [String: Any?] in [["name": 1], ["name": ["Ann"]], ["email": ["a@b"]]] {
            #expect(read(try rsa.token(Self.rs256, claims(change))).hasPrefix("248289761001"))
        }
        // Without a name, the one key of its kind.
        #expect(read(try rsa.token(#"{"alg":"RS256"}"#, claims())).hasPrefix("248289761001"))
    }

    @Test func claimsThatAreNotOursAreRefused() throws {
        let wrong: [(String, [String: Any?])] = [
            ("another issuer", ["iss": "https://evil.example.org"]),
            ("another issuer", ["iss": Self.issuer + "/"]),
            ("another client", ["aud": "other"]), ("another client", ["aud": [String]()]),
            ("another client", ["aud": [Self.client, "other"]]),
            ("another client", ["aud": Self.client, "azp": "other"]),
            ("expired", ["exp": 1_699_999_930]), ("future", ["iat": 1_700_000_100]),
            ("future", ["nbf": 1_700_000_100]), ("nonce", ["nonce": "other"]),
            ("nonce", ["nonce": nil]), ("nonce", ["nonce": ""]), ("names nobody", ["sub": ""]),
            ("names nobody", ["sub": String(repeating: "x", count: 256)]),
            ("cannot be read", ["exp": nil]), ("cannot be read", ["sub": nil]),
            ("cannot be read", ["sub": 5]), ("cannot be read", ["aud": nil]),
            ("cannot be read", ["exp": "never"]),
        ]
        for (part, change) in wrong {
            let reason = read(try rsa.token(Self.rs256, claims(change)))
            #expect(reason.contains(part), "\(change): \(reason)")
        }
    }

    @Test func forgeriesAreRefused() throws {
        let good = try rsa.token(Self.rs256, claims())
        let parts = good.split(separator: ".").map(String.init)
        func encoded(_ text: String) -> String { SigningKey.base64URL(Data(text.utf8)) }
        let other = encoded(try claims(["sub": "admin"]))
        let stranger = try SigningKey.rsa()
        let forged: [(String, String)] = [
            ("not signed", "\(encoded(#"{"alg":"none"}"#)).\(parts[1])."),
            ("not signed", "\(encoded(#"{"alg":"None"}"#)).\(parts[1]).\(parts[2])"),
            ("not signed", "\(encoded(#"{"alg":"HS256","kid":"r"}"#)).\(parts[1]).\(parts[2])"),
            ("not signed", try rsa.token(#"{"alg":"RS512","kid":"r"}"#, claims())),
            ("not signed", try rsa.token(#"{"alg":"rs256","kid":"r"}"#, claims())),
            ("cannot be read", try rsa.token(#"{"kid":"r"}"#, claims())),
            ("demands", try rsa.token(#"{"alg":"RS256","kid":"r","crit":["exp"]}"#, claims())),
            ("none of its keys", "\(parts[0]).\(other).\(parts[2])"),
            ("none of its keys", "\(parts[0]).\(parts[1])."),
            ("none of its keys", "\(parts[0]).\(parts[1]).\(encoded("x"))"),
            ("none of its keys", try stranger.token(Self.rs256, claims())),
            ("none of its keys", try curve.token(Self.rs256, claims())),
            ("none of its keys", try rsa.token(#"{"alg":"ES256","kid":"r"}"#, claims())),
            ("none of its keys", try rsa.token(#"{"alg":"RS256","kid":"c"}"#, claims())),
            ("none of its keys", try rsa.token(#"{"alg":"RS256","kid":"x"}"#, claims())),
            (
                "none of its keys",
                try stranger.token(
                    #"{"alg":"RS256","jwk":{"kty":"RSA"},"jku":"https://evil.example.org"}"#,
                    claims())
            ),
            ("cannot be read", "\(parts[0]).\(parts[1])"), ("cannot be read", good + ".x"),
            ("cannot be read", ""), ("cannot be read", "..."),
            ("cannot be read", "\(parts[0]).\(parts[1]).\(String(repeating: "A", count: 20_000))"),
        ]
        for (part, token) in forged {
            let reason = read(token)
            #expect(reason.contains(part), "\(token.prefix(40)): \(reason)")
        }
        // A signature over the public key as if it were a shared secret stays none.
        let es = try curve.token(Self.es256, claims())
        let zero = SigningKey.base64URL(Data(count: 64))
        #expect(
            read(es.split(separator: ".").dropLast().joined(separator: ".") + ".\(zero)")
                .contains("none of its keys"))
    }

    @Test func keysThatAreNoneOfOursArePassedOver() throws {
        let token = try rsa.token(Self.rs256, claims())
        let small = try SigningKey.rsa(bits: 1_024)
        for entry in [
            rsa.webKey(id: "r", ["use": "enc"]), rsa.webKey(id: "r", ["alg": "RS512"]),
            rsa.webKey(id: "r", ["kty": "oct"]), rsa.webKey(id: "r", ["n": ""]),
            rsa.webKey(id: "r", ["n": "!"]), rsa.webKey(id: "x"),
        ] {
            #expect(read(token, try Self.keys([entry])).contains("none of its keys"))
        }
        let weak = try small.token(Self.rs256, claims())
        #expect(read(weak, try Self.keys([small.webKey(id: "r")])).contains("none of its keys"))
        let es = try curve.token(Self.es256, claims())
        let zero = SigningKey.base64URL(Data(count: 32))
        for change in [["y": zero], ["x": "AA"], ["crv": "P-384"]] {
            #expect(
                read(es, try Self.keys([curve.webKey(id: "c", change)])).contains(
                    "none of its keys"))
        }
        for json in ["", "{}", "[]", #"{"keys":{}}"#] {
            #expect(throws: RecordError.self) { try WebKeys(json: Data(json.utf8)) }
        }
        let none = try Self.keys([])
        #expect(!none.suffice(for: token) && keys.suffice(for: token))
        // Of that name, and another key.
        let next = try SigningKey.rsa().token(Self.rs256, claims())
        #expect(!keys.suffice(for: next) && keys.suffice(for: "x"))
    }

    @Test func whatIsNoKeySpoilsNoOther() throws {
        let token = try rsa.token(Self.rs256, claims())
        var nameless = rsa.webKey(id: "r")
        nameless["kid"] = nil
        #expect(read(token, try Self.keys([nameless])).hasPrefix("248289761001"))
        let key = String(
            decoding: try JSONSerialization.data(withJSONObject: rsa.webKey(id: "r")),
            as: UTF8.self)
        for other in ["1", "null", "{}", "[]", #"{"kty":"RSA","kid":5}"#, #"{"kty":"AKP"}"#] {
            let keys = try WebKeys(json: Data(#"{"keys":[\#(other),\#(key)]}"#.utf8))
            #expect(read(token, keys).hasPrefix("248289761001"), "\(other)")
        }
    }
}

/// Whom a provider lets in.
@Suite(.everyBackend) struct IdentityTests {
    private let accounts: ServiceAccounts
    private let anna: ServiceUser
    private let claims = ProviderClaims(
        issuer: "https://id.example.org", subject: "1", emailAddress: "Anna@example.org",
        name: "Anna")

    init() throws {
        accounts = try ServiceFixture(makesZone: false).service.accounts
        anna = try accounts.createUser(label: "anna")
        try accounts.setProfile(
            UserProfile(emailAddress: "anna@example.org"), of: anna.userRecordName)
    }

    @Test func anAddressThatTheProviderMadeSureOfNamesItsUser() throws {
        let bearer = try accounts.bearer(of: claims, .email)
        #expect(bearer.userRecordName == anna.userRecordName && bearer.label == "anna")
        // From then on the subject counts, whatever the address.
        var later = claims
        later.emailAddress = nil
        #expect(try accounts.bearer(of: later, .email).userRecordName == anna.userRecordName)
        // Another person with the address is another person.
        var other = claims
        other.subject = "2"
        #expect(throws: RecordError.self) { try accounts.bearer(of: other, .email) }
        other.emailAddress = "ben@example.org"
        #expect(throws: RecordError.self) { try accounts.bearer(of: other, .email) }
        other.emailAddress = nil
        #expect(throws: RecordError.self) { try accounts.bearer(of: other, .email) }
        try accounts.requireGood(bearer)
        try accounts.removeIdentities(of: anna.userRecordName)
        #expect(throws: RecordError.self) { try accounts.requireGood(bearer) }
        #expect(throws: RecordError.self) {
            try accounts.removeIdentities(of: anna.userRecordName)
        }
    }

    @Test func whoIsNotKnownBecomesAUser() throws {
        let bearer = try accounts.bearer(of: claims, .create)
        #expect(bearer.userRecordName != anna.userRecordName && bearer.label == "Anna")
        #expect(try accounts.bearer(of: claims, .create).userRecordName == bearer.userRecordName)
        var elsewhere = claims
        elsewhere.issuer = "https://other.example.org"
        elsewhere.name = "evil\u{1B}[31m"
        let other = try accounts.bearer(of: elsewhere, .create)
        #expect(other.userRecordName != bearer.userRecordName && other.label == "1")
        #expect(try accounts.users().count == 3)
    }
}
