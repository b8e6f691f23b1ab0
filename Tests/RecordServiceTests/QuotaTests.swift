import Foundation
import RecordService
import RecordWire
import SQLiteDriver
import Testing

/// What users may keep, and what is counted of it.
@Suite(.everyBackend) struct QuotaTests {
    private func limits(records: Int64? = nil, bytes: Int64? = nil) -> ServiceLimits {
        var limits = ServiceLimits()
        limits.retention.quota = UserQuota(recordsMax: records, bytesMax: bytes)
        return limits
    }

    private func codes(_ results: [RecordResult]) -> [String?] {
        results.map { $0.error?.code.rawValue }
    }

    private func saving(_ names: String..., text: String = "t") -> [RecordOperation] {
        names.map { RecordOperation(.forceUpdate, .note($0, text)) }
    }

    /// What the counters say and what a look at every record says.
    private func expectCounted(_ storage: ServiceStorage) throws {
        let counted = try storage.texts(
            "SELECT zone, records, bytes FROM zone_usage WHERE records <> 0 ORDER BY zone")
        let looked = try storage.texts(
            """
            SELECT r.zone, count(*), sum(length(r.fields)) FROM records r
            JOIN zones z ON z.id = r.zone WHERE r.deleted = (1 = 0)
            GROUP BY r.zone ORDER BY r.zone
            """)
        #expect(counted == looked)
    }

    @Test func recordsPastTheLimitAreRefusedAndTheRestIsKept() throws {
        let fixture = try ServiceFixture(limits: limits(records: 2))
        let first = try fixture.modify(saving("a", "b", "c"))
        #expect(codes(first) == [nil, nil, "QUOTA_EXCEEDED"])
        #expect(first[2].error?.recordName == "c" && first[2].error?.retryAfterSeconds == nil)
        // What is there may change and go, and makes room.
        #expect(codes(try fixture.modify(saving("a", text: "longer than before"))) == [nil])
        let swap = try fixture.modify(
            [RecordOperation(.forceDelete, .note("a"))] + saving("c"))
        #expect(codes(swap) == [nil, nil])
        #expect(codes(try fixture.modify(saving("d"))) == ["QUOTA_EXCEEDED"])
        // Atomic requests are refused as a whole.
        let atomic = try fixture.modify(saving("b", "d", text: "new"), atomic: true)
        #expect(codes(atomic) == ["ATOMIC_ERROR", "QUOTA_EXCEEDED"])
    }

    @Test func aRefusedWriteTakesNoRoom() throws {
        let fixture = try ServiceFixture(limits: limits(records: 1))
        var refused = Record.note("a")
        refused.fields["link"] = .reference(
            RecordReference(recordName: "none", action: .validate))
        let results = try fixture.modify(
            [RecordOperation(.create, refused)] + saving("b", "c"))
        #expect(codes(results) == ["VALIDATING_REFERENCE_ERROR", nil, "QUOTA_EXCEEDED"])
    }

    @Test func bytesPastTheLimitAreRefused() throws {
        let fixture = try ServiceFixture(limits: limits(bytes: 1_000))
        let long = String(repeating: "x", count: 600)
        #expect(codes(try fixture.modify(saving("a", text: long))) == [nil])
        #expect(codes(try fixture.modify(saving("b", text: long))) == ["QUOTA_EXCEEDED"])
        #expect(codes(try fixture.modify(saving("b", text: "short"))) == [nil])
        // Growing is refused, shrinking is not, also beyond the limit.
        #expect(codes(try fixture.modify(saving("b", text: long))) == ["QUOTA_EXCEEDED"])
        #expect(codes(try fixture.modify(saving("a", text: "short"))) == [nil])
        #expect(codes(try fixture.modify(saving("b", text: long))) == [nil])
    }

