import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordWire
import Testing

private let me = RecordResponse.caller(CallerReply(userRecordName: "_me"))

@Suite struct CurlChannelTests {
    private func save(_ text: String) -> RecordRequest {
        var record = Record(recordName: "a", recordType: "Note")
        record.fields["text"] = .string(text)
        return .modifyRecords(
            ModifyRecords(operations: [RecordOperation(.create, record)], zoneID: nil))
    }

    @Sendable private static func echo(_ request: RecordRequest) throws -> RecordResponse {
        guard case .modifyRecords(let change) = request else { return me }
        return .records(RecordsReply(results: change.operations.map { .record($0.record) }))
    }

    private func failure(_ channel: CurlChannel) -> TransportError? {
        #expect(throws: TransportError.self) { try channel.sendBlocking(.caller) }
    }

    @Test func whoHasHeardWhoCallsNeedNotAskAgain() async throws {
        let server = try ScriptedServer(answer: Self.echo)
        defer { withExtendedLifetime(server) {} }
        let channel = try server.channel()
        #expect(try await channel.send(.caller) == me)
        let requests = channel.byteCount.requests
        #expect(try await channel.caller()?.userRecordName == "_me")
        #expect(channel.byteCount.requests == requests)
    }

    @Test func aRequestIsAnsweredBothWaysOfWaiting() async throws {
        let server = try ScriptedServer(answer: Self.echo)
        defer { withExtendedLifetime(server) {} }
        let channel = try server.channel()
        #expect(try await channel.send(.caller) == me)
        #expect(try channel.sendBlocking(.caller) == me)
        guard case .records(let reply) = try channel.sendBlocking(save("hällo")),
            case .record(let record) = reply.results.first
        else {
            Issue.record("no record came back")
            return
        }
        #expect(record.fields["text"] == .string("hällo"))
    }

    @Test func anAuthorityThatIsNotTrustedEndsTheCall() throws {
        let server = try ScriptedServer(answer: Self.echo)
        defer { withExtendedLifetime(server) {} }
        let error = failure(try server.channel { $0.authorityFile = nil })
        #expect(error?.code == .tlsUntrusted)
        #expect(error?.message.contains("CA file") == true)
        #expect(error?.fields["host"] == "127.0.0.1" && error?.fields["curlCode"] == "60")
        #expect(server.server.statistics.requests == 0)
        let other = try ScriptedServer(answer: Self.echo)
        defer { withExtendedLifetime(other) {} }
        let foreign = failure(try server.channel { $0.authorityFile = other.server.authorityFile })
        #expect(foreign?.code == .tlsUntrusted)
    }

    @Test func aCertificateForAnotherHostEndsTheCall() throws {
        let server = try ScriptedServer(address: "0.0.0.0", answer: Self.echo)
        defer { withExtendedLifetime(server) {} }
        let port = try #require(server.url.port)
        let elsewhere = try #require(URL(string: "https://127.0.0.2:\(port)"))
        #expect(failure(try server.channel { $0.serviceURL = elsewhere })?.code == .tlsWrongHost)
        #expect(try server.channel().sendBlocking(.caller) == me)
    }

