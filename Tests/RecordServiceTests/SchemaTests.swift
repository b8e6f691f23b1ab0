import Foundation
import RecordService
import RecordWire
import Testing

/// Schemas: learnt in development, imported, deployed to production.
@Suite(.everyBackend) struct SchemaTests {
    private let fixture: ServiceFixture
    private var accounts: ServiceAccounts { fixture.service.accounts }
    private let container = ServiceFixture.container

    init() throws { fixture = try ServiceFixture() }

    private func inProduction() -> ServiceFixture {
        var production = fixture
        production.target.environment = "production"
        return production
    }

    private func note(_ name: String, _ fields: [String: FieldValue]) -> Record {
        var record = Record(recordName: name, recordType: "Note")
        for (name, value) in fields { record.fields[name] = value }
        return record
    }

    private func save(_ record: Record, _ fixture: ServiceFixture) throws -> RecordError? {
        try fixture.modify([RecordOperation(.forceUpdate, record)])[0].error
    }

    @Test func developmentLearnsAndProductionIsDeployed() throws {
        #expect(
            try accounts.schema(container: container, environment: "development").text
                == RecordSchema().text)
        #expect(try save(note("a", ["title": .string("t"), "count": .int64(1)]), fixture) == nil)
        let learnt = try accounts.schema(container: container, environment: "development")
        #expect(learnt["Note"]?["title"]?.type == .init(.string))
        #expect(learnt["Note"]?["count"]?.type == .init(.int64))

