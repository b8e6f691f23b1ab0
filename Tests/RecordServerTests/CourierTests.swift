import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// Notices and public databases over the network.
@Suite struct CourierTests {
    /// A real service with one user.
    private final class Desk: Sendable {
        let service: RecordService
        let server: RecordServer
        let url: URL
        let folder: URL
        let headers: [(String, String)]
        static let container = "iCloud.org.example"

        init(_ change: (inout ServerConfiguration) -> Void = { _ in }) throws {
            folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("diptych-courier-\(UUID().uuidString)")
            service = try RecordService(platform: .system)
            try service.accounts.createContainer(Self.container)
            let user = try service.accounts.createUser(label: "owner").userRecordName
            let api = try service.accounts.issueAPIToken(container: Self.container, label: "test")
            let own = try service.accounts.issueUserToken(userRecordName: user, label: "test")
            headers = [("X-Diptych-API-Token", api.secret), ("X-Diptych-User-Token", own.secret)]
            var configuration = ServerConfiguration(tls: .automatic(folder: folder, hosts: []))
            configuration.port = 0
            configuration.http.held.secondsMax = 86_400
            change(&configuration)
            server = RecordServer(service: service, configuration: configuration)
            url = try server.start()
        }

        deinit {
            server.stop()
            try? FileManager.default.removeItem(at: folder)
        }

        func perform(_ call: CurlCall) throws -> CurlAnswer {
            var limits = CurlLimits()
            limits.authorityFile = server.authorityFile
            limits.totalSeconds = 86_400
            limits.stallSeconds = 86_400
            return try CurlHandle(limits: limits).perform(call)
        }

