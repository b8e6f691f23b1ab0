import Foundation
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// Who a request comes from, behind proxies.
@Suite struct ForwardingTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
        ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.6", false),
        ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "2001:db8::1", false),
        ("2001:db8::/32", "2001:db8:1::5", true), ("2001:db8::/32", "2001:db9::", false),
        ("::1", "::1", true), ("::ffff:127.0.0.1", "127.0.0.1", true),
        ("fd00::/65", "fd00::7fff:0:0:0", true), ("fd00::/65", "fd00::8000:0:0:0", false),
    ])
    func aNetworkHasItsAddresses(network: String, address: String, isIn: Bool) throws {
        let network = try #require(AddressNetwork(network))
        #expect(network.contains(numeric: address) == isIn)
    }

    @Test(arguments: [
        "", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "h", "::/129", "1.2.3", "::/x",
    ])
    func whatIsNoNetworkIsNone(text: String) {
        #expect(AddressNetwork(text) == nil)
    }

    /// Each address is throttled by itself; who is not believed speaks for its connection.
    private func addresses(
        trusting proxies: [String], _ headers: [String]
    ) throws -> [ClientAddress] {
        let seen = Lock<[ClientAddress]>([])
        var configuration = HTTPConfiguration()
        configuration.trustedProxies = proxies.compactMap(AddressNetwork.init)
        let server = HTTPServer(configuration: configuration, platform: .system) { request in
            seen.withLock { $0.append(request.address) }
            return HTTPResponse(status: 200)
        }
        let port = try server.start(address: "127.0.0.1", port: 0, tls: nil)
        defer { server.stop() }
        for header in headers {
            let client = try RawClient(port: port)
            client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\(header)\r\n")
            _ = client.read()
        }
        return seen.withLock { $0 }
    }

    @Test func theLastHopThatIsNotTrustedIsTheSender() throws {
        let found = try addresses(
            trusting: ["127.0.0.1", "10.0.0.0/8"],
            [
                "",
                "X-Forwarded-For: 203.0.113.9\r\n",
                "X-Forwarded-For: 198.51.100.1, 203.0.113.9, 10.1.1.1\r\n",
                "X-Forwarded-For: 198.51.100.1\r\nX-Forwarded-For: 203.0.113.9\r\n",
                "X-Forwarded-For: nonsense, 203.0.113.9\r\n",
                "X-Forwarded-For: 203.0.113.9, nonsense\r\n",
                "X-Forwarded-For: 10.2.2.2, 10.1.1.1\r\n",
                "X-Forwarded-For: 2001:db8:0:7::5\r\n",
            ])
        #expect(found[1] != found[0])
        #expect(found[2] == found[1] && found[3] == found[1] && found[4] == found[1])
        // What a proxy did not write is believed nobody.
        #expect(found[5] == found[0])
        #expect(found[6] != found[0] && found[6] != found[1])
        #expect(Set(found).count == 4)
    }

    @Test func strangersAreNotBelieved() throws {
        for proxies in [[], ["192.0.2.1"]] {
            let found = try addresses(
                trusting: proxies, ["", "X-Forwarded-For: 203.0.113.9\r\n"])
            #expect(found.count == 2 && found[0] == found[1])
        }
    }

    /// Guessing tokens behind a proxy makes the guesser slow, and nobody else.
    @Test func limitsGoByTheSender() throws {
        var limits = ServiceLimits()
        limits.throttle.unitsPerSecond = 1
        limits.throttle.unitsSavedMax = 2
        let server = try WatchedServer(limits: limits, clock: FixedClock(date: Date())) {
            $0.http.trustedProxies = [AddressNetwork("127.0.0.1")].compactMap(\.self)
        }
        let port = UInt16(server.url.port ?? 0)
        func ask(_ sender: String) throws -> String {
            let client = try RawClient(port: port)
            client.send(
                "GET /database/1/\(WatchedServer.container)/development/private/zones/list "
                    + "HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                    + "X-Forwarded-For: \(sender)\r\n\r\n")
            return client.read()
        }
        var last = ""
        for _ in 0..<6 { last = try ask("203.0.113.9") }
        #expect(last.hasPrefix("HTTP/1.1 429"))
        // The wait is a number in the body, and whole seconds in the header.
        #expect(last.contains("\"retryAfter\":") && last.contains("\r\nRetry-After: "))
        let header = last.components(separatedBy: "Retry-After: ").last?
            .components(separatedBy: "\r\n").first
        #expect(header.flatMap { Int($0) } ?? 0 >= 1)
        #expect(try ask("203.0.113.10").hasPrefix("HTTP/1.1 421"))
    }

    @Test func aTrustedProxyHasAsManyConnectionsAsThereAre() throws {
        var configuration = HTTPConfiguration()
        configuration.connections.perAddressMax = 1
        configuration.trustedProxies = [AddressNetwork("127.0.0.0/8")].compactMap(\.self)
        let server = HTTPServer(configuration: configuration, platform: .system) { _ in
            HTTPResponse(status: 200, body: Data("there".utf8))
        }
        let port = try server.start(address: "127.0.0.1", port: 0, tls: nil)
        defer { server.stop() }
        let clients = try (0..<3).map { _ in try RawClient(port: port) }
        for client in clients {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(client.read(until: "there").contains("200 OK"))
        }
        for client in clients {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(client.read(until: "there").contains("200 OK"))
        }
    }
}
