import Foundation
import RecordServer
import RecordService
import RecordWire
import ServiceConsole
import Testing

/// Whom the audit log names for what is done at the console, and what it leaves out.
@Suite struct ActorTests {
    private let file: URL
    private let fixture: ConsoleFixture
    private var desk: String { "token desk (\(fixture.administrator.description.id))" }

    init() throws {
        file = FileManager.default.temporaryDirectory
            .appendingPathComponent("actors-\(UUID().uuidString).jsonl")
        fixture = try ConsoleFixture(audit: AuditLog(file, by: "root"))
    }

    /// The acts that `body` brings into the log.
    private func acts(of body: () throws -> Void) throws -> [AuditEntry] {
        defer { try? FileManager.default.removeItem(at: file) }
        let before = try AuditLog.entries(in: file).count
        try body()
        return Array(try AuditLog.entries(in: file).dropFirst(before))
    }

    private func letDeviceIn(_ session: SignedIn, as user: String) throws {
        let begun = try fixture.send(
            "POST", "/console/api/device",
            #"{"container":"\#(ConsoleFixture.container)","label":"phone"}"#
        ).object()
        let code = try #require(begun["userCode"] as? String)
        let approval = #"{"userCode":"\#(code)","approves":true,"user":"\#(user)"}"#
        #expect(try session.send("POST", "device/approval", approval).status == 200)
        let device = try #require(begun["deviceCode"] as? String)
        let outcome = try fixture.send(
            "POST", "/console/api/device/token", #"{"deviceCode":"\#(device)"}"#)
        #expect(try outcome.object()["state"] as? String == "approved")
    }

    @Test func whoLetADeviceInIsNamed() throws {
        let noted = try acts {
            try letDeviceIn(
                fixture.signIn(fixture.administrator.secret), as: fixture.ben.userRecordName)
            try letDeviceIn(fixture.signIn(fixture.tokenOfAnna.secret), as: "")
        }
        #expect(noted.map(\.act) == [.tokenMade, .tokenMade, .tokenMade, .tokenMade])
        let laptop = "token laptop (\(fixture.tokenOfAnna.description.id))"
        #expect(noted.map(\.by) == [desk, desk, laptop, laptop])
    }

    @Test func whoChangesTheirOwnPasswordIsNamed() throws {
        let anna = fixture.anna.userRecordName
        try fixture.service.accounts.setPassword("correct horse", name: "Anna", of: anna)
        let noted = try acts {
            let answer = try fixture.send(
                "POST", "/console/api/session",
                #"{"name":"Anna","password":"correct horse"}"#)
            let session = SignedIn(
                fixture: fixture,
                cookie: String(try #require(answer.headers["Set-Cookie"]).prefix { $0 != ";" }),
                requestToken: try #require(answer.object()["requestToken"] as? String))
            let change = #"{"former":"correct horse","password":"another horse"}"#
            #expect(try session.send("POST", "password", change).status == 200)
        }
        #expect(noted.map(\.act) == [.passwordChanged] && noted.first?.by == "user \(anna)")
    }

    @Test func whatAnAdministratorDoesInAUsersNameIsNoted() throws {
        let session = try fixture.signIn(fixture.administrator.secret)
        func ask(_ operation: String, _ body: String) throws {
            let path =
                "database/\(ConsoleFixture.container)/development/private/\(operation)"
                + "?owner=\(fixture.anna.userRecordName)"
            #expect(try session.send("POST", path, body).status == 200, "\(operation)")
        }
        let noted = try acts {
            try ask(
                "subscriptions/modify",
                #"{"operations":[{"operationType":"create","subscription":"#
                    + #"{"subscriptionID":"s","subscriptionType":"database"}}]}"#)
            try ask("tokens/create", #"{"apnsEnvironment":"development"}"#)
            try ask("records/accept", #"{"shortGUIDs":[{"value":"none"}]}"#)
            try ask("assets/upload", #"{"tokens":[{"fieldName":"picture"}]}"#)
            // What only reads is nobody's act.
            try ask("subscriptions/list", "{}")
            try ask("records/resolve", #"{"shortGUIDs":[{"value":"none"}]}"#)
        }
        #expect(noted.allSatisfy { $0.act == .actedForUser && $0.by == desk })
        #expect(noted.allSatisfy { $0.subject == fixture.anna.userRecordName })
        #expect(
            noted.map { $0.details["operation"] } == [
                "subscriptions/modify", "tokens/create", "records/accept", "assets/upload",
            ])
    }
}
