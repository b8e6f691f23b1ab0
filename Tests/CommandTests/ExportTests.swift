import ChildProcesses
import Foundation
import Testing

/// What comes out of a store that is not whole, or to a reader that goes.
@Suite struct ExportTests {
    @Test func aReaderThatGoesEndsItQuietly() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let lines = (1...20_000).map {
            #"{"entity":"Tag","values":{"name":"a rather long name of a tag \#($0)"}}"#
        }
        try workshop.done(["import", library, "-"], input: lines.joined(separator: "\n"))
        let child = try workshop.start(
            "/bin/bash",
            [
                "-c",
                "\(Workshop.command) export \(library) | head -1 >/dev/null; exit ${PIPESTATUS[0]}",
            ])
        #expect(child.wait() == 141)
        #expect(child.complaint.isEmpty)
        #expect(try beside(library, in: workshop).isEmpty)
    }

    /// Which no entity's lines would have.
    @Test(arguments: [["export"], ["convert", "--to", "xml", "copy.xml"]])
    func rowsOfNoEntityAreNotLeftOutInSilence(words: [String]) throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(library, "insert Reader name=Ann\ninsert Author name=Bob")
        _ = try workshop.sql(library, "update ZPERSON set Z_ENT = 77 where ZNAME = 'Bob'")
        let rest = words.dropFirst().map { $0 == "copy.xml" ? workshop.path($0) : $0 }
        let run = try workshop.run([words[0], library] + rest)
        #expect(run.status == 1 && run.output.isEmpty)
        #expect(run.complaint.contains("1 row of the table ZPERSON"), "\(run.complaint)")
        #expect(!FileManager.default.fileExists(atPath: workshop.path("copy.xml")))
    }

    private func beside(_ store: String, in workshop: Workshop) throws -> [String] {
        let name = (store as NSString).lastPathComponent
        return try FileManager.default.contentsOfDirectory(atPath: workshop.folder.path).filter {
            $0.hasPrefix(name + "-")
        }
    }

    @Test(arguments: [
        ["inspect"], ["inspect", "--check"], ["inspect", "--schema"], ["export"],
        ["inspect", "--entity", "Tag"], ["inspect", "--properties"],
    ]) func readingLeavesNoFilesBehind(words: [String]) throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=t")
        #expect(try beside(library, in: workshop).isEmpty)
        try workshop.done([words[0], library] + words.dropFirst())
        #expect(try beside(library, in: workshop).isEmpty)
    }

    /// A store with its log, where nothing can be written.
    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")),
        arguments: [
            ["inspect"], ["inspect", "--check"], ["inspect", "--schema"], ["export"],
            ["inspect", "--entity", "Tag"],
        ])
    func aStoreWithItsLogIsReadWhereNothingCanBeWritten(words: [String]) throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        _ = try workshop.sql(
            library,
            """
            .dbconfig no_ckpt_on_close on
            insert into ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME)
                select 1, Z_ENT, 1, 'left' from Z_PRIMARYKEY where Z_NAME = 'Tag';
            update Z_PRIMARYKEY set Z_MAX = 1 where Z_NAME = 'Tag';
            """)
        unlink(library + "-shm")
        #expect(try beside(library, in: workshop) == ["Library.sqlite-wal"])
        let child = try readWhereNothingCanBeWritten(library, words, in: workshop)
        #expect(child.wait() == 0, "\(child.complaint)")
        if words.contains("Tag") || words == ["export"] { #expect(child.printed.contains("left")) }
    }

    /// A store without a log, whose writer ended in the middle of a save.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")))
    func aSaveLeftHalfDoneIsNotRead() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let left = workshop.path("Left.sqlite")
        _ = try workshop.sql(
            library,
            """
            pragma journal_mode = delete;
            insert into ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME)
                select value, (select Z_ENT from Z_PRIMARYKEY where Z_NAME = 'Tag'), 1,
                    printf('old %d %.400c', value, 'x') from generate_series(1, 500);
            pragma cache_size = 2;
            begin;
            update ZTAG set ZNAME = 'new ' || Z_PK;
            .system cp \(library) \(left)
            .system cp \(library)-journal \(left)-journal
            rollback;
            """)
        let child = try readWhereNothingCanBeWritten(left, ["export"], in: workshop)
        #expect(child.wait() == 1 && child.printed.isEmpty, "\(child.complaint)")
        #expect(child.complaint.contains("in the middle of a save"), "\(child.complaint)")
        for ending in ["", "-journal"] {
            let place = workshop.path("locked/Left.sqlite" + ending)
            try FileManager.default.copyItem(atPath: place, toPath: left + ending)
            chmod(left + ending, 0o644)
        }
        let run = try workshop.done(["export", left])
        #expect(run.output.components(separatedBy: "old ").count == 501)
        #expect(!run.output.contains("new"))
    }

    /// Moves a store with its log into a folder that cannot be written, and runs a verb on it
    /// there, as nobody where this process could write all the same.
    private func readWhereNothingCanBeWritten(
        _ store: String, _ words: [String], in workshop: Workshop
    ) throws -> Child {
        let locked = workshop.path("locked")
        let place = locked + "/" + (store as NSString).lastPathComponent
        try FileManager.default.createDirectory(
            atPath: locked, withIntermediateDirectories: false)
        for ending in ["", "-wal", "-journal"]
        where FileManager.default.fileExists(atPath: store + ending) {
            try FileManager.default.moveItem(atPath: store + ending, toPath: place + ending)
            chmod(place + ending, 0o444)
        }
        chmod(workshop.folder.path, 0o755)
        chmod(locked, 0o555)
        let other = ["/usr/bin/setpriv", "--reuid", "65534", "--clear-groups"]
        let head = (geteuid() == 0 ? other : ["/usr/bin/env"]) + [Workshop.command]
        return try workshop.start(
            head[0], head.dropFirst() + [words[0], place] + words.dropFirst())
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")))
    func statusIsToldWhereNothingCanBeWritten() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=t")
        try workshop.done(["sync", library] + service.settings)
        try workshop.edit(library, "insert Tag name=u")
        let child = try readWhereNothingCanBeWritten(library, ["status", "--json"], in: workshop)
        #expect(child.wait() == 1)
        #expect(child.printed.contains("\"state\":\"pending\""), "\(child.complaint)")
        #expect(child.printed.contains("\"inserts\":1"))
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")),
        arguments: ["events", "conflicts"])
    func logsAreToldWhereNothingCanBeWritten(_ verb: String) throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let (desk, phone) = (try workshop.library("a.sqlite"), try workshop.library("b.sqlite"))
        try workshop.edit(desk, "insert Book title=t")
        for store in [desk, phone] { try workshop.done(["sync", store] + service.settings) }
        for (store, name) in [(desk, "one"), (phone, "two")] {
            try workshop.edit(store, "set Book[title == 't'] title=\(name)")
            try workshop.done(["sync", store] + service.settings)
        }
        let child = try readWhereNothingCanBeWritten(phone, [verb], in: workshop)
        #expect(child.wait() == 0)
        let told = verb == "events" ? "import" : "kept local"
        #expect(child.printed.contains(told), "\(child.complaint)")
    }

    // MARK: Values whose files are gone

    private func storeWithALostFile(
        _ workshop: Workshop, isOptional: Bool = false
    ) throws -> (store: String, model: String) {
        let model = workshop.path("Photos.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        try workshop.write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Photo">
                    <attribute name="name" optional="YES" attributeType="String"/>
                    <attribute name="bytes" optional="\(isOptional ? "YES" : "NO")" \
            attributeType="Binary" \
            allowsExternalBinaryDataStorage="YES"/>
                </entity>
            </model>
            """, to: "Photos.xcdatamodel/contents")
        let store = workshop.path("Photos.sqlite")
        try workshop.done(["create", store, "--model", model])
        let large = Data(repeating: 7, count: 200_000).base64EncodedString()
        let lines = ["kept", "lost"].map {
            #"{"entity":"Photo","values":{"name":"\#($0)","bytes":"\#(large)"}}"#
        }
        try workshop.done(["import", store, "-"], input: lines.joined(separator: "\n"))
        let name = try workshop.sql(
            store, "select cast(substr(ZBYTES, 2, 36) as text) from ZPHOTO where ZNAME = 'lost'")
        unlink(workshop.path(".Photos_SUPPORT/_EXTERNAL_DATA/\(name)"))
        return (store, model)
    }

    @Test func aLostFileIsToldByExport() throws {
        let workshop = try Workshop()
        let (store, model) = try storeWithALostFile(workshop)
        let run = try workshop.run("export", store)
        #expect(run.status == 4)
        #expect(run.complaint.contains("Photo/p2 lacks bytes"))
        #expect(!run.complaint.contains("Photo/p1 "))
        #expect(run.lines.map { $0["missing"] as? [String] } == [nil, ["bytes"]])
        let copy = workshop.path("Copy.sqlite")
        try workshop.done(["create", copy, "--model", model])
        let back = try workshop.run("import", copy, "-", "--json", input: run.output)
        #expect(back.status == 4)
        #expect(back.json["inserted"] as? Int == 2 && back.json["missing"] as? Int == 1)
        #expect(try workshop.sql(copy, "select count(*) from ZPHOTO where ZBYTES is null") == "1")
    }

    @Test(arguments: ["sqlite", "xml"]) func aLostFileIsToldByConvert(type: String) throws {
        let workshop = try Workshop()
        let (store, _) = try storeWithALostFile(workshop)
        let run = try workshop.run("convert", store, workshop.path("Other.store"), "--to", type)
        #expect(run.status == 4)
        #expect(run.complaint.contains("Photo/p2 lacks bytes"))
        #expect(run.complaint.contains("1 value is not in \(workshop.path("Other.store"))"))
    }

    /// Where the model wants a value, nothing is saved; else all but the reference may change.
    @Test(arguments: [true, false]) func anEditOfAnotherPropertyKeepsTheReference(
        isOptional: Bool
    ) throws {
        let workshop = try Workshop()
        let (store, _) = try storeWithALostFile(workshop, isOptional: isOptional)
        let reference = "select hex(ZBYTES) from ZPHOTO where ZNAME like 'lost%'"
        let before = try workshop.sql(store, reference)
        let run = try workshop.run(
            "edit", store, "-", "--json", input: "set Photo[name == 'lost'] name=lost2")
        #expect(run.status == (isOptional ? 0 : 1))
        #expect(run.complaint.contains("gone"))
        #expect(try workshop.sql(store, reference) == before)
        let renamed = "select count(*) from ZPHOTO where ZNAME = 'lost2'"
        #expect(try workshop.sql(store, renamed) == (isOptional ? "1" : "0"))
    }

    // MARK: Links that lead nowhere

    /// A book whose author is not there, and one of whose tags is not.
    private func libraryWithGaps(_ workshop: Workshop) throws -> String {
        let library = try workshop.library()
        try workshop.edit(
            library,
            """
            insert Author a name=A
            insert Tag t name=T
            insert Book b title=B author=a
            insert Book c title=C author=a
            link b.tags t
            """)
        _ = try workshop.sql(library, "update ZBOOK set ZAUTHOR = 77 where ZTITLE = 'B'")
        let pairs = try workshop.sql(
            library, "select name from sqlite_master where name like 'Z_%TAGS' and type = 'table'")
        let columns = try workshop.sql(
            library, "select name from pragma_table_info('\(pairs)') order by name like '%TAGS'")
        let (book, tag) = (
            columns.split(separator: "\n")[0], columns.split(separator: "\n")[1]
        )
        _ = try workshop.sql(
            library,
            "insert into \(pairs) (\(book), \(tag)) select Z_PK, 88 from ZBOOK "
                + "where ZTITLE = 'B'")
        return library
    }

    @Test func aLinkThatLeadsNowhereIsToldByExportAndComesNotBack() throws {
        let workshop = try Workshop()
        let run = try workshop.run("export", libraryWithGaps(workshop))
        #expect(run.status == 4)
        #expect(run.complaint.contains("lacks author"), "\(run.complaint)")
        #expect(run.complaint.contains("lacks tags"))
        #expect(run.complaint.contains("2 links are not in the output"))
        let books = Dictionary(
            uniqueKeysWithValues: run.lines.filter { $0["entity"] as? String == "Book" }.map {
                (($0["values"] as? [String: Any])?["title"] as? String ?? "", $0)
            })
        #expect((books["B"]?["missing"] as? [String])?.sorted() == ["author", "tags"])
        #expect(books["C"]?["missing"] == nil)
        let links = books.mapValues { $0["relationships"] as? [String: Any] ?? [:] }
        #expect(links["B"]?["author"] == nil && links["C"]?["author"] != nil)
        #expect((links["B"]?["tags"] as? [Any])?.count == 1)
        let copy = try workshop.library("Copy.sqlite")
        let back = try workshop.run("import", copy, "-", "--json", input: run.output)
        #expect(back.status == 4)
        #expect(back.json["inserted"] as? Int == 4 && back.json["missing"] as? Int == 2)
        try workshop.done(["inspect", copy, "--check"])
    }

    @Test(arguments: ["sqlite", "xml"]) func aLinkThatLeadsNowhereIsToldByConvert(
        type: String
    ) throws {
        let workshop = try Workshop()
        let copy = workshop.path("Other.store")
        let run = try workshop.run("convert", libraryWithGaps(workshop), copy, "--to", type)
        #expect(run.status == 4)
        #expect(run.complaint.contains("lacks author"), "\(run.complaint)")
        #expect(run.complaint.contains("lacks tags"))
        // As a program is told that moves such a store.
        #expect(run.complaint.contains("links are not in the new store"))
        let lines = try workshop.done(["export", copy, "--model", Workshop.model]).lines
        let books = lines.filter { $0["entity"] as? String == "Book" }
        #expect(
            books.filter { ($0["relationships"] as? [String: Any])?["author"] != nil }.count == 1)
    }

    @Test func aDamagedFileIsWhatAConversionBlames() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=a")
        _ = try workshop.sql(
            library,
            "create table x as select * from ZTAG; drop table ZTAG; "
                + "alter table x rename to ZTAG; insert into ZTAG select * from ZTAG;")
        let copy = workshop.path("Copy.sqlite")
        let run = try workshop.run("convert", library, copy, "--to", "sqlite")
        #expect(run.status == 1)
        #expect(run.complaint.contains("contradict"), "\(run.complaint)")
        #expect(run.complaint.contains("inspect") && !run.complaint.contains("free space"))
        #expect(!FileManager.default.fileExists(atPath: copy))
    }

    // MARK: Derived attributes

    @Test(arguments: ["xml", "binary"]) func derivedAttributesAreLeftOutWithANote(
        type: String
    ) throws {
        let workshop = try Workshop()
        let model = try workshop.derivedModel()
        let store = workshop.path("Notes.sqlite")
        try workshop.done(["create", store, "--model", model])
        try workshop.edit(store, "insert Note title=Élan")
        let other = workshop.path("Other.store")
        let run = try workshop.done(["convert", store, other, "--to", type])
        #expect(run.complaint.contains("Note.search is derived and left out"))
        let back = workshop.path("Back.sqlite")
        try workshop.done(["convert", other, back, "--to", "sqlite", "--model", model])
        #expect(try workshop.sql(back, "select ZTITLE, ZSEARCH from ZNOTE") == "Élan|elan")
        let exported = try workshop.done(["export", other, "--model", model]).lines
        #expect((exported.first?["values"] as? [String: Any])?["title"] as? String == "Élan")
    }
}