        /// On a thread of its own: the tasks of all tests share as many as there are processors.
        func wait(for call: CurlCall) async throws -> CurlAnswer {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(with: Result { try self.perform(call) })
                }
            }
        }

        func post(
            _ path: String, _ body: String, headers: [(String, String)]? = nil
        ) throws -> (status: Int, json: [String: Any]) {
            let answer = try perform(
                CurlCall(
                    method: "POST", url: url.absoluteString + path,
                    headers: headers ?? self.headers, body: Data(body.utf8)))
            let json = try JSONSerialization.jsonObject(with: answer.body) as? [String: Any]
            return (Int(answer.status), try #require(json))
        }
    }

    private static let root = "1/\(Desk.container)/development"
    private static let own = "/database/\(root)/private/"
    private static let all = "/database/\(root)/public/"
    private let note = #"""
        {"operations":[{"operationType":"create","record":
        {"recordType":"Note","fields":{"title":{"value":"x"}}}}]}
        """#

    @Test(arguments: [
        "/device/\(root)/tokens/create", "/database/\(root)/tokens/create",
        "/database/\(root)/private/tokens/create",
    ])
    func tokensAreMadeAtAllPaths(path: String) throws {
        let desk = try Desk()
        let (status, token) = try desk.post(path, #"{"apnsEnvironment":"development"}"#)
        #expect(status == 200)
        let text = try #require(token["apnsToken"] as? String)
        #expect(
            token["webcourierURL"] as? String == "\(desk.url)/webcourier?token=\(text)")
        let register = path.replacingOccurrences(of: "create", with: "register")
        let registered = try desk.post(
            register, #"{"apnsEnvironment":"development","apnsToken":"\#(text)"}"#)
        #expect(registered.status == 200 && registered.json.isEmpty)
    }

    @Test func aNoticeComesToWhoWaits() async throws {
        let desk = try Desk()
        let made = try desk.post(
            Self.all + "subscriptions/modify",
            #"""
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s",
            "subscriptionType":"query","query":{"recordType":"Note"}}}]}
            """#)
        #expect((made.json["subscriptions"] as? [[String: Any]])?.count == 1)
        let token = try desk.post(Self.own + "tokens/create", "{}")
        let place = try #require(token.json["webcourierURL"] as? String)
        let waiting = Task { try await desk.wait(for: CurlCall(url: place)) }
        for _ in 0..<120_000 {
            if desk.server.heldRequests > 0 { break }
            try await Task.sleep(for: .milliseconds(5))
        }
        let saved = try desk.post(Self.all + "records/modify", note)
        #expect(saved.status == 200)
        let answer = try await waiting.value
        let json = try JSONSerialization.jsonObject(with: answer.body) as? [String: Any]
        let query = (json?["ck"] as? [String: Any])?["qry"] as? [String: Any]
        #expect(query?["sid"] as? String == "s" && query?["fo"] as? Int == 1)
        let name = (json?["ck"] as? [String: Any])?["nid"] as? String
        #expect(UUID(uuidString: name ?? "") != nil)
    }

    @Test(arguments: ["GET", "POST"]) func nothingComesInTime(method: String) throws {
        let desk = try Desk { $0.http.held.secondsMax = 0.2 }
        let token = try desk.post(Self.own + "tokens/create", "{}")
        let place = try #require(token.json["webcourierURL"] as? String)
        let answer = try desk.perform(
            CurlCall(method: method, url: place, headers: [], body: Data()))
        #expect(answer.status == 200 && answer.body == Data("{}".utf8))
    }

    // MARK: Polls whose client went away

    /// A desk without TLS, a subscription to notes, and the address of its courier.
    private func desk(heldSeconds: Double) throws -> (desk: Desk, port: UInt16, place: String) {
        let desk = try Desk {
            $0.tls = .off
            $0.http.held.secondsMax = heldSeconds
        }
        let made = try desk.post(
            Self.all + "subscriptions/modify",
            #"""
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s",
            "subscriptionType":"query","query":{"recordType":"Note"}}}]}
            """#)
        #expect(made.status == 200)
        let token = try desk.post(Self.own + "tokens/create", "{}")
        let place = try #require(token.json["webcourierURL"] as? String)
        let port = try #require(desk.url.port)
        return (desk, UInt16(port), place)
    }

    /// A poll of which the test has the connection.
    private func poll(_ place: String, port: UInt16) throws -> RawClient {
        let client = try RawClient(port: port)
        let url = try #require(URLComponents(string: place))
        client.send(
            "GET \(url.percentEncodedPath)?\(url.percentEncodedQuery ?? "") HTTP/1.1\r\n"
                + "Host: 127.0.0.1\r\nConnection: close\r\n\r\n")
        return client
    }

    /// Waits for ten minutes at most.
    private func until(_ condition: () -> Bool) async throws {
        for _ in 0..<120_000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(condition())
    }

    @Test func aNoticeIsNotGivenToWhoIsGone() async throws {
        let (desk, port, place) = try desk(heldSeconds: 86_400)
        var gone: RawClient? = try poll(place, port: port)
        try await until { desk.server.heldRequests == 1 }
        withExtendedLifetime(gone) {}
        gone = nil
        #expect(try desk.post(Self.all + "records/modify", note).status == 200)
        try await until { desk.server.heldRequests == 0 }
        let answer = try await desk.wait(for: CurlCall(url: place))
        #expect(String(decoding: answer.body, as: UTF8.self).contains(#""sid":"s""#))
    }

    @Test func whoIsGoneTakesNoPlaceAmongThoseWhoWait() async throws {
        let (desk, port, place) = try desk(heldSeconds: 86_400)
        var gone: RawClient? = try poll(place, port: port)
        try await until { desk.server.heldRequests == 1 }
        withExtendedLifetime(gone) {}
        gone = nil
        try await until { desk.server.heldRequests == 0 }
    }

    /// An older poll may be one whose end nobody was told of.
    @Test func theNewestPollIsTold() async throws {
        let (desk, port, place) = try desk(heldSeconds: 86_400)
        for _ in 0..<8 {
            var older: RawClient? = try poll(place, port: port)
            try await until { desk.server.heldRequests == 1 }
            let newer = try poll(place, port: port)
            try await until { desk.server.heldRequests == 2 }
            #expect(try desk.post(Self.all + "records/modify", note).status == 200)
            #expect(newer.read(until: #""sid":"s""#).contains(#""sid":"s""#))
            withExtendedLifetime(older) {}
            older = nil
            try await until { desk.server.heldRequests == 0 }
        }
    }

    @Test func aHeadTakesNoNotice() async throws {
        let (desk, _, place) = try desk(heldSeconds: 1)
        #expect(try desk.post(Self.all + "records/modify", note).status == 200)
        let head = try await desk.wait(for: CurlCall(method: "HEAD", url: place))
        #expect(head.status == 200)
        let answer = try await desk.wait(for: CurlCall(url: place))
        #expect(String(decoding: answer.body, as: UTF8.self).contains(#""sid":"s""#))
    }

    @Test func strangersHearNothing() throws {
        let desk = try Desk()
        let base = desk.url.absoluteString
        #expect(try desk.perform(CurlCall(url: base + "/webcourier?token=x")).status == 401)
        #expect(try desk.perform(CurlCall(url: base + "/webcourier")).status == 404)
        #expect(try desk.post("/webcourier?token=x", "{}").status == 401)
    }

    @Test func theWorldReadsAndDoesNotWrite() throws {
        let desk = try Desk()
        let world = [desk.headers[0]]
        #expect(try desk.post(Self.all + "records/modify", note).status == 200)
        let query = #"{"query":{"recordType":"Note"}}"#
        let found = try desk.post(Self.all + "records/query", query, headers: world)
        #expect(found.status == 200)
        #expect((found.json["records"] as? [[String: Any]])?.count == 1)
        for (path, body) in [
            (Self.all + "records/modify", note), (Self.own + "records/query", query),
            (Self.all + "tokens/create", "{}"),
        ] {
            let refused = try desk.post(path, body, headers: world)
            #expect(refused.status == 421)
            #expect(refused.json["serverErrorCode"] as? String == "AUTHENTICATION_REQUIRED")
        }
        let stranger = [("X-Diptych-API-Token", "dpt_x_y")]
        #expect(try desk.post(Self.all + "records/query", query, headers: stranger).status == 401)
    }
}
