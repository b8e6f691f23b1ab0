import Foundation
import Platform
import RecordService
import RecordWire
import SQLiteDriver
import Testing

/// Over SQLite alone: `BackendContractTests` has both.
@Suite struct SharedFileTests {
    /// Runs `count` bodies at once, each on a thread of its own, and throws what one of them threw.
    private func together(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let failures = Lock<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: count) { index in
            do { try body(index) } catch { failures.withLock { $0.append(error) } }
        }
        if let first = failures.withLock({ $0.first }) { throw first }
    }

    @Test func twoServicesWriteOneFileAtOnce() throws {
        try withDatabasePath { path in
            let fixtures = [
                try ServiceFixture(path: path), try ServiceFixture(path: path, seed: 2),
            ]
            try together(4) { index in
                for round in 0..<25 {
                    let records = (0..<4).map {
                        RecordOperation(.forceUpdate, .note("w\(index)-\(round)-\($0)"))
                    }
                    _ = try fixtures[index % 2].modify(records)
                    try fixtures[index % 2].save(.note("shared", "\(index)"))
                }
            }
            for fixture in fixtures {
                var names: [String] = []
                var tags: [Int64] = []
                var token: String?
                var moreComing = true
                while moreComing {
                    let page = try fixture.changes(since: token)
                    names += page.records.map(\.recordName)
                    tags += page.records.compactMap {
                        $0.recordChangeTag.flatMap(ChangeTag.init)?.change
                    }
                    token = page.syncToken
                    moreComing = page.moreComing
                }
                #expect(Set(names).count == 401 && names.count == 401)
                #expect(tags == tags.sorted() && Set(tags).count == 401)
                #expect(tags.last.map { $0 <= 500 } == true)
            }
        }
    }

    @Test func oneOfManyUpdatesWithOneTagWins() throws {
        try withDatabasePath { path in
            let fixtures = [
                try ServiceFixture(path: path), try ServiceFixture(path: path, seed: 2),
            ]
            let tag = try fixtures[0].save(.note("r")).recordChangeTag
            let codes = Lock<[RecordError.Code?]>([])
            try together(8) { index in
                let result = try fixtures[index % 2].modify([
                    RecordOperation(.update, .note("r", "\(index)", tag: tag))
                ])[0]
                codes.withLock { $0.append(result.error?.code) }
            }
            let found = codes.withLock { $0 }
            #expect(found.count { $0 == nil } == 1)
            #expect(found.count { $0 == .conflict } == 7)
        }
    }

    @Test func readersAreNotHeldUpByAWriterAndWritersAreToldToWait() throws {
        try withDatabasePath { path in
            var limits = ServiceLimits()
            limits.work.lockWaitMilliseconds = 50
            let fixture = try ServiceFixture(path: path, limits: limits)
            try fixture.save(.note("a"))
            let other = try Connection(path: ContainerFile.path(path), access: .readWrite)
            try other.script("BEGIN IMMEDIATE")
            #expect(try fixture.lookup(["a"])[0].record != nil)
            #expect(try fixture.changes(since: nil).records.count == 1)
            let error = #expect(throws: RecordError.self) { try fixture.save(.note("b")) }
            #expect(error?.code == .tryAgainLater)
            #expect((error?.retryAfterSeconds ?? 0) > 0)
            try other.script("ROLLBACK")
            let tag = try fixture.save(.note("b")).recordChangeTag
            #expect(tag.flatMap(ChangeTag.init)?.change == 2)
        }
    }

    @Test func whatWasAnsweredIsThereWhenTheFileIsOpenedAgain() throws {
        try withDatabasePath { path in
            let saved = try ServiceFixture(path: path).save(.note("a"))
            let token = try ServiceFixture(path: path, seed: 2).changes(since: nil).syncToken
            let again = try ServiceFixture(path: path, seed: 3)
            #expect(try again.lookup(["a"])[0].record == saved)
            #expect(try again.changes(since: token).failure == nil)
            let wrong = Record(recordName: "b", recordType: "Note", fields: ["title": .int64(1)])
            #expect(
                try again.modify([RecordOperation(.create, wrong)])[0].error?.code == .badRequest)
        }
    }

    @Test func aNewFileMayBeOpenedByManyAtOnce() throws {
        for _ in 0..<5 {
            try withDatabasePath { path in
                try together(6) { index in
                    let fixture = try ServiceFixture(path: path, seed: UInt64(index))
                    try fixture.save(.note("r\(index)"))
                }
                #expect(try ServiceFixture(path: path).changes(since: nil).records.count == 6)
            }
        }
    }

    @Test func foreignAndNewerFilesAreRefused() throws {
        try withDatabasePath { path in
            let foreign = path + ".foreign"
            try Connection(path: foreign).script("CREATE TABLE t(a)")
            let newer = path + ".newer"
            _ = try ServiceFixture(path: newer)
            try Connection(path: newer).script("PRAGMA user_version = 99")
            let text = path + ".text"
            try Data(repeating: 65, count: 4096).write(to: URL(fileURLWithPath: text))
            for (file, words) in [
                (foreign, "another program"), (newer, "newer version"), (text, "not a database"),
                ("/nowhere/at/all", "unable to open"),
            ] {
                let error = #expect(throws: RecordError.self) {
                    try RecordService(path: file, platform: .system)
                }
                #expect(error?.code == .internalError)
                #expect(error?.reason.contains(words) == true, "\(error?.reason ?? "")")
            }
        }
    }
}
