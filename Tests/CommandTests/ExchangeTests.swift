import Foundation
import Testing

/// Stores out of one file and into another, of the same type or another.
@Suite struct ExchangeTests {
    @Test func anExportIsReadBackExactly() throws {
        let workshop = try Workshop()
        let (store, model) = try workshop.everyKind()
        let export = try workshop.done(["export", store]).output
        #expect(export.split(separator: "\n").count == 7)
        let copy = workshop.path("Copy.sqlite")
        try workshop.done(["create", copy, "--model", model])
        let run = try workshop.done(["import", copy, "-", "--json"], input: export)
        #expect(run.json["inserted"] as? Int == 7)
        let again = try workshop.done(["export", copy]).output
        #expect(try workshop.meaning(again) == workshop.meaning(export))
        let values = """
            select Z_ENT, ZNAME, quote(ZI64), quote(ZDEC), quote(ZDBL), quote(ZFLT), quote(ZDAY), \
            quote(ZDATA), quote(ZID), quote(ZSHAPE), quote(ZTEXT) from ZITEM order by ZNAME
            """
        #expect(try workshop.sql(copy, values) == workshop.sql(store, values))
        try workshop.done(["inspect", copy, "--check"])
    }

    @Test func valuesAreSpelledExactly() throws {
        let workshop = try Workshop()
        let (store, _) = try workshop.everyKind()
        let lines = try workshop.done(["export", store]).lines
        func values(_ name: String) -> [String: Any] {
            lines.compactMap { $0["values"] as? [String: Any] }
                .first { $0["name"] as? String == name } ?? [:]
        }
        let a = values("a")
        #expect(a["i64"] as? String == "9223372036854775807")
        #expect(a["dec"] as? String == "12345678901234.5")
        #expect(a["data"] as? String == "AP8Q")
        #expect(a["flag"] as? Bool == true)
        #expect((a["day"] as? String)?.hasPrefix("2026-03-14T09:26:53.5") == true)
        #expect((values("b")["day"] as? String)?.hasPrefix("2023-03-08T20:26:40.123456") == true)
        // A moment that ISO 8601 would round stands as its seconds since 2001.
        #expect(values("c")["day"] as? String == "-0.1")
        #expect(values("d")["day"] as? String == "1e+300")
        #expect(values("d")["text"] == nil)
        #expect(values("e")["size.width"] as? String == "1.5")
    }

    @Test(arguments: ["xml", "binary", "sqlite"])
    func aStoreIsConvertedAndBack(type: String) throws {
        let workshop = try Workshop()
        let (store, model) = try workshop.everyKind()
        let other = workshop.path("Other.store")
        let run = try workshop.done(["convert", store, other, "--to", type, "--json"])
        #expect(run.json["objects"] as? Int == 7)
        let back = workshop.path("Back.sqlite")
        try workshop.done(["convert", other, back, "--to", "sqlite", "--model", model])
        let meaning = try workshop.meaning(workshop.done(["export", store]).output)
        #expect(try workshop.meaning(workshop.done(["export", back]).output) == meaning)
        let direct = try workshop.done(["export", other, "--model", model]).output
        #expect(try workshop.meaning(direct) == meaning)
        try workshop.done(["inspect", back, "--check"])
        try workshop.done(["inspect", other, "--check", "--model", model])
    }

    @Test func whatIsThereIsNotReplaced() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let run = try workshop.run("convert", library, library, "--to", "xml", "--json")
        #expect(run.status == 1)
        #expect(run.errorCode == "exists")
        let unsaid = try workshop.run("convert", library, workshop.path("o.xml"), "--json")
        #expect(unsaid.status == 2)
        #expect(!FileManager.default.fileExists(atPath: workshop.path("o.xml")))
    }

    private static let badLines: [(line: String, words: String)] = [
        ("nonsense", "no object"), (#"{"entity":"Bok"}"#, "no entity 'Bok'"),
        (#"{"entity":"Person"}"#, "abstract"), (#"{"entity":"Book"}"#, "lacks title"),
        (#"{"entity":"Book","values":{"title":3}}"#, "no value for title"),
        (#"{"entity":"Book","values":{"titel":"x"}}"#, "has no 'titel'"),
        (
            #"{"entity":"Book","values":{"title":"x"},"relationships":{"author":"Author/9"}}"#,
            "'Author/9'"
        ),
        (
            #"{"id":"b","entity":"Book","values":{"title":"x"},"relationships":{"author":"b"}}"#,
            "another entity"
        ),
    ]

    @Test(arguments: badLines) func aBadLineIsNamedAndNothingIsImported(
        line: String, words: String
    ) throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let good = #"{"id":"t","entity":"Tag","values":{"name":"t"}}"#
        let run = try workshop.run("import", library, "-", "--json", input: "\(good)\n\(line)\n")
        #expect(run.status == 1)
        #expect(run.errorCode == "badLine")
        let message = run.error["message"] as? String ?? ""
        #expect(message.hasPrefix("Line 2: ") && message.contains(words))
        #expect(try workshop.sql(library, "select count(*) from ZTAG") == "0")
    }

    @Test func uniqueKeysAreKept() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let line = #"{"entity":"Tag","values":{"name":"t"}}"#
        try workshop.done(["import", library, "-"], input: line)
        let run = try workshop.run("import", library, "-", "--json", input: line)
        #expect(run.errorCode == "notUnique")
        #expect(try workshop.sql(library, "select count(*) from ZTAG") == "1")
    }
}
