import Foundation
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// What strangers send must not cost the others anything.
@Suite struct StrangerTests {
    private let line = "POST /database/1/iCloud.org.example/development/private/records/modify "

    private func plain(
        clock: any Clock = SystemClock(), _ change: (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> (TestServer, UInt16) {
        let server = try TestServer(clock: clock) {
            $0.tls = .off
            change(&$0)
        }
        return (server, UInt16(try #require(server.url.port)))
    }

    private var tokens: String {
        TestServer.tokens.map { "\($0): \($1)\r\n" }.joined()
    }

    // MARK: Before the body

    @Test func whoShowsNoTokenIsRefusedBeforeTheBodyIsSent() throws {
        let (server, port) = try plain()
        for (headers, status) in [
            ("", "401"), ("X-Diptych-API-Token: \(TestService.api)\r\n", "421"),
        ] {
            let client = try RawClient(port: port)
            client.send(
                line + "HTTP/1.1\r\nHost: h\r\n\(headers)Content-Length: 5000000\r\n\r\n")
            // Not a byte of the body is sent, and the answer comes.
            let text = client.read()
            #expect(text.hasPrefix("HTTP/1.1 \(status)"), "\(text)")
        }
        #expect(server.service.devices.withLock { $0.isEmpty })
    }

    @Test func aShortBodyOfAStrangerIsReadSoThatTheAnswerArrives() throws {
        let (server, port) = try plain()
        defer { server.server.stop() }
        let client = try RawClient(port: port)
        client.send(
            line + "HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n"
                + String(repeating: "x", count: 100_000))
        #expect(client.read(until: "AUTHENTICATION_FAILED").hasPrefix("HTTP/1.1 401"))
        client.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(client.read(until: "ok").hasPrefix("HTTP/1.1 200"))
    }

    /// As some clients write it to whom a proxy was named. (RFC 9112 §3.2.2)
    @Test(arguments: ["http://h", "HTTPS://records.example.org:8443"])
    func aWholeAddressIsATarget(address: String) throws {
        let (server, port) = try plain()
        defer { server.server.stop() }
        let client = try RawClient(port: port)
        client.send("GET \(address)/health?a=b HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(client.read(until: "ok").hasPrefix("HTTP/1.1 200"))
        let path = "/database/1/iCloud.org.example/development/private/records/lookup"
        client.send("POST \(address)\(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
        #expect(client.read(until: "AUTHENTICATION_FAILED").hasPrefix("HTTP/1.1 401"))
        client.send("GET \(address) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(client.read(until: "NOT_FOUND").hasPrefix("HTTP/1.1 404"))
    }

    // MARK: Memory

    @Test func bodiesHeldAtOnceAreBoundedAndTheRestIsToldToTryAgain() throws {
        let (server, port) = try plain { $0.http.buffers.bytesPerUserMax = 300_000 }
        defer { server.server.stop() }
        let head = line + "HTTP/1.1\r\nHost: h\r\n\(tokens)Content-Length: 200000\r\n\r\n"
        let holder = try RawClient(port: port)
        holder.send(head + String(repeating: " ", count: 199_000))
        for _ in 0..<60_000 {
            if server.server.bufferedBytes >= 199_000 { break }
            usleep(10_000)
        }
        let second = try RawClient(port: port)
        second.send(head + String(repeating: " ", count: 200_000))
        let text = second.read(until: "TRY_AGAIN_LATER")
        #expect(text.hasPrefix("HTTP/1.1 503") && text.contains("Retry-After: 5"))
        holder.send(String(repeating: " ", count: 1_000))
        #expect(holder.read(until: "serverErrorCode").hasPrefix("HTTP/1.1 400"))
        // What was held is given back.
        let third = try RawClient(port: port)
        third.send(head + String(repeating: " ", count: 200_000))
        #expect(third.read(until: "serverErrorCode").hasPrefix("HTTP/1.1 400"))
    }

    @Test func anAnswerThatFindsNoRoomIsA503() throws {
        let (server, port) = try plain { $0.http.buffers.bytesMax = 100 }
        defer { server.server.stop() }
        let client = try RawClient(port: port)
        client.send(
            "GET /database/1/iCloud.org.example/development/private/users/nobody HTTP/1.1\r\n"
                + "Host: h\r\n\(tokens)\r\n")
        #expect(client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 404"))
        client.send(line + "HTTP/1.1\r\nHost: h\r\n\(tokens)Content-Length: 2\r\n\r\n{}")
        #expect(client.read(until: "TRY_AGAIN").contains("HTTP/1.1 503"))
    }

    // MARK: Connections

    @Test func oneAddressHasSoManyConnectionsAndItsOldestSilentOneMakesRoom() throws {
        let (server, port) = try plain { $0.http.connections.perAddressMax = 5 }
        defer { server.server.stop() }
        let idle = try (0..<20).map { _ in try RawClient(port: port) }
        let client = try RawClient(port: port)
        client.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(client.read(until: "ok").hasPrefix("HTTP/1.1 200"))
        // The first ones were closed: reading ends without waiting.
        #expect(idle[0].read() == "")
        #expect(idle[10].read() == "")
    }

    @Test func newcomersAreServedWhenAllConnectionsAreIdle() throws {
        let (server, port) = try plain {
            $0.http.connections.perAddressMax = nil
            $0.http.connections.max = 10
        }
        defer { server.server.stop() }
        let idle = try (0..<60).map { _ in try RawClient(port: port) }
        for _ in 0..<5 {
            let client = try RawClient(port: port)
            client.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(client.read(until: "ok").hasPrefix("HTTP/1.1 200"))
        }
        #expect(idle[0].read() == "")
    }

    @Test func aHeadThatDripsIsCutOff() throws {
        let (server, port) = try plain { $0.http.connections.headSeconds = 1 }
        defer { server.server.stop() }
        let client = try RawClient(port: port)
        client.send("GET /health HTTP/1.1\r\n")
        var lines = 0
        while lines < 4_000, client.send("X-A: b\r\n") {
            usleep(50_000)
            lines += 1
        }
        #expect(lines < 4_000)
    }

    @Test func aRequestLineThatDripsIsCutOff() throws {
        let (server, port) = try plain { $0.http.connections.idleSeconds = 1 }
        defer { server.server.stop() }
        let client = try RawClient(port: port)
        var bytes = 0
        while bytes < 4_000, client.send("G") {
            usleep(50_000)
            bytes += 1
        }
        #expect(bytes < 4_000)
    }

    @Test func aBodyThatCrawlsIsCutOff() throws {
        let (server, port) = try plain { $0.http.connections.graceSeconds = 1 }
        defer { server.server.stop() }
        let client = try RawClient(port: port)
        client.send(line + "HTTP/1.1\r\nHost: h\r\n\(tokens)Content-Length: 9000\r\n\r\n")
        var bytes = 0
        while bytes < 4_000, client.send("  ") {
            usleep(50_000)
            bytes += 1
        }
        #expect(bytes < 4_000)
        #expect(server.server.statistics.requests == 0)
    }

    // MARK: Framing

    @Test(arguments: [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: +5\r\n", "Content-Length: 5, 5\r\n",
        "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "Host: other\r\n",
        "X-A: b\0c\r\n", "X-A: b\0\r\n", "X-A: b\0X: y\r\nX-B: c\r\n", "X-A\0: b\r\n",
        "X-A: b\u{1}c\r\n", "X-A: b\u{7F}\r\n", "Content-Length : 5\r\n", "X A: b\r\n",
        "X-A: b\r\n Content-Length: 5\r\n", "Transfer-Encoding:\r\n\tchunked\r\n", "X-A: b\n c\r\n",
    ])
    func aHeadThatTwoReadersMayReadDifferentlyIsRefusedAndCloses(_ header: String) throws {
        let (server, port) = try plain()
        defer { server.server.stop() }
        for method in ["POST", "GET"] {
            let client = try RawClient(port: port)
            client.send(
                "\(method) /health HTTP/1.1\r\nHost: h\r\n\(header)\r\n"
                    + "0\r\n\r\nGET /capabilities HTTP/1.1\r\nHost: h\r\n\r\n")
            let text = client.read()
            #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 400"), "\(text)")
            #expect(!text.contains("operationsPerRequest"), "a second request was served")
        }
    }

    @Test func aHeaderInTwoLinesIsCalledByItsName() throws {
        let (server, port) = try plain()
        defer { server.server.stop() }
        let client = try RawClient(port: port)
        client.send("GET /health HTTP/1.1\r\nHost: h\r\nX-A: b\r\n c\r\n\r\n")
        #expect(client.read().contains("goes on in the next line"))
    }

    @Test func ordinaryHeadsAreTaken() throws {
        let (server, port) = try plain()
        defer { server.server.stop() }
        let client = try RawClient(port: port)
        for headers in [
            "", "X-Empty:\r\n", "X-Spaces:   a b  c \r\nAccept: */*\r\n", "X-Tab:\ta\tb\r\n",
            "X-Word: näme\r\nX-Last: \r\n",
        ] {
            client.send("GET /health HTTP/1.1\r\nHost: h\r\n\(headers)\r\n")
            #expect(client.read(until: "ok\"}").hasPrefix("HTTP/1.1 200"), "\(headers)")
        }
        client.send(
            line + "HTTP/1.1\r\nHost: h\r\n\(tokens)Transfer-Encoding: chunked\r\n\r\n"
                + "2\r\n{}\r\n0\r\n\r\n")
        #expect(client.read(until: "serverErrorCode").contains("operations is missing"))
    }

    @Test(arguments: [33, 100, 500, 3_000])
    func manyArgumentsAreAnsweredAtOnce(_ count: Int) throws {
        let (server, port) = try plain()
        defer { server.server.stop() }
        let query = (0..<count).map { "a\($0)=b" }.joined(separator: "&")
        let client = try RawClient(port: port)
        client.send(
            "POST /database/1/iCloud.org.example/development/private/records/modify?\(query) "
                + "HTTP/1.1\r\nHost: h\r\n\(tokens)Content-Length: 2\r\n\r\n{}")
        let text = client.read()
        #expect(client.wasClosed)
        if count <= 500 {
            #expect(text.hasPrefix("HTTP/1.1 400") && text.contains("arguments"), "\(text)")
        }
    }

    @Test(arguments: [
        "GET /health\0x HTTP/1.1", "GET /health\0 HTTP/1.1", "GET /health?\0x HTTP/1.1",
        "GET /health%20\0x HTTP/1.1", "GET\0 /health HTTP/1.1", "GET\0x /health HTTP/1.1",
        "GET /health HTTP/1.1\0x",
    ])
    func whatStandsBehindANulInTheFirstLineIsRefused(_ first: String) throws {
        let (server, port) = try plain()
        defer { server.server.stop() }
        let client = try RawClient(port: port)
        client.send("\(first)\r\nHost: h\r\n\r\n")
        let text = client.read()
        #expect(text.hasPrefix("HTTP/1.1 400") && client.wasClosed, "\(text)")
    }

    @Test(arguments: [
        "GET  /health HTTP/1.1", "GET /health HTTP/1.0", "GET /%68ealth?a=%00&b=%41 HTTP/1.1",
        "GET /health? HTTP/1.1",
    ])
    func aFirstLineOfOddSpellingIsTakenStill(_ first: String) throws {
        let (server, port) = try plain()
        defer { server.server.stop() }
        let client = try RawClient(port: port)
        client.send("\(first)\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(client.read().hasPrefix("HTTP/1.1 200"))
    }

    @Test func eachAnswerHasAnID() throws {
        let ids = Lock<[String?]>([])
        let (server, port) = try plain {
            $0.annex = ServerAnnex { request in
                request.path == "/annex" ? .answer(HTTPResponse(status: 200)) : nil
            }
            $0.accessLog = { entry in ids.withLock { $0.append(entry.facts.requestID) } }
        }
        defer { server.server.stop() }
        for line in [
            "GET /annex HTTP/1.1\r\nHost: h", "GET /health HTTP/1.1\r\nHost: h\r\nHost: i",
            "GET /health HTTP/1.1\r\nHost: h", "GET /nowhere HTTP/1.1\r\nHost: h",
        ] {
            let client = try RawClient(port: port)
            client.send("\(line)\r\nConnection: close\r\n\r\n")
            let found = client.read().split(separator: "\r\n")
                .filter { $0.hasPrefix("X-Apple-Request-UUID: ") }
            #expect(found.count == 1, "\(line)")
            #expect(ids.withLock { $0.last }?.map { found.first?.hasSuffix($0) == true } == true)
        }
    }

    @Test func manyHeadersAreAnsweredAtOnce() throws {
        let (server, port) = try plain()
        defer { server.server.stop() }
        let client = try RawClient(port: port)
        let headers = (0..<400).map { "X-\($0): b\r\n" }.joined()
        client.send(line + "HTTP/1.1\r\nHost: h\r\n\(headers)Content-Length: 2\r\n\r\n{}")
        #expect(client.read().hasPrefix("HTTP/1.1 431"))
    }

    // MARK: Throttling

    @Test func whoAsksTooMuchIsToldHowLongToWait() throws {
        let (server, port) = try plain(clock: FixedClock(date: Date())) {
            var limits = ThrottleLimits()
            limits.unitsPerSecond = 1
            limits.unitsSavedMax = 3
            $0.throttle = limits
        }
        defer { server.server.stop() }
        let client = try RawClient(port: port)
        var statuses: [Substring] = []
        for _ in 0..<6 {
            client.send(
                "GET /database/1/iCloud.org.example/development/private/users/caller "
                    + "HTTP/1.1\r\nHost: h\r\n\(tokens)\r\n")
            let text = client.read(until: "}")
            statuses.append(text.dropFirst(9).prefix(3))
            if statuses.last == "429" { #expect(text.contains("Retry-After: ")) }
        }
        #expect(statuses.first == "200" && statuses.last == "429")
        client.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(client.read(until: "ok").hasPrefix("HTTP/1.1 200"))
    }

    /// The time went by while the service waited for its database, in vain or not.
    @Test(arguments: [503, 200])
    func whoWaitedOwesLittle(_ status: Int) throws {
        let clock = BucketClock()
        let door = Authenticator { _, _ in
            Authenticator.Admitted(user: "_me") { _, _ in
                clock.advance(days: 60.0 / 86_400)
                guard status == 503 else {
                    return .caller(CallerReply(userRecordName: "_me"))
                }
                throw RecordError(.tryAgainLater, "The database is busy.")
            }
        }
        var configuration = ServerConfiguration(tls: .off)
        configuration.port = 0
        var limits = ThrottleLimits()
        limits.unitsPerSecond = 1
        limits.unitsSavedMax = 3_000
        configuration.throttle = limits
        let server = RecordServer(
            door: door, capabilities: ServerCapabilities(limits: [:], extensions: []),
            configuration: configuration,
            platform: Environment(
                clock: clock, randomness: SystemRandomness(), faults: NoFaults()))
        let port = UInt16(try #require(try server.start().port))
        defer { server.stop() }
        let client = try RawClient(port: port)
        for _ in 0..<3 {
            client.send(
                "GET /database/1/iCloud.org.example/development/private/users/caller "
                    + "HTTP/1.1\r\nHost: h\r\n\(tokens)\r\n")
            #expect(client.read(until: "}").hasPrefix("HTTP/1.1 \(status)"))
        }
    }

    /// A page that stands before the routes has no purse of its own.
    @Test func whatStandsBeforeTheRoutesIsThrottledToo() throws {
        let (server, port) = try plain(clock: FixedClock(date: Date())) {
            var limits = ThrottleLimits()
            limits.unitsPerSecond = 1
            limits.unitsSavedMax = 3
            $0.throttle = limits
            $0.annex = ServerAnnex { request in
                guard request.path.hasPrefix("/page/") else { return nil }
                return .read(user: String(request.path.dropFirst(6))) { _ in
                    .response(HTTPResponse(status: 200, body: Data("{}".utf8)))
                }
            }
        }
        defer { server.server.stop() }
        let client = try RawClient(port: port)
        func status(of user: String) -> Substring {
            client.send("GET /page/\(user) HTTP/1.1\r\nHost: h\r\n\r\n")
            return client.read(until: "}").dropFirst(9).prefix(3)
        }
        let statuses = (0..<6).map { _ in status(of: "anna") }
        #expect(statuses.first == "200" && statuses.last == "429")
        #expect(status(of: "ben") == "200")
    }

    @Test func guessingTokensIsSlowAndHurtsNobodyWithAGoodOne() throws {
        let (server, port) = try plain(clock: FixedClock(date: Date())) {
            var limits = ThrottleLimits()
            limits.unitsPerSecond = 1
            limits.unitsSavedMax = 3
            $0.throttle = limits
        }
        defer { server.server.stop() }
        let client = try RawClient(port: port)
        let path = "GET /database/1/iCloud.org.example/development/private/users/caller "
        var statuses: [Substring] = []
        for _ in 0..<6 {
            client.send(path + "HTTP/1.1\r\nHost: h\r\nX-Diptych-API-Token: guess\r\n\r\n")
            statuses.append(client.read(until: "}").dropFirst(9).prefix(3))
        }
        #expect(statuses.first == "401" && statuses.last == "429")
        client.send(path + "HTTP/1.1\r\nHost: h\r\n\(tokens)\r\n")
        #expect(client.read(until: "}").hasPrefix("HTTP/1.1 200"))
    }
}
