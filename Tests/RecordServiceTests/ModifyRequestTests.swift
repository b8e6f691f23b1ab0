import Foundation
import RecordService
import RecordWire
import SQLiteDriver
import Testing

@Suite(.everyBackend) struct ModifyRequestTests {
    @Test func anAtomicRequestWithOneRefusalWritesNothing() throws {
        let fixture = try ServiceFixture()
        let old = try fixture.save(.note("old"))
        let start = try fixture.changes(since: nil).syncToken
        let operations = [
            RecordOperation(.create, .note("a")),
            RecordOperation(.update, .note("old", "x", tag: "stale")),
            RecordOperation(.forceDelete, .note("b")),
        ]
        let results = try fixture.modify(operations, atomic: true)
        #expect(results.map { $0.error?.code } == [.atomicError, .conflict, .atomicError])
        #expect(results.map { $0.error?.recordName } == ["a", "old", "b"])
        #expect(results[1].error?.serverRecord == old)
        #expect(try fixture.changes(since: start).records.isEmpty)
        let loose = try fixture.modify(operations)
        #expect(loose.map { $0.error?.code } == [nil, .conflict, nil])
        #expect(try fixture.changes(since: start).records.map(\.recordName) == ["a", "b"])
    }

    @Test func anAtomicRequestWithoutRefusalsWritesAll() throws {
        let fixture = try ServiceFixture()
        let results = try fixture.modify(
            [RecordOperation(.create, .note("a")), RecordOperation(.create, .note("b"))],
            atomic: true)
        #expect(results.compactMap(\.record).map(\.recordName) == ["a", "b"])
        #expect(try fixture.changes(since: nil).records.map(\.recordName) == ["a", "b"])
    }

    @Test func aRefusedRecordLeavesNoFieldTypeBehind() throws {
        let fixture = try ServiceFixture()
        let wrong = Record(recordName: "w", recordType: "Note", fields: ["n": .int64(1)])
        let results = try fixture.modify(
            [RecordOperation(.create, wrong), RecordOperation(.update, .note("x", tag: "1"))],
            atomic: true)
        #expect(results[0].error?.code == .atomicError)
        let other = Record(recordName: "o", recordType: "Note", fields: ["n": .string("s")])
        #expect(try fixture.save(other).fields == other.fields)
    }

