import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordWire
import Testing

@Suite struct RouterTests {
    private func save(_ text: String, named name: String = "a") throws -> Data {
        var record = Record(recordName: name, recordType: "Note")
        record.fields["text"] = .string(text)
        let change = ModifyRecords(operations: [RecordOperation(.create, record)], zoneID: nil)
        return try WireCodec.encode(.modifyRecords(change)).body
    }

    private func error(_ answer: CurlAnswer) throws -> RecordError {
        let error = try WireCodec.decodeError(answer.body)
        #expect(error.uuid == answer.headers["x-apple-request-uuid"])
        #expect(error.uuid.flatMap { UUID(uuidString: $0) } != nil)
        return error
    }

    @Test func aRequestGoesThroughToTheServiceAndBack() throws {
        let server = try TestServer()
        let client = try server.client()
        var call = server.post("records/modify", try save("hällo"))
        call.headers.append(("X-Diptych-Device", "laptop"))
        let answer = try client.perform(call)
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
        #expect(answer.headers["x-apple-request-uuid"] != nil)
        let lookup = RecordRequest.lookupRecords(LookupRecords(recordNames: ["a"], zoneID: nil))
        let found = try client.perform(
            server.post("records/lookup", try WireCodec.encode(lookup).body))
        guard case .records(let reply) = try WireCodec.decodeResponse(to: lookup, found.body),
            case .record(let record) = reply.results.first
        else {
            Issue.record("no record came back")
            return
        }
        #expect(record.fields["text"] == .string("hällo"))
        #expect(server.service.devices.withLock { $0 } == ["laptop", nil])
    }

    @Test func tokensMayComeInTheQueryPercentEncoded() throws {
        let server = try TestServer()
        let call = server.get(
            TestServer.database + "users/caller?ckAPIToken=\(TestService.api)"
                + "&ckWebAuthToken=user%2Btoken%2Fwith%3Dsigns")
        let answer = try server.client().perform(call)
        #expect(answer.status == 200)
        #expect(String(decoding: answer.body, as: UTF8.self).contains("_me"))
        let path = try #require(server.log.withLock { $0.first?.path })
        #expect(path == TestServer.database + "users/caller")
    }

    @Test func wrongAndMissingTokensAreToldApart() throws {
        let server = try TestServer()
        let client = try server.client()
        let path = TestServer.database + "users/caller"
        let missing = try client.perform(
            server.get(path, headers: [("X-Diptych-API-Token", TestService.api)]))
        #expect(missing.status == 421)
        let asked = try error(missing)
        #expect(asked.code == .authenticationRequired && asked.redirectURL != nil)
        let wrong = try client.perform(
            server.get(
                path,
                headers: [("X-Diptych-API-Token", "nonsense"), ("X-Diptych-User-Token", "x")]))
        #expect(wrong.status == 401)
        let refused = try error(wrong)
        #expect(refused.code == .authenticationFailed && !refused.reason.contains("nonsense"))
    }

