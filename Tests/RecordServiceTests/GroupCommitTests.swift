import Foundation
import Platform
import RecordService
import RecordWire
import SQLiteDriver
import Testing

/// Requests that share one transaction.
/// Over SQLite alone: PostgreSQL groups commits itself.
@Suite struct GroupCommitTests {
    private struct Damage: Error {}

    /// A table, and the writes that wait for it.
    private final class Desk {
        let connection: Connection
        let group = GroupCommit()
        /// How often the writing connection was asked for: once for each transaction.
        var transactions = 0
        var ended: [Int] = []

        init() throws {
            connection = try Connection(path: ":memory:")
            _ = try connection.run("CREATE TABLE rows (number INTEGER PRIMARY KEY)")
        }

        /// A write of one row, which then throws what it is given.
        func add(_ number: Int, _ error: (any Error)? = nil) -> GroupCommit.Write {
            let write = GroupCommit.Write { [weak self] connection in
                _ = try connection.run(
                    "INSERT INTO rows VALUES (?)", [.integer(Int64(number))])
                if let error { throw error }
                self?.ended.append(number)
            }
            group.add(write)
            return write
        }

        func finish(_ write: GroupCommit.Write) throws {
            try group.finish(write) { body in
                transactions += 1
                try body(connection)
            }
        }

        func rows() throws -> [Int] {
            try connection.rows("SELECT number FROM rows ORDER BY number").compactMap {
                $0.first?.int64.map(Int.init)
            }
        }
    }

    @Test func allThatWaitShareOneTransaction() throws {
        let desk = try Desk()
        let writes = (1...5).map { desk.add($0) }
        try desk.finish(writes[2])
        #expect(try desk.rows() == [1, 2, 3, 4, 5] && desk.transactions == 1)
        for write in writes { try desk.finish(write) }
        #expect(desk.transactions == 1, "what is done is not done again")
    }

    @Test func aRefusedOneIsUndoneAlone() throws {
        let desk = try Desk()
        let good = desk.add(1)
        let refused = desk.add(2, RecordError(.badRequest, "no"))
        let last = desk.add(3)
        try desk.finish(good)
        #expect(try desk.rows() == [1, 3] && desk.transactions == 1)
        #expect(throws: RecordError.self) { try desk.finish(refused) }
        try desk.finish(last)
    }

    @Test func whereOneFailsForAllEachIsTriedByItself() throws {
        let desk = try Desk()
        let good = desk.add(1)
        let broken = desk.add(2, Damage())
        let last = desk.add(3)
        try desk.finish(last)
        #expect(try desk.rows() == [1, 3])
        #expect(desk.transactions == 4, "one for all, then one for each")
        #expect(throws: Damage.self) { try desk.finish(broken) }
        try desk.finish(good)
    }

    @Test func aGroupIsBounded() throws {
        let desk = try Desk()
        let writes = (0..<GroupCommit.writesMax + 1).map { desk.add($0) }
        try desk.finish(writes[0])
        #expect(try desk.rows().count == GroupCommit.writesMax)
        try desk.finish(writes[GroupCommit.writesMax])
        #expect(try desk.rows().count == GroupCommit.writesMax + 1 && desk.transactions == 2)
    }

    @Test func writersOfManyThreadsAreAnsweredEachTheirOwn() throws {
        try withDatabasePath { path in
            let fixture = try ServiceFixture(path: path)
            let tags = Lock<[String]>([])
            let refusals = Lock(0)
            DispatchQueue.concurrentPerform(iterations: 8) { writer in
                for number in 0..<25 {
                    let record = Record.note("\(writer)-\(number)")
                    if let tag = (try? fixture.save(record))?.recordChangeTag {
                        tags.withLock { $0.append(tag) }
                    }
                    // The same name once more is refused, whatever shares its transaction.
                    if (try? fixture.save(record, .create)) == nil {
                        refusals.withLock { $0 += 1 }
                    }
                }
            }
            #expect(Set(tags.withLock { $0 }).count == 200)
            #expect(refusals.withLock { $0 } == 200)
            #expect(try fixture.changes(since: nil).records.count == 200)
        }
    }
}
