import Foundation
import RecordServer
import RecordService
import RecordWire
import ServiceConsole
import Testing

/// What the console's page asks for, and who is told what.
@Suite struct ConsoleTests {
    private static let database =
        "database/\(ConsoleFixture.container)/development/private/"

    private func save(_ text: String, named name: String) -> String {
        """
        {"zoneID":{"zoneName":"notes"},"operations":[{"operationType":"forceUpdate","record":\
        {"recordName":"\(name)","recordType":"Note",\
        "fields":{"text":{"value":"\(text)","type":"STRING"}}}}]}
        """
    }

    private func fill(_ session: SignedIn, _ owner: String) throws {
        let zone =
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"notes"}}}]}"#
        let made = try session.send("POST", Self.database + "zones/modify?owner=\(owner)", zone)
        #expect(made.status == 200)
        let saved = try session.send(
            "POST", Self.database + "records/modify?owner=\(owner)", save("hi", named: "a"))
        #expect(saved.status == 200, "\(saved.text)")
    }

    // MARK: The page

    @Test func thePageAndItsPartsAreThere() throws {
        let fixture = try ConsoleFixture()
        let page = try fixture.send("GET", "/console")
        #expect(page.status == 200)
        #expect(page.headers["Content-Type"] == "text/html; charset=utf-8")
        let parts = try page.text.matches(of: Regex(#"(?:href|src)="/console/([^"]+)""#)).map {
            String($0.output[1].substring ?? "")
        }
        #expect(parts.contains("console.js") && parts.contains("console.css"))
        var seen = Set(parts)
        var waiting = parts
        while let part = waiting.popLast() {
            let answer = try fixture.send("GET", "/console/\(part)")
            #expect(answer.status == 200, "\(part)")
            for found in try answer.text.matches(of: Regex(#"from "/console/([^"]+)""#)) {
                let name = String(found.output[1].substring ?? "")
                if seen.insert(name).inserted { waiting.append(name) }
            }
        }
        #expect(seen.count > 10)
        #expect(try fixture.send("GET", "/console/").status == 308)
        #expect(try fixture.send("GET", "/console/../etc").status == 404)
        #expect(fixture.console.admit(HTTPRequest(method: "GET", path: "/consoles")) == nil)
    }

    @Test func aBrowserTakesNothingFromElsewhere() throws {
        let fixture = try ConsoleFixture()
        for path in ["/console", "/console/console.js", "/console/api/session"] {
            let answer = try fixture.send("GET", path)
            let policy = try #require(answer.headers["Content-Security-Policy"])
            #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"))
            #expect(policy.contains("frame-ancestors 'none'"))
            #expect(answer.headers["X-Content-Type-Options"] == "nosniff")
            #expect(answer.headers["Referrer-Policy"] == "no-referrer")
        }
        let page = try fixture.send("GET", "/console").text
        #expect(!page.contains("style=") && !page.contains("onclick") && !page.contains("<style"))
    }

    /// Foreign text never becomes markup, and no secret stays where others find it.
    @Test func thePagesModulesMakeNoMarkupAndKeepNothing() throws {
        let fixture = try ConsoleFixture()
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Mirror/ServiceConsole/Site")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.count > 20)
        for name in names where name != "index.html" {
            #expect(try fixture.send("GET", "/console/" + name).status == 200, "\(name)")
            let text = try String(
                contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            for word in [
                "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                "Function(", "localStorage", "sessionStorage", "indexedDB", "document.cookie",
                ".style", "http:",
            ] where name.hasSuffix(".js") && !(name == "charts.js" && word == "http:") {
                #expect(!text.contains(word), "\(name) says \(word)")
            }
        }
    }

    // MARK: Sessions

    @Test func onlyAGoodTokenLetsIn() throws {
        let fixture = try ConsoleFixture()
        let api = try fixture.service.accounts.issueAPIToken(
            container: ConsoleFixture.container, label: "app")
        for token in ["", "dpt_1_2", api.secret, fixture.administrator.secret + "x"] {
            let answer = try fixture.send(
                "POST", "/console/api/session", #"{"token":"\#(token)"}"#)
            #expect(answer.status == 401)
            #expect(answer.headers["Set-Cookie"] == nil)
        }
        #expect(try fixture.send("POST", "/console/api/session", "{").status == 400)
        let session = try fixture.signIn(fixture.administrator.secret)
        #expect(try session.get("session").object()["isAdministrator"] as? Bool == true)
        let user = try fixture.signIn(fixture.tokenOfAnna.secret)
        #expect(try user.get("session").object()["user"] as? String == fixture.anna.userRecordName)
    }

    @Test func aStrangersLargeBodyIsRefusedAtTheHead() throws {
        let fixture = try ConsoleFixture()
        for path in ["session", "device", "device/token"] {
            for lengths in [[("Content-Length", "65537")], []] {
                var headers = HTTPHeaders()
                for (name, value) in lengths { headers.append(name, value) }
                let request = HTTPRequest(
                    method: "POST", path: "/console/api/" + path, headers: headers)
                guard case .answer(let answer)? = fixture.console.admit(request) else {
                    Issue.record("The body of \(path) would be read.")
                    continue
                }
                #expect(answer.status == 413)
            }
        }
    }

    /// One that was made beside the other would be good, and known to nobody.
    @Test func aRefusalLeavesNoTokenBehind() throws {
        let fixture = try ConsoleFixture()
        let session = try fixture.signIn(fixture.administrator.secret)
        let before = try fixture.service.accounts.tokens().count
        let anna = fixture.anna.userRecordName
        let container = ConsoleFixture.container
        for (user, container, days) in [
            ("_nobody", container, 1), (anna, "iCloud.nowhere", 1), (anna, container, -5),
        ] {
            let wish =
                #"{"user":"\#(user)","container":"\#(container)","label":"x","days":\#(days)}"#
            #expect(try session.send("POST", "tokens", wish).status != 200)
        }
        #expect(try fixture.service.accounts.tokens().count == before)
    }

    @Test func anAdministratorsTokenOpensNoDatabase() throws {
        let fixture = try ConsoleFixture()
        let api = try fixture.service.accounts.issueAPIToken(
            container: ConsoleFixture.container, label: "app")
        let error = #expect(throws: RecordError.self) {
            _ = try fixture.service.authenticate(
                apiToken: api.secret, userToken: fixture.administrator.secret,
                container: ConsoleFixture.container)
        }
        #expect(error?.code == .authenticationFailed)
    }

    @Test func wrongTokensArePutOff() throws {
        let fixture = try ConsoleFixture()
        for _ in 0..<30 {
            _ = try fixture.send("POST", "/console/api/session", #"{"token":"dpt_1_2"}"#)
        }
        let good = #"{"token":"\#(fixture.administrator.secret)"}"#
        let wrong = #"{"token":"dpt_1_2"}"#
        let refused = try fixture.send("POST", "/console/api/session", wrong)
        #expect(refused.status == 429)
        #expect(refused.headers["Retry-After"] == "60")
        // Who has a good token is let in all the same.
        #expect(try fixture.send("POST", "/console/api/session", good).status == 200)
        fixture.clock.advance(seconds: 61)
        #expect(try fixture.send("POST", "/console/api/session", wrong).status == 401)
    }

    @Test(arguments: [(true, "__Host-diptych-console=", true), (false, "diptych-console=", false)])
    func theCookieIsForThisSiteAlone(isEncrypted: Bool, name: String, isSecure: Bool) throws {
        let fixture = try ConsoleFixture(isEncrypted: isEncrypted)
        let answer = try fixture.send(
            "POST", "/console/api/session", #"{"token":"\#(fixture.administrator.secret)"}"#)
        let cookie = try #require(answer.headers["Set-Cookie"])
        #expect(cookie.hasPrefix(name))
        #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
        #expect(cookie.contains("Secure") == isSecure)
        #expect(!answer.text.contains(try #require(cookie.split(separator: "=").dropFirst().first)))
    }

    @Test func aProxysEncryptionCounts() throws {
        let fixture = try ConsoleFixture(isEncrypted: false)
        let answer = try fixture.send(
            "POST", "/console/api/session", #"{"token":"\#(fixture.administrator.secret)"}"#,
            headers: [("X-Forwarded-Proto", "https")])
        #expect(answer.headers["Set-Cookie"]?.hasPrefix("__Host-") == true)
    }

    @Test func otherPagesCanChangeNothing() throws {
        let fixture = try ConsoleFixture()
        let session = try fixture.signIn(fixture.administrator.secret)
        let body = #"{"label":"Cleo"}"#
        func send(_ headers: [(String, String)]) throws -> Int {
            try fixture.send(
                "POST", "/console/api/users", body,
                headers: [("Cookie", session.cookie)] + headers
            ).status
        }
        let token = ("X-Diptych-Request-Token", session.requestToken)
        #expect(try send([]) == 403)
        #expect(try send([("X-Diptych-Request-Token", "guess")]) == 403)
        #expect(try send([token, ("Sec-Fetch-Site", "cross-site")]) == 403)
        #expect(
            try send([token, ("Origin", "https://evil.example"), ("Host", "a.example")]) == 403)
        #expect(try fixture.service.accounts.users().count == 2)
        #expect(
            try send([token, ("Origin", "https://a.example"), ("Host", "a.example")]) == 200)
        #expect(try fixture.service.accounts.users().count == 3)
    }

    @Test func aSessionEndsByItselfAndWithItsToken() throws {
        let fixture = try ConsoleFixture()
        let idle = try fixture.signIn(fixture.administrator.secret)
        fixture.clock.advance(seconds: 29 * 60)
        #expect(try idle.get("session").status == 200)
        fixture.clock.advance(seconds: 31 * 60)
        #expect(try idle.get("session").status == 401)

        let busy = try fixture.signIn(fixture.administrator.secret)
        for _ in 0..<36 {
            #expect(try busy.get("session").status == 200)
            fixture.clock.advance(seconds: 20 * 60)
        }
        #expect(try busy.get("session").status == 401)

        let left = try fixture.signIn(fixture.administrator.secret)
        #expect(try left.send("DELETE", "session").status == 200)
        #expect(try left.get("session").status == 401)

        let revoked = try fixture.signIn(fixture.tokenOfAnna.secret)
        try fixture.service.accounts.revoke(tokenID: fixture.tokenOfAnna.description.id)
        #expect(try revoked.get("session").status == 401)
    }

    @Test func whoSignsInAgainAndAgainEndsTheirOwnSessionsAlone() throws {
        let fixture = try ConsoleFixture()
        let administrator = try fixture.signIn(fixture.administrator.secret)
        let first = try fixture.signIn(fixture.tokenOfAnna.secret)
        fixture.clock.advance(seconds: 1)
        let second = try fixture.signIn(fixture.tokenOfAnna.secret)
        for _ in 0..<1_000 {
            fixture.clock.advance(seconds: 0.01)
            _ = try second.get("session")
            _ = try fixture.signIn(fixture.tokenOfAnna.secret)
        }
        #expect(try administrator.get("session").status == 200)
        #expect(try first.get("session").status == 401)
        #expect(try second.get("session").status == 200)
    }

    @Test func whereThereIsNoRoomWhoHasMostGivesWay() throws {
        let fixture = try ConsoleFixture()
        let accounts = fixture.service.accounts
        let ben = try accounts.issueUserToken(
            userRecordName: fixture.ben.userRecordName, label: "desk")
        let ofBen = try fixture.signIn(ben.secret)
        fixture.clock.advance(seconds: 1)
        let crowded = try fixture.signIn(fixture.tokenOfAnna.secret)
        fixture.clock.advance(seconds: 1)
        for _ in 0..<19 { _ = try fixture.signIn(fixture.tokenOfAnna.secret) }
        for number in 0..<53 {
            let user = try accounts.createUser(label: "user \(number)")
            let token = try accounts.issueUserToken(
                userRecordName: user.userRecordName, label: "browser")
            for _ in 0..<19 { _ = try fixture.signIn(token.secret) }
        }
        #expect(try ofBen.get("session").status == 200)
        #expect(try crowded.get("session").status == 401)
    }

    // MARK: What is told

    @Test func anAdministratorSeesWhatIsThere() throws {
        let fixture = try ConsoleFixture()
        let session = try fixture.signIn(fixture.administrator.secret)
        try fill(session, fixture.anna.userRecordName)
        for status in [200, 200, 404, 500] {
            fixture.console.note(
                AccessLogEntry(
                    method: "GET", path: "/", status: status, bytes: 10, milliseconds: 4))
        }
        let status = try session.get("status").object()
        #expect(status["connections"] as? Int == 3)
        let usage = try #require((status["usage"] as? [[String: Any]])?.first)
        #expect(usage["container"] as? String == ConsoleFixture.container)
        #expect(usage["records"] as? Int == 1)
        let hour = try #require(status["hour"] as? [[String: Any]])
        #expect(hour.count == 60)
        let last = try #require(hour.last)
        #expect(last["requests"] as? Int == 4)
        #expect(last["refused"] as? Int == 1 && last["failed"] as? Int == 1)
        fixture.clock.advance(seconds: 60)
        let later = try #require(
            try session.get("status").object()["hour"] as? [[String: Any]])
        #expect(later.last?["requests"] as? Int == 0)
        #expect(later[58]["requests"] as? Int == 4)
        fixture.clock.advance(seconds: 3_600)
        _ = try fixture.signIn(fixture.administrator.secret)
        #expect(try session.get("status").status == 401)
    }

    @Test func recordsAreAskedForInTheProtocolsWords() throws {
        let fixture = try ConsoleFixture()
        let session = try fixture.signIn(fixture.administrator.secret)
        let anna = fixture.anna.userRecordName
        try fill(session, anna)
        let found = try session.send(
            "POST", Self.database + "records/query?owner=\(anna)",
            #"{"zoneID":{"zoneName":"notes"},"query":{"recordType":"Note"}}"#)
        let record = try #require((try found.object()["records"] as? [[String: Any]])?.first)
        #expect(record["recordName"] as? String == "a")
        let modified = try #require(record["modified"] as? [String: Any])
        #expect(modified["deviceID"] as? String == "console")
        #expect(modified["userRecordName"] as? String == anna)
        let ofBen = try session.send(
            "POST", Self.database + "zones/list?owner=\(fixture.ben.userRecordName)", "{}")
        #expect(!ofBen.text.contains("notes"))
        #expect(try session.send("POST", Self.database + "zones/list", "{}").status == 400)
        let nobody = try session.send(
            "POST", Self.database + "zones/list?owner=_nobody", "{}")
        #expect(nobody.status == 404)
        let feed = try session.send(
            "POST", Self.database + "changes/zone?owner=\(anna)",
            #"{"zones":[{"zoneID":{"zoneName":"notes"}}],"waitSeconds":5}"#)
        #expect(feed.text.contains("\"a\""))
        let schema = try session.get(
            "schema/\(ConsoleFixture.container)/development/private?owner=\(anna)"
        ).list()
        #expect(schema.first?["name"] as? String == "Note")
        let field = (schema.first?["fields"] as? [[String: Any]])?.first
        #expect(field?["name"] as? String == "text" && field?["type"] as? String == "STRING")
        #expect(field?["records"] as? Int == 1)
    }

    @Test func whatAnAdministratorChangesIsNoted() throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("console-\(UUID().uuidString).jsonl")
        defer { try? FileManager.default.removeItem(at: file) }
        let fixture = try ConsoleFixture(audit: AuditLog(file, by: "root"))
        let session = try fixture.signIn(fixture.administrator.secret)
        let anna = fixture.anna.userRecordName
        try fill(session, anna)
        _ = try session.send("POST", Self.database + "zones/list?owner=\(anna)", "{}")
        let user = try fixture.signIn(fixture.tokenOfAnna.secret)
        _ = try user.send("POST", Self.database + "records/modify", save("own", named: "b"))
        let noted = try AuditLog.entries(in: file).filter { $0.act == .recordsChanged }
        // A zone and a record.
        #expect(noted.count == 2)
        #expect(noted.allSatisfy { $0.subject == anna && $0.details["token"] == "desk" })
        let by = "token desk (\(fixture.administrator.description.id))"
        #expect(noted.map(\.by) == [by, by])
    }

    @Test func aUserSeesTheirOwnAlone() throws {
        let fixture = try ConsoleFixture()
        let administrator = try fixture.signIn(fixture.administrator.secret)
        try fill(administrator, fixture.anna.userRecordName)
        try fill(administrator, fixture.ben.userRecordName)
        _ = try administrator.send(
            "POST", Self.database + "records/modify?owner=\(fixture.ben.userRecordName)",
            save("secret of ben", named: "b"))
        let tokenOfBen = try fixture.service.accounts.issueUserToken(
            userRecordName: fixture.ben.userRecordName, label: "phone of ben")
        let anna = try fixture.signIn(fixture.tokenOfAnna.secret)
        for path in ["status", "users"] { #expect(try anna.get(path).status == 403) }
        #expect(try anna.send("POST", "users", #"{"label":"x"}"#).status == 403)
        #expect(try anna.send("POST", "containers", #"{"name":"x"}"#).status == 403)
        #expect(try anna.send("POST", "tokens", #"{"label":"x"}"#).status == 403)
        // The owner that a user names counts for nothing.
        let found = try anna.send(
            "POST", Self.database + "records/query?owner=\(fixture.ben.userRecordName)",
            #"{"zoneID":{"zoneName":"notes"},"query":{"recordType":"Note"}}"#)
        #expect(found.status == 200 && !found.text.contains("secret of ben"))
        let tokens = try anna.get("tokens").list()
        #expect(tokens.count == 1 && tokens[0]["isOwn"] as? Bool == true)
        #expect(
            try anna.send("DELETE", "tokens/\(tokenOfBen.description.id)").status == 404)
        #expect(
            try anna.send("DELETE", "tokens/\(fixture.administrator.description.id)").status
                == 404)
        let phone = try fixture.service.accounts.issueUserToken(
            userRecordName: fixture.anna.userRecordName, label: "phone")
        #expect(try anna.send("DELETE", "tokens/\(phone.description.id)").status == 200)
        let left = try anna.get("tokens").list().filter { $0["revoked"] == nil }
        #expect(left.count == 1)
    }

    @Test func tokensAreShownOnceAndWork() throws {
        let fixture = try ConsoleFixture()
        let session = try fixture.signIn(fixture.administrator.secret)
        let wish =
            #"{"user":"\#(fixture.ben.userRecordName)","label":"phone","#
            + #""container":"\#(ConsoleFixture.container)"}"#
        let made = try session.send("POST", "tokens", wish).object()
        let caller = try fixture.service.authenticate(
            apiToken: made["api"] as? String, userToken: made["user"] as? String,
            container: ConsoleFixture.container)
        #expect(caller.userRecordName == fixture.ben.userRecordName)
        let listed = try session.get("tokens")
        #expect(!listed.text.contains(try #require(made["user"] as? String)))
        let phone = try #require(
            try listed.list().first {
                $0["kind"] as? String == "user" && $0["label"] as? String == "phone"
            })
        #expect(phone["lastUsed"] as? Int64 == 1_700_000_000_000)
        let administrator = try session.send("POST", "tokens", #"{"label":"second"}"#).object()
        _ = try fixture.signIn(try #require(administrator["administrator"] as? String))
    }
}
