import Foundation
import KeyTesting
import RecordServer
import RecordService
import RecordWire
import ServiceConsole
import Testing

/// What an administrator's program does as the verbs of the command do.
@Suite struct OperatorTests {
    private let fixture: ConsoleFixture
    private var anna: String { fixture.anna.userRecordName }

    init() throws { fixture = try ConsoleFixture() }

    private func ask(
        _ method: String, _ path: String, _ body: String = "", token: String? = nil
    ) throws -> HTTPResponse {
        let token = token ?? fixture.administrator.secret
        return try fixture.send(
            method, "/console/api/" + path, body, headers: [("Authorization", "Bearer \(token)")])
    }

    @Test func whatIsKnownOfAUserIsSetMemberByMember() throws {
        let path = "users/" + anna
        #expect(try ask("GET", path).object()["discoverable"] as? Bool == false)
        let body = #"{"emailAddress":"Anna@example.org","givenName":"Anna","discoverable":true}"#
        let set = try ask("POST", path, body).object()
        #expect(set["emailAddress"] as? String == "anna@example.org")
        let after = try ask("POST", path, #"{"givenName":""}"#).object()
        #expect(after["givenName"] == nil && after["discoverable"] as? Bool == true)
        #expect(after["emailAddress"] as? String == "anna@example.org")
        for wrong in ["x", "a@b@c", "a@b\\u001b", "a @b", "a@\\u202eb"] {
            let answer = try ask("POST", path, #"{"emailAddress":"\#(wrong)"}"#)
            #expect(answer.status == 400 && !answer.text.contains("a@"))
        }
        #expect(try ask("POST", path, #"{"email":"a@b"}"#).status == 400)
        #expect(try ask("POST", "users/nobody", "{}").status == 404)
        #expect(try ask("GET", "users/nobody").status == 404)
    }

    @Test func aPasswordIsGivenAndTaken() throws {
        let path = "users/" + anna
        let given = try ask("POST", path + "/password", #"{"password":"correct horse"}"#)
        #expect(try given.object()["signInName"] as? String == "Anna")
        #expect(!given.text.contains("horse"))
        let bearer = try fixture.service.accounts.bearer(name: "Anna", password: "correct horse")
        #expect(bearer.userRecordName == anna)
        #expect(try ask("POST", path + "/password", #"{"password":"short"}"#).status == 400)
        #expect(try ask("DELETE", path + "/password").object()["signInName"] == nil)
        #expect(try ask("DELETE", path + "/password").status == 404)
        #expect(try ask("DELETE", path + "/identities").status == 404)
    }

    @Test func allTokensOfAUserEnd() throws {
        let answer = try ask("DELETE", "users/\(anna)/tokens").object()
        #expect(answer["revoked"] as? Int == 1)
        #expect(throws: RecordError.self) {
            try fixture.service.accounts.bearer(of: fixture.tokenOfAnna.secret)
        }
        #expect(try ask("GET", "status").status == 200)
        #expect(try ask("DELETE", "users/nobody/tokens").status == 404)
    }

    @Test func tokensHaveALifeThatTheListTells() throws {
        let container = ConsoleFixture.container
        func expires(_ label: String, _ more: String) throws -> Int64? {
            let body =
                #"{"user":"\#(anna)","container":"\#(container)","label":"\#(label)"\#(more)}"#
            #expect(try ask("POST", "tokens", body).status == 200)
            let token = try ask("GET", "tokens").list().first {
                $0["label"] as? String == label && $0["kind"] as? String == "user"
            }
            return (token?["expires"] as? NSNumber)?.int64Value
        }
        let now = Int64(fixture.clock.now().timeIntervalSince1970 * 1_000)
        let day: Int64 = 86_400_000
        #expect(try expires("a", "") == now + 365 * day)
        #expect(try expires("b", #","days":30"#) == now + 30 * day)
        #expect(try expires("c", #","days":0"#) == nil)
        let body = #"{"user":"\#(anna)","container":"\#(container)","label":"d","days":-1}"#
        #expect(try ask("POST", "tokens", body).status == 400)
    }

    @Test func keysOfServersAreAddedAndRevoked() throws {
        let pem = try SigningKey.p256().publicPEM.replacing("\n", with: "\\n")
        let container = ConsoleFixture.container
        let body =
            #"{"publicKey":"\#(pem)","label":"importer","container":"\#(container)","#
            + #""environment":"production"}"#
        let made = try ask("POST", "keys", body).object()
        let id = try #require(made["id"] as? String)
        #expect(made["environment"] as? String == "production")
        #expect(try ask("GET", "keys").list().count == 1)
        let after = try ask("DELETE", "keys/" + id).list()
        #expect(after.first?["revoked"] != nil)
        #expect(try ask("DELETE", "keys/" + id).status == 404)
        let wrong = body.replacing(pem, with: "x")
        #expect(try ask("POST", "keys", wrong).status == 400)
    }

    @Test func schemasAreComparedAndChanged() throws {
        let path = "schemas/" + ConsoleFixture.container
        let text = "DEFINE SCHEMA RECORD TYPE Book (isbn STRING, colour STRING);"
        #expect(try ask("POST", path, #"{"text":"\#(text)"}"#).status == 200)
        let same = try ask("POST", path + "/development/difference", #"{"text":"\#(text)"}"#)
        #expect((try same.object()["changes"] as? [String])?.isEmpty == true)
        let none = try ask("POST", path + "/production/difference", #"{"text":"\#(text)"}"#)
        #expect((try none.object()["changes"] as? [String])?.isEmpty == false)

        let key = #"{"recordType":"Book","fields":["isbn"]}"#
        let unique = try ask("POST", path + "/keys", key).object()
        #expect((unique["text"] as? String)?.contains("UNIQUE (isbn)") == true)
        let free = try ask("DELETE", path + "/development/keys/Book/isbn").object()
        #expect((free["text"] as? String)?.contains("UNIQUE") == false)

        let wish = #"{"recordType":"Book","field":"colour","from":"2.10"}"#
        let retired = try ask("POST", path + "/retirements", wish).object()
        #expect((retired["text"] as? String)?.contains("RETIRED (colour) FROM 2.10") == true)
        #expect(
            try ask("POST", path + "/retirements", wish.replacing("2.10", with: "x")).status == 400)
        let kept = try ask("DELETE", path + "/development/retirements/Book/colour").object()
        #expect((kept["text"] as? String)?.contains("RETIRED") == false)
        let holders = try ask("GET", path + "/development/fields/Book/colour").object()
        #expect(holders["records"] as? Int == 0 && holders["users"] as? Int == 0)
    }

    @Test(arguments: [
        ("GET", "users/_a"), ("POST", "users/_a"), ("POST", "users/_a/password"),
        ("DELETE", "users/_a/password"), ("DELETE", "users/_a/identities"),
        ("DELETE", "users/_a/tokens"), ("GET", "keys"), ("POST", "keys"), ("DELETE", "keys/x"),
        ("POST", "schemas/c/keys"), ("POST", "schemas/c/retirements"),
        ("POST", "schemas/c/production/difference"), ("POST", "schemas/c/preview"),
        ("GET", "schemas/c/deployment"), ("POST", "schemas/c/deployment"),
        ("DELETE", "schemas/c/production/fields/Book/colour"),
    ]) func onlyAdministratorsAsk(_ asked: (method: String, path: String)) throws {
        let path = asked.path.replacing("_a", with: anna)
        let answer = try ask(asked.method, path, "{}", token: fixture.tokenOfAnna.secret)
        #expect(answer.status == 403)
        #expect(try fixture.send(asked.method, "/console/api/" + path, "{}").status != 200)
    }
}
