import Platform
import RecordService
import RecordWire
import Testing

/// Who listens is called after a change of its own database.
@Suite(.everyBackend) struct ListeningTests {
    private let changes = RecordRequest.zoneChanges(ZoneChanges(zones: []))

    private func listen(_ fixture: ServiceFixture, _ calls: Lock<Int>) throws -> ChangeListening {
        try fixture.service.listen(
            for: changes, target: fixture.target, caller: fixture.caller
        ) { calls.withLock { $0 += 1 } }
    }

    @Test func aChangeIsToldUntilTheListeningEnds() throws {
        let fixture = try ServiceFixture()
        let calls = Lock(0)
        var listening: ChangeListening? = try listen(fixture, calls)
        try fixture.save(.note("a"))
        #expect(calls.withLock { $0 } == 1)
        #expect(listening != nil)
        listening = nil
        try fixture.save(.note("b"))
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func anothersChangeIsNotTold() throws {
        let fixture = try ServiceFixture()
        let calls = Lock(0)
        let listening = try listen(fixture, calls)
        let other = try fixture.service.accounts.createUser(label: "other").userRecordName
        _ = try fixture.service.handle(
            .modifyZones([ZoneOperation(.create, ZoneID(zoneName: "theirs"))]),
            target: fixture.target, caller: Caller(userRecordName: other))
        #expect(calls.withLock { $0 } == 0)
        withExtendedLifetime(listening) {}
    }

    @Test func whatAnotherProcessWritesIsNoticed() throws {
        try withDatabasePath { path in
            let (fixture, other) = (
                try ServiceFixture(path: path), try ServiceFixture(path: path, seed: 2)
            )
            let calls = Lock(0)
            let listening = try listen(fixture, calls)
            try fixture.service.noticeOtherWriters()
            let before = calls.withLock { $0 }
            try fixture.service.noticeOtherWriters()
            #expect(calls.withLock { $0 } == before)
            try other.save(.note("a"))
            #expect(calls.withLock { $0 } == before)
            try fixture.service.noticeOtherWriters()
            #expect(calls.withLock { $0 } == before + 1)
            withExtendedLifetime(listening) {}
        }
    }

    @Test func aStrangeDatabaseIsRefused() throws {
        let fixture = try ServiceFixture()
        var target = fixture.target
        target.container = "iCloud.nobody"
        #expect(throws: RecordError.self) {
            _ = try fixture.service.listen(
                for: changes, target: target, caller: fixture.caller, changed: {})
        }
    }
}
