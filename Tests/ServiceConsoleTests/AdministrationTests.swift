import Foundation
import RecordServer
import RecordService
import RecordWire
import ServiceConsole
import Testing

/// What an administrator's program does with a token in a header.
@Suite struct AdministrationTests {
    private func ask(
        _ fixture: ConsoleFixture, _ method: String, _ path: String, _ body: String = "",
        token: String? = nil
    ) throws -> HTTPResponse {
        let token = token ?? fixture.administrator.secret
        return try fixture.send(
            method, "/console/api/" + path, body, headers: [("Authorization", "Bearer \(token)")])
    }

    private static let schema =
        "DEFINE SCHEMA\\n\\nRECORD TYPE Note (\\n    text STRING QUERYABLE\\n);\\n"

    @Test func aTokenLetsInWithoutASession() throws {
        let fixture = try ConsoleFixture()
        let status = try ask(fixture, "GET", "status")
        #expect(status.status == 200)
        #expect(status.headers["Set-Cookie"] == nil)
        let added = try ask(fixture, "POST", "users", #"{"label":"Cleo"}"#)
        #expect(added.status == 200)
        #expect(try ask(fixture, "GET", "users").list().count == 3)
        #expect(try ask(fixture, "GET", "status", token: "dpt_1_2").status == 401)
        let ofUser = try ask(fixture, "GET", "users", token: fixture.tokenOfAnna.secret)
        #expect(ofUser.status == 403)
    }

    @Test(arguments: ["", "a\\u0000b", "a\\u202Ec", String(repeating: "a", count: 256)])
    func aUsersLabelIsReadable(label: String) throws {
        let fixture = try ConsoleFixture()
        let answer = try ask(fixture, "POST", "users", #"{"label":"\#(label)"}"#)
        #expect(answer.status == 400)
        #expect(try fixture.service.accounts.users().count == 2)
    }

    @Test func guessingIsSlowAndHurtsNobodyWithAGoodOne() throws {
        let fixture = try ConsoleFixture()
        for _ in 0..<30 { _ = try ask(fixture, "GET", "status", token: "dpt_1_2") }
        #expect(try ask(fixture, "GET", "status", token: "dpt_1_2").status == 429)
        #expect(try ask(fixture, "GET", "status").status == 200)
    }

    @Test func aRevokedTokenDoesNothing() throws {
        let fixture = try ConsoleFixture()
        try fixture.service.accounts.revoke(tokenID: fixture.administrator.description.id)
        #expect(try ask(fixture, "POST", "users", #"{"label":"Cleo"}"#).status == 401)
        #expect(try fixture.service.accounts.users().count == 2)
    }

    @Test func aUsersTokenIsToldItsNextText() throws {
        let clock = HandClock()
        let fixture = try ConsoleFixture(clock: clock)
        let anna = fixture.anna.userRecordName
        let token = try fixture.service.accounts.issueUserToken(
            userRecordName: anna, label: "script", days: 30
        ).secret
        let (next, end) = ("X-Apple-CloudKit-Web-Auth-Token", "X-Diptych-Token-Expires")
        let operation = "database/\(ConsoleFixture.container)/development/private/zones/list"
        let early = try ask(fixture, "GET", "tokens", token: token)
        #expect(early.headers[end] != nil && early.headers[next] == nil)
        clock.advance(seconds: 21 * 86_400)
        let told = try #require(try ask(fixture, "GET", "tokens", token: token).headers[next])
        #expect(try ask(fixture, "POST", operation, "{}", token: token).headers[next] == told)
        // Refusals tell nothing; the token that was told goes on.
        #expect(try ask(fixture, "GET", "users", token: token).headers[next] == nil)
        let renewed = try ask(fixture, "POST", operation, "{}", token: told)
        #expect(renewed.status == 200 && renewed.headers[next] == nil)
        clock.advance(seconds: 3_700)
        #expect(try ask(fixture, "GET", "tokens", token: told).status == 200)
        #expect(try ask(fixture, "GET", "tokens", token: token).status == 421)
        // A page's session and an administrator's token hear of none.
        let administrator = try ask(fixture, "GET", "tokens")
        #expect(administrator.headers[end] == nil)
        let session = try fixture.signIn(told)
        #expect(try session.get("tokens").headers[end] == nil)
    }

    @Test func schemasAreTakenInAndDeployed() throws {
        let fixture = try ConsoleFixture()
        let path = "schemas/" + ConsoleFixture.container
        let taken = try ask(fixture, "POST", path, #"{"text":"\#(Self.schema)"}"#)
        #expect(taken.status == 200, "\(taken.text)")
        let added = try #require(taken.object()["changes"] as? [String])
        #expect(added.contains { $0.contains("Note") })
        let development = try ask(fixture, "GET", path + "/development").object()
        #expect((development["text"] as? String)?.contains("RECORD TYPE Note") == true)
        let deployed = try ask(fixture, "POST", path + "/deployment", "{}")
        #expect(try deployed.object()["changes"] as? [String] == added)
        let production = try ask(fixture, "GET", path + "/production").object()
        #expect((production["text"] as? String)?.contains("RECORD TYPE Note") == true)
        #expect(try ask(fixture, "POST", path, #"{"text":"RECORD ("}"#).status == 400)
        #expect(try ask(fixture, "GET", path + "/elsewhere").status == 404)
        #expect(try ask(fixture, "GET", "schemas/iCloud.nobody/development").status == 404)
    }

    @Test func rolesAreGivenAndTaken() throws {
        let fixture = try ConsoleFixture()
        let path = "roles/" + ConsoleFixture.container
        let grant =
            #"{"recordType":"Note","role":"editors","creates":true,"reads":true,"writes":true}"#
        #expect(try ask(fixture, "POST", path + "/grants", grant).status == 200)
        let member = #"{"role":"editors","user":"\#(fixture.anna.userRecordName)"}"#
        let after = try ask(fixture, "POST", path + "/members", member).object()
        #expect((after["grants"] as? [Any])?.count == 1)
        #expect((after["members"] as? [Any])?.count == 1)
        let members = path + "/members/editors/" + fixture.anna.userRecordName
        #expect(try ask(fixture, "DELETE", members).status == 200)
        #expect(try ask(fixture, "DELETE", members).status == 404)
        let empty = try ask(fixture, "DELETE", path + "/grants/Note").object()
        #expect((empty["grants"] as? [Any])?.isEmpty == true)
    }

    @Test func quotasAreSetAndTakenBack() throws {
        let fixture = try ConsoleFixture()
        let anna = fixture.anna.userRecordName
        func quota() throws -> [String: Any] {
            let all = try ask(fixture, "GET", "quotas").list()
            return try #require(all.first { $0["user"] as? String == anna })
        }
        #expect(try quota()["recordsMax"] == nil)
        #expect(
            try ask(fixture, "POST", "quotas/" + anna, #"{"recordsMax":5}"#).status == 200)
        #expect(try quota()["recordsMax"] as? Int == 5)
        #expect(try fixture.service.accounts.holdings().compactMap(\.quota).count == 1)
        try fixture.service.accounts.setQuota(UserQuota(recordsMax: .max), of: anna)
        #expect(try quota()["recordsMax"] as? Int == 9_007_199_254_740_991)
        #expect(try ask(fixture, "POST", "quotas/" + anna, #"{"bytesMax":-1}"#).status == 400)
        #expect(try ask(fixture, "POST", "quotas/nobody", "{}").status == 404)
        #expect(try ask(fixture, "POST", "quotas/" + anna, "{}").status == 200)
        #expect(try quota()["recordsMax"] == nil)
        #expect(try fixture.service.accounts.holdings().allSatisfy { $0.quota == nil })
    }

    @Test func aMisspelledMemberIsRefusedByItsName() throws {
        let fixture = try ConsoleFixture()
        let (container, anna) = (ConsoleFixture.container, fixture.anna.userRecordName)
        let asked = [
            ("tokens", #"{"usr":"\#(anna)","container":"\#(container)","label":"x"}"#, "usr"),
            ("quotas/" + anna, #"{"recordMax":5}"#, "recordMax"),
            ("users", #"{"label":"Cleo","email":"c@example.org"}"#, "email"),
            ("containers", #"{"name":"x","Name":"y"}"#, "Name"),
            ("schemas/" + container, #"{"text":"","texts":""}"#, "texts"),
            (
                "roles/\(container)/members", #"{"role":"a","user":"\#(anna)","users":""}"#,
                "users"
            ),
            ("session", #"{"token":"","tokn":""}"#, "tokn"),
            ("device", #"{"container":"\#(container)","label":"x","lable":"y"}"#, "lable"),
            ("users", #"{"label":"Cleo","a\u001b[2J\u202e":1}"#, #"a\u{1b}[2J\u{202e}"#),
        ]
        for (path, body, name) in asked {
            let answer = try ask(fixture, "POST", path, body)
            #expect(answer.status == 400)
            let reason = try answer.object()["reason"] as? String
            #expect(reason?.contains("no '\(name)'") == true, "\(answer.text)")
        }
        let long = String(repeating: "k", count: 5_000)
        #expect(try ask(fixture, "POST", "users", #"{"\#(long)":1}"#).text.utf8.count < 300)
        #expect(try fixture.service.accounts.users().count == 2)
        let kinds = try fixture.service.accounts.tokens().map(\.kind)
        #expect(kinds.count { $0 == .administrator } == 1)
    }

    @Test func onlyAdministratorsAsk() throws {
        let fixture = try ConsoleFixture()
        let container = ConsoleFixture.container
        let asked = [
            ("GET", "schemas/\(container)/development"), ("POST", "schemas/\(container)"),
            ("POST", "schemas/\(container)/deployment"), ("GET", "roles/\(container)"),
            ("POST", "roles/\(container)/grants"), ("POST", "roles/\(container)/members"),
            ("DELETE", "roles/\(container)/grants/Note"),
            ("DELETE", "roles/\(container)/members/editors/x"), ("GET", "audit"),
            ("GET", "quotas"), ("POST", "quotas/x"),
        ]
        for (method, path) in asked {
            let answer = try ask(fixture, method, path, token: fixture.tokenOfAnna.secret)
            #expect(answer.status == 403, "\(method) \(path)")
            #expect(try fixture.send(method, "/console/api/" + path).status == 401)
        }
    }

    @Test func actsAreNotedUnderTheTokensName() throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-acts-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let fixture = try ConsoleFixture(audit: AuditLog(file, by: "root"))
        _ = try ask(fixture, "POST", "users", #"{"label":"Cleo"}"#)
        let acts = try ask(fixture, "GET", "audit").list()
        let last = try #require(acts.last)
        #expect(last["act"] as? String == "userAdded")
        #expect(
            last["by"] as? String == "token desk (\(fixture.administrator.description.id))")
        #expect(acts.first?["by"] as? String == "root")
    }
}
