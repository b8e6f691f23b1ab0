import Platform
import RecordService
import RecordWire
import Testing

/// Who may do what in a public database, and what its zone tells.
@Suite(.everyBackend) struct PublicDatabaseTests {
    private func fixture(_ access: PublicAccess = PublicAccess()) throws -> ServiceFixture {
        var fixture = try ServiceFixture(makesZone: false, publicAccess: access)
        fixture.target.database = "public"
        return fixture
    }

    private func others(_ fixture: ServiceFixture) -> ServiceFixture {
        var other = fixture
        other.caller = Caller(userRecordName: "_bert")
        return other
    }

    private func world(_ fixture: ServiceFixture) -> ServiceFixture {
        var world = fixture
        world.caller = .world
        return world
    }

    private func write(
        _ kind: RecordOperation.Kind, _ record: Record, _ fixture: ServiceFixture
    ) throws -> RecordResult {
        try fixture.modify([RecordOperation(kind, record)], zone: nil)[0]
    }

    @Test func allSeeWhatOneWrites() throws {
        let anna = try fixture()
        let saved = try #require(try write(.create, .note("a"), anna).record)
        #expect(saved.created?.userRecordName == "_anna")
        for reader in [anna, others(anna), world(anna)] {
            #expect(try reader.lookup(["a"], zone: nil)[0].record == saved)
            let query = QueryRecords(RecordQuery(recordType: "Note"), zoneID: nil)
            guard case .records(let reply) = try reader.send(.queryRecords(query)) else {
                throw WrongAnswer()
            }
            #expect(reply.results == [.record(saved)])
        }
        var production = anna
        production.target.environment = "production"
        #expect(try production.lookup(["a"], zone: nil)[0].error?.code == .notFound)
        var own = anna
        own.target.database = "private"
        #expect(try own.lookup(["a"], zone: nil)[0].error?.code == .notFound)
    }

    @Test(arguments: RecordOperation.Kind.allCases.filter { $0 != .create })
    func othersChangeNothing(kind: RecordOperation.Kind) throws {
        let anna = try fixture()
        let saved = try #require(try write(.create, .note("a"), anna).record)
        let note = Record.note("a", "other", tag: saved.recordChangeTag)
        #expect(try write(kind, note, others(anna)).error?.code == .accessDenied)
        #expect(try anna.lookup(["a"], zone: nil)[0].record == saved)
        #expect(try write(kind, note, anna).error == nil)
    }

    @Test func aDeletedNameStaysItsMakers() throws {
        let anna = try fixture()
        _ = try write(.create, .note("a"), anna)
        let gone = try #require(try write(.forceDelete, .note("a"), anna).record)
        let back = Record.note("a", "x", tag: gone.recordChangeTag)
        #expect(try write(.create, back, others(anna)).error?.code == .accessDenied)
        #expect(try write(.create, back, anna).error == nil)
    }

    @Test func oneRefusalLeavesTheOthersAlone() throws {
        let anna = try fixture()
        _ = try write(.create, .note("a"), anna)
        let both = try others(anna).modify(
            [
                RecordOperation(.forceUpdate, .note("a")),
                RecordOperation(.forceUpdate, .note("b")),
            ], zone: nil)
        #expect(both.map { $0.error?.code } == [.accessDenied, nil])
    }

    @Test func theWorldOnlyReads() throws {
        let fixture = world(try fixture())
        for request in [
            RecordRequest.modifyRecords(
                ModifyRecords(operations: [RecordOperation(.create, .note("a"))], zoneID: nil)),
            .modifyZones([]), .caller,
        ] {
            let error = #expect(throws: RecordError.self) { try fixture.send(request) }
            #expect(error?.code == .authenticationRequired)
        }
        var own = fixture
        own.target.database = "private"
        let error = #expect(throws: RecordError.self) { try own.send(.listZones) }
        #expect(error?.code == .authenticationRequired)
        #expect(try fixture.zones(.listZones).count == 1)
    }

    @Test func theRulesCanBeOthers() throws {
        var access = PublicAccess()
        access.worldReads = false
        access.usersWrite = true
        let open = try fixture(access)
        #expect(throws: RecordError.self) { try world(open).lookup(["a"], zone: nil) }
        _ = try write(.create, .note("a"), open)
        #expect(try write(.forceUpdate, .note("a", "x"), others(open)).error == nil)
        access.usersCreate = false
        let closed = try fixture(access)
        #expect(try write(.create, .note("a"), closed).error?.code == .accessDenied)
    }

    @Test func thereIsOneZone() throws {
        let fixture = try fixture()
        let error = #expect(throws: RecordError.self) {
            try fixture.createZone(ServiceFixture.zone)
        }
        #expect(error?.code == .badRequest)
        let named = ZoneID(zoneName: ZoneID.defaultName, ownerRecordName: "_somebody")
        #expect(
            try fixture.modify([RecordOperation(.create, .note("a"))], zone: named)[0].record != nil
        )
    }

    @Test func encryptedFieldsAreRefused() throws {
        let fixture = try fixture()
        var record = Record.note("a")
        record.fields["secret"] = .encrypted(.string("x"))
        #expect(try write(.create, record, fixture).error?.code == .badRequest)
    }

    // MARK: The feed

    @Test func theZoneTellsWhatChanged() throws {
        let anna = try fixture()
        let start = try world(anna).changes(since: nil, zone: ZoneID())
        #expect(start.records.isEmpty && start.failure == nil)
        guard
            case .records(let reply) = try anna.send(
                .modifyRecords(
                    ModifyRecords(operations: [RecordOperation(.create, .note("a"))], zoneID: nil)))
        else { throw WrongAnswer() }
        let first = try others(anna).changes(since: start.syncToken, zone: ZoneID())
        #expect(first.records.map(\.recordName) == ["a"])
        #expect(first.syncToken == reply.syncToken)
        _ = try write(.forceDelete, .note("a"), anna)
        let second = try world(anna).changes(since: first.syncToken, zone: ZoneID())
        #expect(second.records.map(\.deleted) == [true])
        let zones = try anna.databaseChanges(since: nil).zones
        #expect(zones == [.init(zoneID: ZoneID(), deleted: false)])
    }

    @Test func whoListensHearsOthersWrite() throws {
        let anna = try fixture()
        let heard = Counter()
        let listening = try anna.service.listen(
            for: .zoneChanges(ZoneChanges(zones: [.init(zoneID: ZoneID(), syncToken: nil)])),
            target: anna.target, caller: .world
        ) { heard.raise() }
        _ = try write(.create, .note("a"), others(anna))
        withExtendedLifetime(listening) { #expect(heard.value == 1) }
    }

    /// Counts calls from any thread.
    private final class Counter: Sendable {
        private let count = Lock(0)
        var value: Int { count.withLock { $0 } }
        func raise() { count.withLock { $0 += 1 } }
    }
}
