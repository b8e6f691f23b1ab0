import Foundation
import RecordServer
import RecordService
import RecordWire
import SQLiteDriver
import ServiceConsole
import Testing

/// A device that is let in on another screen.
@Suite struct DeviceSignInTests {
    private let fixture: ConsoleFixture

    init() throws { fixture = try ConsoleFixture() }

    private init(path: String) throws { fixture = try ConsoleFixture(path: path) }

    private func begin() throws -> (device: String, user: String) {
        let answer = try fixture.send(
            "POST", "/console/api/device",
            #"{"container":"\#(ConsoleFixture.container)","label":"phone"}"#)
        let codes = try answer.object()
        return (
            try #require(codes["deviceCode"] as? String),
            try #require(codes["userCode"] as? String)
        )
    }

    private func outcome(_ code: String) throws -> HTTPResponse {
        try fixture.send(
            "POST", "/console/api/device/token", #"{"deviceCode":"\#(code)"}"#)
    }

    @Test func whoIsSignedInLetsADeviceInAsThemselves() throws {
        let (device, user) = try begin()
        #expect(try outcome(device).object()["state"] as? String == "waiting")
        let anna = try fixture.signIn(fixture.tokenOfAnna.secret)
        let typed = user.lowercased()
        let seen = try anna.send("POST", "device/look", #"{"userCode":"\#(typed)"}"#).object()
        #expect(seen["label"] as? String == "phone")
        // The user that a user names counts for nothing.
        let approval =
            #"{"userCode":"\#(typed)","approves":true,"user":"\#(fixture.ben.userRecordName)"}"#
        #expect(try anna.send("POST", "device/approval", approval).status == 200)
        let tokens = try outcome(device).object()
        #expect(tokens["state"] as? String == "approved")
        let caller = try fixture.service.authenticate(
            apiToken: tokens["api"] as? String, userToken: tokens["user"] as? String,
            container: ConsoleFixture.container)
        #expect(caller.userRecordName == fixture.anna.userRecordName)
        // Once.
        #expect(try outcome(device).status == 404)
        #expect(try anna.send("POST", "device/approval", approval).status == 404)
    }

    @Test func whoWasLetInIsToldOnceTheServiceIsFree() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-busy-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("records.sqlite").path
        let own = try DeviceSignInTests(path: path)
        let (device, user) = try own.begin()
        let anna = try own.fixture.signIn(own.fixture.tokenOfAnna.secret)
        let approval = #"{"userCode":"\#(user)","approves":true}"#
        #expect(try anna.send("POST", "device/approval", approval).status == 200)
        let holder = try Connection(path: path)
        try holder.script("BEGIN IMMEDIATE")
        let busy = try own.outcome(device)
        #expect(busy.status == 503)
        try holder.script("ROLLBACK")
        let tokens = try own.outcome(device).object()
        #expect(tokens["state"] as? String == "approved")
        #expect(try own.outcome(device).status == 404)
    }

    @Test func anAdministratorNamesTheUser() throws {
        let (device, user) = try begin()
        let session = try fixture.signIn(fixture.administrator.secret)
        func approve(_ name: String) throws -> Int {
            try session.send(
                "POST", "device/approval",
                #"{"userCode":"\#(user)","approves":true,"user":"\#(name)"}"#
            ).status
        }
        #expect(try approve("_nobody") == 400)
        #expect(try outcome(device).object()["state"] as? String == "waiting")
        #expect(try approve(fixture.ben.userRecordName) == 200)
        let tokens = try outcome(device).object()
        let bearer = try fixture.service.accounts.bearer(
            of: try #require(tokens["user"] as? String))
        #expect(bearer.userRecordName == fixture.ben.userRecordName)
    }

    /// Strangers choose it, and whoever decides reads it.
    @Test(arguments: ["a\\u0000b", "phone\\u202Eenohp", "a\\u2028b", "a\\u200Bb"])
    func whatADeviceCallsItselfIsReadable(label: String) throws {
        let answer = try fixture.send(
            "POST", "/console/api/device",
            #"{"container":"\#(ConsoleFixture.container)","label":"\#(label)"}"#)
        #expect(answer.status == 400)
    }

    @Test func aRefusedDeviceGetsNothing() throws {
        let (device, user) = try begin()
        let anna = try fixture.signIn(fixture.tokenOfAnna.secret)
        _ = try anna.send(
            "POST", "device/approval", #"{"userCode":"\#(user)","approves":false}"#)
        let answer = try outcome(device).object()
        #expect(answer["state"] as? String == "refused" && answer["user"] == nil)
    }

    @Test func codesEndAndAreNotGuessed() throws {
        let (device, user) = try begin()
        let anna = try fixture.signIn(fixture.tokenOfAnna.secret)
        #expect(try fixture.send("POST", "/console/api/device/look").status == 401)
        for _ in 0..<20 {
            let wrong = try anna.send("POST", "device/look", #"{"userCode":"BBBB-BBBB"}"#)
            #expect(wrong.status == 404)
        }
        let look = #"{"userCode":"\#(user)"}"#
        #expect(try anna.send("POST", "device/look", look).status == 429)
        // Others are not put off by it.
        let desk = try fixture.signIn(fixture.administrator.secret)
        #expect(try desk.send("POST", "device/look", look).status == 200)
        fixture.clock.advance(seconds: 601)
        #expect(try outcome(device).status == 404)
        #expect(try desk.send("POST", "device/look", look).status == 404)
    }

    @Test func nobodyFillsTheServiceWithTokens() throws {
        let anna = try fixture.signIn(fixture.tokenOfAnna.secret)
        func letIn(_ session: SignedIn, as user: String = "") throws -> Int {
            let (device, code) = try begin()
            let body = #"{"userCode":"\#(code)","approves":true,"user":"\#(user)"}"#
            defer { _ = try? outcome(device) }
            let status = try session.send("POST", "device/approval", body).status
            if status == 429 {
                _ = try session.send(
                    "POST", "device/approval", #"{"userCode":"\#(code)","approves":false}"#)
            }
            return status
        }
        for _ in 0..<50 { #expect(try letIn(anna) == 200) }
        #expect(try letIn(anna) == 429)
        // Others are not put off by it, nor is she after an hour.
        let desk = try fixture.signIn(fixture.administrator.secret)
        #expect(try letIn(desk, as: fixture.ben.userRecordName) == 200)
        fixture.clock.advance(seconds: 3_601)
        #expect(try letIn(fixture.signIn(fixture.tokenOfAnna.secret)) == 200)
    }

    @Test func nobodyFillsTheListOfThoseWhoWait() throws {
        for _ in 0..<20 { _ = try begin() }
        let more = try fixture.send(
            "POST", "/console/api/device",
            #"{"container":"\#(ConsoleFixture.container)","label":"phone"}"#)
        #expect(more.status == 429)
        let elsewhere = try fixture.send(
            "POST", "/console/api/device", #"{"container":"iCloud.none","label":"phone"}"#)
        #expect(elsewhere.status == 404)
        fixture.clock.advance(seconds: 601)
        _ = try begin()
    }
}
