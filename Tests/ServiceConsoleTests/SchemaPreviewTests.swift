import Foundation
import RecordServer
import RecordService
import RecordWire
import ServiceConsole
import Testing

/// What a schema would change, before it does.
@Suite struct SchemaPreviewTests {
    private let log: URL
    private let fixture: ConsoleFixture
    private static let path = "schemas/" + ConsoleFixture.container

    init() throws {
        log = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-preview-\(UUID().uuidString)")
        fixture = try ConsoleFixture(audit: AuditLog(log, by: "root"))
    }

    private func ask(_ method: String, _ path: String, _ body: String = "") throws -> HTTPResponse {
        try fixture.send(
            method, "/console/api/" + path, body,
            headers: [("Authorization", "Bearer \(fixture.administrator.secret)")])
    }

    private func changes(_ answer: HTTPResponse) throws -> [String] {
        try #require(try answer.object()["changes"] as? [String])
    }

    private func text(_ environment: String) throws -> String {
        let answer = try ask("GET", Self.path + "/" + environment).object()
        return try #require(answer["text"] as? String)
    }

    private func acts() throws -> [String] {
        try ask("GET", "audit").list().compactMap { $0["act"] as? String }
    }

    private static func body(_ schema: String) -> String { #"{"text":"\#(schema)"}"# }

    private static let book = "DEFINE SCHEMA RECORD TYPE Book (isbn STRING QUERYABLE);"

    private func save(_ record: String, isbn: String, in environment: String) throws {
        let session = try fixture.signIn(fixture.tokenOfAnna.secret)
        let database = "database/\(ConsoleFixture.container)/\(environment)/private/"
        let zone = #"{"zoneID":{"zoneName":"shelf"}}"#
        _ = try session.send(
            "POST", database + "zones/modify",
            #"{"operations":[{"operationType":"create","zone":\#(zone)}]}"#)
        let fields = #"{"isbn":{"value":"\#(isbn)","type":"STRING"}}"#
        let saved = try session.send(
            "POST", database + "records/modify",
            """
            {"zoneID":{"zoneName":"shelf"},"operations":[{"operationType":"create","record":
            {"recordName":"\(record)","recordType":"Book","fields":\(fields)}}]}
            """)
        try #require(saved.status == 200 && !saved.text.contains("serverErrorCode"))
    }

    @Test func anImportIsShownAndNotDone() throws {
        defer { try? FileManager.default.removeItem(at: log) }
        let before = try text("development")
        let shown = try changes(ask("POST", Self.path + "/preview", Self.body(Self.book)))
        #expect(shown == ["+ record type Book", "+ Book.isbn STRING QUERYABLE"])
        #expect(try text("development") == before)
        #expect(try !acts().contains("schemaImported"))
        let done = try changes(ask("POST", Self.path, Self.body(Self.book)))
        #expect(done == shown)
        #expect(try acts().last == "schemaImported")
        let nothing = try ask("POST", Self.path + "/preview", Self.body(Self.book))
        #expect(try changes(nothing).isEmpty)
    }

    /// An import takes the place of the last one, so one of somebody else would go unseen.
    @Test func anImportOfWhatWasShownTakesNobodyElsesAway() throws {
        defer { try? FileManager.default.removeItem(at: log) }
        let shown = try changes(ask("POST", Self.path + "/preview", Self.body(Self.book)))
        let other = "DEFINE SCHEMA RECORD TYPE Note (text STRING);"
        _ = try ask("POST", Self.path, Self.body(other))
        let lines = String(decoding: try JSONEncoder().encode(shown), as: UTF8.self)
        let body = #"{"text":"\#(Self.book)","changes":\#(lines)}"#
        #expect(try ask("POST", Self.path, body).status == 409)
        #expect(try text("development").contains("RECORD TYPE Note"))
        #expect(try acts().filter { $0 == "schemaImported" }.count == 1)
        let now = try changes(ask("POST", Self.path + "/preview", Self.body(Self.book)))
        #expect(now.contains { $0.contains("Note") })
        let agreed = String(decoding: try JSONEncoder().encode(now), as: UTF8.self)
        let again = #"{"text":"\#(Self.book)","changes":\#(agreed)}"#
        #expect(try changes(ask("POST", Self.path, again)) == now)
    }

    /// A preview refuses what the deed would, in the same words.
    @Test func aPreviewRefusesWhatTheImportWould() throws {
        defer { try? FileManager.default.removeItem(at: log) }
        try save("one", isbn: "7", in: "development")
        try save("two", isbn: "7", in: "development")
        let unique =
            "DEFINE SCHEMA RECORD TYPE Book (isbn STRING\\n// diptych: UNIQUE (isbn)\\n);"
        let retyped = "DEFINE SCHEMA RECORD TYPE Book (isbn INT64);"
        let world = "DEFINE SCHEMA RECORD TYPE Book (isbn STRING, GRANT WRITE TO \\\"_world\\\");"
        for (schema, status) in [
            (unique, 409), (retyped, 400), (world, 400), ("RECORD (", 400),
        ] {
            let shown = try ask("POST", Self.path + "/preview", Self.body(schema))
            let done = try ask("POST", Self.path, Self.body(schema))
            #expect(shown.status == status, "\(schema): \(shown.text)")
            #expect(shown.text == done.text)
        }
        let elsewhere = "schemas/iCloud.nobody/preview"
        #expect(try ask("POST", elsewhere, Self.body(Self.book)).status == 404)
        let misspelled = try ask("POST", Self.path + "/preview", #"{"txt":""}"#)
        #expect(misspelled.status == 400 && misspelled.text.contains("'txt'"))
        let large = String(repeating: " ", count: 8 << 20)
        #expect(try ask("POST", Self.path + "/preview", Self.body(large)).status == 400)
    }

    @Test func aDeploymentIsShownAndNothingElseIsDone() throws {
        defer { try? FileManager.default.removeItem(at: log) }
        let deployment = Self.path + "/deployment"
        _ = try ask("POST", Self.path, Self.body(Self.book))
        let before = try text("production")
        let shown = try changes(ask("GET", deployment))
        #expect(shown == ["+ record type Book", "+ Book.isbn STRING QUERYABLE"])
        #expect(try text("production") == before)
        // Before the first deployment production takes everything: a preview changed that as
        // little.
        try save("one", isbn: "7", in: "production")
        #expect(try !acts().contains("schemaDeployed"))

        // Development goes on after somebody looked.
        let more = Self.book.replacing("isbn STRING QUERYABLE", with: "title STRING")
        _ = try ask("POST", Self.path, Self.body(more))
        func agreed(_ lines: [String]) throws -> String {
            String(decoding: try JSONEncoder().encode(["changes": lines]), as: UTF8.self)
        }
        let refused = try ask("POST", deployment, agreed(shown))
        #expect(refused.status == 409 && refused.text.contains("look again"))
        #expect(try !acts().contains("schemaDeployed"))
        let now = try changes(ask("GET", deployment))
        #expect(now != shown)
        #expect(try changes(ask("POST", deployment, agreed(now))) == now)
        #expect(try acts().last == "schemaDeployed")
        #expect(try text("production").contains("title STRING"))
        // Programs that saw nothing deploy what there is, with or without a body.
        for body in ["", "{}"] { #expect(try ask("POST", deployment, body).status == 200) }
        #expect(try ask("POST", deployment, #"{"change":[]}"#).status == 400)
        #expect(try ask("GET", "schemas/iCloud.nobody/deployment").status == 404)
    }

    @Test func aSchemaIsToldTakenApart() throws {
        defer { try? FileManager.default.removeItem(at: log) }
        let schema =
            "DEFINE SCHEMA RECORD TYPE Book (isbn STRING QUERYABLE, colour LIST<STRING>,"
            + "\\n// diptych: UNIQUE (isbn)\\n// diptych: RETIRED (colour) FROM 2.10\\n);"
        let taken = try ask("POST", Self.path, Self.body(schema))
        #expect(taken.status == 200, "\(taken.text)")
        let told = try ask("GET", Self.path + "/development").object()
        let book = try #require((told["recordTypes"] as? [[String: Any]])?.first)
        #expect(book["name"] as? String == "Book" && book["keys"] as? [[String]] == [["isbn"]])
        let fields = try #require(book["fields"] as? [[String: Any]])
        #expect(fields.map { $0["name"] as? String } == ["colour", "isbn"])
        #expect(fields.map { $0["type"] as? String } == ["LIST<STRING>", "STRING"])
        #expect(fields.map { $0["indexes"] as? [String] } == [[], ["QUERYABLE"]])
        #expect(fields.map { $0["retiredFrom"] as? String } == ["2.10", nil])
    }

    /// What was taken back reads otherwise than what was done.
    @Test func theAuditTellsKeptFieldsFromRetiredOnes() throws {
        defer { try? FileManager.default.removeItem(at: log) }
        _ = try ask("POST", Self.path, Self.body(Self.book))
        func last() throws -> [String: String]? {
            try ask("GET", "audit").list().last?["details"] as? [String: String]
        }
        let wish = #"{"recordType":"Book","field":"isbn","from":"2.10"}"#
        _ = try ask("POST", Self.path + "/retirements", wish)
        #expect(try last() == ["retired": "Book.isbn", "from": "2.10"])
        _ = try ask("POST", Self.path + "/deployment")
        _ = try ask("DELETE", Self.path + "/production/fields/Book/isbn")
        #expect(
            try last()
                == ["removed": "Book.isbn", "records": "0", "environment": "production"])
        _ = try ask("DELETE", Self.path + "/development/retirements/Book/isbn")
        #expect(try last() == ["kept": "Book.isbn", "environment": "development"])
        let key = #"{"recordType":"Book","fields":["isbn"]}"#
        _ = try ask("POST", Self.path + "/keys", key)
        _ = try ask("DELETE", Self.path + "/development/keys/Book/isbn")
        #expect(try last() == ["notUnique": "Book", "environment": "development"])
    }

    /// A page of somebody else's sends the cookie, and lacks what the console's own page knows.
    @Test func otherPagesDeployNothing() throws {
        defer { try? FileManager.default.removeItem(at: log) }
        _ = try ask("POST", Self.path, Self.body(Self.book))
        let session = try fixture.signIn(fixture.administrator.secret)
        for path in ["/deployment", "/preview"] {
            let forged = try fixture.send(
                "POST", "/console/api/" + Self.path + path, Self.body(Self.book),
                headers: [("Cookie", session.cookie)])
            #expect(forged.status == 403)
        }
        #expect(try !acts().contains("schemaDeployed"))
        #expect(try session.send("POST", Self.path + "/deployment", "{}").status == 200)
        #expect(try acts().last == "schemaDeployed")
    }
}