    @Test func anExpiredCertificateIsNamedAsSuch() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-old-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var past = Environment.system
        past.clock = PastClock()
        let old = try CertificateFolder(folder, platform: past).identity(hosts: [])
        let certificate = folder.appendingPathComponent("old.pem")
        try Data((old.keyPEM + old.certificatePEM).utf8).write(to: certificate)
        let server = try ScriptedServer(
            change: { $0.tls = .files(certificate: certificate, key: certificate) },
            answer: Self.echo)
        defer { withExtendedLifetime(server) {} }
        let authority = folder.appendingPathComponent("authority.pem")
        let error = failure(try server.channel { $0.authorityFile = authority })
        #expect(error?.code == .tlsUntrusted)
        #expect(error?.message.contains("clocks") == true)
    }

    private struct PastClock: Clock {
        func now() -> Date { Date().addingTimeInterval(-500 * 86_400) }
    }

    @Test func nobodyListeningAndNoSuchHostAreToldApart() throws {
        let server = try ScriptedServer(answer: Self.echo)
        defer { withExtendedLifetime(server) {} }
        server.server.stop()
        #expect(failure(try server.channel())?.code == .cannotConnect)
        let nowhere = try #require(URL(string: "https://records.invalid:8443"))
        #expect(failure(try server.channel { $0.serviceURL = nowhere })?.code == .offline)
    }

    @Test func aConnectionCutInTheHandshakeIsToldFromADisagreement() throws {
        func code(_ answer: String) throws -> TransportError.Code? {
            let server = try CannedServer(answer)
            defer { withExtendedLifetime(server) {} }
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)"))
            return failure(try server.channel { $0.serviceURL = url })?.code
        }
        #expect(try code("") == .connectionLost)
        #expect(try code("HTTP/1.1 400 Bad Request\r\n\r\n") == .tlsFailed)
    }

    @Test(arguments: [Double.infinity, 1e300, .nan])
    func aTimeWithoutAnEndIsWaitedFor(seconds: Double) throws {
        let server = try ScriptedServer { try Self.echo($0) }
        let channel = try server.channel {
            ($0.connectSeconds, $0.totalSeconds, $0.stallSeconds) = (seconds, seconds, seconds)
        }
        #expect(try channel.sendBlocking(.caller) == me)
    }

    @Test func aServiceThatTakesTooLongIsGivenUp() throws {
        let server = try ScriptedServer { request in
            usleep(1_500_000)
            return try Self.echo(request)
        }
        let error = failure(try server.channel { $0.totalSeconds = 0.3 })
        #expect(error?.code == .timedOut && error?.code.isTransient == true)
        let stalled = try CannedServer(nil)
        #expect(failure(try stalled.channel { $0.stallSeconds = 1 })?.code == .timedOut)
    }

    @Test(arguments: [
        ("", TransportError.Code.connectionLost),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"userRec", .connectionLost),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{", .connectionLost),
        ("HTTP/1.1 502 Bad\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\n<p>x", .unavailable),
        ("HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\n<p>x", .badResponse),
        (
            "HTTP/1.1 302 Go\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
            .badResponse
        ),
        ("SSH-2.0-OpenSSH_9.2\r\n", .badResponse),
        (
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnone",
            .badResponse
        ),
        ("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: " ", count: 20_000), .responseTooLarge),
    ])
    func whatIsNoAnswerIsNamed(_ answer: String, _ code: TransportError.Code) throws {
        let server = try CannedServer(answer)
        defer { withExtendedLifetime(server) {} }
        let error = failure(try server.channel { $0.responseBytesMax = 10_000 })
        #expect(error?.code == code)
        if code == .unavailable { #expect(error?.retryAfterSeconds == 7) }
    }

    /// A proxy with a bound of its own answers for the service, so the sender makes less of it.
    @Test func aProxysRefusalOfTheSizeCountsAsTheServices() throws {
        let server = try CannedServer("HTTP/1.1 413 Large\r\nContent-Length: 4\r\n\r\n<p>x")
        defer { withExtendedLifetime(server) {} }
        let error = #expect(throws: RecordError.self) {
            try server.channel().sendBlocking(.caller)
        }
        #expect(error?.code == .limitExceeded)
    }

    @Test func aPageInsteadOfAnAnswerIsNamed() throws {
        let server = try CannedServer("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<p>x")
        defer { withExtendedLifetime(server) {} }
        let error = #expect(throws: RecordError.self) {
            try server.channel().sendBlocking(.caller)
        }
        #expect(error?.code == .unexpectedServerResponse)
    }

    @Test func aSmallAnswerThatSwellsIsStopped() throws {
        let server = try ScriptedServer(answer: Self.echo)
        defer { withExtendedLifetime(server) {} }
        let channel = try server.channel { $0.responseBytesMax = 100_000 }
        let error = #expect(throws: TransportError.self) {
            try channel.sendBlocking(save(String(repeating: "x", count: 1_000_000)))
        }
        #expect(error?.code == .responseTooLarge)
        #expect(try channel.sendBlocking(.caller) == me)
    }

    @Test func whatTheServiceRefusesComesAsItsError() throws {
        let server = try ScriptedServer { _ in
            var error = RecordError(.throttled, "Slower.")
            error.retryAfterSeconds = 1.5
            throw error
        }
        let error = #expect(throws: RecordError.self) {
            try server.channel().sendBlocking(.caller)
        }
        #expect(error?.code == .throttled && error?.retryAfterSeconds == 2)
        #expect(error?.uuid != nil)
        let wrong = #expect(throws: RecordError.self) {
            try server.channel { $0.credentials.apiToken = "other" }.sendBlocking(.caller)
        }
        #expect(wrong?.code == .authenticationFailed)
    }

    @Test func tokensTravelInHeadersAndInNoAddress() throws {
        let server = try CannedServer("")
        defer { withExtendedLifetime(server) {} }
        #expect(failure(try server.channel()) != nil)
        let text = server.firstRequest
        let path = "/database/1/iCloud.org.example/development/private/users/caller"
        #expect(text.hasPrefix("GET \(path) HTTP/1.1\r\n"))
        #expect(text.contains("X-Diptych-API-Token: api-4711\r\n"))
        #expect(text.contains("X-Diptych-User-Token: user+/=4711\r\n"))
        #expect(text.contains("X-Diptych-Device: mine\r\n"))
    }

    @Test func toApplesServiceTokensTravelInTheQueryAndBodiesPlain() throws {
        let server = try CannedServer("")
        defer { withExtendedLifetime(server) {} }
        let channel = try server.channel { $0.dialect = .plain }
        #expect(throws: TransportError.self) {
            try channel.sendBlocking(save(String(repeating: "plain ", count: 500)))
        }
        let text = server.firstRequest
        #expect(
            text.contains("/records/modify?ckAPIToken=api-4711&ckWebAuthToken=user%2B%2F%3D4711 "))
        #expect(!text.contains("X-Diptych"))
        #expect(!text.contains("Content-Encoding"))
        #expect(text.contains("plain plain"))
    }

    @Test func aCancelledTaskStopsWaiting() async throws {
        let server = try CannedServer(nil)
        defer { withExtendedLifetime(server) {} }
        let channel = try server.channel()
        let task = Task { try await channel.send(.caller) }
        try await Task.sleep(for: .milliseconds(200))
        task.cancel()
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    @Test func aThousandRequestsTakeOneConnection() throws {
        let server = try ScriptedServer(answer: Self.echo)
        defer { withExtendedLifetime(server) {} }
        let channel = try server.channel()
        for _ in 0..<1_000 {
            guard try channel.sendBlocking(.caller) == me else {
                Issue.record("another answer came")
                return
            }
        }
        #expect(server.server.statistics == HTTPStatistics(connections: 1, requests: 1_000))
        #expect(channel.byteCount.connections == 1 && channel.byteCount.requests == 1_000)
    }

    @Test func manyTasksShareAChannel() async throws {
        let server = try ScriptedServer(answer: Self.echo)
        defer { withExtendedLifetime(server) {} }
        let channel = try server.channel()
        let answers = try await withThrowingTaskGroup { group in
            for _ in 0..<40 { group.addTask { try await channel.send(.caller) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: me, count: 40))
        #expect(server.server.statistics.connections == 1)
    }

    @Test func bytesAreCountedAsTheyTravel() throws {
        let server = try ScriptedServer(answer: Self.echo)
        defer { withExtendedLifetime(server) {} }
        let channel = try server.channel()
        _ = try channel.sendBlocking(.caller)
        let head = channel.byteCount
        #expect((150...600).contains(head.sent) && (150...600).contains(head.received))
        let numbers = (0..<3_000).map { "compressible \($0)" }.joined(separator: " ")
        _ = try channel.sendBlocking(save(numbers))
        let after = channel.byteCount
        #expect((500...20_000).contains(after.sent - head.sent))
        #expect((200...20_000).contains(after.received - head.received))
        let apple = try server.channel { $0.dialect = .plain }
        _ = try apple.sendBlocking(save(String(repeating: "compressible ", count: 20_000)))
        #expect((260_000...262_000).contains(apple.byteCount.sent))
    }

    @Test func aRateThatIsSetIsKept() throws {
        let server = try ScriptedServer(answer: Self.echo)
        defer { withExtendedLifetime(server) {} }
        let channel = try server.channel {
            $0.bytesPerSecondMax = 100_000
            $0.dialect = .plain
        }
        let began = ContinuousClock.now
        _ = try channel.sendBlocking(save(String(repeating: "x", count: 250_000)))
        #expect(ContinuousClock.now - began > .seconds(1))
    }

    @Test(arguments: ["ftp://host", "https://", "records.example.org", "https://host?token=x"])
    func anAddressThatIsNoneIsRefusedAtOnce(_ text: String) throws {
        let url = try #require(URL(string: text))
        let configuration = ChannelConfiguration(
            serviceURL: url, target: RecordTarget(container: "c"),
            credentials: ScriptedServer.credentials)
        let error = #expect(throws: TransportError.self) {
            try CurlChannel(configuration: configuration)
        }
        #expect(error?.code == .badConfiguration)
    }

    @Test func aTokenWithALineEndIsRefusedAndNoneIsEverPrinted() throws {
        let server = try CannedServer("")
        defer { withExtendedLifetime(server) {} }
        let error = #expect(throws: TransportError.self) {
            try server.channel { $0.credentials.userToken = "secret\r\nX-Evil: 1" }
        }
        let said = String(describing: error)
        #expect(error?.code == .badConfiguration && !said.contains("secret"))
        var text = "\(ScriptedServer.credentials) "
        dump(ScriptedServer.credentials, to: &text)
        #expect(!text.contains("4711"))
        let failed = failure(try server.channel { $0.dialect = .plain })
        let words = "\(String(describing: failed)) \(failed?.fields ?? [:])"
        #expect(failed != nil && !words.contains("4711"))
    }
}
