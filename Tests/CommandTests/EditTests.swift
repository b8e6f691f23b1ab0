import ChildProcesses
import Foundation
import Testing

/// Stores made and changed by the command.
@Suite struct EditTests {
    @Test func aTextOfJSONMayHoldALineSeparator() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let script =
            "{\"insert\": \"Tag\", \"values\": {\"name\": \"a\u{2028}b\u{85}c\u{2029}\"}}\r\n"
        try workshop.edit(library, script + "insert Tag name=\"d\u{2028}e\"\r\nsave")
        let names = "select group_concat(hex(ZNAME)) from (select ZNAME from ZTAG order by 1)"
        #expect(try workshop.sql(library, names) == "61E280A862C28563E280A9,64E280A865")
    }

    @Test func transformablesAreWrittenAsTheirBytes() throws {
        let workshop = try Workshop()
        let (store, _) = try workshop.everyKind()
        try workshop.edit(store, "set Item[name == 'a'] shape=base64:AP8B\nsave")
        #expect(
            try workshop.sql(store, "select hex(ZSHAPE) from ZITEM where ZNAME = 'a'") == "00FF01")
        let run = try workshop.run(
            "edit", store, "-", "--json", input: "set Item[name == 'a'] shape=x")
        #expect(run.errorCode == "script")
        #expect((run.error["hint"] as? String)?.contains("base64:") == true)
    }

    @Test func elementsOfCompositesWithinCompositesAreSet() throws {
        let workshop = try Workshop()
        let model = workshop.path("Home.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        try workshop.write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Item">
                    <attribute name="home" optional="YES" attributeType="Composite" \
            composite="Place"/>
                </entity>
                <composite name="Geo">
                    <attribute name="lat" optional="YES" attributeType="Double"/>
                    <attribute name="lon" optional="YES" attributeType="Double"/>
                </composite>
                <composite name="Place">
                    <attribute name="geo" optional="YES" attributeType="Composite" \
            composite="Geo"/>
                    <attribute name="zip" optional="YES" attributeType="Integer 32"/>
                </composite>
            </model>
            """, to: "Home.xcdatamodel/contents")
        let store = workshop.path("Home.sqlite")
        try workshop.done(["create", store, "--model", model])
        try workshop.edit(
            store,
            """
            insert Item a home.zip=5 home.geo.lat=1.5
            save
            set a home.geo.lon=2.5
            {"insert": "Item", "values": {"home.geo.lon": 7}}
            """)
        let lines = try workshop.done(["export", store]).lines
        let values = lines.compactMap { $0["values"] as? [String: Any] }
        let numbers = ["home.zip", "home.geo.lat", "home.geo.lon"].map { key in
            values.map { ($0[key] as? NSNumber)?.doubleValue }
        }
        #expect(numbers == [[5, nil], [1.5, nil], [2.5, 7]])
        for name in ["home.geo", "home.geo.alt", "home.geo.lat.x", "home"] {
            let run = try workshop.run(
                "edit", store, "-", "--json", input: "insert Item \(name)=1")
            #expect(run.status == 1 && run.errorCode == "script", "\(name): \(run.complaint)")
        }
    }

    @Test func aBooleanOfJSONIsNoNumber() throws {
        let workshop = try Workshop()
        let (store, _) = try workshop.everyKind()
        func edit(_ values: String) throws -> Run {
            try workshop.run(
                "edit", store, "-", "--json",
                input: #"{"insert":"Item","values":{"name":"n",\#(values)}}"#)
        }
        #expect(try edit(#""i16":true"#).errorCode == "script")
        #expect(try edit(#""flag":true,"i16":1"#).status == 0)
        #expect(
            try workshop.sql(store, "select ZFLAG, ZI16 from ZITEM where ZNAME = 'n'") == "1|1")
    }

    /// As under cron, systemd and `ssh -n`, which leave no standard input, or one that is none.
    @Test(arguments: ["edit", "import"], ["<&-", "< /"])
    func anInputThatCannotBeReadIsToldOfAndIsNoCrash(verb: String, input: String) throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let line = "exec '\(Workshop.command)' \(verb) '\(library)' - --json \(input)"
        let child = try workshop.start("/usr/bin/env", ["bash", "-c", line])
        let run = Run(status: child.wait(), output: child.printed, complaint: child.complaint)
        #expect(run.status == 1, "\(run.complaint)")
        #expect(run.errorCode == (verb == "edit" ? "noScript" : "noFile"))
    }

    @Test func aStoreIsMadeOnce() throws {
        let workshop = try Workshop()
        let path = workshop.path("Library.sqlite")
        let run = try workshop.done(["create", path, "--model", Workshop.model, "--json"])
        let store = run.json["store"] as? [String: Any]
        #expect(store?["type"] as? String == "SQLite")
        #expect(UUID(uuidString: store?["uuid"] as? String ?? "") != nil)
        #expect((run.json["entities"] as? [String])?.contains("Book") == true)
        let again = try workshop.run("create", path, "--model", Workshop.model, "--json")
        #expect(again.status == 1)
        #expect(again.errorCode == "exists")
    }

    @Test func aNewStoreKeepsItsModel() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let copy = workshop.path("Copy.sqlite")
        try workshop.done(["create", copy, "--model", library])
        let (one, other) = (
            try workshop.done(["inspect", library, "--json"]).json,
            try workshop.done(["inspect", copy, "--json"]).json
        )
        #expect(
            (one["entities"] as? NSArray) == (other["entities"] as? NSArray),
            "the model that the store keeps is another one")
    }

    @Test func aScriptMakesObjectsOfEveryKind() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let run = try workshop.edit(
            library,
            #"""
            # a shelf
            insert Author jane name="Jane \"J.\" Austen\nof Bath" born=1775-12-16 country=null
            insert Book emma title=Emma pages=474 price=7.95 inPrint=no author=jane
            insert Book persuasion title="Persuasion \u{1F4D6}" published=1817-12-20T10:00:00.125Z
            insert Chapter one title=I book=emma
            insert Chapter three title=III
            insert Chapter two title=II
            link emma.chapters three
            link emma.chapters two at=1
            insert Jacket green colour=green picture=base64:AAEC/w==
            link emma.jacket green
            insert Reader ada name=Ada card=3F2504E0-4F89-11D3-9A0C-0305E82C3301
            link ada.favourites emma persuasion
            link emma.related persuasion
            """#)
        #expect(run.json["inserted"] as? Int == 8)
        #expect(run.json["saves"] as? Int == 1)
        let objects = run.json["objects"] as? [String: String] ?? [:]
        let emma = try #require(objects["emma"])
        let rows = try workshop.done([
            "inspect", library, "--entity", "Book", "--sort", "title", "--json",
        ]).lines
        let values = rows.first?["values"] as? [String: Any] ?? [:]
        let links = rows.first?["relationships"] as? [String: Any] ?? [:]
        #expect(rows.first?["id"] as? String == emma)
        #expect(rows.first?["entity"] as? String == "Book")
        #expect(values["title"] as? String == "Emma")
        #expect(values["pages"] as? Int == 474)
        #expect(values["price"] as? String == "7.95")
        #expect(values["inPrint"] as? Bool == false)
        #expect(values["shelf"] is NSNull)
        #expect(links["author"] as? String == objects["jane"])
        let chapters = ["one", "two", "three"].compactMap { objects[$0] }
        #expect(links["chapters"] as? [String] == chapters)
        #expect(links["related"] as? [String] == [objects["persuasion"] ?? ""])
        let other = rows.last?["values"] as? [String: Any] ?? [:]
        #expect(other["title"] as? String == "Persuasion 📖")
        #expect(other["published"] as? String == "1817-12-20T10:00:00.125Z")
        #expect(other["inPrint"] as? Bool == true)
        let jane = try workshop.done(["inspect", library, "--entity", "Author", "--json"]).json
        let name = (jane["values"] as? [String: Any])?["name"] as? String
        #expect(name == "Jane \"J.\" Austen\nof Bath")
        let jacket = try workshop.done(["inspect", library, "--entity", "Jacket", "--json"]).json
        #expect((jacket["values"] as? [String: Any])?["picture"] as? String == "AAEC/w==")
    }

    @Test func datesAreThoseOfTheCalendarThatExportsHave() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let dates = [
            ("1500-03-01", "1500-03-01T00:00:00Z"), ("0044-03-15", "0044-03-15T00:00:00Z"),
            ("1582-10-10T12:00:00Z", "1582-10-10T12:00:00Z"),
            ("1500-02-28T23:30:00.25-01:00", "1500-03-01T00:30:00.25Z"),
            ("2000-02-29T01:00:00+0530", "2000-02-28T19:30:00Z"),
            ("2026-12-31T02:00:00+03", "2026-12-30T23:00:00Z"),
        ]
        for (number, (given, _)) in dates.enumerated() {
            try workshop.edit(library, "insert Author name=a\(number) born=\(given)")
        }
        let days = try workshop.sql(library, "select ZBORN from ZPERSON where ZNAME = 'a0'")
        #expect(Double(days) == -15_804_979_200)
        for line in try workshop.done(["export", library]).lines {
            let values = try #require(line["values"] as? [String: Any])
            let name = try #require(values["name"] as? String)
            #expect(values["born"] as? String == dates[Int(name.dropFirst()) ?? 0].1)
        }
        for wrong in [
            "2026-02-30", "2025-02-29T00:00:00Z", "2026-13-01", "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00+5", "2026-01-01T00:00:00", "2026-01-01T00:00:00+99:00",
        ] {
            let run = try workshop.run(
                "edit", library, "-", input: "insert Author name=x born=\(wrong)")
            #expect(run.status != 0 && run.complaint.contains("a date"), "\(wrong)")
        }
    }

    @Test func theLinesMayBeJSON() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(
            library,
            #"""
            {"insert": "Author", "as": "ursula", "values": {"name": "Ursula"}}
            {"insert": "Book", "as": "b", "values": {"title": "Orsinia", "pages": 9, "inPrint": 0}}
            {"link": "ursula.books", "to": "b"}
            {"insert": "Tag", "as": "t", "values": {"name": "tales"}}
            {"link": "b.tags", "to": ["t"]}
            {"save": true}
            {"set": "Book[title == 'Orsinia']", "values": {"shelf": "two words", "pages": null}}
            {"unlink": "b.tags", "from": "t"}
            {"delete": "t"}
            """#)
        let facts = try workshop.sql(
            library,
            "select ZTITLE, ifnull(ZPAGES, 'none'), ZSHELF, ZINPRINT, (select ZNAME from ZPERSON "
                + "where Z_PK = ZAUTHOR), (select count(*) from Z_1TAGS), (select count(*) from "
                + "ZTAG) from ZBOOK")
        #expect(facts == "Orsinia|none|two words|0|Ursula|0|0")
    }

    @Test func thePeopleWhoEditStandInTheHistory() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.done(
            ["edit", library, "-", "--author", "desk"], input: "insert Tag name=classic")
        let author = try workshop.sql(
            library,
            "select ifnull(t.ZAUTHOR, s.ZNAME) from ATRANSACTION t left join ATRANSACTIONSTRING s "
                + "on s.Z_PK = t.ZAUTHORTS")
        #expect(author == "desk")
    }

    @Test func aSaveIsWholeOrNotAtAll() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let script = "insert Tag name=kept\nsave\ninsert Tag name=lost\ninsert Book pages=3\nsave\n"
        let run = try workshop.run("edit", library, "-", "--json", input: script)
        #expect(run.status == 1)
        #expect(run.errorCode == "validation")
        let message = run.error["message"] as? String ?? ""
        #expect(message.hasPrefix("Line 5: "))
        // A save tells of it much later than its line.
        #expect(message.hasSuffix("The object is that of line 4."), "\(message)")
        #expect((run.error["hint"] as? String)?.contains("was kept") == true)
        #expect(try workshop.sql(library, "select group_concat(ZNAME) from ZTAG") == "kept")
    }

    @Test(arguments: [
        ("insert Bok b title=x", "Line 1: The model has no entity 'Bok'.", "Did you mean Book?"),
        ("insert Person p name=x", "Line 1: Person is abstract.", "Author, Reader"),
        ("\n\nput Book b", "Line 3: 'put' is no verb of a script.", "insert, set"),
        ("insert Book b titel=x", "Line 1: Book has no property 'titel'.", "Did you mean title?"),
        ("insert Book b title", "Line 1: 'title' gives no value to a key.", "key=value"),
        ("insert Book b pages=many", "'many' is no value for pages", "16 bits"),
        ("insert Book b pages=40000", "'40000' is no value for pages", "32767"),
        ("insert Book b published=soon", "'soon' is no value for published", "2026-03-14"),
        ("insert Jacket j picture=AAEC", "'AAEC' is no value for picture", "base64:"),
        ("insert Reader r card=1", "'1' is no value for card", "36 characters"),
        ("set ghost title=x", "No object is called 'ghost' here.", "Aliases"),
        ("set Book[title == 'x'] pages=1", "Nothing matches Book[title == 'x'].", "--where"),
        ("set Book[title ==] pages=1", "The predicate cannot be read at character", "NSPredicate"),
        ("set Book[nothing == 1] pages=1", "nothing", nil),
        ("insert Book b title=\"x", "A quote is not closed.", "\""),
        ("insert Book b title=x\nlink b.title b", "Book has no relationship 'title'.", "tags"),
        ("insert Book b title=x\nlink b.author b", "Book.author takes Author, not Book.", nil),
        ("insert Book b title=x tags=b", "tags has many members.", "link"),
        ("insert Book b title=x\nunlink b.related b", "The object is no member of related.", nil),
        ("insert Tag t name=a\ninsert Tag t name=b", "Line 2: 't' is taken already.", "alias"),
        ("set x-coredata://nowhere/Book/p1 pages=1", "is of another store", nil),
        ("{\"insert\": \"Tag\", \"valeus\": {}}", "The key 'valeus' means nothing here.", nil),
        ("{\"insert\": ", "Line 1: The line is no JSON object.", nil),
    ]) func whatIsWrongIsSaidWithItsLine(
        script: String, message: String, hint: String?
    ) throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let run = try workshop.run("edit", library, "-", "--json", input: script)
        #expect(run.status != 0)
        let said = run.error["message"] as? String ?? run.complaint
        #expect(said.contains(message), "\(said)")
        #expect(said.contains("Line "))
        if let hint { #expect((run.error["hint"] as? String)?.contains(hint) == true) }
        #expect(try workshop.sql(library, "select count(*) from ZBOOK") == "0")
    }

    @Test(arguments: [["edit"], ["import"], ["scenario", "run"]])
    func aFileThatIsNotThereIsToldFromOneThatIsNoText(verb: [String]) throws {
        let workshop = try Workshop()
        let store = verb == ["scenario", "run"] ? [] : [try workshop.library()]
        try FileManager.default.createDirectory(
            atPath: workshop.path("folder"), withIntermediateDirectories: false)
        let missing = try workshop.run(verb + store + ["missing.txt", "--json"])
        #expect(missing.error["message"] as? String == "There is no file missing.txt.")
        let folder = try workshop.run(verb + store + [workshop.path("folder"), "--json"])
        #expect((folder.error["message"] as? String)?.hasSuffix(" is a folder.") == true)
    }

    @Test func aFullDiskLosesNothing() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=kept")
        let pages = try workshop.sql(library, "pragma page_count")
        workshop.environment["DIPTYCH_SQLITE_PRAGMAS"] = "max_page_count=\(pages)"
        let script = (0..<3000).map { "insert Tag name=tag\($0)" }.joined(separator: "\n")
        let run = try workshop.run("edit", library, "-", "--json", input: script)
        #expect(run.status == 1)
        #expect(run.errorCode == "diskFull")
        workshop.environment["DIPTYCH_SQLITE_PRAGMAS"] = nil
        #expect(try workshop.sql(library, "select count(*) from ZTAG") == "1")
        try workshop.done(["inspect", library, "--check"])
        try workshop.edit(library, script)
        #expect(try workshop.sql(library, "select count(*) from ZTAG") == "3001")
    }

    // MARK: Brackets and places

    private static let bracketed: [(words: String, row: String)] = [
        ("title=:-] pages=5", ":-]|5"), ("title=a]b pages=7 # a remark", "a]b|7"),
        ("title=a]] pages=8", "a]]|8"), ("title=\"x] y\" pages=9", "x] y|9"),
    ]

    @Test(arguments: bracketed)
    func aBracketThatClosesNoneIsAPlainLetter(words: String, row: String) throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(library, "insert Book \(words)")
        #expect(try workshop.sql(library, "select ZTITLE, ZPAGES from ZBOOK") == row)
        try workshop.edit(library, "set Book[pages > 0] shelf=s] pages=30 # [")
        #expect(try workshop.sql(library, "select ZPAGES, ZSHELF from ZBOOK") == "30|s]")
    }

    private static let chapters = """
        insert Book emma title=Emma
        insert Chapter one title=I book=emma
        insert Chapter two title=II
        insert Chapter three title=III

        """

    @Test(arguments: [
        "link emma.chapters two three at=9223372036854775807",
        #"{"link": "emma.chapters", "to": ["two", "three"], "at": 9223372036854775807}"#,
    ])
    func aPlaceBehindAllIsTheLast(line: String) throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(library, Self.chapters + line)
        let order =
            "select group_concat(ZTITLE) from "
            + "(select ZTITLE from ZCHAPTER order by Z_FOK_BOOK)"
        #expect(try workshop.sql(library, order) == "I,II,III")
    }

    @Test(arguments: [
        #"{"link": "emma.chapters", "to": "two", "at": -5}"#,
        #"{"link": "emma.chapters", "to": "two", "at": 1.5}"#,
        #"{"link": "emma.chapters", "to": "two", "at": true}"#,
        #"{"link": "emma.chapters", "to": "two", "at": 1e300}"#,
        #"{"link": "emma.chapters", "to": "two", "at": "0"}"#,
        #"{"insert": "Book", "as": 7, "values": {"title": "x"}}"#,
        #"{"save": false}"#, #"{"save": "no"}"#,
    ])
    func aLineOfJSONIsTakenAtItsWord(line: String) throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let run = try workshop.run(
            "edit", library, "-", "--json", input: Self.chapters + line)
        #expect(run.status == 1 && run.errorCode == "script")
        #expect(try workshop.sql(library, "select count(*) from ZBOOK") == "0")
    }

    @Test func aLimitOnFilesIsAnErrorAndNoDeath() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let script = (0..<3000).map { "insert Tag name=tag\($0)" }.joined(separator: "\n")
        // In units of 512 or 1024 bytes: too few for the changes either way.
        let child = try workshop.start(
            "/bin/sh",
            [
                "-c", "ulimit -f 40; exec \"$0\" \"$@\"", Workshop.command, "edit", library, "-",
                "--json",
            ], input: script)
        #expect(child.wait() == 1)
        #expect(child.complaint.contains("{\"error\":"))
        #expect(try workshop.sql(library, "select count(*) from ZTAG") == "0")
        try workshop.done(["inspect", library, "--check"])
    }
}
