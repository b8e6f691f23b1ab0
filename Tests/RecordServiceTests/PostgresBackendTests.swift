import Dispatch
import Foundation
import Platform
import PostgresDriver
import PostgresTesting
import RecordService
import RecordWire
import Testing

/// What only a server between a service and its rows can do to them.
@Suite(.enabled(if: TestServer.isInstalled, StoragePlace.missing))
struct PostgresBackendTests {
    private let address: String
    private let faults = OneFault()

    init() throws { address = try TestServer.shared.get().makeDatabase() }

    private func fixture(
        seed: UInt64 = 1, at address: String? = nil, log: @escaping ServiceLog = { _ in }
    ) throws -> ServiceFixture {
        try ServiceFixture(
            .postgres(address ?? self.address), seed: seed, faults: faults,
            log: log)
    }

    // MARK: Sessions that end

    @Test func aTransactionWhoseSessionEndsRunsAgain() throws {
        let fixture = try fixture()
        let address = address
        faults.atNext("service.write.beforeCommit") { try TestServer.endSessions(at: address) }
        let saved = try fixture.save(.note("a"))
        #expect(saved.recordChangeTag.flatMap(ChangeTag.init)?.change == 1)
        #expect(faults.count("service.write.afterCommit") > 0)
        #expect(try fixture.changes(since: nil).records.map(\.recordName) == ["a"])
    }

    @Test func aReadingWhoseSessionEndedRunsAgain() throws {
        let fixture = try fixture()
        try fixture.save(.note("a"))
        try TestServer.endSessions(at: address)
        #expect(try fixture.lookup(["a"])[0].record != nil)
    }

