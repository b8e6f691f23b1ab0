import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// Figures, and what others ask to see whether a service is well.
@Suite struct MetricsTests {
    @Test func aPageTellsWhatWasAskedAndWhatCameOfIt() throws {
        let server = try WatchedServer()
        try server.send("records/modify", .modifyRecords(server.saving("a", "b")))
        try server.send("records/modify", .modifyRecords(server.saving("a")))
        try server.send(
            "records/lookup",
            .lookupRecords(LookupRecords(recordNames: ["a", "none"], zoneID: nil)))
        _ = try server.get("/database/1/iCloud.elsewhere/development/private/records/lookup")
        _ = try server.get("/nothing?token=secret")
        let text = try server.page()
        let page = try Exposition(text)
        func requests(_ operation: String, _ status: Int) -> Double? {
            page.value(
                "diptych_http_requests_total", ["operation": operation, "status": "\(status)"])
        }
        #expect(requests("records/modify", 200) == 2)
        #expect(requests("records/lookup", 200) == 1)
        #expect(requests("records/lookup", 404) == 1)
        #expect(requests("other", 404) == 1)
        let seconds = "diptych_http_request_duration_seconds"
        #expect(page.value(seconds + "_count", ["operation": "records/modify"]) == 2)
        #expect(page.value("diptych_records_written_total") == 2)
        #expect(page.value("diptych_record_conflicts_total") == 1)
        #expect(page.value("diptych_records_read_total") == 1)
        #expect(page.value("diptych_requests_refused_total", ["code": "NOT_FOUND"]) == 2)
        #expect(page.value("diptych_requests_throttled_total") == 0)
        #expect((page.value("diptych_commit_requests_count") ?? 0) >= 2)
        #expect((page.value("diptych_storage_bytes") ?? 0) > 0)
        #expect((page.value("diptych_disk_free_bytes") ?? 0) > 0)
        let container = ["container": WatchedServer.container]
        #expect(page.value("diptych_container_records", container) == 2)
        #expect((page.value("diptych_container_bytes", container) ?? 0) > 0)
        #expect(page.value("diptych_build_info", ["version": "1.2.3"]) == 1)
        #expect(page.value("diptych_ready") == 1)
        #expect((page.value("diptych_http_received_bytes_total") ?? 0) > 100)
        #expect((page.value("diptych_http_sent_bytes_total") ?? 0) > 100)
        for name in [
            "process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds",
            "process_start_time_seconds", "process_max_fds", "diptych_http_connections",
            "diptych_http_held_requests",
        ] {
            #expect((page.value(name) ?? -1) >= 0, "\(name)")
        }
        #expect(!text.contains("elsewhere") && !text.contains("secret"))
    }

    /// Each name and each container is a series of its own to who keeps the figures.
    @Test func strangersMakeNoNamesOfTheirOwn() throws {
        let server = try WatchedServer()
        for number in 0..<20 { _ = try server.get("/path\(number)/x") }
        for number in 0..<20 {
            _ = try server.get("/database/1/c\(number)/development/private/op\(number)")
        }
        let page = try Exposition(try server.page())
        let names = Set(
            page.families["diptych_http_requests_total"]?.samples.compactMap {
                $0.labels["operation"]
            } ?? [])
        #expect(names == ["other"])
    }

    @Test func theListenerTakesReadingAndNothingElse() throws {
        let server = try WatchedServer()
        let place = try #require(server.server.metricsPlace)
        #expect(place.address == "127.0.0.1")
        func answer(_ text: String) throws -> String {
            let client = try RawClient(port: place.port)
            client.send(text)
            return client.read()
        }
        let end = " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
        let page = try answer("GET /metrics\(end)\r\n")
        #expect(page.hasPrefix("HTTP/1.1 200"))
        #expect(page.contains("text/plain; version=0.0.4; charset=utf-8"))
        #expect(try answer("HEAD /metrics\(end)\r\n").hasPrefix("HTTP/1.1 200"))
        let posted = try answer("POST /metrics\(end)Content-Length: 4\r\n\r\nabcd")
        #expect(posted.hasPrefix("HTTP/1.1 405") && posted.contains("Allow: GET, HEAD"))
        #expect(try answer("GET /health\(end)\r\n").hasPrefix("HTTP/1.1 404"))
        #expect(try answer("GET /database/1/a/b/c/d\(end)\r\n").hasPrefix("HTTP/1.1 404"))
        #expect(try answer("GET /healthz\(end)\r\n").contains(#"{"status":"ok"}"#))
        #expect(try answer("GET /readyz\(end)\r\n").contains(#"{"status":"ready"}"#))
        let flood = try RawClient(port: place.port)
        let long = String(repeating: "a", count: 20_000)
        flood.send("GET /metrics HTTP/1.1\r\nHost: h\r\nX: \(long)\r\n\r\n")
        #expect(flood.read().hasPrefix("HTTP/1.1 431"))
        server.server.stop()
        #expect(throws: POSIXError.self) { try RawClient(port: place.port) }
        #expect(server.server.metricsPlace == nil)
    }

