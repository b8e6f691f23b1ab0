import Foundation
import Platform
import RecordServer
import Testing

@Suite struct HTTPServerTests {
    private func server(
        _ change: (inout HTTPConfiguration) -> Void = { _ in }, log: AccessLog? = nil,
        answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse = describe
    ) throws -> (HTTPServer, UInt16) {
        var configuration = HTTPConfiguration()
        change(&configuration)
        let server = HTTPServer(
            configuration: configuration, platform: .system, log: log, answer: answer)
        return (server, try server.start(address: "127.0.0.1", port: 0, tls: nil))
    }

    @Test func aRequestArrivesWholeAndItsAnswerGoesBack() throws {
        let (server, port) = try server()
        defer { server.stop() }
        let client = try RawClient(port: port)
        client.send(
            "POST /a%20b/c?x=1%2B1&y=p+q HTTP/1.1\r\nHost: h\r\nX-Word: näme\r\n"
                + "Content-Length: 5\r\nConnection: close\r\n\r\nhello")
        let text = client.read()
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text.hasSuffix("\r\n\r\nPOST /a%20b/c x=1+1 y=p+q näme 5"))
    }

    @Test func aChunkedBodyIsCountedAndRefusedWhileItIsRead() throws {
        let (server, port) = try server { $0.bodyBytesMax = 100_000 }
        defer { server.stop() }
        let client = try RawClient(port: port)
        client.send("POST /big HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = "2710\r\n" + String(repeating: "a", count: 10_000) + "\r\n"
        for _ in 0..<30 { client.send(chunk) }
        client.send("0\r\n\r\n")
        #expect(client.read(until: "too large").contains("HTTP/1.1 413"))
        // The connection lives on.
        client.send("GET /after?x=&y= HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(client.read(until: "GET /after").contains("200 OK"))
        #expect(server.statistics == HTTPStatistics(connections: 1, requests: 2))
    }

    /// A client that waits in vain loses a second with each large body.
    @Test func aClientThatAsksIsToldToGoOn() throws {
        let (server, port) = try server()
        defer { server.stop() }
        let client = try RawClient(port: port)
        client.send(
            "POST /go?x=1&y=2 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"
                + "Expect: 100-continue\r\n\r\n")
        #expect(client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100 Continue\r\n"))
        client.send("hello")
        #expect(client.read(until: "POST /go").contains("200 OK"))
    }

    @Test func aBodyAnnouncedAsTooLargeIsRefusedBeforeItIsSent() throws {
        let (server, port) = try server { $0.bodyBytesMax = 1_000 }
        defer { server.stop() }
        let client = try RawClient(port: port)
        client.send(
            "POST /big HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n"
                + "Expect: 100-continue\r\n\r\n")
        let text = client.read()
        #expect(text.hasPrefix("HTTP/1.1 413"))
        #expect(!text.contains("100 Continue"))
    }

    @Test func aFloodIsCutOff() throws {
        let (server, port) = try server {
            $0.bodyBytesMax = 1_000
            $0.discardedBytesMax = 100_000
        }
        defer { server.stop() }
        let client = try RawClient(port: port)
        client.send("POST /big HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = "10000\r\n" + String(repeating: "a", count: 65_536) + "\r\n"
        var sent = 0
        while sent < 10_000, client.send(chunk) { sent += 1 }
        #expect(sent < 10_000)
        #expect(server.statistics.requests == 0)
    }

    @Test func headersBeyondTheLimitAreRefused() throws {
        let (server, port) = try server { $0.headerBytesMax = 8_192 }
        defer { server.stop() }
        let client = try RawClient(port: port)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n")
        let line = "X-Long: " + String(repeating: "b", count: 900) + "\r\n"
        for _ in 0..<20 { client.send(line) }
        client.send("\r\n")
        #expect(client.read().hasPrefix("HTTP/1.1 431"))
    }

    @Test func aClientThatFallsSilentIsDropped() throws {
        let (server, port) = try server { $0.connections.idleSeconds = 1 }
        defer { server.stop() }
        let client = try RawClient(port: port)
        client.send("POST /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc")
        #expect(!client.read().contains("200"))
        #expect(server.statistics.requests == 0)
    }

    @Test func aClientThatDripsIsDroppedInTheEnd() throws {
        let (server, port) = try server { $0.connections.requestSeconds = 1 }
        defer { server.stop() }
        let client = try RawClient(port: port)
        client.send("POST /drip HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n")
        var drops = 0
        while drops < 200, client.send("a") {
            usleep(50_000)
            drops += 1
        }
        #expect(drops < 200)
        #expect(server.statistics.requests == 0)
    }

    @Test func stopLetsTheRequestUnderWayEnd() throws {
        let entered = DispatchSemaphore(value: 0)
        let (server, port) = try server(answer: { request in
            entered.signal()
            usleep(300_000)
            return describe(request)
        })
        let client = try RawClient(port: port)
        client.send("GET /slow?x=&y= HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(entered.wait(timeout: .now() + 600) == .success)
        server.stop()
        #expect(client.read().contains("200 OK"))
        #expect(throws: POSIXError.self) { try RawClient(port: port) }
        server.stop()
    }

    @Test func theAccessLogHoldsNoQuery() throws {
        let lines = Lock<[AccessLogEntry]>([])
        let (server, port) = try server(log: { entry in lines.withLock { $0.append(entry) } })
        defer { server.stop() }
        let client = try RawClient(port: port)
        client.send("GET /path?secret=yes HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        _ = client.read()
        let entry = try #require(lines.withLock { $0.first })
        #expect(entry.method == "GET" && entry.path == "/path" && entry.status == 200)
        #expect(entry.bytes > 0 && entry.milliseconds >= 0)
        #expect(!"\(entry)".contains("secret"))
    }

    /// A device names its round; what is no name is not written down.
    @Test(arguments: [("0f-ab", "0f-ab"), ("a b", nil), ("<script>", nil), (nil, nil)])
    func theAccessLogNamesTheRound(header: String?, expected: String?) throws {
        let lines = Lock<[AccessLogEntry]>([])
        let (server, port) = try server(log: { entry in lines.withLock { $0.append(entry) } })
        defer { server.stop() }
        let client = try RawClient(port: port)
        let round = header.map { "X-Diptych-Round: \($0)\r\n" } ?? ""
        client.send("GET /path HTTP/1.1\r\nHost: h\r\n\(round)Connection: close\r\n\r\n")
        _ = client.read()
        #expect(lines.withLock { $0.first }?.round == expected)
    }

    @Test func aPortInUseIsSaidInWords() throws {
        let (first, port) = try server()
        defer { first.stop() }
        let second = HTTPServer(
            configuration: HTTPConfiguration(), platform: .system, answer: describe)
        let error = try #require(throws: ServerError.self) {
            try second.start(address: "127.0.0.1", port: port, tls: nil)
        }
        #expect(error.code == .portInUse && error.code.number == 101)
        #expect(error.fields["port"] == String(port))
    }

    @Test func aServerStartsOnceAndAgainAfterAStop() throws {
        let (server, port) = try server()
        let error = #expect(throws: ServerError.self) {
            try server.start(address: "127.0.0.1", port: 0, tls: nil)
        }
        #expect(error?.code == .cannotListen)
        server.stop()
        #expect(try server.start(address: "127.0.0.1", port: port, tls: nil) == port)
        server.stop()
    }

    @Test func anAddressOfAnotherMachineIsSaidInWords() {
        let server = HTTPServer(
            configuration: HTTPConfiguration(), platform: .system, answer: describe)
        let elsewhere = #expect(throws: ServerError.self) {
            try server.start(address: "192.0.2.1", port: 0, tls: nil)
        }
        #expect(elsewhere?.code == .addressNotAvailable)
        let nowhere = #expect(throws: ServerError.self) {
            try server.start(address: "999.1.2.3.", port: 0, tls: nil)
        }
        #expect(nowhere?.code == .badAddress)
    }
}

/// Answers with what arrived.
@Sendable private func describe(_ request: HTTPRequest) -> HTTPResponse {
    guard case .bytes(let body) = request.body else {
        return HTTPResponse(status: 413, body: Data("too large".utf8))
    }
    let x = request.query["x"] ?? "-"
    let y = request.query["y"] ?? "-"
    let word = request.headers["x-word"] ?? "-"
    let text = "\(request.method) \(request.path) x=\(x) y=\(y) \(word) \(body.count)"
    return HTTPResponse(status: 200, body: Data(text.utf8))
}
