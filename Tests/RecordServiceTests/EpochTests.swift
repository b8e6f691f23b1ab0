import Foundation
import RecordService
import RecordWire
import SQLiteDriver
import Testing

/// Each start of a service writes in an epoch of its own, and knows what it has lost.
@Suite(.everyBackend) struct EpochTests {
    private func client(
        _ round: Int64, _ nonce: String = "n", witness: String? = nil
    ) -> ClientState {
        ClientState(instance: "store", round: round, nonce: nonce, witness: witness)
    }

    private func modify(
        _ fixture: ServiceFixture, _ record: Record, _ client: ClientState?
    ) throws -> RecordsReply {
        var modify = ModifyRecords(
            operations: [RecordOperation(.forceUpdate, record)], zoneID: ServiceFixture.zone)
        modify.client = client
        guard case .records(let reply) = try fixture.send(.modifyRecords(modify)) else {
            throw WrongAnswer()
        }
        return reply
    }

    private func code(_ body: () throws -> Void) -> RecordError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? RecordError)?.code
        }
    }

    @Test func theSameNumberOfTwoTimesHasTwoTagsAndTokens() throws {
        try withStorage { storage in
            let fixture = try ServiceFixture(storage)
            try fixture.save(.note("a"))
            let copy = try storage.copied()
            let lost = try fixture.save(.note("b", "lost"))
            let lostToken = try fixture.changes(since: nil).syncToken
            let restored = try ServiceFixture(copy, seed: 2)
            let other = try restored.save(.note("b", "other"))
            #expect(lost.recordChangeTag != other.recordChangeTag)
            #expect(
                lost.recordChangeTag.flatMap(ChangeTag.init)?.change
                    == other.recordChangeTag.flatMap(ChangeTag.init)?.change)
            for index in 0..<5 { try restored.save(.note("c\(index)")) }
            #expect(try restored.changes(since: lostToken).failure?.code == .changeTokenExpired)
            let stale = Record.note("b", "late", tag: lost.recordChangeTag)
            let answer = try restored.modify([RecordOperation(.update, stale)])[0]
            #expect(answer.error?.code == .conflict)
        }
    }

    @Test func tokensAndTagsOutliveAPlainRestart() throws {
        try withStorage { storage in
            let first = try ServiceFixture(storage)
            let saved = try first.save(.note("a"))
            let token = try first.changes(since: nil).syncToken
            let second = try ServiceFixture(storage, seed: 2, makesZone: false)
            try second.save(.note("b"))
            let page = try second.changes(since: token)
            #expect(page.records.map(\.recordName) == ["b"])
            let update = Record.note("a", "x", tag: saved.recordChangeTag)
            #expect(try second.modify([RecordOperation(.update, update)])[0].record != nil)
        }
    }

    @Test func aClientThatSawMoreThanTheServiceHasIsToldSo() throws {
        try withStorage { storage in
            let fixture = try ServiceFixture(storage)
            try fixture.save(.note("a"))
            let copy = try storage.copied()
            let lost = try fixture.save(.note("b"))
            let restored = try ServiceFixture(copy, seed: 2)
            let witness = client(1, witness: lost.recordChangeTag)
            #expect(
                code { _ = try modify(restored, .note("c"), witness) } == .changeTokenExpired)
            var zone = ZoneChanges.Zone(zoneID: ServiceFixture.zone, syncToken: nil)
            zone.client = witness
            #expect(try restored.changes(zone).failure?.code == .changeTokenExpired)
            var lookup = LookupRecords(recordNames: ["a"], zoneID: ServiceFixture.zone)
            lookup.client = witness
            #expect(code { _ = try restored.send(.lookupRecords(lookup)) } == .changeTokenExpired)
            #expect(try restored.lookup(["c"])[0].error?.code == .notFound)
        }
    }

    @Test func aCopyOfAStoreIsToldApartByItsRound() throws {
        let fixture = try ServiceFixture()
        _ = try modify(fixture, .note("a"), client(3, "one"))
        _ = try modify(fixture, .note("b"), client(3, "one"))
        #expect(code { _ = try modify(fixture, .note("c"), client(3, "two")) } == .instanceForked)
        #expect(code { _ = try modify(fixture, .note("c"), client(2, "one")) } == .instanceForked)
        var zone = ZoneChanges.Zone(zoneID: ServiceFixture.zone, syncToken: nil)
        zone.client = client(3, "two")
        #expect(try fixture.changes(zone).failure?.code == .instanceForked)
        _ = try modify(fixture, .note("c"), client(4, "two"))
        #expect(try fixture.lookup(["c"])[0].record != nil)
    }

    /// What a guest was refused, and has taken back since, is not done by a late copy of the
    /// request once the guest may write again.
    @Test(arguments: [false, true]) func aLateCopyOfARefusedRequestIsKnown(
        isAtomic: Bool
    ) throws {
        let world = try SharingFixture()
        _ = try world.accept(
            try world.shareRoot(with: [SharingFixture.participant("_bert", .readOnly)]), world.bert)
        func deleting(_ name: String, _ round: Int64) throws -> RecordError.Code? {
            var modify = ModifyRecords(
                operations: [RecordOperation(.forceDelete, .note(name))],
                zoneID: SharingFixture.shared, atomic: isAtomic)
            modify.client = client(round)
            guard case .records(let reply) = try world.bert.send(.modifyRecords(modify)) else {
                throw WrongAnswer()
            }
            return reply.results[0].error?.code
        }
        #expect(try deleting("a", 1) == .accessDenied)
        #expect(try deleting("b", 2) == .accessDenied)
        let mayWrite = SharingFixture.share(
            "share", of: "root", [SharingFixture.participant("_bert", .readWrite)])
        #expect(
            try world.anna.modify([RecordOperation(.forceUpdate, mayWrite)])[0].error == nil)
        #expect(code { _ = try deleting("a", 1) } == .instanceForked)
        #expect(try world.see(["a", "b"], world.bert) == [nil, nil])
        // The last one may be the client's own repetition.
        #expect(try deleting("b", 2) == nil)
    }

    /// Nobody makes the service forget the rounds of others by requests that are refused.
    @Test func refusedClientsTakeNobodysPlace() throws {
        var limits = ServiceLimits()
        limits.retention.instancesPerZoneMax = 4
        let fixture = try ServiceFixture(limits: limits)
        _ = try modify(fixture, .note("a"), client(5))
        for index in 0..<9 {
            var refused = ModifyRecords(
                operations: [RecordOperation(.update, .note("none", tag: "1"))],
                zoneID: ServiceFixture.zone)
            refused.client = ClientState(instance: "other\(index)", round: 9, nonce: "n")
            guard case .records(let reply) = try fixture.send(.modifyRecords(refused)) else {
                throw WrongAnswer()
            }
            #expect(reply.results[0].error?.code == .notFound)
        }
        #expect(code { _ = try modify(fixture, .note("a"), client(4)) } == .instanceForked)
    }

    @Test func instancesAreForgottenBeyondABound() throws {
        var limits = ServiceLimits()
        limits.retention.instancesPerZoneMax = 3
        let fixture = try ServiceFixture(limits: limits)
        for index in 0..<5 {
            let client = ClientState(instance: "store\(index)", round: 9, nonce: "n")
            _ = try modify(fixture, .note("a"), client)
        }
        let forgotten = ClientState(instance: "store0", round: 1, nonce: "n")
        _ = try modify(fixture, .note("a"), forgotten)
        let known = ClientState(instance: "store4", round: 1, nonce: "n")
        #expect(code { _ = try modify(fixture, .note("a"), known) } == .instanceForked)
    }

    @Test func theLineIsToldWhereItIsNews() throws {
        try withStorage { storage in
            let first = try ServiceFixture(storage)
            let reply = try modify(first, .note("a"), client(1))
            #expect(reply.epochs?.epochs.count == 1 && reply.epochs?.newest == 1)
            let tag = try #require(reply.results[0].record?.recordChangeTag)
            #expect(try modify(first, .note("b"), client(2, witness: tag)).epochs == nil)
            let second = try ServiceFixture(storage, seed: 2, makesZone: false)
            let news = try modify(second, .note("c"), client(3, witness: tag)).epochs
            #expect(news?.epochs.map(\.first) == [1, 3] && news?.newest == 3)
        }
    }

    @Test func aRecordTellsItsLastWritesToWhoAsks() throws {
        let fixture = try ServiceFixture()
        for index in 0..<20 {
            var record = Record.note("a", "\(index)")
            record.writeID = "w\(index)"
            try fixture.save(record)
        }
        var zone = ZoneChanges.Zone(zoneID: ServiceFixture.zone, syncToken: nil)
        #expect(try fixture.changes(zone).records[0].recentWriteIDs == [])
        var asking = client(1)
        asking.wantsWriteIDs = true
        zone.client = asking
        let ids = try fixture.changes(zone).records[0].recentWriteIDs
        #expect(ids == (4..<20).reversed().map { "w\($0)" })
        var spaced = Record.note("a")
        spaced.writeID = "a b"
        let answer = try fixture.modify([RecordOperation(.forceUpdate, spaced)])[0]
        #expect(answer.error?.code == .badRequest)
    }

    @Test func deletionsAreForgottenAfterTheirTimeAndOldTokensExpire() throws {
        var limits = ServiceLimits()
        limits.retention.deletionDaysMax = 0
        let fixture = try ServiceFixture(limits: limits)
        try fixture.save(.note("kept"))
        try fixture.save(.note("gone"))
        let before = try fixture.changes(since: nil).syncToken
        _ = try fixture.modify([
            RecordOperation(.forceDelete, Record(recordName: "gone", recordType: ""))
        ])
        let after = try fixture.changes(since: nil).syncToken
        try fixture.service.forgetOldDeletions()
        #expect(try fixture.changes(since: nil).records.map(\.recordName) == ["kept"])
        #expect(try fixture.changes(since: before).failure?.code == .changeTokenExpired)
        #expect(try fixture.changes(since: after).failure == nil)
        #expect(try fixture.changes(since: nil).epochs?.floor == 3)
    }

    /// The pages of who begins anew lie below the floor, and miss nothing of it.
    @Test func whoBeginsAnewReadsPastForgottenDeletions() throws {
        var limits = ServiceLimits()
        limits.retention.deletionDaysMax = 0
        let fixture = try ServiceFixture(limits: limits)
        for name in ["a", "b", "c", "d", "gone"] { try fixture.save(.note(name)) }
        _ = try fixture.modify([
            RecordOperation(.forceDelete, Record(recordName: "gone", recordType: ""))
        ])
        try fixture.service.forgetOldDeletions()
        var names: [String] = []
        var token: String?
        for _ in 0..<4 {
            let page = try fixture.changes(since: token, limit: 1)
            #expect(page.failure == nil)
            names += page.records.map(\.recordName)
            token = page.syncToken
        }
        #expect(names == ["a", "b", "c", "d"])
        #expect(try fixture.changes(since: token).failure == nil)
    }

    /// Who was in the middle of the zone then may have what is forgotten now.
    @Test func whoBeganBeforeADeletionAndComesAfterItWasForgottenBeginsAnew() throws {
        var limits = ServiceLimits()
        limits.retention.deletionDaysMax = 0
        let fixture = try ServiceFixture(limits: limits)
        for name in ["a", "b", "c"] { try fixture.save(.note(name)) }
        let token = try fixture.changes(since: nil, limit: 1).syncToken
        _ = try fixture.modify([
            RecordOperation(.forceDelete, Record(recordName: "a", recordType: ""))
        ])
        #expect(try fixture.changes(since: token, limit: 1).failure == nil)
        try fixture.service.forgetOldDeletions()
        #expect(try fixture.changes(since: token).failure?.code == .changeTokenExpired)
    }

    @Test func theTokenOfAnEmptyZoneThatWasMadeAnewStaysGood() throws {
        let fixture = try ServiceFixture()
        try fixture.save(.note("a"))
        let old = try fixture.changes(since: nil).syncToken
        _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, ServiceFixture.zone)]))
        let made = try fixture.createZone(ServiceFixture.zone).zone?.syncToken
        #expect(try fixture.changes(since: old).failure?.code == .changeTokenExpired)
        let read = try fixture.changes(since: nil).syncToken
        for token in [made, read] {
            #expect(try fixture.changes(since: token).failure == nil)
        }
        try fixture.save(.note("b"))
        #expect(try fixture.changes(since: read).records.map(\.recordName) == ["b"])
    }

    @Test func pagesOfATimeWhoseEpochIsForgottenAreRead() throws {
        try withDatabasePath { path in
            let names = ["a", "b", "c"]
            for (index, name) in names.enumerated() {
                let fixture = try ServiceFixture(
                    path: path, seed: UInt64(index + 1), makesZone: index == 0)
                try fixture.save(.note(name))
            }
            try Connection(path: ContainerFile.path(path)).script(
                "DELETE FROM epochs WHERE kind = 1 AND first = (SELECT min(first) FROM epochs)")
            let fixture = try ServiceFixture(path: path, seed: 9, makesZone: false)
            var found: [String] = []
            var token: String?
            for _ in names {
                let page = try fixture.changes(since: token, limit: 1)
                #expect(page.failure == nil)
                found += page.records.map(\.recordName)
                token = page.syncToken
            }
            #expect(found == names)
        }
    }

    /// The same of zones, of which the deleted ones are forgotten beyond a bound.
    @Test func whoBeginsAnewReadsPastForgottenZones() throws {
        var limits = ServiceLimits()
        limits.zonesPerDatabaseMax = 2
        let fixture = try ServiceFixture(limits: limits, makesZone: false)
        for name in ["a", "b"] { try fixture.createZone(ZoneID(zoneName: name)) }
        for index in 0..<5 {
            _ = try fixture.zones(
                .modifyZones([ZoneOperation(.delete, ZoneID(zoneName: "b"))]))
            try fixture.createZone(ZoneID(zoneName: "z\(index)"))
            _ = try fixture.zones(
                .modifyZones([ZoneOperation(.delete, ZoneID(zoneName: "z\(index)"))]))
        }
        var names: [String] = []
        var token: String?
        var reply: DatabaseChangesReply
        repeat {
            reply = try fixture.databaseChanges(since: token, limit: 1)
            names += reply.zones.filter { !$0.deleted }.map(\.zoneID.zoneName)
            token = reply.syncToken
        } while reply.moreComing
        #expect(names == ["a"])
    }

    @Test func manyDeletionsAreForgottenSliceBySlice() throws {
        var limits = ServiceLimits()
        limits.retention.deletionDaysMax = 0
        let fixture = try ServiceFixture(limits: limits)
        for start in stride(from: 0, to: 1_200, by: 200) {
            let names = (start..<start + 200).map { "n\($0)" }
            _ = try fixture.modify(names.map { RecordOperation(.create, .note($0)) })
            _ = try fixture.modify(
                names.map {
                    RecordOperation(.forceDelete, Record(recordName: $0, recordType: ""))
                })
        }
        try fixture.service.forgetOldDeletions()
        #expect(try fixture.changes(since: nil).records.isEmpty)
        #expect(try fixture.changes(since: nil).epochs?.floor == 2_400)
    }

    @Test func deletedZonesAreForgottenBeyondABound() throws {
        var limits = ServiceLimits()
        limits.zonesPerDatabaseMax = 2
        let fixture = try ServiceFixture(limits: limits, makesZone: false)
        let start = try fixture.databaseChanges(since: nil).syncToken
        for index in 0..<5 {
            let zone = ZoneID(zoneName: "z\(index)")
            try fixture.createZone(zone)
            _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, zone)]))
        }
        let feed = try fixture.databaseChanges(since: nil)
        #expect(feed.zones.map(\.zoneID.zoneName) == ["z3", "z4"])
        _ = start
    }

    @Test func epochsOfAZoneAreBounded() throws {
        try withStorage { storage in
            var line: EpochLine?
            for seed in 1...(EpochLine.epochsMax + 5) {
                let fixture = try ServiceFixture(
                    storage, seed: UInt64(seed), makesZone: seed == 1)
                try fixture.save(.note("a"))
                line = try fixture.changes(since: nil).epochs
            }
            #expect(line?.epochs.count == EpochLine.epochsMax)
            #expect(line?.newest == Int64(EpochLine.epochsMax + 5))
        }
    }

    @Test func aZoneThatIsMadeAgainKnowsNoOldTag() throws {
        let fixture = try ServiceFixture()
        let saved = try fixture.save(.note("a"))
        _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, ServiceFixture.zone)]))
        try fixture.createZone(ServiceFixture.zone)
        let seen = client(1, witness: saved.recordChangeTag)
        #expect(code { _ = try modify(fixture, .note("b"), seen) } == .changeTokenExpired)
    }

    @Test func aFileOfTheFirstVersionGoesOnWithItsTags() throws {
        try withDatabasePath { path in
            let old = try Connection(path: path, access: .create)
            try old.script(Self.firstVersion)
            let fixture = try ServiceFixture(path: path, makesZone: false)
            let page = try fixture.changes(since: nil)
            #expect(page.records.map(\.recordChangeTag) == ["3", "5"])
            #expect(page.epochs?.contains(ChangeTag(epoch: 0, change: 5)) == true)
            let update = Record.note("a", "new", tag: "3")
            let saved = try fixture.modify([RecordOperation(.update, update)])[0].record
            #expect(saved?.recordChangeTag.flatMap(ChangeTag.init)?.change == 6)
            #expect(try fixture.changes(since: page.syncToken).records.map(\.recordName) == ["a"])
        }
    }

    /// A file as version 1 made it: one zone with a record and a deletion.
    static let firstVersion = """
        CREATE TABLE service(id INTEGER NOT NULL);
        CREATE TABLE databases(
            id INTEGER PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
            scope TEXT NOT NULL, owner TEXT NOT NULL, counter INTEGER NOT NULL,
            UNIQUE (container, environment, scope, owner));
        CREATE TABLE zones(
            id INTEGER PRIMARY KEY, database INTEGER NOT NULL, name TEXT NOT NULL,
            generation INTEGER NOT NULL, counter INTEGER NOT NULL,
            database_change INTEGER NOT NULL, deleted INTEGER NOT NULL,
            UNIQUE (database, name));
        CREATE INDEX zones_by_change ON zones(database, database_change);
        CREATE TABLE records(
            zone INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL,
            change INTEGER NOT NULL, deleted INTEGER NOT NULL,
            created_at INTEGER NOT NULL, created_by TEXT, created_on TEXT,
            modified_at INTEGER NOT NULL, modified_by TEXT, modified_on TEXT,
            mark TEXT, fields BLOB NOT NULL,
            PRIMARY KEY (zone, name));
        CREATE TABLE former_writers(
            zone INTEGER NOT NULL, name TEXT NOT NULL, device TEXT NOT NULL,
            mark TEXT NOT NULL,
            PRIMARY KEY (zone, name, device)) WITHOUT ROWID;
        CREATE UNIQUE INDEX records_by_change ON records(zone, change);
        CREATE TABLE field_types(
            container TEXT NOT NULL, environment TEXT NOT NULL, record_type TEXT NOT NULL,
            field TEXT NOT NULL, type TEXT NOT NULL,
            PRIMARY KEY (container, environment, record_type, field)) WITHOUT ROWID;
        CREATE TABLE containers(name TEXT PRIMARY KEY, created_at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE users(
            record_name TEXT PRIMARY KEY, label TEXT NOT NULL,
            created_at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE tokens(
            id TEXT PRIMARY KEY, kind TEXT NOT NULL, container TEXT, user TEXT,
            label TEXT NOT NULL, hash BLOB NOT NULL, created_at INTEGER NOT NULL,
            revoked_at INTEGER) WITHOUT ROWID;
        INSERT INTO service VALUES (77);
        INSERT INTO databases VALUES
            (1, 'iCloud.org.example.notes', 'development', 'private', '_anna', 4);
        INSERT INTO zones VALUES (1, 1, 'notes', 1, 5, 4, 0);
        INSERT INTO records VALUES
            (1, 'a', 'Note', 3, 0, 0, NULL, NULL, 0, NULL, NULL, '1', x'0100'),
            (1, 'b', 'Note', 5, 1, 0, NULL, NULL, 0, NULL, NULL, '2', x'');
        INSERT INTO former_writers VALUES (1, 'a', 'd', '1');
        PRAGMA application_id = 1148220499;
        PRAGMA user_version = 1;
        """
}