    @Test func aPortOfFiguresInUseStopsTheStart() throws {
        let server = try WatchedServer()
        let place = try #require(server.server.metricsPlace)
        let error = #expect(throws: ServerError.self) {
            try WatchedServer { $0.metrics = ListenPlace(port: place.port) }
        }
        #expect(error?.code == .portInUse)
    }

    @Test func labelsAreEscapedAndNumbersSpelled() throws {
        var page = ExpositionText()
        page.family("a_total", .counter, "Help.")
        page.sample("a_total", [("x", "q\"b\\s\nn")], 3)
        page.single("b_seconds", .gauge, "Help.", 0.5)
        page.single("c", .gauge, "Help.", .infinity)
        page.single("d", .gauge, "Help.", -9_007_199_254_740_994)
        let read = try Exposition(page.text)
        #expect(read.value("a_total", ["x": "q\"b\\s\nn"]) == 3)
        #expect(read.value("b_seconds") == 0.5 && read.value("c") == .infinity)
        #expect(read.value("d") == -9_007_199_254_740_994)
        #expect(page.text.contains("a_total{x=\"q\\\"b\\\\s\\nn\"} 3\n"))
    }

    @Test func histogramsCountFromBelow() {
        let histogram = Histogram(bounds: [1, 2])
        for value in [0.5, 1, 1.5, 7, .infinity, -3, .nan] { histogram.note(value) }
        #expect(histogram.summary.counts == [3, 4, 7])
    }

    // MARK: Probes

    @Test func aServiceWithoutItsDatabaseLivesAndIsNotReady() throws {
        let reason = Lock<String?>(nil)
        let looks = Lock(0)
        var watch = ServiceWatch()
        watch.unreadiness = {
            looks.withLock { $0 += 1 }
            return reason.withLock { $0 }
        }
        let clock = HandClock()
        let server = try ProbedServer(watch, clock: clock)
        #expect(try server.status("/healthz") == 200)
        #expect(try server.status("/readyz") == 200)
        reason.withLock { $0 = "The disk has no room." }
        // Looked at once a second at most.
        #expect(try server.status("/readyz") == 200)
        #expect(looks.withLock { $0 } == 1)
        clock.advance(2)
        let answer = try server.get("/readyz")
        #expect(answer.status == 503)
        #expect(answer.text.contains(#""reason":"The disk has no room.""#))
        #expect(answer.text.contains(#""serverErrorCode":"TRY_AGAIN_LATER""#))
        #expect(try server.status("/healthz") == 200)
        reason.withLock { $0 = nil }
        clock.advance(2)
        #expect(try server.status("/readyz") == 200)
    }

    @Test func aServerThatStopsSaysSoToWhoIsConnected() throws {
        let entered = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        let server = try ProbedServer(ServiceWatch(), clock: SystemClock()) { _, _ in
            entered.signal()
            goOn.wait()
            return .nothing
        }
        let busy = try RawClient(port: server.port)
        busy.send(
            "POST \(TestServer.database)users/caller HTTP/1.1\r\nHost: h\r\n"
                + "Content-Length: 2\r\n\r\n{}")
        #expect(entered.wait(timeout: .now() + 600) == .success)
        // After it, so that no thread serves both: a thread is busy with one request at a time.
        let asking = try RawClient(port: server.port)
        asking.send("GET /readyz HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(asking.read(until: "ready\"}").contains("200 OK"))
        let carried = Carried(server.server)
        let done = DispatchSemaphore(value: 0)
        Thread {
            carried.value.stop()
            done.signal()
        }.start()
        var text = ""
        for _ in 0..<60_000 {
            if text.contains("503") { break }
            usleep(10_000)
            asking.send("GET /readyz HTTP/1.1\r\nHost: h\r\n\r\n")
            text = asking.read(until: "}")
        }
        #expect(text.contains("The server is stopping."))
        goOn.signal()
        #expect(done.wait(timeout: .now() + 600) == .success)
    }

    @Test func thePlainDialectPublishesNothing() throws {
        let server = try WatchedServer(dialect: .plain)
        for path in ["/health", "/healthz", "/readyz", "/capabilities", "/openapi.json"] {
            #expect(try server.get(path).status == 404)
        }
        #expect(try Exposition(try server.page()).value("diptych_ready") == 1)
    }
}

