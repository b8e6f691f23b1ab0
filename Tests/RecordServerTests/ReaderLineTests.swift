import Platform
import RecordServer
import RecordService
import Testing

/// Who reads much in one name holds few threads of the server.
@Suite struct ReaderLineTests {
    private static let done = #"{"records":[]}"#

    @Test func readersInOneNameLeaveThreeQuartersOfTheThreads() async throws {
        let desk = try TurnDesk(.ofContainers, threads: 8) { $0.http.held.perUserMax = 1 }
        defer { desk.server.stop() }
        var readers: [RawClient] = []
        for number in 0..<6 {
            readers.append(try desk.lookUp("\(number)"))
            try await desk.settle(asked: min(number + 1, 2), asleep: max(0, number - 1))
        }
        // Others read beside them, and their own writes go on.
        for _ in 0..<8 {
            let other = try desk.ask("users/caller", "", by: "bob")
            #expect(other.read(until: "_ann").contains("200 OK"))
        }
        let writer = try desk.write("written", in: "production")
        #expect(writer.read(until: Self.done).contains("200 OK"))
        for number in 0..<6 {
            desk.openForReaders(1)
            try await desk.settle(asked: min(number + 4, 7))
        }
        for reader in readers { #expect(reader.read(until: Self.done).contains("200 OK")) }
        let order = desk.asked.withLock { $0.filter { $0 != "written" } }
        #expect(order == (0..<6).map(String.init))
    }

    @Test func aWaitingQueryThatMakesAnIndexStandsInTheWritersLineThen() async throws {
        let desk = try TurnDesk(.ofDatabases(writersMax: 1), threads: 4)
        defer { desk.server.stop() }
        let reader = try desk.lookUp("first")
        try await desk.settle(asked: 1, asleep: 0)
        let query = try desk.query("Unknown")
        try await desk.settle(asked: 1, asleep: 1)
        let writer = try desk.write("second")
        try await desk.settle(asked: 2, asleep: 1)
        desk.openForReaders(1)
        #expect(reader.read(until: Self.done).contains("200 OK"))
        // Its turn to read has come, and gone: another reads.
        let known = try desk.query("Known")
        #expect(known.read(until: Self.done).contains("200 OK"))
        try await desk.settle(asked: 2, asleep: 1)
        desk.open(for: 2)
        for client in [writer, query] {
            #expect(client.read(until: Self.done).contains("200 OK"))
        }
        #expect(desk.asked.withLock { $0 } == ["first", "second", "Unknown"])
    }
}