    /// The client cannot know; it asks again and meets its own write.
    @Test func aLostEndIsToldAndTheRetryMeetsItsOwnWrite() throws {
        let fixture = try fixture()
        let first = try fixture.save(.note("a", "old"))
        var record = Record.note("a", "new", tag: first.recordChangeTag)
        record.writeID = "w1"
        let address = address
        faults.atNext("service.write.commitSent") {
            // Not before the server has had the COMMIT.
            try TestServer.sql("SELECT pg_sleep(0.2)", at: address)
            try TestServer.endSessions(at: address)
            throw WrongAnswer()
        }
        let failure = #expect(throws: RecordError.self) {
            _ = try fixture.modify([RecordOperation(.update, record)])
        }
        #expect(failure?.code == .tryAgainLater && failure?.retryAfterSeconds != nil)
        var again = ModifyRecords(
            operations: [RecordOperation(.update, record)], zoneID: ServiceFixture.zone)
        again.client = ClientState(instance: "i", round: 1, nonce: "n", witness: nil)
        guard case .records(let reply) = try fixture.send(.modifyRecords(again)) else {
            throw WrongAnswer()
        }
        let conflict = reply.results[0].error
        #expect(conflict?.code == .conflict)
        #expect(conflict?.serverRecord?.recentWriteIDs == ["w1"])
        #expect(conflict?.serverRecord?.fields["title"] == .string("new"))
    }

    /// The session ends while the server is at the COMMIT: whether it happened cannot be known, so
    /// that it is told instead of tried again.
    @Test func anEndWithoutAnAnswerIsToldAndNotRunAgain() throws {
        let fixture = try fixture()
        let address = address
        try TestServer.sql(
            """
            CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_sleep(600); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER linger AFTER INSERT ON records
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION linger()
            """, at: address)
        faults.atNext("service.write.commitSent") {
            try TestServer.endSessions(at: address)
            try TestServer.sql("DROP TRIGGER linger ON records", at: address)
        }
        let before = faults.count("service.write.beforeCommit")
        let failure = #expect(throws: RecordError.self) { try fixture.save(.note("a")) }
        #expect(failure?.code == .tryAgainLater && failure?.retryAfterSeconds != nil)
        #expect(faults.count("service.write.beforeCommit") == before + 1)
        #expect(try fixture.lookup(["a"])[0].record == nil)
        try fixture.save(.note("a"))
        #expect(try fixture.changes(since: nil).records.map(\.recordName) == ["a"])
    }

    @Test func aServerThatCrashesKeepsWhatWasAcknowledgedAndBeginsAnEpoch() throws {
        let server = try TestServer(isDurable: true)
        let fixture = try fixture(at: try server.makeDatabase())
        let before = try fixture.save(.note("a")).recordChangeTag.flatMap(ChangeTag.init)
        try server.crash()
        let after = try fixture.save(.note("b")).recordChangeTag.flatMap(ChangeTag.init)
        #expect(before?.change == 1 && after?.change == 2)
        #expect(before?.epoch != after?.epoch, "a server started anew may be an older copy")
        let page = try fixture.changes(since: nil)
        #expect(page.records.map(\.recordName) == ["a", "b"])
    }

    @Test func whereNoServerAnswersItIsSaidWithoutThePassword() throws {
        let fixture = try fixture()
        try TestServer.sql(
            "ALTER DATABASE \(name) ALLOW_CONNECTIONS false", at: otherDatabase)
        try TestServer.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'",
            at: otherDatabase)
        let error = #expect(throws: RecordError.self) { try fixture.save(.note("a")) }
        #expect(error?.code == .tryAgainLater)
        let refused = #expect(throws: RecordError.self) {
            _ = try self.fixture(
                at: "postgresql://ann:pa55word@127.0.0.1:1/records?connect_timeout=2")
        }
        #expect(refused?.code == .tryAgainLater)
        #expect(refused.map { !"\($0)".contains("pa55word") } == true)
    }

    @Test func anAddressThatCannotBeReadIsNotRepeated() {
        for text in ["postgresql://ann:pa55word@[host/x", "pa55word", "host='pa55word"] {
            let error = #expect(throws: RecordError.self) {
                _ = try PostgresDatabase(address: text, assetsFolder: nil)
            }
            #expect(error?.code == .badRequest)
            #expect(error.map { !"\($0)".contains("pa55word") } == true)
        }
    }

    private var name: String {
        URL(string: address)?.lastPathComponent ?? ""
    }

    private var otherDatabase: String {
        address.replacingOccurrences(of: "/\(name)?", with: "/postgres?")
    }

    // MARK: Several services

    @Test func whatAnotherServiceWritesIsHeardAtOnce() throws {
        let (one, other) = (try fixture(), try fixture(seed: 2))
        let heard = DispatchSemaphore(value: 0)
        let listening = try other.service.listen(
            for: .zoneChanges(ZoneChanges(zones: [])), target: other.target, caller: other.caller
        ) { heard.signal() }
        // Two rings: the first may come before the other one hears.
        try other.service.noticeOtherWriters()
        try one.save(.note("a"))
        #expect(heard.wait(timeout: .now() + 600) == .success)
        withExtendedLifetime(listening) {}
    }

    @Test func anotherUsersChangesWakeNobody() throws {
        let (one, other) = (try fixture(), try fixture(seed: 2))
        let (mine, theirs) = (Lock(0), DispatchSemaphore(value: 0))
        func listen(
            as caller: Caller, _ call: @escaping @Sendable () -> Void
        ) throws -> ChangeListening {
            try other.service.listen(
                for: .zoneChanges(ZoneChanges(zones: [])), target: other.target, caller: caller,
                changed: call)
        }
        let ben = Caller(userRecordName: "_ben")
        let listenings = [
            try listen(as: other.caller) { mine.withLock { $0 += 1 } },
            try listen(as: ben) { theirs.signal() },
        ]
        try other.service.noticeOtherWriters()
        // Whoever begins to hear of others wakes everybody once, whenever that is.
        var isQuiet = false
        for number in 0..<10 where !isQuiet {
            let before = mine.withLock { $0 }
            while theirs.wait(timeout: .now()) == .success {}
            _ = try one.service.handle(
                .modifyZones([ZoneOperation(.create, ZoneID(zoneName: "b\(number)"))]),
                target: one.target, caller: ben)
            #expect(theirs.wait(timeout: .now() + 600) == .success)
            isQuiet = mine.withLock { $0 } == before
        }
        #expect(isQuiet)
        withExtendedLifetime(listenings) {}
    }

    // MARK: Writers that wait

    /// Each writer that waits for the lock of its database has a session meanwhile.
    @Test func whoWaitsForOneUsersDatabaseLeavesRoomForOthers() throws {
        let fixture = try fixture()
        let holder = try PostgresConnection(
            try PostgresAddress(address), settings: "SET statement_timeout = 600000")
        try holder.send("BEGIN")
        _ = try holder.rows("SELECT id FROM databases FOR UPDATE")
        let (ended, group) = (Lock(0), DispatchGroup())
        for number in 0..<10 {
            DispatchQueue(label: "writer-\(number)").async(group: group) {
                _ = try? fixture.save(.note("n\(number)"))
                ended.withLock { $0 += 1 }
            }
        }
        // As many as there will be, with some time for one more.
        let pause = DispatchSemaphore(value: 0)
        var (waiting, looks) = (0, 0)
        while waiting < 6, looks < 30 || waiting < 5, looks < 300 {
            waiting =
                Int(
                    try TestServer.sql(
                        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                            + " AND wait_event_type = 'Lock'", at: address
                    ).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
            looks += 1
            _ = pause.wait(timeout: .now() + 0.1)
        }
        let ben = Caller(userRecordName: "_ben")
        for request in [
            RecordRequest.listZones,
            .modifyZones([ZoneOperation(.create, ZoneID(zoneName: "his"))]),
        ] {
            _ = try fixture.service.handle(request, target: fixture.target, caller: ben)
        }
        #expect(ended.withLock { $0 } == 0, "nobody had to give up first")
        try holder.rollback()
        group.wait()
        #expect(try fixture.changes(since: nil).records.count == 10)
    }

    // MARK: The courier between services

    /// A token of Anna's at a service, who has these subscriptions.
    private func courier(
        _ subscriptions: [RecordSubscription], at fixture: ServiceFixture
    ) throws -> String {
        _ = try fixture.send(
            .modifySubscriptions(subscriptions.map { SubscriptionOperation(.create, $0) }))
        let request = CourierToken(apnsEnvironment: "development")
        guard case .courierToken(let token) = try fixture.send(.createToken(request)) else {
            throw WrongAnswer()
        }
        // The first question makes sure that this service hears what others say.
        try fixture.service.noticeOtherWriters()
        return try #require(token.apnsToken)
    }

    /// Waits for the next notice of a token, in the server's way; nil where none comes.
    private func next(_ token: String, at fixture: ServiceFixture) throws -> String? {
        let came = DispatchSemaphore(value: 0)
        let listening = try fixture.service.listen(forCourierToken: token) { came.signal() }
        defer { withExtendedLifetime(listening) {} }
        for _ in 0..<3_000 {
            if let text = try fixture.service.nextNotice(forCourierToken: token) {
                return String(decoding: text, as: UTF8.self)
            }
            try fixture.service.noticeOtherWriters()
            _ = came.wait(timeout: .now() + 0.2)
        }
        return nil
    }

    private func query(_ id: String, on events: Set<RecordSubscription.Event>, once: Bool = false)
        -> RecordSubscription
    {
        var made = RecordSubscription(
            subscriptionID: id, kind: .query(RecordQuery(recordType: "Note")),
            zoneID: ServiceFixture.zone)
        made.firesOn = events
        made.firesOnce = once
        made.notificationInfo = NotificationInfo()
        made.notificationInfo?.texts["alertBody"] = "Look"
        return made
    }

    @Test func aNoticeOfWhatAnotherServiceTookComesToWhoWaitsHere() throws {
        let (one, other) = (try fixture(), try fixture(seed: 2))
        let token = try courier([query("made", on: [.create])], at: other)
        try one.save(.note("a"))
        #expect(try next(token, at: other)?.contains("\"rid\":\"a\"") == true)
        try one.save(.note("a", "again"))
        _ = try one.modify([RecordOperation(.create, .note("b"))])
        let second = try next(token, at: other)
        #expect(second?.contains("\"rid\":\"b\"") == true, "an update is not what it waits for")
        #expect(second?.contains("Look") == true)
    }

    @Test func zonesAndDatabasesAreToldAcrossServices() throws {
        let (one, other) = (try fixture(), try fixture(seed: 2))
        let token = try courier(
            [RecordSubscription(subscriptionID: "all", kind: .database)], at: other)
        try one.createZone(ZoneID(zoneName: "more"))
        #expect(try next(token, at: other)?.contains("all") == true)
    }

    @Test func whatFiresOnceFiresOnceForDevicesAtBothServices() throws {
        let (one, other) = (try fixture(), try fixture(seed: 2))
        let token = try courier([query("once", on: [.create], once: true)], at: other)
        let own = try courier([], at: one)
        try one.save(.note("a"))
        for (token, fixture) in [(token, other), (own, one)] {
            let notice = try next(token, at: fixture)
            #expect(notice?.contains("\"rid\":\"a\"") == true)
            #expect(notice?.contains("Look") == true)
        }
        guard case .subscriptions(let left) = try other.send(.listSubscriptions) else {
            throw WrongAnswer()
        }
        #expect(left.isEmpty)
        #expect(try other.service.nextNotice(forCourierToken: token) == nil)
    }

    /// What was said while nobody heard is unknown, so all is told.
    @Test func whoMissedRingsIsToldThatAnythingMayHaveChanged() throws {
        let other = try fixture(seed: 2)
        let token = try courier(
            [RecordSubscription(subscriptionID: "all", kind: .database)], at: other)
        try TestServer.endSessions(at: address)
        #expect(try next(token, at: other)?.contains("all") == true)
    }

    // MARK: Rings that find no session

    private static let bells = "(query LIKE 'LISTEN%' OR query LIKE 'SELECT pg_notify%')"

    /// Waits for the session by which a service rings: it is made beside what the service does.
    private func awaitBell() throws {
        let pause = DispatchSemaphore(value: 0)
        for _ in 0..<6_000 {
            let count = try TestServer.sql(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(name)' "
                    + "AND state = 'idle' AND \(Self.bells)", at: otherDatabase)
            if count.trimmingCharacters(in: .whitespacesAndNewlines) != "0" { return }
            _ = pause.wait(timeout: .now() + 0.1)
        }
        Issue.record("no service listens")
    }

    /// Ends the sessions by which services ring, and lets nobody begin another until `body` is
    /// done.
    private func withoutBells(_ body: () throws -> Void) throws {
        func admit(_ isOpen: Bool) throws {
            try TestServer.sql(
                "ALTER DATABASE \(name) ALLOW_CONNECTIONS \(isOpen)", at: otherDatabase)
        }
        try admit(false)
        try TestServer.sql(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                + "WHERE datname = '\(name)' AND \(Self.bells)",
            at: otherDatabase)
        defer { try? admit(true) }
        try body()
    }

    /// Whether something is said on the services' channel, while `service` does what it does each
    /// second.
    private func isRung(_ listener: PostgresConnection, by service: RecordService) throws -> Bool {
        let pause = DispatchSemaphore(value: 0)
        for _ in 0..<6_000 {
            try service.noticeOtherWriters()
            _ = try listener.rows("SELECT 1")
            if try !listener.notices().isEmpty { return true }
            _ = pause.wait(timeout: .now() + 0.1)
        }
        return false
    }

    @Test func aRingThatDidNotGoOutIsSaidAsSoonAsItCan() throws {
        let fixture = try fixture()
        let listener = try PostgresConnection(
            try PostgresAddress(address), settings: "SET statement_timeout = 600000")
        let id = try #require(try listener.rows("SELECT id FROM service").first?.int64(at: 0))
        _ = try listener.rows("LISTEN diptych_\(UInt64(bitPattern: id))")
        _ = try listener.rows("SELECT 1")
        try fixture.save(.note("a"))
        #expect(try isRung(listener, by: fixture.service))
        try withoutBells {
            try fixture.save(.note("b"))
            // The ring is tried, and has failed, before the server takes sessions again.
            let listening = try fixture.service.listen(
                for: .zoneChanges(ZoneChanges(zones: [])), target: fixture.target,
                caller: fixture.caller, changed: {})
            try fixture.service.noticeOtherWriters()
            withExtendedLifetime(listening) {}
        }
        while try isLate(listener) {}
        #expect(try isRung(listener, by: fixture.service), "with no other write")
    }

    /// Takes what came by now.
    private func isLate(_ listener: PostgresConnection) throws -> Bool {
        _ = try listener.rows("SELECT 1")
        return try !listener.notices().isEmpty
    }

    /// What others said before the new session listened is unknown.
    @Test func whoRingsAnewTellsItsOwnThatAnythingMayHaveChanged() throws {
        let other = try fixture(seed: 2)
        let token = try courier([query("made", on: [.create])], at: other)
        while try notice(of: token, at: other, within: 5) != nil {}
        try awaitBell()
        try withoutBells {
            // That the session is gone may be told, too, where the courier can ask.
            while try notice(of: token, at: other, within: 20) != nil {}
        }
        // The ring of this makes a new session; no filter passes it.
        try other.createZone(ZoneID(zoneName: "more"))
        let told = try notice(of: token, at: other, within: 6_000)
        #expect(told?.contains("made") == true)
    }

    /// The next notice of a token, if it comes within so many tenths of a second, while nobody asks
    /// whether something was missed.
    private func notice(
        of token: String, at fixture: ServiceFixture, within tenths: Int
    ) throws -> String? {
        let pause = DispatchSemaphore(value: 0)
        for _ in 0..<tenths {
            if let notice = try fixture.service.nextNotice(forCourierToken: token) {
                return String(decoding: notice, as: UTF8.self)
            }
            _ = pause.wait(timeout: .now() + 0.1)
        }
        return nil
    }

    // MARK: Ending

    /// What a command did is told before it ends, and none of its sessions is still connecting
    /// while the process ends: libpq's libraries abort it then.
    @Test func anAdministrationEndsWhenWhatItDidIsTold() throws {
        let service = try fixture().service
        let place = try PostgresAddress(address)
        let listener = try PostgresConnection(place, settings: "SET statement_timeout = 600000")
        let id = try #require(try listener.rows("SELECT id FROM service").first?.int64(at: 0))
        _ = try listener.rows("LISTEN diptych_\(UInt64(bitPattern: id))")
        let database = try PostgresDatabase(address: address, assetsFolder: nil)
        for number in 0..<3 {
            try ServiceAdministration(database: database, platform: .system).accounts.setGrant(
                RoleGrant(recordType: "Note\(number)", role: "_icloud", reads: true),
                container: ServiceFixture.container)
            _ = try listener.rows("SELECT 1")
            #expect(try !listener.notices().isEmpty)
        }
        withExtendedLifetime(service) {}
    }

    // MARK: Versions

    @Test func aNewerVersionThatOnlyAddsGoesBesideThisOne() throws {
        try fixture().save(.note("a"))
        try TestServer.sql(
            "ALTER TABLE records ADD COLUMN later bigint; UPDATE diptych_schema SET version = 13",
            at: address)
        let older = try fixture(seed: 3)
        try older.save(.note("b"))
        #expect(try older.changes(since: nil).records.count == 2)
    }

    @Test func anOlderVersionsTablesAreBroughtUp() throws {
        let saved = try fixture().save(.note("a"))
        try TestServer.sql(
            """
            DROP TABLE zone_usage, shares, share_members, share_grants, profiles, role_grants,
                role_members, user_quotas, token_uses, schemas,
                server_keys, user_passwords, user_identities, natural_keys, used_signatures,
                token_lives, forgotten_tokens, clock_mark, asset_home;
            ALTER TABLE couriers DROP COLUMN token;
            UPDATE diptych_schema SET version = 1, works_with = 1
            """, at: address)
        // Several services are started with the new program.
        let errors = Lock<[any Error]>([])
        let address = address
        DispatchQueue.concurrentPerform(iterations: 3) { number in
            do {
                _ = try ServiceFixture(.postgres(address), seed: UInt64(number + 3))
            } catch {
                errors.withLock { $0.append(error) }
            }
        }
        #expect(errors.withLock { $0.isEmpty }, "\(errors.withLock { $0 })")
        let again = try fixture(seed: 9)
        #expect(try again.lookup(["a"])[0].record == saved)
        let counted = "SELECT records FROM zone_usage"
        #expect(try TestServer.sql(counted, at: address) == "1\n")
        _ = try again.modify([RecordOperation(.create, SharingFixture.share("s", of: "a"))])
        #expect(
            try TestServer.sql("SELECT version, works_with FROM diptych_schema", at: address)
                == "12|2\n")
        #expect(try TestServer.sql(counted, at: address) == "2\n")
    }

    @Test func aNewerVersionThatChangesIsRefused() throws {
        try fixture().save(.note("a"))
        try TestServer.sql("UPDATE diptych_schema SET version = 13, works_with = 13", at: address)
        let error = #expect(throws: RecordError.self) { _ = try self.fixture(seed: 3) }
        #expect(error?.reason.contains("newer version") == true)
        #expect(throws: RecordError.self) {
            _ = try ServiceAdministration(
                database: StoragePlace.database(self.address), platform: .system)
        }
    }

    @Test func anotherProgramsTablesAreLeftAlone() throws {
        try TestServer.sql("CREATE TABLE zones(name text)", at: address)
        let error = #expect(throws: RecordError.self) { _ = try self.fixture() }
        #expect(error?.reason.contains("another program") == true)
        let tables = try TestServer.sql(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1", at: address)
        #expect(tables == "diptych_schema\nzones\n")
    }

    @Test func manyThatStartAtOnceMakeOneSetOfTables() throws {
        let errors = Lock<[any Error]>([])
        let address = address
        DispatchQueue.concurrentPerform(iterations: 6) { number in
            do {
                let fixture = try ServiceFixture(
                    .postgres(address), seed: UInt64(number + 1))
                try fixture.save(.note("\(number)"))
            } catch {
                errors.withLock { $0.append(error) }
            }
        }
        #expect(errors.withLock { $0.isEmpty }, "\(errors.withLock { $0 })")
        #expect(try fixture(seed: 9).changes(since: nil).records.count == 6)
    }

    // MARK: Administration

    @Test func anAdministratorSeesWhatIsThere() throws {
        let fixture = try fixture()
        try fixture.save(.note("a"))
        let desk = try ServiceAdministration(
            database: StoragePlace.database(address), platform: .system)
        let usage = try desk.usage()
        #expect(usage.map(\.records) == [1] && usage.map(\.zones) == [1])
        let user = try desk.accounts.createUser(label: "Ann")
        #expect(try fixture.service.accounts.users() == [user])
        let error = #expect(throws: RecordError.self) { _ = try desk.backUp(to: "/tmp/never") }
        #expect(error?.reason.contains("pg_dump") == true)
    }

    @Test func anEmptyDatabaseHasNothingToAdminister() throws {
        #expect(throws: RecordError.self) {
            _ = try ServiceAdministration(
                database: StoragePlace.database(self.address), platform: .system)
        }
    }
}
