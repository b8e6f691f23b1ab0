import Foundation
import RecordWire
import Testing

/// The text of `.ckdb` files.
@Suite struct SchemaTextTests {
    private static let sample = """
        // Exported by hand.
        DEFINE SCHEMA

            CREATE ROLE Editor;

            RECORD TYPE Note (
                "___createTime" TIMESTAMP QUERYABLE SORTABLE,
                "___recordID"   REFERENCE QUERYABLE,
                body            ENCRYPTED STRING, -- sealed
                tags            LIST<STRING> QUERYABLE,
                "type"          INT64 /* a word
                of the language */ SORTABLE,
                GRANT READ, WRITE TO Editor,
                GRANT WRITE TO "_creator",
                GRANT CREATE TO "_icloud",
                GRANT READ TO "_world"
            );

            RECORD TYPE Empty (
                GRANT READ TO "_world"
            );
        """

    @Test func aFileIsReadAndWrittenAlike() throws {
        let schema = try RecordSchema(text: Self.sample)
        #expect(schema.roles == ["Editor"])
        let note = try #require(schema["Note"])
        #expect(note.fields.count == 5)
        #expect(note["body"]?.type == .init(.string, isEncrypted: true))
        #expect(note["tags"]?.type == .init(.string, isList: true))
        #expect(note["type"]?.indexes == [.sortable])
        #expect(note["___createTime"]?.isSystem == true)
        #expect(note.grants.first == .init([.read, .write], to: "Editor"))
        let again = try RecordSchema(text: schema.text)
        #expect(again.text == schema.text)
        #expect(SchemaDifference(from: schema, to: again).isEmpty)
        #expect(schema.text.contains("\"type\" "))
        #expect(schema.text.contains("GRANT READ, WRITE TO Editor"))
    }

    @Test(arguments: RecordSchema.FieldType.Primitive.allCases, [false, true])
    func typesHaveTheirSpellingsOnTheWire(
        primitive: RecordSchema.FieldType.Primitive, isList: Bool
    ) {
        let type = RecordSchema.FieldType(primitive, isList: isList)
        #expect(RecordSchema.FieldType(wireName: type.wireName) == type)
    }

    @Test func whatAFieldIsSavedAsHasAType() {
        let values: [FieldValue] = [.string("a"), .int64(1), .double(1), .bytes(Data([1]))]
        for value in values {
            #expect(
                RecordSchema.FieldType(wireName: value.schemaType)?.wireName == value.schemaType)
        }
        #expect(RecordSchema.FieldType(wireName: "UNKNOWN") == nil)
    }

    @Test(arguments: [
        ("", "Line 1", "DEFINE"),
        ("DEFINE SCHEMA\nRECORD Note ( );", "Line 2", "TYPE"),
        ("DEFINE SCHEMA\n\nRECORD TYPE Note (\n a TEXT\n);", "Line 4", "a type belongs here"),
        ("DEFINE SCHEMA RECORD TYPE Note ( a STRING, a INT64 );", "Line 1", "twice"),
        ("DEFINE SCHEMA RECORD TYPE Note (); RECORD TYPE Note ();", "Line 1", "twice"),
        ("DEFINE SCHEMA RECORD TYPE Note ( type STRING );", "Line 1", "quotes"),
        ("DEFINE SCHEMA RECORD TYPE Note ( a ENCRYPTED ASSET );", "Line 1", "cannot be ENCRYPTED"),
        ("DEFINE SCHEMA RECORD TYPE Note ( a STRING )", "Line 1", "';'"),
        ("DEFINE SCHEMA RECORD TYPE \"No", "Line 1", "quote"),
        ("DEFINE SCHEMA /* no end", "Line 1", "comment"),
        ("DEFINE SCHEMA RECORD TYPE N ( GRANT READ TO Boss );", "Boss", "CREATE ROLE"),
        ("DEFINE SCHEMA RECORD TYPE N ( a ENCRYPTED STRING QUERYABLE );", "N.a", "encrypted"),
        ("DEFINE SCHEMA RECORD TYPE Bäume ( );", "Line 1", "belongs"),
    ])
    func whatCannotBeReadIsNamed(text: String, place: String, what: String) {
        let error = #expect(throws: RecordError.self) { _ = try RecordSchema(text: text) }
        #expect(error?.code == .badRequest)
        #expect(error?.reason.contains(place) == true, "\(error?.reason ?? "")")
        #expect(error?.reason.contains(what) == true, "\(error?.reason ?? "")")
    }

    @Test func differencesAreTold() throws {
        let old = try RecordSchema(
            text: "DEFINE SCHEMA RECORD TYPE N ( a STRING, b INT64, c STRING QUERYABLE );")
        let new = try RecordSchema(
            text: """
                DEFINE SCHEMA CREATE ROLE R;
                RECORD TYPE N ( a STRING SORTABLE, b DOUBLE, d LIST<INT64>, GRANT READ TO R );
                RECORD TYPE M ( x BYTES );
                """)
        let lines = SchemaDifference(from: old, to: new).lines
        #expect(
            lines == [
                "+ role R", "+ record type M", "+ M.x BYTES", "+ N.a SORTABLE",
                "+ N.d LIST<INT64>", "+ N: READ to R", "- N.c STRING QUERYABLE",
                "! N.b is DOUBLE, was INT64",
            ])
        let merged = old.merged(with: new)
        #expect(merged["N"]?["b"]?.type == .init(.int64))
        #expect(merged["N"]?["c"] != nil && merged["N"]?["d"] != nil && merged["M"] != nil)
        #expect(merged["N"]?["a"]?.indexes == [.sortable])
        #expect(SchemaDifference(from: merged, to: old.merged(with: merged)).isEmpty)
    }
}