    @Test(arguments: [
        ("/nowhere", 404), ("/", 404), ("/database/1/c/development/private", 404),
        ("/database/2/iCloud.org.example/development/private/users/caller", 404),
        ("/database/1/iCloud.org.example/testing/private/users/caller", 400),
        ("/database/1/iCloud.org.example/development/secret/users/caller", 400),
        ("/database/1/iCloud.org.other/development/private/users/caller", 403),
        (TestServer.database + "records/share", 404),
        (TestServer.database + "records/modify", 405),
        (TestServer.database + "users/caller", 200), (TestServer.database + "users%2Fcaller", 200),
    ])
    func eachPathHasItsStatus(_ path: String, _ status: Int) throws {
        let server = try TestServer()
        let answer = try server.client().perform(server.get(path, headers: TestServer.tokens))
        #expect(answer.status == status)
        if status == 405 { #expect(answer.headers["allow"] == "POST") }
        if status != 200 { _ = try error(answer) }
    }

    @Test func healthAndCapabilitiesNeedNoToken() throws {
        let server = try TestServer()
        let client = try server.client()
        #expect(try client.perform(server.get("/health")).status == 200)
        let capabilities = try client.perform(server.get("/capabilities"))
        let read = try JSONDecoder().decode(ServerCapabilities.self, from: capabilities.body)
        #expect(read.limits["operationsPerRequest"] == 200)
        let head = try client.perform(
            CurlCall(method: "HEAD", url: server.url.absoluteString + "/capabilities"))
        #expect(head.status == 200 && head.body.isEmpty)
        #expect(head.headers["content-length"] == String(capabilities.body.count))
        let posted = try client.perform(
            CurlCall(method: "POST", url: server.url.absoluteString + "/health"))
        #expect(posted.status == 405)
        let deleted = try client.perform(
            CurlCall(method: "DELETE", url: server.url.absoluteString + "/health"))
        #expect(deleted.status == 405)
    }

    @Test(arguments: [
        "{", "[]", #"{"operations": 3}"#, #"{"operations":[{"operationType":"dance"}]}"#,
        "\u{0}\u{1}", String(repeating: "[", count: 100_000),
    ])
    func aBadBodyIsA400(_ body: String) throws {
        let server = try TestServer()
        let answer = try server.client().perform(server.post("records/modify", Data(body.utf8)))
        #expect(answer.status == 400)
        #expect(try error(answer).code == .badRequest)
    }

    @Test func aBodyBeyondTheLimitIsA413AndAFailureA500WithoutDetails() throws {
        let server = try TestServer { $0.http.bodyBytesMax = 50_000 }
        let client = try server.client()
        let large = try save(String(repeating: "x", count: 200_000))
        let answer = try client.perform(server.post("records/modify", large))
        #expect(answer.status == 413)
        #expect(try error(answer).code == .limitExceeded)
        let failed = try client.perform(server.post("changes/database", Data("{}".utf8)))
        #expect(failed.status == 500)
        let told = try error(failed)
        #expect(told.code == .internalError && !told.reason.contains("POSIX"))
        let uuid = try #require(told.uuid)
        #expect(server.failures.withLock { $0[uuid] } != nil)
    }

    @Test func theServicesPatienceIsInBodyAndHeader() throws {
        let server = try TestServer()
        let answer = try server.client().perform(
            server.get(TestServer.database + "zones/list", headers: TestServer.tokens))
        #expect(answer.status == 429 && answer.headers["retry-after"] == "3")
        #expect(try error(answer).retryAfterSeconds == 3)
    }

    @Test func aLargeBodyIsTaken() throws {
        let server = try TestServer()
        let client = try server.client()
        let answer = try client.perform(
            server.post("records/modify", try save(String(repeating: "x", count: 6_000_000))))
        #expect(answer.status == 200 && answer.body.count > 6_000_000)
    }

    @Test func stopLetsARequestEndOverTLSAndAnotherServerTakesThePort() throws {
        let entered = DispatchSemaphore(value: 0)
        let first = try TestServer { configuration in
            configuration.accessLog = { _ in
                entered.signal()
                usleep(300_000)
            }
        }
        let client = try first.client()
        let call = first.get("/health")
        let status = Lock(0)
        let done = DispatchSemaphore(value: 0)
        let carried = Thrown(client)
        Thread {
            let answer = try? carried.value.perform(call)
            status.withLock { $0 = answer?.status ?? -1 }
            done.signal()
        }.start()
        #expect(entered.wait(timeout: .now() + 600) == .success)
        first.server.stop()
        #expect(done.wait(timeout: .now() + 600) == .success)
        #expect(status.withLock { $0 } == 200)
        let port = try #require(first.url.port)
        let second = try TestServer { $0.port = UInt16(port) }
        #expect(second.url == first.url)
        #expect(try second.client().perform(second.get("/health")).status == 200)
    }

    @Test func oneConnectionCarriesManyRequests() throws {
        let server = try TestServer()
        let client = try server.client()
        for _ in 0..<50 {
            let answer = try client.perform(
                server.get(TestServer.database + "users/caller", headers: TestServer.tokens))
            #expect(answer.status == 200)
        }
        #expect(client.byteCount.connections == 1 && client.byteCount.requests == 50)
        #expect(server.server.statistics == HTTPStatistics(connections: 1, requests: 50))
    }

    @Test func fiftyClientsAreServedAtOnce() async throws {
        let server = try TestServer()
        let call = server.get(TestServer.database + "users/caller", headers: TestServer.tokens)
        let clients = try (0..<50).map { _ in Thrown(try server.client()) }
        let statuses = Lock<[Int]>([])
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            let group = DispatchGroup()
            for client in clients {
                let thread = Thread {
                    for _ in 0..<5 {
                        let status = (try? client.value.perform(call).status) ?? -1
                        statuses.withLock { $0.append(status) }
                    }
                    group.leave()
                }
                group.enter()
                thread.start()
            }
            group.notify(queue: .global()) { done.resume() }
        }
        #expect(statuses.withLock { $0 } == Array(repeating: 200, count: 250))
        #expect(server.server.statistics.connections == 50)
    }

    /// Hands a client to the one thread that uses it.
    private struct Thrown<Value>: @unchecked Sendable {
        // @unchecked: each value is used by one thread.
        let value: Value
        init(_ value: Value) { self.value = value }
    }
}