        // Before the first deployment production takes everything.
        let production = inProduction()
        try production.createZone(ServiceFixture.zone)
        #expect(try save(note("a", ["early": .double(1)]), production) == nil)
        let added = try accounts.deploySchema(container: container)
        #expect(
            added.lines == ["+ Note.count INT64", "+ Note.title STRING"])
        #expect(
            try save(note("b", ["title": .string("t"), "early": .double(2)]), production) == nil)
        let unknown = try save(note("c", ["colour": .string("red")]), production)
        #expect(unknown?.code == .badRequest)
        #expect(unknown?.reason.contains("colour") == true)
        let wrong = try save(note("c", ["count": .string("1")]), production)
        #expect(wrong?.code == .badRequest)
        var other = Record(recordName: "d", recordType: "Other")
        other.fields["x"] = .int64(1)
        #expect(try save(other, production)?.reason.contains("Other") == true)
        // Development goes on learning; a deletion needs no schema.
        #expect(try save(note("d", ["colour": .string("red")]), fixture) == nil)
        let gone = try production.modify([
            RecordOperation(.forceDelete, Record(recordName: "a", recordType: ""))
        ])
        #expect(gone[0].error == nil)
        #expect(
            try accounts.deploySchema(container: container).lines == ["+ Note.colour STRING"])
        #expect(try save(note("c", ["colour": .string("red")]), production) == nil)
        #expect(try accounts.deploySchema(container: container).isEmpty)
    }

    /// A name that no text can hold would be left out without a word, and its records refused.
    @Test(arguments: [("Note", "a\u{1}b"), ("No\u{2028}te", "a")])
    func whatNoSchemaCanHoldIsNotLeftOut(type: String, field: String) throws {
        var odd = Record(recordName: "odd", recordType: type)
        odd.fields[field] = .int64(1)
        #expect(try save(odd, fixture) == nil)
        let preview = #expect(throws: RecordError.self) {
            _ = try accounts.previewOfDeployment(container: container)
        }
        let refusal = #expect(throws: RecordError.self) {
            _ = try accounts.deploySchema(container: container)
        }
        #expect(refusal?.code == .badRequest && refusal?.reason.contains("\\u{") == true)
        #expect(preview?.reason == refusal?.reason)
        _ = try fixture.modify([RecordOperation(.forceDelete, odd)])
        #expect(try save(note("a", ["title": .string("t")]), fixture) == nil)
        #expect(try accounts.deploySchema(container: container).isEmpty == false)
    }

    /// Those beyond what a schema holds would be left out without a word, too.
    @Test func moreFieldsThanASchemaHoldsAreNotLeftOut() throws {
        for part in 0..<40 {
            var wide = Record(recordName: "wide-\(part)", recordType: "Wide")
            for field in 0..<256 { wide.fields["f\(part)x\(field)"] = .int64(1) }
            #expect(try save(wide, fixture) == nil)
        }
        let refusal = #expect(throws: RecordError.self) {
            _ = try accounts.deploySchema(container: container)
        }
        #expect(refusal?.code == .limitExceeded)
        let last = Record(recordName: "wide-39", recordType: "Wide")
        _ = try fixture.modify([RecordOperation(.forceDelete, last)])
        #expect(try accounts.deploySchema(container: container).isEmpty == false)
    }

    /// Development takes any name, and so does the deployment: what apps build on stays theirs.
    @Test func whatDevelopmentTakesCanBeDeployed() throws {
        func record(_ type: String, _ fields: RecordFields) -> Record {
            Record(recordName: type, recordType: type, fields: fields)
        }
        let records = [
            record("Good", ["my-field": .int64(1), "x": .int64(1)]),
            record("My Type", ["a\"b": .string("x")]), record("Größe", ["höhe": .double(1)]),
        ]
        for record in records { #expect(try save(record, fixture) == nil) }
        var share = Record(recordName: "cloudkit.zoneshare", recordType: "cloudkit.share")
        share.fields["cloudkit.title"] = .string("t")
        #expect(try save(share, fixture) == nil)
        let production = inProduction()
        try production.createZone(ServiceFixture.zone)
        #expect(
            try accounts.deploySchema(container: container).lines == [
                "+ record type Good", "+ Good.my-field INT64", "+ Good.x INT64",
                "+ record type Größe", "+ Größe.höhe DOUBLE", "+ record type My Type",
                "+ My Type.a\"b STRING",
            ])
        for record in records { #expect(try save(record, production) == nil) }
        #expect(try accounts.deploySchema(container: container).isEmpty)
    }

    /// What belongs to sharing is every type's: no schema names it.
    @Test(arguments: [ServiceDialect.extended, .plain])
    func sharingNeedsNoFieldOfTheSchema(dialect: ServiceDialect) throws {
        var world = try SharingFixture(dialect: dialect)
        try world.anna.save(.note("learnt"))
        try world.anna.service.accounts.deploySchema(container: container)
        world = SharingFixture(inProduction: world)
        try world.anna.createZone(ServiceFixture.zone)
        let share = try world.shareRoot()
        #expect(try world.accept(share, world.bert).error == nil)
        #expect(try world.see(["root", "a", "b"], world.bert) == [nil, nil, nil])
        // What comes later comes into the share, too.
        let child = SharingFixture.child("c", of: "a")
        #expect(
            try world.anna.modify([RecordOperation(.create, child)])[0].error == nil)
        #expect(try world.see(["c"], world.bert) == [nil])
    }

    /// A device sends again what a deployment may have cured; a plain service has no word for it.
    @Test(arguments: [(ServiceDialect.extended, true), (.plain, false)])
    func whatTheSchemaRefusesIsToldApart(dialect: ServiceDialect, isTold: Bool) throws {
        let fixture = try ServiceFixture(dialect: dialect)
        let accounts = fixture.service.accounts
        try fixture.save(note("a", ["title": .string("t")]))
        try accounts.deploySchema(container: container)
        var production = fixture
        production.target.environment = "production"
        try production.createZone(ServiceFixture.zone)
        func tells(_ error: RecordError?) throws -> Bool {
            let error = try #require(error)
            #expect(error.code == .badRequest)
            let body = try WireCodec.encode(error)
            let again = try WireCodec.encode(WireCodec.decodeError(body))
            #expect(again == body)
            return String(decoding: body, as: UTF8.self).contains(#""detail":"SCHEMA""#)
        }
        var other = Record(recordName: "o", recordType: "Other")
        other.fields["x"] = .int64(1)
        for record in [
            note("b", ["colour": .string("red")]), note("b", ["title": .int64(1)]), other,
        ] {
            #expect(try tells(save(record, production)) == isTold)
        }
        // Who removes a field from all records makes room for another type.
        #expect(try tells(save(note("b", ["title": .int64(1)]), fixture)) == isTold)
        let there = try fixture.modify([RecordOperation(.create, note("a", [:]))])[0].error
        #expect(try !WireCodec.encode(#require(there)).contains(Data(#""detail""#.utf8)))
    }

    @Test func anImportAddsAndGrants() throws {
        let text = """
            DEFINE SCHEMA
            CREATE ROLE Editor;
            RECORD TYPE Note (
                title STRING QUERYABLE SORTABLE,
                GRANT READ TO "_world", GRANT CREATE, WRITE TO Editor
            );
            """
        let added = try accounts.importSchema(try RecordSchema(text: text), container: container)
        #expect(added.lines.contains("+ Note.title STRING QUERYABLE SORTABLE"))
        #expect(try fixture.service.queryableFields(container: container) == ["Note": ["title"]])
        let grants = try accounts.grants(container: container)
        #expect(grants.map(\.role) == ["Editor", "_world"])
        #expect(grants[0].creates && grants[0].writes && !grants[0].reads)
        let again = try accounts.schema(container: container, environment: "development")
        #expect(SchemaDifference(from: try RecordSchema(text: text), to: again).isEmpty)
    }

    @Test func aTypeNeverChanges() throws {
        #expect(try save(note("a", ["count": .int64(1)]), fixture) == nil)
        let other = try RecordSchema(text: "DEFINE SCHEMA RECORD TYPE Note ( count STRING );")
        let used = #expect(throws: RecordError.self) {
            try accounts.importSchema(other, container: container)
        }
        #expect(used?.code == .badRequest && used?.reason.contains("Note.count") == true)
        try accounts.deploySchema(container: container)
        _ = try fixture.modify([
            RecordOperation(.forceDelete, Record(recordName: "a", recordType: ""))
        ])
        // No record has it any more, but production does.
        let deployed = #expect(throws: RecordError.self) {
            try accounts.importSchema(other, container: container)
        }
        #expect(deployed?.code == .badRequest)
        let nowhere = #expect(throws: RecordError.self) {
            try accounts.deploySchema(container: "iCloud.none")
        }
        #expect(nowhere?.code == .notFound)
    }

    @Test func aPreviewTellsWhatADeedWouldDoAndDoesNothing() throws {
        let schema = try RecordSchema(
            text: """
                DEFINE SCHEMA
                CREATE ROLE Editor;
                RECORD TYPE Note (
                    title STRING QUERYABLE,
                    GRANT CREATE TO Editor
                    // diptych: UNIQUE (title)
                );
                """)
        func preview() throws -> SchemaDifference {
            try accounts.previewOfImport(schema, container: container)
        }
        let shown = try preview()
        #expect(shown.lines.contains("+ Note: UNIQUE (title)"))
        #expect(try fixture.service.queryableFields(container: container).isEmpty)
        #expect(try accounts.grants(container: container).isEmpty)
        // No key was left behind: two of one title are taken, and refused by the next preview.
        for name in ["a", "b"] {
            #expect(try save(note(name, ["title": .string("t")]), fixture) == nil)
        }
        let refused = #expect(throws: RecordError.self) { try preview() }
        #expect(refused?.code == .uniqueFieldError)
        _ = try fixture.modify([
            RecordOperation(.forceDelete, Record(recordName: "b", recordType: ""))
        ])
        let now = try preview()
        #expect(try accounts.importSchema(schema, container: container) == now)

        let production = inProduction()
        try production.createZone(ServiceFixture.zone)
        let added = try accounts.previewOfDeployment(container: container)
        #expect(added.lines.contains("+ Note.title STRING QUERYABLE"))
        // Production takes everything still.
        #expect(try save(note("c", ["early": .double(1)]), production) == nil)
        let other = #expect(throws: RecordError.self) {
            try accounts.deploySchema(
                container: container, agreed: Array(added.lines.dropLast()))
        }
        #expect(other?.code == .conflict)
        #expect(try save(note("d", ["early": .double(1)]), production) == nil)
        // What production has learnt from records meanwhile counts as well.
        let rest = try accounts.previewOfDeployment(container: container)
        #expect(added.lines.first == "+ record type Note" && rest != added)
        #expect(try accounts.deploySchema(container: container, agreed: rest.lines) == rest)
        #expect(try save(note("e", ["late": .double(1)]), production) != nil)
    }

    @Test func theWorldWritesNothing() throws {
        let text = "DEFINE SCHEMA RECORD TYPE N ( GRANT WRITE TO \"_world\" );"
        #expect(throws: RecordError.self) {
            try accounts.importSchema(try RecordSchema(text: text), container: container)
        }
        #expect(try accounts.grants(container: container).isEmpty)
        #expect(
            try accounts.schema(container: container, environment: "development")
                .recordTypes.isEmpty)
    }
}