    @Test func aUserHasALimitOfTheirOwn() throws {
        let fixture = try ServiceFixture(limits: limits(records: 1))
        let accounts = fixture.service.accounts
        let ann = try accounts.createUser(label: "Ann")
        var other = fixture
        other.caller = Caller(userRecordName: ann.userRecordName)
        try other.createZone(ServiceFixture.zone)
        #expect(codes(try other.modify(saving("a", "b"))) == [nil, "QUOTA_EXCEEDED"])
        try accounts.setQuota(UserQuota(recordsMax: 3), of: ann.userRecordName)
        #expect(codes(try other.modify(saving("b", "c", "d"))) == [nil, nil, "QUOTA_EXCEEDED"])
        #expect(codes(try fixture.modify(saving("a", "b"))) == [nil, "QUOTA_EXCEEDED"])
        let holding = try #require(try accounts.holdings().first)
        #expect(holding.user == ann && holding.records == 3 && holding.bytes > 0)
        #expect(holding.quota == UserQuota(recordsMax: 3))
        // Less than is there takes nothing away.
        try accounts.setQuota(UserQuota(recordsMax: 0), of: ann.userRecordName)
        #expect(codes(try other.modify(saving("a"))) == [nil])
        #expect(codes(try other.modify(saving("e"))) == ["QUOTA_EXCEEDED"])
        try accounts.setQuota(nil, of: ann.userRecordName)
        #expect(try accounts.holdings().first?.quota == nil)
        #expect(throws: RecordError.self) {
            try accounts.setQuota(UserQuota(), of: "_nobody")
        }
        #expect(throws: RecordError.self) {
            try accounts.setQuota(UserQuota(bytesMax: -1), of: ann.userRecordName)
        }
    }

    @Test func aDeletedZoneMakesRoomAndPublicRecordsTakeNone() throws {
        let fixture = try ServiceFixture(limits: limits(records: 2))
        #expect(codes(try fixture.modify(saving("a", "b"))) == [nil, nil])
        _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, ServiceFixture.zone)]))
        try fixture.createZone(ServiceFixture.zone)
        let again = try fixture.modify(saving("c", "d"))
        #expect(codes(again) == [nil, nil])
        var open = fixture
        open.target.database = "public"
        #expect(codes(try open.modify(saving("x", "y", "z"), zone: nil)) == [nil, nil, nil])
    }

    @Test func countersAreTheTruthWhateverWasDone() throws {
        try withStorage { storage in
            let fixture = try ServiceFixture(storage)
            let random = SeededRandomness(seed: 7)
            let kinds: [RecordOperation.Kind] = [
                .create, .forceUpdate, .forceReplace, .update, .delete, .forceDelete,
            ]
            for step in 0..<200 {
                let name = "r\(random.below(12))"
                let text = String(repeating: "x", count: random.below(200))
                let operation = RecordOperation(kinds[random.below(kinds.count)], .note(name, text))
                let other = RecordOperation(.forceUpdate, .note("other\(random.below(3))", text))
                _ = try fixture.modify([operation, other], atomic: step % 5 == 0)
                if step % 60 == 59 {
                    _ = try fixture.zones(
                        .modifyZones([ZoneOperation(.delete, ServiceFixture.zone)]))
                    try fixture.createZone(ServiceFixture.zone)
                }
            }
            try expectCounted(storage)
        }
    }

    @Test func whatGoesWithItsTargetIsCounted() throws {
        try withStorage { storage in
            let fixture = try ServiceFixture(storage, limits: limits(records: 2))
            try fixture.save(.note("target"))
            var source = Record.note("source")
            source.fields["link"] = .reference(
                RecordReference(recordName: "target", action: .deleteSelf))
            try fixture.save(source)
            _ = try fixture.modify([RecordOperation(.forceDelete, .note("target"))])
            #expect(codes(try fixture.modify(saving("a", "b"))) == [nil, nil])
            try expectCounted(storage)
        }
    }

    /// One request writes the record and deletes it with its target.
    @Test func whatIsWrittenAndGoesWithItsTargetIsCounted() throws {
        try withStorage { storage in
            let fixture = try ServiceFixture(storage, limits: limits(records: 3))
            try fixture.save(.note("kept"))
            var source = Record.note("source")
            source.fields["link"] = .reference(
                RecordReference(recordName: "target", action: .deleteSelf))
            for former in ["", String(repeating: "x", count: 5_000)] {
                if !former.isEmpty { try fixture.save(.note("source", former)) }
                try fixture.save(.note("target"))
                let results = try fixture.modify([
                    RecordOperation(.forceReplace, source),
                    RecordOperation(.forceDelete, .note("target")),
                ])
                #expect(codes(results) == [nil, nil])
                #expect(try fixture.lookup(["source"])[0].error?.code == .notFound)
                try expectCounted(storage)
            }
            #expect(codes(try fixture.modify(saving("a", "b"))) == [nil, nil])
        }
    }

    /// A share is written into its root, too, in the same request.
    @Test func sharesAreCountedWithTheirRoots() throws {
        try withStorage { storage in
            let fixture = try ServiceFixture(storage)
            _ = try fixture.modify([
                RecordOperation(.create, .note("root")),
                RecordOperation(.create, SharingFixture.share("share", of: "root")),
            ])
            try expectCounted(storage)
            try fixture.save(.note("root", "longer than before"))
            _ = try fixture.modify([RecordOperation(.forceDelete, .note("share"))])
            try expectCounted(storage)
            _ = try fixture.modify(
                [RecordOperation(.create, SharingFixture.share("other", of: "root"))])
            _ = try fixture.modify([RecordOperation(.forceDelete, .note("root"))])
            try expectCounted(storage)
        }
    }

    @Test func whatOthersWriteCountsForTheOwner() throws {
        let world = try SharingFixture(limits(records: 5))
        let share = try world.shareRoot()
        _ = try world.accept(share, world.bert)
        #expect(try world.write(.forceUpdate, .note("a", "x"), world.bert).error == nil)
        let more = try world.write(.create, SharingFixture.child("c", of: "a"), world.bert)
        #expect(more.error?.code == .quotaExceeded)
    }

    @Test func aFileFromBeforeIsCountedOnce() throws {
        try withDatabasePath { path in
            do {
                let fixture = try ServiceFixture(path: path)
                _ = try fixture.modify(saving("a", "b"))
                _ = try fixture.modify([RecordOperation(.forceDelete, .note("a"))])
            }
            try FormerFile.make(of: path)
            try Connection(path: path).script(
                """
                DROP TABLE zone_usage; DROP TABLE user_quotas; DROP INDEX databases_by_owner;
                PRAGMA user_version = 3;
                """)
            let fixture = try ServiceFixture(
                path: path, limits: limits(records: 2), seed: 2, makesZone: false)
            try expectCounted(.file(path))
            #expect(codes(try fixture.modify(saving("c", "d"))) == [nil, "QUOTA_EXCEEDED"])
            #expect(try Connection(path: path).pragma("user_version")?.int64 == 5)
        }
    }
}
