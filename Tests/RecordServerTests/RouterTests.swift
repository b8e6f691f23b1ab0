import CZlib
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
        #expect(try error(answer).retryAfterSeconds == 2.5)
    }

    @Test func bodiesAreCompressedBothWays() throws {
        let server = try TestServer()
        let client = try server.client()
        let plain = try save(String(repeating: "text and more of it; ", count: 10_000))
        var call = server.post("records/modify", gzip(plain))
        call.headers.append(("Content-Encoding", "gzip"))
        let answer = try client.perform(call)
        #expect(answer.status == 200)
        #expect(answer.headers["content-encoding"] == "gzip")
        #expect(answer.body.count > 200_000)
        #expect(client.byteCount.sent < 20_000 && client.byteCount.received < 20_000)
        call.headers.append(("Accept-Encoding", "gzip;q=0, br"))
        let large = try client.perform(call)
        #expect(large.status == 200 && large.headers["content-encoding"] == nil)
        #expect(client.byteCount.received > 200_000)
    }

    @Test func aBombIsStoppedAndABrokenStreamRefused() throws {
        let server = try TestServer { $0.expandedBytesMax = 6 << 20 }
        let client = try server.client()
        let gzipped = [("Content-Encoding", "gzip")]
        func answer(_ body: Data, _ headers: [(String, String)]) throws -> CurlAnswer {
            try client.perform(
                server.post("records/modify", body, headers: TestServer.tokens + headers))
        }
        // Beyond the size; then within it, but swelling a thousandfold.
        for bomb in [noise(7 << 20), Data(count: 5 << 20)] {
            let stopped = try answer(gzip(bomb), gzipped)
            #expect(stopped.status == 413)
            #expect(try error(stopped).code == .limitExceeded)
        }
        #expect(try answer(gzip(noise(5 << 20)), gzipped).status == 400)
        #expect(try answer(gzip(Data(count: 3 << 20)), gzipped).status == 400)
        #expect(try answer(gzip(Data("[]".utf8)).dropLast(3), gzipped).status == 400)
        #expect(try answer(Data("plain".utf8), gzipped).status == 400)
        #expect(try answer(gzip(Data("{}".utf8)) + Data([0]), gzipped).status == 400)
        #expect(try answer(Data(), gzipped).status == 400)
        #expect(try answer(Data("{}".utf8), [("Content-Encoding", "br")]).status == 415)
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

/// Bytes that shrink by less than half.
private func noise(_ count: Int) -> Data {
    var state: UInt64 = 1
    return Data(
        (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(state >> 60)
        })
}

private func gzip(_ data: Data) -> Data {
    var small = Data(count: diptych_gzip_bound(data.count))
    var count = small.count
    let status = small.withUnsafeMutableBytes { target in
        data.withUnsafeBytes { source in
            diptych_gzip(source.baseAddress, source.count, target.baseAddress, &count, 9)
        }
    }
    precondition(status == Z_OK)
    return Data(small.prefix(count))
}
