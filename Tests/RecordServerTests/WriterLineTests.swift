import Foundation
import Platform
import RecordServer
import RecordWire
import Testing

/// Where writers of one database wait for one another they hold few threads of the server, and
/// write in the order in which they came.
@Suite struct WriterLineTests {
    /// A service whose writers stay until they are let go.
    private final class Desk: Sendable {
        let asked = Lock<[String]>([])
        private let gate = DispatchSemaphore(value: 0)
        let server: RecordServer
        let port: UInt16

        /// So many write at once.
        init(writersMax: Int) throws {
            let (asked, gate) = (asked, gate)
            var door = Authenticator { _, _ in
                Authenticator.Admitted(user: "ann") { question, target in
                    guard case .modifyRecords(let change) = question else {
                        return .caller(CallerReply(userRecordName: "_ann"))
                    }
                    asked.withLock { $0 += change.operations.map(\.record.recordName) }
                    if target.environment == "development" { gate.wait() }
                    return .records(RecordsReply(results: []))
                }
            }
            door.writersMax = writersMax
            var configuration = ServerConfiguration(tls: .off)
            configuration.port = 0
            // A thread for each connection: one at work wakes no other of its own.
            configuration.http.threads = 40
            // Nobody's time in the line is up: on a busy machine a test may stand still for minutes
            // between two of its lines.
            var platform = Environment.system
            platform.clock = FixedClock(date: Date())
            server = RecordServer(
                door: door,
                capabilities: ServerCapabilities(limits: [:], extensions: []),
                configuration: configuration, platform: platform)
            port = UInt16(try #require(try server.start().port))
        }

        func open(for count: Int) { for _ in 0..<count { gate.signal() } }

        func ask(_ operation: String, _ body: String, in environment: String = "development")
            throws -> RawClient
        {
            let client = try RawClient(port: port)
            client.send(
                "POST /database/1/iCloud.x/\(environment)/private/\(operation) HTTP/1.1\r\n"
                    + "Host: h\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            return client
        }

        func write(_ name: String, in environment: String = "development") throws -> RawClient {
            try ask(
                "records/modify",
                #"{"operations":[{"operationType":"create","record":{"recordName":"\#(name)","#
                    + #""recordType":"Note"}}]}"#, in: environment)
        }

        /// Waits until so many ask the service, or have asked it, and so many sleep or slept
        /// before they asked.
        func settle(asked count: Int, asleep: Int? = nil) async throws {
            func isSettled() -> Bool {
                asked.withLock { $0.count } == count
                    && (asleep == nil || server.heldRequests == asleep)
            }
            for _ in 0..<4_000 where !isSettled() {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(isSettled())
        }
    }

    private static let done = #"{"records":[]}"#

    @Test func manyWritersOfOneDatabaseHoldFewThreads() async throws {
        let desk = try Desk(writersMax: 2)
        defer { desk.server.stop() }
        var writers: [RawClient] = []
        for number in 0..<12 {
            writers.append(try desk.write("\(number)"))
            try await desk.settle(asked: min(number + 1, 2), asleep: max(0, number - 1))
        }
        for _ in 0..<20 {
            let reader = try desk.ask("users/caller", "")
            #expect(reader.read(until: "_ann").contains("200 OK"))
        }
        // Another database is another line.
        let other = try desk.write("other", in: "production")
        #expect(other.read(until: Self.done).contains("200 OK"))
        for number in 0..<12 {
            desk.open(for: 1)
            try await desk.settle(asked: min(number + 4, 13))
        }
        for writer in writers { #expect(writer.read(until: Self.done).contains("200 OK")) }
        let order = desk.asked.withLock { $0.filter { $0 != "other" } }
        #expect(order == (0..<12).map(String.init))
    }

    @Test func whoGoesAwayLeavesTheLine() async throws {
        let desk = try Desk(writersMax: 1)
        defer { desk.server.stop() }
        let first = try desk.write("first")
        try await desk.settle(asked: 1, asleep: 0)
        var second: RawClient? = try desk.write("second")
        try await desk.settle(asked: 1, asleep: 1)
        let third = try desk.write("third")
        try await desk.settle(asked: 1, asleep: 2)
        _ = second
        second = nil
        try await desk.settle(asked: 1, asleep: 1)
        desk.open(for: 2)
        for writer in [first, third] {
            #expect(writer.read(until: Self.done).contains("200 OK"))
        }
        #expect(desk.asked.withLock { $0 } == ["first", "third"])
    }

    @Test func whoStandsInTheLineIsToldOfAStop() async throws {
        let desk = try Desk(writersMax: 1)
        let first = try desk.write("first")
        try await desk.settle(asked: 1, asleep: 0)
        let second = try desk.write("second")
        try await desk.settle(asked: 1, asleep: 1)
        let stop = Thread { desk.server.stop() }
        stop.start()
        let answer = second.read(until: "retryAfter")
        #expect(answer.contains("503") && answer.contains("TRY_AGAIN_LATER"))
        desk.open(for: 1)
        #expect(first.read(until: Self.done).contains("200 OK"))
        while !stop.isFinished { try await Task.sleep(for: .milliseconds(5)) }
        #expect(desk.asked.withLock { $0 } == ["first"])
    }
}
