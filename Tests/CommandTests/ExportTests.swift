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
        let locked = workshop.folder.appendingPathComponent("locked").path
        try FileManager.default.createDirectory(
            atPath: locked, withIntermediateDirectories: false)
        for ending in ["", "-wal"] {
            try FileManager.default.moveItem(
                atPath: library + ending, toPath: locked + "/Library.sqlite" + ending)
            chmod(locked + "/Library.sqlite" + ending, 0o444)
        }
        chmod(workshop.folder.path, 0o755)
        chmod(locked, 0o555)
        defer { chmod(locked, 0o755) }
        let isRoot = geteuid() == 0
        let head =
            isRoot
            ? ["/usr/bin/setpriv", "--reuid", "65534", "--clear-groups", Workshop.command]
            : ["/usr/bin/env", Workshop.command]
        let child = try workshop.start(
            head[0],
            Array(head.dropFirst()) + [words[0], locked + "/Library.sqlite"]
                + words.dropFirst())
        #expect(child.wait() == 0, "\(child.complaint)")
        if words.contains("Tag") || words == ["export"] { #expect(child.printed.contains("left")) }
    }

    // MARK: Values whose files are gone

    private func storeWithALostFile(_ workshop: Workshop) throws -> (store: String, model: String) {
        let model = workshop.path("Photos.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        try workshop.write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Photo">
                    <attribute name="name" optional="YES" attributeType="String"/>
                    <attribute name="bytes" attributeType="Binary" \
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
        #expect(run.complaint.contains("Photo/2 lacks bytes"))
        #expect(!run.complaint.contains("Photo/1 "))
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
        #expect(run.complaint.contains("Photo/2 lacks bytes"))
        #expect(run.complaint.contains("1 value is not in Other.store"))
    }

    @Test func anEditOfAnotherPropertyKeepsTheReference() throws {
        let workshop = try Workshop()
        let (store, _) = try storeWithALostFile(workshop)
        let reference = "select hex(ZBYTES) from ZPHOTO where ZNAME like 'lost%'"
        let before = try workshop.sql(store, reference)
        // The model wants a value, which is not there: nothing is saved, and it is said why.
        let refused = try workshop.run(
            "edit", store, "-", "--json", input: "set Photo[name == 'lost'] name=lost2")
        #expect(refused.status == 1)
        #expect(refused.complaint.contains("gone"))
        #expect(try workshop.sql(store, reference) == before)
    }

    // MARK: Derived attributes

    @Test(arguments: ["xml", "binary"]) func derivedAttributesAreLeftOutWithANote(
        type: String
    ) throws {
        let workshop = try Workshop()
        let model = workshop.path("Derived.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        try workshop.write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Note">
                    <attribute name="title" optional="YES" attributeType="String"/>
                    <attribute name="search" optional="YES" attributeType="String" derived="YES" \
            derivationExpression="canonical:(title)"/>
                </entity>
            </model>
            """, to: "Derived.xcdatamodel/contents")
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