/// A real service in a folder of its own, with figures at a listener.
final class WatchedServer {
    static let container = "iCloud.org.example.watched"
    let server: RecordServer
    let service: RecordService
    let url: URL
    let folder: URL
    private let tokens: [(String, String)]

    init(
        dialect: ServiceDialect = .extended, limits: ServiceLimits = ServiceLimits(),
        clock: any Clock = SystemClock(), _ change: (inout ServerConfiguration) -> Void = { _ in }
    ) throws {
        var platform = Environment.system
        platform.clock = clock
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-watched-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        service = try RecordService(
            path: folder.appendingPathComponent("records.sqlite").path, platform: platform,
            limits: limits, dialect: dialect)
        try service.accounts.createContainer(Self.container)
        let user = try service.accounts.createUser(label: "Ann")
        let api = try service.accounts.issueAPIToken(container: Self.container, label: "t")
        let own = try service.accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "t")
        tokens = [
            ("X-Diptych-API-Token", api.secret), ("X-Diptych-User-Token", own.secret),
        ]
        var configuration = ServerConfiguration(tls: .off)
        configuration.port = 0
        configuration.metrics = ListenPlace(port: 0)
        configuration.version = "1.2.3"
        change(&configuration)
        server = RecordServer(
            service: service, configuration: configuration, platform: platform)
        url = try server.start()
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    func saving(_ names: String...) -> ModifyRecords {
        ModifyRecords(
            operations: names.map {
                RecordOperation(.create, Record(recordName: $0, recordType: "Note"))
            }, zoneID: nil)
    }

    @discardableResult
    func send(_ operation: String, _ request: RecordRequest) throws -> CurlAnswer {
        try CurlHandle(limits: CurlLimits()).perform(
            CurlCall(
                method: "POST",
                url: url.absoluteString
                    + "/database/1/\(Self.container)/development/private/\(operation)",
                headers: tokens, body: try WireCodec.encode(request).body))
    }

    func get(_ path: String) throws -> CurlAnswer {
        try CurlHandle(limits: CurlLimits()).perform(CurlCall(url: url.absoluteString + path))
    }

    func page() throws -> String {
        let port = server.metricsPlace?.port ?? 0
        let answer = try CurlHandle(limits: CurlLimits()).perform(
            CurlCall(url: "http://127.0.0.1:\(port)/metrics"))
        return String(decoding: answer.body, as: UTF8.self)
    }
}

/// A server behind which a test stands.
private final class ProbedServer {
    let server: RecordServer
    let port: UInt16

    init(
        _ watch: ServiceWatch, clock: any Clock,
        ask: @escaping Authenticator.Asking = { _, _ in .nothing }
    ) throws {
        var configuration = ServerConfiguration(tls: .off)
        configuration.port = 0
        // Whoever asks on may come late.
        configuration.http.drainSeconds = 600
        var platform = Environment.system
        platform.clock = clock
        server = RecordServer(
            door: Authenticator { _, _ in Authenticator.Admitted(user: "_me", ask: ask) },
            capabilities: ServerCapabilities(limits: [:], extensions: []),
            configuration: configuration, platform: platform, watch: watch)
        port = UInt16(try server.start().port ?? 0)
    }

    deinit { server.stop() }

    func get(_ path: String) throws -> (status: Int, text: String) {
        let answer = try CurlHandle(limits: CurlLimits()).perform(
            CurlCall(url: "http://127.0.0.1:\(port)\(path)"))
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    func status(_ path: String) throws -> Int { try get(path).status }
}

/// A clock that a test moves.
final class HandClock: Clock {
    private let moment: Lock<Date>
    init(_ moment: Date = Date(timeIntervalSince1970: 1_700_000_000)) {
        self.moment = Lock(moment)
    }
    func advance(_ seconds: Double) { moment.withLock { $0 += seconds } }
    func now() -> Date { moment.withLock { $0 } }
}

/// Hands a value to the one thread that uses it.
struct Carried<Value>: @unchecked Sendable {
    // @unchecked: each value is used by one thread at a time.
    let value: Value
    init(_ value: Value) { self.value = value }
}
