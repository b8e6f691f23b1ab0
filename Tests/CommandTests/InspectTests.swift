import ChildProcesses
import Foundation
import Testing

/// What the command reads out of a store, and how it tells damage.
@Suite struct InspectTests {
    @Test func theFactsHaveTheirShape() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(
            library, "insert Author name=A\ninsert Reader name=B\ninsert Book title=C\nsave")
        let json = try workshop.done(["inspect", library, "--json"]).json
        #expect(Set(json.keys) == ["store", "model", "entities", "history", "mirror"])
        let store = json["store"] as? [String: Any] ?? [:]
        #expect(Set(store.keys) == ["type", "uuid", "frameworkVersion", "metadata"])
        #expect(store["type"] as? String == "SQLite")
        #expect((store["metadata"] as? [String: Any])?["NSStoreType"] as? String == "SQLite")
        let history = json["history"] as? [String: Int]
        #expect(history == ["transactions": 1, "changes": 3])
        #expect(json["mirror"] is NSNull)
        let entities = json["entities"] as? [[String: Any]] ?? []
        let keys: Set = [
            "name", "super", "abstract", "count", "countWithSubentities", "attributes",
            "relationships", "versionHash",
        ]
        #expect(entities.count == 7)
        #expect(entities.allSatisfy { Set($0.keys) == keys })
        let byName = Dictionary(
            entities.map { ($0["name"] as? String ?? "", $0) }, uniquingKeysWith: { $1 })
        #expect(byName["Person"]?["abstract"] as? Bool == true)
        #expect(byName["Person"]?["count"] as? Int == 0)
        #expect(byName["Person"]?["countWithSubentities"] as? Int == 2)
        #expect(byName["Author"]?["super"] as? String == "Person")
        #expect((byName["Book"]?["versionHash"] as? String)?.count == 64)
        let links = byName["Book"]?["relationships"] as? [[String: Any]] ?? []
        let chapters = links.first { $0["name"] as? String == "chapters" }
        #expect(chapters?["destination"] as? String == "Chapter")
        #expect(chapters?["inverse"] as? String == "book")
        #expect(chapters?["toMany"] as? Bool == true)
        #expect(chapters?["ordered"] as? Bool == true)
        let attributes = byName["Book"]?["attributes"] as? [[String: Any]] ?? []
        let title = attributes.first { $0["name"] as? String == "title" }
        #expect(title?["type"] as? String == "String")
        #expect(title?["optional"] as? Bool == false)
    }

    @Test func aStoreWithoutItsModelStillCounts() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(library, "insert Author name=A\ninsert Tag name=t")
        _ = try workshop.sql(library, "delete from Z_MODELCACHE")
        let json = try workshop.done(["inspect", library, "--json"]).json
        let counts = (json["entities"] as? [[String: Any]] ?? []).reduce(into: [String: Int]()) {
            $0[$1["name"] as? String ?? ""] = $1["countWithSubentities"] as? Int
        }
        #expect(counts["Person"] == 1)
        #expect(counts["Tag"] == 1)
        #expect(json["model"] as? String == "inferred")
        let rows = try workshop.done(["inspect", library, "--entity", "Tag", "--json"]).lines
        #expect((rows.first?["values"] as? [String: Any])?["name"] as? String == "t")
        let text = try workshop.done(["inspect", library]).output
        #expect(text.contains("names below are those of the file"))
        let all = try workshop.done(["inspect", library, "--properties"]).output
        #expect(all.contains("→ Person") || all.contains("→ Book"))
        try workshop.done(["inspect", library, "--entity", "Tag", "--model", Workshop.model])
        // What writes, or promises the store's own names, wants the model itself.
        #expect(try workshop.run("export", library, "--json").errorCode == "noModel")
    }

    @Test func objectsAreChosenSortedAndLimited() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(
            library,
            (1...9).map { "insert Book title=b\($0) pages=\($0)00" }.joined(separator: "\n"))
        func titles(_ words: String...) throws -> [String] {
            let words = ["inspect", library, "--entity", "Book", "--json"] + words
            return try workshop.done(words).lines.compactMap {
                ($0["values"] as? [String: Any])?["title"] as? String
            }
        }
        #expect(try titles("--where", "pages > 600", "--sort", "title") == ["b7", "b8", "b9"])
        #expect(try titles("--sort", "-pages", "--limit", "2") == ["b9", "b8"])
        #expect(try titles("--where", "title IN {'b1', 'b5'}", "--sort=pages") == ["b1", "b5"])
        #expect(try titles("--where", "pages > 5000").isEmpty)
        let text = try workshop.done([
            "inspect", library, "--entity", "Book", "--where", "pages == 300",
        ]).output
        // Too wide for a table: a block, with what has a value.
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines.first?.first?.hasPrefix("Book/p") == true)
        #expect(lines.contains(["title", "b3"]) && lines.contains(["pages", "300"]))
        #expect(lines.filter { $0.first == "title" }.count == 1)
        let narrow = try workshop.done(["inspect", library, "--entity", "Tag"]).output
        #expect(narrow.contains("No Tag"))
    }

    @Test func badQuestionsAreRefused() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let entity = try workshop.run("inspect", library, "--entity", "Bok", "--json")
        #expect(entity.errorCode == "unknownEntity")
        #expect((entity.error["hint"] as? String)?.contains("Did you mean Book?") == true)
        let predicate = try workshop.run(
            "inspect", library, "--entity", "Book", "--where", "pages >", "--json")
        #expect(predicate.status == 2)
        #expect(predicate.errorCode == "badPredicate")
        let key = try workshop.run("inspect", library, "--entity", "Book", "--where", "x == 1")
        #expect(key.status == 1)
        #expect(!key.complaint.contains("StoreError("))
    }

    @Test func theSchemaIsTheFilesOwn() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let json = try workshop.done(["inspect", library, "--schema", "--json"]).json
        let statements = (json["schema"] as? [[String: Any]] ?? []).compactMap {
            $0["sql"] as? String
        }
        #expect(statements.contains { $0.hasPrefix("CREATE TABLE ZBOOK ( Z_PK INTEGER") })
        // A new database made of it has the same tables.
        let text = try workshop.done(["inspect", library, "--schema"]).output
        let names = "select group_concat(name) from (select name from sqlite_master order by 1)"
        let copy = workshop.path("copy.sqlite")
        #expect(try workshop.sql(copy, text + names) == workshop.sql(library, names))
    }

    // MARK: Damage

    private static let damages: [(sql: String, code: String)] = [
        ("update ZBOOK set ZAUTHOR = 99", "danglingLink"),
        ("insert into Z_1TAGS values (77, 1)", "danglingPair"),
        ("insert into Z_1TAGS values (1, 88)", "danglingPair"),
        ("update Z_PRIMARYKEY set Z_MAX = 0 where Z_NAME = 'Book'", "keyBehind"),
        ("update ZPERSON set Z_ENT = 1", "unknownEntity"),
        ("update Z_METADATA set Z_PLIST = null", "damagedMetadata"),
        ("drop table ZTAG", "missingTable"),
        ("alter table ZBOOK drop column ZSHELF", "missingTable"),
        ("drop table Z_1TAGS", "missingTable"),
        ("update ZBOOK set ZTITLE = null", "missingValue"),
        ("update ZBOOK set ZPAGES = 'abc'", "badValue"),
        ("update ZBOOK set ZTITLE = x'ff00ff'", "badValue"),
        ("update ZJACKET set ZPICTURE = 'text'", "badValue"),
        (
            "update ZPERSON set Z_ENT = (select Z_ENT from Z_PRIMARYKEY where Z_NAME = 'Reader')",
            "wrongEntity"
        ),
        ("update Z_MODELCACHE set Z_CONTENT = x'00'", "damagedModel"),
    ]

    @Test(arguments: damages) func damageIsFoundAndNamed(sql: String, code: String) throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(
            library,
            "insert Author a name=A\ninsert Book b title=C author=a\ninsert Jacket book=b")
        let whole = try workshop.done(["inspect", library, "--check", "--json"]).json
        #expect(whole["ok"] as? Bool == true)
        #expect((whole["problems"] as? [Any])?.isEmpty == true)
        _ = try workshop.sql(library, sql)
        let run = try workshop.run("inspect", library, "--check", "--json")
        #expect(run.status == 1)
        #expect(run.json["ok"] as? Bool == false)
        let problems = run.json["problems"] as? [[String: Any]] ?? []
        #expect(problems.allSatisfy { Set($0.keys) == ["code", "message", "object", "hint"] })
        #expect(problems.contains { $0["code"] as? String == code })
    }

    @Test func whatIsNotComparedIsTold() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=T")
        let compared = try workshop.done(["inspect", library, "--check", "--json"]).json
        #expect(compared["compared"] as? Bool == true)
        _ = try workshop.sql(library, "delete from Z_MODELCACHE; update ZTAG set ZNAME = null")
        let run = try workshop.done(["inspect", library, "--check"])
        #expect(run.output.contains("were not compared with a model"), "\(run.output)")
        let json = try workshop.done(["inspect", library, "--check", "--json"]).json
        #expect(json["compared"] as? Bool == false)
        let model = try workshop.run(
            "inspect", library, "--check", "--model", Workshop.model, "--json")
        #expect(model.status == 1 && model.json["compared"] as? Bool == true)
    }

    /// Which ends SQLite's own look at the file.
    @Test func aFileThatSQLiteStopsAtIsDamaged() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=T")
        _ = try workshop.sql(
            library,
            "pragma wal_checkpoint(truncate); pragma writable_schema = on; "
                + "update sqlite_master set rootpage = 999999 where name = 'ZTAG'")
        let run = try workshop.run("inspect", library, "--check", "--json")
        #expect(run.status == 1)
        let problems = run.json["problems"] as? [[String: Any]] ?? []
        #expect(problems.contains { $0["code"] as? String == "damagedFile" }, "\(run.complaint)")
        #expect((problems.first?["hint"] as? String)?.contains("diptych convert") == true)
    }

    private static let linkDamages: [(sql: String, code: String)] = [
        ("update ZITEM set ZPARTNER = null where ZNAME = 'b'", "halfLink"),
        (
            "update ZITEM set ZPARTNER = (select Z_PK from ZITEM where ZNAME = 'c') "
                + "where ZNAME = 'b'", "crossedLink"
        ),
        ("insert into Z_2FRIENDS select Z_PK, 99 from ZITEM where ZNAME = 'a'", "danglingPair"),
        ("insert into Z_2FRIENDS select 98, Z_PK from ZITEM where ZNAME = 'a'", "danglingPair"),
    ]

    @Test(arguments: linkDamages) func linksWithOneEndAreFound(sql: String, code: String) throws {
        let workshop = try Workshop()
        let (store, _) = try workshop.everyKind()
        try workshop.done(["inspect", store, "--check"])
        let pairs = try workshop.sql(
            store, "select name from sqlite_master where name like 'Z_%FRIENDS' and type = 'table'")
        _ = try workshop.sql(store, sql.replacing("Z_2FRIENDS", with: pairs))
        let run = try workshop.run("inspect", store, "--check", "--json")
        #expect(run.status == 1)
        let problems = run.json["problems"] as? [[String: Any]] ?? []
        #expect(problems.contains { $0["code"] as? String == code })
        #expect(problems.allSatisfy { ($0["hint"] as? String)?.isEmpty == false })
        let text = try workshop.run("inspect", store, "--check").output
        #expect(text.contains("\(code): "))
    }

    /// Apple's files have one-to-ones of which one end is null: the end that points counts.
    @Test(arguments: ["sqlite", "xml", "binary"]) func aLinkWithOneEndIsKeptByConvert(
        type: String
    ) throws {
        let workshop = try Workshop()
        let (store, model) = try workshop.everyKind()
        _ = try workshop.sql(store, "update ZITEM set ZPARTNER = null where ZNAME = 'a'")
        let other = workshop.path("Other.store")
        try workshop.done(["convert", store, other, "--to", type])
        let lines = try workshop.done(["export", other, "--model", model]).lines
        let partners = lines.filter {
            ($0["relationships"] as? [String: Any])?["partner"] != nil
        }.compactMap { ($0["values"] as? [String: Any])?["name"] as? String }
        #expect(partners.sorted() == ["a", "b"])
        let export = try workshop.done(["export", store]).output
        let copy = workshop.path("Copy.sqlite")
        try workshop.done(["create", copy, "--model", model])
        try workshop.done(["import", copy, "-"], input: export)
        try workshop.done(["inspect", copy, "--check"])
        let both = "select count(*) from ZITEM where ZPARTNER is not null"
        #expect(try workshop.sql(copy, both) == "2")
    }

    /// Real files have links whose column for the target's entity is empty.
    @Test func aLinkThatNamesNoEntityIsKept() throws {
        let workshop = try Workshop()
        let (store, model) = try workshop.everyKind()
        let column = try workshop.sql(
            store, "select name from pragma_table_info('ZITEM') where name glob 'Z[0-9]*PARTNER'")
        _ = try workshop.sql(store, "update ZITEM set \(column) = null")
        let export = try workshop.done(["export", store]).output
        let copy = workshop.path("Copy.sqlite")
        try workshop.done(["create", copy, "--model", model])
        try workshop.done(["import", copy, "-"], input: export)
        let other = workshop.path("Other.sqlite")
        try workshop.done(["convert", store, other, "--to", "sqlite"])
        for made in [copy, other] {
            let links = "select count(*) from ZITEM where ZPARTNER is not null"
            #expect(try workshop.sql(made, links) == "2")
            try workshop.done(["inspect", made, "--check"])
        }
    }

    @Test func ownersThatAreGoneAreFoundWithoutAnInverse() throws {
        let workshop = try Workshop()
        let model = workshop.path("Lists.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        try workshop.write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="List">
                    <attribute name="name" optional="YES" attributeType="String"/>
                    <relationship name="entries" optional="YES" toMany="YES" \
            destinationEntity="Entry"/>
                    <relationship name="first" optional="YES" maxCount="1" \
            destinationEntity="Entry"/>
                </entity>
                <entity name="Entry">
                    <attribute name="name" optional="YES" attributeType="String"/>
                </entity>
            </model>
            """, to: "Lists.xcdatamodel/contents")
        let store = workshop.path("Lists.sqlite")
        try workshop.done(["create", store, "--model", model])
        try workshop.edit(
            store, "insert List l name=l\ninsert Entry e name=e\nlink l.entries e\nset l first=e")
        try workshop.done(["inspect", store, "--check"])
        for damage in ["delete from ZLIST", "delete from ZENTRY"] {
            let copy = workshop.path("\(UUID().uuidString).sqlite")
            try FileManager.default.copyItem(atPath: store, toPath: copy)
            _ = try workshop.sql(copy, damage)
            let problems = try workshop.run("inspect", copy, "--check", "--json").json["problems"]
            let codes = (problems as? [[String: Any]] ?? []).compactMap { $0["code"] as? String }
            #expect(codes == ["danglingLink"], "\(damage)")
        }
    }

    @Test func anotherModelIsTold() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let other = try workshop.model { $0.replacing("name=\"shelf\"", with: "name=\"place\"") }
        let run = try workshop.run("inspect", library, "--check", "--model", other, "--json")
        #expect(run.status == 1)
        let problems = run.json["problems"] as? [[String: Any]] ?? []
        #expect(problems.compactMap { $0["code"] as? String } == ["otherModel"])
        #expect(problems.first?["object"] as? String == "Book")
        let edit = try workshop.run(
            "edit", library, "-", "--model", other, "--json", input: "insert Tag name=x")
        #expect(edit.status == 1)
        #expect(edit.errorCode == "modelMismatch")
        #expect((edit.error["message"] as? String)?.contains("Book") == true)
    }
}

extension Workshop {
    /// The library's model with a change.
    func model(_ change: (String) -> String) throws -> String {
        let text = try String(contentsOfFile: Workshop.model + "/contents", encoding: .utf8)
        let folder = self.folder.appendingPathComponent("Other.xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(change(text).utf8).write(to: folder.appendingPathComponent("contents"))
        return folder.path
    }
}
