import Foundation
import Platform
import RecordServer
import Testing

/// Connections are spread over the threads of a server: a request that takes long holds up few.
@Suite struct ConnectionSpreadTests {
    /// Requests that stay until they are let go.
    private final class Room: Sendable {
        private let inside = Lock(0)
        private let door = DispatchSemaphore(value: 0)

        var count: Int { inside.withLock { $0 } }

        func stay() {
            inside.withLock { $0 += 1 }
            door.wait()
        }

        func open(for count: Int) { for _ in 0..<count { door.signal() } }
    }

    @Test func requestsOfManyConnectionsAreUnderWayAtOnce() async throws {
        let room = Room()
        let connections = 12
        let server = HTTPServer(configuration: HTTPConfiguration(), platform: .system) { request in
            if request.path == "/stay" { room.stay() }
            return HTTPResponse(status: 200, body: Data("done".utf8))
        }
        let port = try server.start(address: "127.0.0.1", port: 0, tls: nil)
        defer { server.stop() }
        // One after another, as clients come: each has been answered before the next is there.
        let clients = try (0..<connections).map { _ in
            let client = try RawClient(port: port)
            client.send("GET /go HTTP/1.1\r\nHost: h\r\n\r\n")
            _ = client.read(until: "done")
            return client
        }
        for client in clients { client.send("GET /stay HTTP/1.1\r\nHost: h\r\n\r\n") }
        // Where two share a thread, one of them never comes.
        for _ in 0..<120_000 where room.count < connections {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(room.count == connections)
        room.open(for: connections)
        for client in clients { #expect(client.read(until: "done").contains("200 OK")) }
    }

    /// Newcomers go where nobody is at work, however many come.
    @Test func requestsThatTakeLongHoldUpNoNewcomer() async throws {
        let room = Room()
        let slow = 8
        let server = HTTPServer(configuration: HTTPConfiguration(), platform: .system) { request in
            if request.path == "/stay" { room.stay() }
            return HTTPResponse(status: 200, body: Data("done".utf8))
        }
        let port = try server.start(address: "127.0.0.1", port: 0, tls: nil)
        defer { server.stop() }
        let sitting = try (0..<slow).map { _ in try RawClient(port: port) }
        for client in sitting { client.send("GET /stay HTTP/1.1\r\nHost: h\r\n\r\n") }
        for _ in 0..<120_000 where room.count < slow {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(room.count == slow)
        let newcomers = try (0..<100).map { _ in try RawClient(port: port) }
        let answered = newcomers.prefix { client in
            client.send("GET /go HTTP/1.1\r\nHost: h\r\n\r\n")
            return client.read(until: "done").contains("200 OK")
        }
        #expect(answered.count == newcomers.count)
        room.open(for: slow)
        for client in sitting { #expect(client.read(until: "done").contains("200 OK")) }
    }

    /// Those that were let in and are not opened yet count with the others.
    @Test func aCrowdThatComesAtOnceIsBounded() throws {
        let server = HTTPServer(
            configuration: {
                var configuration = HTTPConfiguration()
                configuration.connections.max = 8
                return configuration
            }(), platform: .system
        ) { _ in HTTPResponse(status: 200, body: Data("done".utf8)) }
        let port = try server.start(address: "127.0.0.1", port: 0, tls: nil)
        defer { server.stop() }
        let clients = try (0..<64).map { _ in try RawClient(port: port) }
        for client in clients { client.send("GET /go HTTP/1.1\r\nHost: h\r\n\r\n") }
        let answered = clients.count { $0.read(until: "done").contains("200 OK") }
        #expect(answered >= 1)
        #expect(server.statistics.connections <= clients.count)
        // Room is made for newcomers, one for one.
        let last = try RawClient(port: port)
        last.send("GET /go HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(last.read(until: "done").contains("200 OK"))
    }
}
