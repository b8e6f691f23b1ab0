import Foundation
import RecordServer
import RecordService
import Testing

/// Signing in at the console by name and password.
@Suite struct PasswordSignInTests {
    private let fixture: ConsoleFixture

    init() throws {
        fixture = try ConsoleFixture()
        try fixture.service.accounts.setPassword(
            "correct horse", name: "anna", of: fixture.anna.userRecordName)
    }

    private func attempt(
        _ name: String, _ password: String, from address: String = "192.0.2.1"
    ) throws -> HTTPResponse {
        try fixture.send(
            "POST", "/console/api/session",
            #"{"name":"\#(name)","password":"\#(password)"}"#, from: address)
    }

    private func signIn(_ password: String = "correct horse") throws -> SignedIn {
        let answer = try attempt("anna", password)
        try #require(answer.status == 200)
        let cookie = try #require(answer.headers["Set-Cookie"])
        return SignedIn(
            fixture: fixture, cookie: String(cookie.prefix { $0 != ";" }),
            requestToken: try #require(answer.object()["requestToken"] as? String))
    }

    @Test func aUserSignsInAndSeesTheirOwn() throws {
        let anna = try signIn()
        let session = try anna.get("session").object()
        #expect(session["user"] as? String == fixture.anna.userRecordName)
        #expect(session["hasPassword"] as? Bool == true)
        #expect(session["isAdministrator"] as? Bool == false)
        #expect(try anna.get("users").status == 403)
        let tokens = try anna.get("tokens").list()
        #expect(tokens.count == 1 && tokens[0]["isOwn"] as? Bool == false)
        let byToken = try fixture.signIn(fixture.tokenOfAnna.secret)
        #expect(try byToken.get("session").object()["hasPassword"] as? Bool == false)
    }

    @Test func aDeviceIsLetInByWhoSignedInByPassword() throws {
        let begun = try fixture.send(
            "POST", "/console/api/device",
            #"{"container":"\#(ConsoleFixture.container)","label":"phone"}"#
        ).object()
        let code = try #require(begun["userCode"] as? String)
        let own = try #require(begun["deviceCode"] as? String)
        let anna = try signIn()
        let approval = #"{"userCode":"\#(code)","approves":true}"#
        #expect(try anna.send("POST", "device/approval", approval).status == 200)
        let tokens = try fixture.send(
            "POST", "/console/api/device/token", #"{"deviceCode":"\#(own)"}"#
        ).object()
        let caller = try fixture.service.authenticate(
            apiToken: tokens["api"] as? String, userToken: tokens["user"] as? String,
            container: ConsoleFixture.container)
        #expect(caller.userRecordName == fixture.anna.userRecordName)
    }

    @Test func aChangedPasswordEndsSessions() throws {
        let (here, there) = (try signIn(), try signIn())
        let wrong = #"{"former":"wrong horse","password":"battery staple"}"#
        #expect(try here.send("POST", "password", wrong).status == 403)
        #expect(try there.get("session").status == 200)
        let change = #"{"former":"correct horse","password":"battery staple"}"#
        let forged = try fixture.send(
            "POST", "/console/api/password", change, headers: [("Cookie", here.cookie)])
        #expect(forged.status == 403)
        #expect(try here.send("POST", "password", change).status == 200)
        #expect(try here.get("session").status == 401)
        #expect(try there.get("session").status == 401)
        #expect(try attempt("anna", "correct horse").status == 401)
        _ = try signIn("battery staple")
        let desk = try fixture.signIn(fixture.administrator.secret)
        #expect(try desk.send("POST", "password", change).status == 400)
    }

    @Test func guessersArePutOffAndTheUserIsNot() throws {
        // Where the user signed in before, nobody else's guesses count.
        _ = try signIn()
        for number in 0..<55 {
            _ = try attempt("anna", "guess \(number)", from: "198.51.100.\(number % 20)")
        }
        #expect(try attempt("anna", "guess", from: "198.51.100.1").status == 429)
        #expect(try attempt("anna", "correct horse", from: "203.0.113.9").status == 429)
        _ = try signIn()
        // A token lets in always, and another's name is none of it.
        _ = try fixture.signIn(fixture.tokenOfAnna.secret)
        #expect(try attempt("ben", "guess", from: "203.0.113.9").status == 401)
        // It ends by itself.
        fixture.clock.advance(seconds: 601)
        #expect(try attempt("anna", "correct horse", from: "203.0.113.9").status == 200)
    }

    /// Names of that length are kept for nobody, so guesses of them are not told apart.
    @Test func namesThatNobodyHasCountAsOne() throws {
        let long = String(repeating: "a", count: 256)
        for number in 0..<50 {
            let answer = try attempt("\(long)\(number)", "guess", from: "198.51.100.\(number)")
            #expect(answer.status == 401)
        }
        #expect(try attempt("\(long)x", "guess", from: "203.0.113.9").status == 429)
        #expect(try attempt("ben", "guess", from: "203.0.113.9").status == 401)
        _ = try signIn()
    }

    @Test func whatIsNeitherIsRefused() throws {
        for body in ["{}", #"{"name":"anna"}"#, #"{"password":"x"}"#, #"{"name":1}"#] {
            #expect(try fixture.send("POST", "/console/api/session", body).status == 400)
        }
    }
}