    @Test func twoOperationsOnOneRecordAreRefused() throws {
        let fixture = try ServiceFixture()
        let error = #expect(throws: RecordError.self) {
            try fixture.modify([
                RecordOperation(.create, .note("a")), RecordOperation(.forceDelete, .note("a")),
            ])
        }
        #expect(error?.code == .badRequest)
        #expect(error?.recordName == "a")
        #expect(try fixture.changes(since: nil).records.isEmpty)
    }

    @Test func aRecordOfAnotherZoneIsRefused() throws {
        let fixture = try ServiceFixture()
        var record = Record.note("a")
        record.zoneID = ZoneID(zoneName: "notes", ownerRecordName: "_anna")
        #expect(try fixture.save(record).zoneID == ServiceFixture.zone)
        record.zoneID = ZoneID(zoneName: "other")
        let error = #expect(throws: RecordError.self) { try fixture.save(record) }
        #expect(error?.code == .badRequest)
        #expect(error?.reason.contains("other") == true)
    }

    @Test func aFieldKeepsItsFirstType() throws {
        let fixture = try ServiceFixture()
        try fixture.save(.note("a"))
        let wrong = Record(recordName: "b", recordType: "Note", fields: ["title": .int64(1)])
        let error = try fixture.modify([RecordOperation(.create, wrong)])[0].error
        #expect(error?.code == .badRequest)
        #expect(error?.reason.contains("first saved as STRING and is now INT64") == true)
        let list = Record(
            recordName: "c", recordType: "Note",
            fields: ["title": .list(type: .string, [.string("x")])])
        #expect(
            try fixture.modify([RecordOperation(.create, list)])[0].error?.reason.contains(
                "STRING_LIST") == true)
        let cleared = Record(recordName: "d", recordType: "Note", fields: ["title": nil])
        #expect(try fixture.save(cleared).fields.isEmpty)
        let otherType = Record(recordName: "e", recordType: "Tag", fields: ["title": .int64(1)])
        #expect(try fixture.save(otherType).fields == otherType.fields)
    }

    @Test func aRecordKeepsItsType() throws {
        let fixture = try ServiceFixture()
        let saved = try fixture.save(.note("a"))
        var other = saved
        other.recordType = "Tag"
        let error = try fixture.modify([RecordOperation(.update, other)])[0].error
        #expect(error?.code == .badRequest)
        #expect(error?.reason.contains("Note") == true && error?.reason.contains("Tag") == true)
        other.recordType = ""
        #expect(try fixture.save(other, .update).recordType == "Note")
    }

    @Test func aListOfMixedElementsIsRefused() throws {
        let fixture = try ServiceFixture()
        let mixed = Record(
            recordName: "r", recordType: "T", fields: ["f": .list(type: .int64, [.string("x")])])
        #expect(try fixture.modify([RecordOperation(.create, mixed)])[0].error?.code == .badRequest)
    }

    @Test func aFullDiskOrABusyFileLeavesNothingHalfWritten() throws {
        let fixture = try ServiceFixture(.file(":memory:"))
        let cases: [(Int32, RecordError.Code)] = [
            (13, .tryAgainLater), (5, .tryAgainLater), (10, .tryAgainLater),
        ]
        for (code, expected) in cases {
            fixture.faults.arm(
                "service.write.beforeCommit", SQLiteFault(code: code, message: "injected"))
            let error = #expect(throws: RecordError.self) { try fixture.save(.note("a")) }
            #expect(error?.code == expected)
            #expect(error?.retryAfterSeconds != nil)
            #expect(error?.reason.contains("nothing was saved") == true)
            #expect(try fixture.changes(since: nil).records.isEmpty)
        }
        let saved = try fixture.save(.note("a"))
        #expect(saved.recordChangeTag.flatMap(ChangeTag.init)?.change == 1)
    }

    @Test func theAnswerTellsTheTokensBeforeAndAfter() throws {
        let fixture = try ServiceFixture()
        let seen = try fixture.changes(since: nil).syncToken
        let operations = [RecordOperation(.create, .note("a"))]
        func reply(_ zone: ZoneID?) throws -> RecordsReply {
            let modify = ModifyRecords(operations: operations, zoneID: zone, atomic: true)
            guard case .records(let reply) = try fixture.send(.modifyRecords(modify)) else {
                throw WrongAnswer()
            }
            return reply
        }
        let first = try reply(ServiceFixture.zone)
        #expect(first.previousSyncToken == seen)
        let after = try fixture.changes(since: first.syncToken)
        #expect(after.records.isEmpty && after.syncToken == first.syncToken)
        let refused = try reply(ServiceFixture.zone)
        #expect(refused.previousSyncToken == first.syncToken)
        #expect(refused.syncToken == first.syncToken)
        #expect(try reply(nil).syncToken == nil)
    }

    @Test func aLateCopyOfAnOldRequestBringsNothingBack() throws {
        let fixture = try ServiceFixture()
        _ = try fixture.modify([RecordOperation(.forceDelete, .note("a"))])
        let late = try fixture.modify([RecordOperation(.create, .note("a"))])[0].error
        #expect(late?.code == .exists)
        #expect(late?.serverRecord?.deleted == true)
        let tag = late?.serverRecord?.recordChangeTag
        #expect(try fixture.save(.note("a", tag: tag), .create).deleted == false)
    }

    @Test func aLostAnswerIsHarmless() throws {
        let fixture = try ServiceFixture()
        fixture.faults.arm(
            "service.write.afterCommit", RecordError(.internalError, "the reply is lost"))
        #expect(throws: RecordError.self) { try fixture.save(.note("a"), .create) }
        let again = try fixture.modify([RecordOperation(.create, .note("a"))])[0]
        #expect(again.error?.code == .exists)
        #expect(again.error?.serverRecord?.fields == Record.note("a").fields)
        #expect(again.error?.serverRecord?.modified?.deviceID == "device-1")
    }
}
