import Foundation
import Platform
import RecordServer
import RecordService
import Testing

/// Where writers of one database wait for one another they hold few threads of the server, and
/// write in the order in which they came.
@Suite struct WriterLineTests {
    private static let done = #"{"records":[]}"#

    @Test func manyWritersOfOneDatabaseHoldFewThreads() async throws {
        let desk = try TurnDesk(writersMax: 2)
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
        let desk = try TurnDesk(writersMax: 1)
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
        let desk = try TurnDesk(writersMax: 1)
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

    /// Half of the threads, also where those who listen have all room that there is for them.
    @Test func writersOfOneContainerLeaveHalfOfTheThreads() async throws {
        let desk = try TurnDesk(.ofContainers, threads: 8) { $0.http.held.max = 0 }
        defer { desk.server.stop() }
        var writers: [RawClient] = []
        for number in 0..<10 {
            writers.append(try desk.write("\(number)"))
            try await desk.settle(asked: min(number + 1, 4), asleep: max(0, number - 3))
        }
        // Another database is in the same file.
        writers.append(try desk.write("10", in: "production"))
        try await desk.settle(asked: 4, asleep: 7)
        // Who comes anew is given to a thread that is idle.
        for _ in 0..<8 {
            let reader = try desk.ask("users/caller", "")
            #expect(reader.read(until: "_ann").contains("200 OK"))
        }
        let other = try desk.ask(
            "records/modify", #"{"operations":[]}"#, in: "production", of: "iCloud.y")
        #expect(other.read(until: Self.done).contains("200 OK"))
        desk.open(for: 10)
        for writer in writers { #expect(writer.read(until: Self.done).contains("200 OK")) }
        #expect(desk.asked.withLock { Set($0) } == Set((0...10).map(String.init)))
    }

    @Test func aQueryThatMakesAnIndexStandsInTheLine() async throws {
        let desk = try TurnDesk(writersMax: 1)
        defer { desk.server.stop() }
        let first = try desk.write("first")
        try await desk.settle(asked: 1, asleep: 0)
        let second = try desk.query("Unknown")
        try await desk.settle(asked: 1, asleep: 1)
        let third = try desk.write("third")
        try await desk.settle(asked: 1, asleep: 2)
        // One that finds its index waits for nobody.
        #expect(try desk.query("Known").read(until: Self.done).contains("200 OK"))
        desk.open(for: 3)
        for client in [first, second, third] {
            #expect(client.read(until: Self.done).contains("200 OK"))
        }
        #expect(desk.asked.withLock { $0 } == ["first", "Unknown", "third"])
    }
}
