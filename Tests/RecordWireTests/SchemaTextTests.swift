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

    @Test(arguments: [
        "My Type", "Größe", "9T-x y", "my-field", "a\"b", "\"", "\"\"", "// diptych: UNIQUE (a)",
        "/* a", "\u{301}a", "a\u{301}", "a;b,(c)", " ",
    ])
    func anyNameStandsInQuotes(name: String) throws {
        #expect(RecordSchema.canSpell(name))
        var type = RecordSchema.TypeDefinition(
            name: name,
            fields: [
                .init(name: name, type: .init(.string)), .init(name: "b", type: .init(.int64)),
            ],
            naturalKeys: [.init([name])])
        #expect(type.retire("b", from: ClientVersion("2")) == nil)
        let schema = RecordSchema(recordTypes: [type])
        let read = try RecordSchema(text: schema.text)
        #expect(read.text == schema.text && SchemaDifference(from: schema, to: read).isEmpty)
        #expect(read[name]?[name]?.type == .init(.string))
        #expect(read[name]?["b"]?.retiredFrom == ClientVersion("2"))
    }

    @Test(arguments: ["", "a\nb", "a\u{2028}b", "a\u{0}b", String(repeating: "x", count: 256)])
    func aNameOfMoreThanALineIsNone(name: String) {
        #expect(!RecordSchema.canSpell(name))
        #expect(throws: RecordError.self) {
            try RecordSchema(text: "DEFINE SCHEMA RECORD TYPE \"\(name)\" ( a STRING );")
        }
    }

    @Test func naturalKeysStandInComments() throws {
        let text = """
            DEFINE SCHEMA
            RECORD TYPE Book (
                isbn STRING, // diptych: UNIQUE (isbn)
                title STRING,
                "type" INT64
                // diptych: UNIQUE ("type", title)
                // of a diptych: nothing
            );
            """
        let schema = try RecordSchema(text: text)
        let keys: Set<RecordSchema.NaturalKey> = [.init(["isbn"]), .init(["title", "type"])]
        #expect(schema["Book"]?.naturalKeys == keys)
        #expect(schema.text.contains("        // diptych: UNIQUE (title, \"type\")\n    );"))
        #expect(try RecordSchema(text: schema.text)["Book"]?.naturalKeys == keys)
        var without = schema
        without.recordTypes[0].naturalKeys = []
        #expect(
            SchemaDifference(from: without, to: schema).lines
                == ["+ Book: UNIQUE (isbn)", "+ Book: UNIQUE (title, \"type\")"])
        #expect(without.merged(with: schema)["Book"]?.naturalKeys == keys)
    }

    @Test(arguments: [
        ("a STRING // diptych: UNIQUE (b)", "no field b"),
        ("a LIST<STRING> // diptych: UNIQUE (a)", "LIST<STRING>"),
        ("a ENCRYPTED STRING // diptych: UNIQUE (a)", "ENCRYPTED"),
        ("a LOCATION // diptych: UNIQUE (a)", "LOCATION"),
        ("a STRING // diptych: UNIQUE ()", "a field's name"),
        ("a STRING // diptych: UNIQE (a)", "UNIQUE belongs"),
        ("a STRING // diptych: UNIQUE (a) b", "one thing"),
        ("\"___etag\" STRING // diptych: UNIQUE (\"___etag\")", "of its own"),
    ])
    func aKeyThatCannotBeIsRefusedWithItsLine(field: String, word: String) {
        let error = #expect(throws: RecordError.self) {
            try RecordSchema(text: "DEFINE SCHEMA\nRECORD TYPE T (\n\(field)\n);")
        }
        #expect(error?.reason.contains(word) == true, "\(error as Any)")
        #expect(error?.reason.contains("Line 3") == true)
        #expect(throws: RecordError.self) {
            try RecordSchema(
                text: "DEFINE SCHEMA\n// diptych: UNIQUE (a)\nRECORD TYPE T (a STRING);")
        }
    }

    @Test func retirementsStandInComments() throws {
        let text = """
            DEFINE SCHEMA
            RECORD TYPE Book (
                colour STRING, size INT64, title STRING
                // diptych: RETIRED (colour, size) FROM 2.10.0
            );
            """
        let schema = try RecordSchema(text: text)
        #expect(schema["Book"]?["colour"]?.retiredFrom == ClientVersion("2.10"))
        #expect(schema["Book"]?["title"]?.retiredFrom == nil)
        #expect(schema.text.contains("        // diptych: RETIRED (size) FROM 2.10\n"))
        #expect(try RecordSchema(text: schema.text) == schema)
        var without = schema
        for index in without.recordTypes[0].fields.indices {
            without.recordTypes[0].fields[index].retiredFrom = nil
        }
        #expect(
            SchemaDifference(from: without, to: schema).lines == [
                "+ Book.colour RETIRED FROM 2.10", "+ Book.size RETIRED FROM 2.10",
            ])
        #expect(without.merged(with: schema)["Book"]?["size"]?.retiredFrom != nil)
        for wrong in ["FROM", "FROM x", "FROM 1..2", "2", "FROM 1 2 (", "FROM 1.2.3.4.5"] {
            #expect(throws: RecordError.self) {
                try RecordSchema(text: text.replacing("FROM 2.10.0", with: wrong))
            }
        }
    }

    @Test func versionsAreNumbersInOrder() throws {
        let texts = ["0", "1", "1.0.1", "1.2", "1.10", "2", "2.0.0.1", "999999999"]
        let versions = try texts.map { try #require(ClientVersion($0)) }
        #expect(versions.sorted() == versions && Set(versions).count == versions.count)
        #expect(versions.map(\.description) == texts)
        #expect(ClientVersion("1.0.0") == ClientVersion("1"))
        for wrong in ["", ".", "1.", "a", "1.2.3.4.5", "-1", "1 ", "1234567890", "１"] {
            #expect(ClientVersion(wrong) == nil)
        }
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

    /// Each type and field is found at once: with a look through all of them for each this would be
    /// hundreds of millions of looks.
    @Test func aSchemaOfTenThousandTypesIsReadMergedAndCompared() throws {
        let count = 10_000
        func text(_ numbers: Range<Int>) -> String {
            "DEFINE SCHEMA\n"
                + numbers.map { "RECORD TYPE Type\($0) (GRANT READ TO \"_icloud\");\n" }.joined()
        }
        let old = try RecordSchema(text: text(0..<count))
        let new = try RecordSchema(text: text(1..<count + 1))
        #expect(
            SchemaDifference(from: old, to: new).lines == [
                "+ record type Type10000", "+ Type10000: READ to _icloud", "- record type Type0",
                "- Type0: READ to _icloud",
            ])
        let merged = old.merged(with: new)
        #expect(merged.recordTypes.count == count + 1)
        #expect(SchemaDifference(from: merged, to: new.merged(with: old)).isEmpty)
        let twice = text(0..<count) + "RECORD TYPE Type7 ();"
        let error = #expect(throws: RecordError.self) { _ = try RecordSchema(text: twice) }
        #expect(error?.reason.contains("Type7 stands here twice") == true)
    }
}
