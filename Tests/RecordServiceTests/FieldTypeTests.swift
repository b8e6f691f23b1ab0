import RecordService
import RecordWire
import SQLiteDriver
import Testing

@Suite(.everyBackend) struct FieldTypeTests {
    private func number(_ name: String) -> Record {
        Record(recordName: name, recordType: "Note", fields: ["title": .int64(1)])
    }

    private func code(_ fixture: ServiceFixture, _ record: Record) throws -> RecordError.Code? {
        try fixture.modify([RecordOperation(.forceUpdate, record)])[0].error?.code
    }

    @Test func oneUsersTypesAreNoneOfAnothers() throws {
        var fixture = try ServiceFixture()
        let anna = fixture.caller
        fixture.caller = Caller(userRecordName: "_bo")
        try fixture.createZone(ServiceFixture.zone)
        try fixture.save(number("b"))
        fixture.caller = anna
        #expect(try code(fixture, .note("a")) == nil)
        #expect(try code(fixture, number("a2")) == .badRequest)
    }

    @Test func aTypeWhoseFieldsAreAllGoneIsForgotten() throws {
        let fixture = try ServiceFixture()
        try fixture.save(number("wrong"))
        try fixture.save(number("wrong too"))
        #expect(try code(fixture, .note("a")) == .badRequest)
        try fixture.save(Record(recordName: "wrong", recordType: ""), .forceDelete)
        #expect(try code(fixture, .note("a")) == .badRequest)
        let cleared = Record(recordName: "wrong too", recordType: "Note", fields: ["title": nil])
        try fixture.save(cleared)
        #expect(try code(fixture, .note("a")) == nil)
        #expect(try code(fixture, number("b")) == .badRequest)
    }

    @Test func aTypeIsCountedThroughReplacementsRevivalsAndZones() throws {
        let fixture = try ServiceFixture()
        let gone = try fixture.save(.note("r"), .forceReplace)
        try fixture.save(.note("r"), .forceReplace)
        try fixture.save(.note("r"), .forceUpdate)
        try fixture.save(Record(recordName: "r", recordType: ""), .forceDelete)
        try fixture.save(Record(recordName: "r", recordType: ""), .forceDelete)
        #expect(gone.recordChangeTag.flatMap(ChangeTag.init)?.change == 1)
        try fixture.save(number("n"))
        try fixture.save(Record(recordName: "n", recordType: "Note"), .forceReplace)
        try fixture.save(.note("r"), .forceUpdate)
        #expect(try code(fixture, number("n")) == .badRequest)
        _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, ServiceFixture.zone)]))
        try fixture.service.removeDeletedRecords()
        try fixture.createZone(ServiceFixture.zone)
        #expect(try code(fixture, number("n")) == nil)
    }

    @Test func aRefusedRequestLeavesTypesAsTheyWere() throws {
        let fixture = try ServiceFixture()
        let results = try fixture.modify(
            [
                RecordOperation(.create, number("a")),
                RecordOperation(.update, .note("nowhere", tag: "1")),
            ], atomic: true)
        #expect(results.allSatisfy { $0.error != nil })
        #expect(try code(fixture, .note("a")) == nil)
    }

    /// A file of version 1: one table of types for all users of a container.
    @Test func anOldFileKeepsItsRecordsAndGetsTypesPerUser() throws {
        try withDatabasePath { path in
            let file = try Connection(path: path, access: .create)
            try file.script(EpochTests.firstVersion)
            try file.script(
                """
                INSERT INTO field_types VALUES
                    ('iCloud.org.example.notes', 'development', 'Note', 'title', 'STRING'),
                    ('iCloud.org.example.notes', 'development', 'Note', 'count', 'STRING');
                """)
            try file.run(
                "UPDATE records SET fields = ? WHERE name = 'a'",
                [.blob(RecordArchive.encodeFields(["title": .string("t")]))])
            var fixture = try ServiceFixture(path: path, seed: 2, makesZone: false)
            #expect(try fixture.lookup(["a"])[0].record?.fields["title"] == .string("t"))
            #expect(try code(fixture, number("b")) == .badRequest)
            #expect(
                try code(
                    fixture,
                    Record(recordName: "c", recordType: "Note", fields: ["count": .int64(1)]))
                    == nil)
            fixture.caller = Caller(userRecordName: "_bo")
            try fixture.createZone(ServiceFixture.zone)
            #expect(try code(fixture, number("b")) == nil)
        }
    }
}
