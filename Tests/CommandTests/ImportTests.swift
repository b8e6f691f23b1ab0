import ChildProcesses
import Foundation
import Testing

/// Lines into a store: whole or not at all, whatever they are.
@Suite struct ImportTests {
    private func line(_ id: String, _ entity: String, _ values: String, _ links: String = "")
        -> String
    {
        #"{"id":"\#(id)","entity":"\#(entity)","values":{\#(values)},"relationships":{\#(links)}}"#
    }

    @Test func aLineMayLeadToALaterOne() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let lines = [
            line("Book/1", "Book", #""title":"x""#, #""author":"Author/1","tags":["Tag/2"]"#),
            line("Tag/2", "Tag", #""name":"t""#), line("Author/1", "Author", #""name":"A""#),
        ]
        try workshop.done(["import", library, "-"], input: lines.joined(separator: "\n"))
        let links = "select p.ZNAME from ZBOOK b join ZPERSON p on p.Z_PK = b.ZAUTHOR"
        #expect(try workshop.sql(library, links) == "A")
        #expect(try workshop.sql(library, "select count(*) from Z_1TAGS") == "1")
        try workshop.done(["inspect", library, "--check"])
    }

    /// Of a link that one line names, the other end is set, too.
    @Test(arguments: ["one", "many"]) func aLinkThatOneLineNamesHasBothEnds(kind: String) throws {
        let workshop = try Workshop()
        let (_, model) = try workshop.everyKind()
        let copy = workshop.path("Copy.sqlite")
        try workshop.done(["create", copy, "--model", model])
        let links = kind == "one" ? #""partner":"Item/2""# : ""
        let lines = [
            line("Item/1", "Item", #""name":"a""#, links), line("Item/2", "Item", #""name":"b""#),
            line(
                "Box/1", "Box", #""name":"x""#, kind == "one" ? "" : #""items":["Item/2","Item/1"]"#
            ),
        ]
        try workshop.done(["import", copy, "-"], input: lines.joined(separator: "\n"))
        let partners =
            "select group_concat(ZNAME || coalesce(ZPARTNER, '-') || coalesce(ZBOX, '-'))"
        let expected = kind == "one" ? "a2-,b1-" : "a-1,b-1"
        #expect(try workshop.sql(copy, "\(partners) from ZITEM") == expected)
        let order = "select group_concat(ZNAME) from (select ZNAME from ZITEM order by Z_FOK_BOX)"
        if kind == "many" { #expect(try workshop.sql(copy, order) == "b,a") }
        try workshop.done(["inspect", copy, "--check"])
    }

    @Test func linesThatContradictEachOtherAreRefused() throws {
        let workshop = try Workshop()
        let (_, model) = try workshop.everyKind()
        let copy = workshop.path("Copy.sqlite")
        try workshop.done(["create", copy, "--model", model])
        let lines = [
            line("Item/1", "Item", #""name":"a""#, #""box":"Box/2""#),
            line("Box/1", "Box", #""name":"x""#, #""items":["Item/1"]"#),
            line("Box/2", "Box", #""name":"y""#),
        ]
        let run = try workshop.run(
            "import", copy, "-", "--json", input: lines.joined(separator: "\n"))
        #expect(run.errorCode == "badLine")
        #expect((run.error["message"] as? String)?.hasPrefix("Line 2: ") == true)
        #expect(try workshop.sql(copy, "select count(*) from ZITEM") == "0")
    }

    private static let endings: [(name: String, join: String, head: String)] = [
        ("CRLF", "\r\n", ""), ("a byte order mark", "\n", "\u{FEFF}"),
        ("blank lines", "\n\n \n", ""),
    ]

    @Test(arguments: endings) func linesEndAsTheyWill(
        name: String, join: String, head: String
    ) throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let lines = (1...3).map { line("Tag/\($0)", "Tag", #""name":"t\#($0)\u2028""#) }
        let text = head + lines.joined(separator: join) + join
        try workshop.done(["import", library, "-"], input: text)
        let file = try workshop.write(text.replacing("\"t", with: "\"u"), to: "lines.jsonl")
        try workshop.done(["import", library, file])
        #expect(try workshop.sql(library, "select count(distinct ZNAME) from ZTAG") == "6")
    }

    @Test func idsOfEveryFormAreKept() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let ids = ["7", "07", "a/7", "a/07", "a\\/8", "x", "é9", "a/99999999999999999999"]
        var lines = ids.map { line($0, "Tag", #""name":"\#($0)""#) }
        for (number, id) in (ids + ["a/8"]).enumerated() {
            lines.append(
                line("book \(number)!", "Book", #""title":"\#(id)""#, #""tags":["\#(id)"]"#))
        }
        try workshop.done(["import", library, "-"], input: lines.joined(separator: "\n"))
        let pairs = """
            select count(*) from Z_1TAGS j join ZBOOK b on b.Z_PK = j.Z_1BOOKS \
            join ZTAG t on t.Z_PK = j.Z_7TAGS where b.ZTITLE = t.ZNAME
            """
        let columns = try workshop.sql(
            library, "select group_concat(name) from pragma_table_info('Z_1TAGS')")
        let names = columns.split(separator: ",").map(String.init)
        let text = pairs.replacing("Z_1BOOKS", with: names[0]).replacing("Z_7TAGS", with: names[1])
        #expect(try workshop.sql(library, text) == "\(ids.count + 1)")
    }

    private static let hostile: [(line: String, words: String)] = [
        (#"{"entity":"Tag","entity":"Tag"}"#, "stands twice"),
        (#"{"entity":"Tag","values":{"name":"a","name":"b"}}"#, "stands twice"),
        (#"{"entity":"Tag","value":{"name":"a"}}"#, "'value' means nothing"),
        (#"{"entity":"Book","values":{"title":"a","pages":99999999999999999999}}"#, "pages"),
        (#"{"entity":"Book","values":{"title":"a","pages":3000000000}}"#, "pages"),
        (#"{"entity":"Book","values":{"title":"a","pages":1.5}}"#, "pages"),
        (#"{"entity":"Book","values":{"title":"a","pages":true}}"#, "pages"),
        (#"{"entity":"Author","values":{"born":"2026-02-30T00:00:00Z"}}"#, "born"),
        (#"{"entity":"Author","values":{"born":"1900-02-29T00:00:00Z"}}"#, "born"),
        (#"{"entity":"Author","values":{"born":"2026-04-31T00:00:00Z"}}"#, "born"),
        (#"{"entity":"Author","values":{"born":"2026-01-00T00:00:00Z"}}"#, "born"),
        (#"{"entity":"Author","values":{"born":"0x10"}}"#, "born"),
        (#"{"entity":"Author","values":{"born":"0x1p3"}}"#, "born"),
        (#"{"entity":"Author","values":{"born":"infinity"}}"#, "born"),
        (#"{"entity":"Book","values":{"title":["a"]}}"#, "title"),
        (#"{"entity":"Book","values":{"title":{"a":1}}}"#, "title"),
        (#"{"entity":"Tag","values":{"name":"\ud800"}}"#, "half a character"),
        (#"{"entity":"Tag","values":{"name":"\u+041"}}"#, "four digits"),
        (#"{"entity":"Tag","values":{"name":"\u-000"}}"#, "four digits"),
        (#"{"entity":"Tag","values":{"name":"a"}} {}"#, "behind the object"),
        (#"{"entity":"Tag","values":{"name":"a"}"#, "too soon"),
        (#"{"entity":"Tag","values":{"name":"a"#, "not closed"),
        (#"{"entity":"Tag","values":{"name":01}}"#, "no JSON"),
        (#"["entity","Tag"]"#, "no object"), (#"{"id":3,"entity":"Tag"}"#, "no text"),
        (#"{"id":"t","entity":"Tag","values":{"name":"a"}}"#, "stands twice"),
        (
            #"{"entity":"Tag","values":"# + String(repeating: "{\"a\":", count: 5000) + "1"
                + String(repeating: "}", count: 5001), "nested"
        ),
        (
            #"{"entity":"Tag","relationships":{"x":"# + String(repeating: "[", count: 100_000),
            "nested"
        ),
    ]

    @Test(arguments: hostile) func aHostileLineIsRefusedByItsNumber(
        line: String, words: String
    ) throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let good = #"{"id":"t","entity":"Tag","values":{"name":"t"}}"#
        let run = try workshop.run("import", library, "-", "--json", input: "\(good)\n\(line)\n")
        #expect(run.status == 1)
        #expect(run.errorCode == "badLine")
        let message = run.error["message"] as? String ?? ""
        #expect(message.hasPrefix("Line 2: ") && message.contains(words), "\(message)")
        #expect(try workshop.sql(library, "select count(*) from ZTAG") == "0")
    }

    // MARK: Memory

    /// A program that may have so much address space; nil where it does not even start so, as under
    /// a sanitizer. With one arena of the allocator, since each takes address space ahead of its
    /// use, and how many there are depends on how busy the machine is.
    private func limited(
        _ megabytes: Int, _ script: String, in workshop: Workshop
    ) throws -> Child? {
        let head = "ulimit -v \(megabytes << 10); export MALLOC_ARENA_MAX=1; "
        let trial = try workshop.start(
            "/bin/sh", ["-c", head + "'\(Workshop.command)' --version"])
        guard trial.wait() == 0 else { return nil }
        return try workshop.start("/bin/sh", ["-c", head + script])
    }

    @Test func memoryDoesNotGrowWithTheLines() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let filling = String(repeating: "a line of a hundred letters ", count: 4)
        let lines = (1...60_000).map {
            line(
                "Book/\($0)", "Book", #""title":"\#(filling) \#($0)""#,
                #""related":["Book/\#($0 % 60_000 + 1)"]"#)
        }
        let file = try workshop.write(lines.joined(separator: "\n"), to: "lines.jsonl")
        let input = "cat '\(file)' | '\(Workshop.command)' import '\(library)' - --quiet"
        guard let child = try limited(300, input, in: workshop) else { return }
        #expect(child.wait() == 0, "\(child.complaint)")
        #expect(try workshop.sql(library, "select count(*) from ZBOOK") == "60000")
        let output = "'\(Workshop.command)' export '\(library)' --quiet"
        let export = try #require(try limited(300, output, in: workshop))
        #expect(export.wait() == 0, "\(export.complaint)")
        #expect(export.printed.split(separator: "\n").count == 60_000)
    }

    @Test func aLineWithoutEndTakesNoMoreMemoryThanALine() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let script =
            "head -c 600000000 /dev/zero | "
            + "'\(Workshop.command)' import '\(library)' - --json --longest-line 2"
        guard let child = try limited(300, script, in: workshop) else { return }
        #expect(child.wait() == 1)
        #expect(child.complaint.contains("longer than 2 MB"))
    }

    @Test func anInterruptedImportLeavesTheStoreAsItWas() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let before = try workshop.done(["export", library]).output
        let lines = (1...60_000).map { line("Tag/\($0)", "Tag", #""name":"t\#($0)""#) }
        let file = try workshop.write(lines.joined(separator: "\n"), to: "lines.jsonl")
        for (signal, status) in [(SIGINT, Int32(130)), (SIGTERM, 143), (SIGKILL, 137)] {
            let child = try workshop.start(["import", library, file, "--json"])
            // Once the log has some of it, the import is in the midst of its transaction.
            let log = library + "-wal"
            var size = 0
            while size < 500_000, kill(child.id, 0) == 0 {
                usleep(2000)
                var facts = stat()
                size = stat(log, &facts) == 0 ? Int(facts.st_size) : 0
            }
            child.send(signal)
            #expect(child.wait() == status)
            if signal != SIGKILL { #expect(child.complaint.contains("the store is as it was")) }
            #expect(try workshop.sql(library, "select count(*) from ZTAG") == "0")
            #expect(try workshop.done(["export", library]).output == before)
            try workshop.done(["inspect", library, "--check"])
        }
        try workshop.done(["import", library, file])
        #expect(try workshop.sql(library, "select count(*) from ZTAG") == "60000")
    }

    /// Nobody writes to the pipe, and it never ends.
    @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)], ["-", "PIPE"])
    func anImportThatWaitsForLinesIsInterrupted(end: (Int32, Int32), file: String) throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let pipe = workshop.path("PIPE")
        #expect(mkfifo(pipe, 0o600) == 0)
        let words = "import '\(library)' '\(file == "-" ? "-" : pipe)'"
        let input = file == "-" ? "0<> '\(pipe)'" : ""
        let child = try workshop.start(
            "/usr/bin/env", ["bash", "-c", "exec '\(Workshop.command)' \(words) \(input)"])
        // It keeps what it reads of a pipe, and minds signals by then.
        let files = "/proc/\(child.id)/fd"
        var turns = 0
        func keeps() -> Bool {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: files)) ?? []
            return names.contains {
                let place = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "\(files)/\($0)")
                return place?.contains("diptych-import-") == true
            }
        }
        try until {
            turns += 1
            return !child.isRunning || keeps() || turns > 15_000
        }
        child.send(end.0)
        turns = 0
        try until {
            turns += 1
            return !child.isRunning || turns > 15_000
        }
        #expect(!child.isRunning, "it waits on")
        if child.isRunning { child.send(SIGKILL) }
        #expect(child.wait() == end.1)
        #expect(child.complaint.contains("the store is as it was"))
    }

    /// The same lines in XML and binary stores, which hold all in memory.
    @Test(arguments: ["xml", "binary"]) func storesThatAreWrittenWholeTakeLinesToo(
        type: String
    ) throws {
        let workshop = try Workshop()
        let (store, model) = try workshop.everyKind()
        let empty = workshop.path("Empty.sqlite")
        try workshop.done(["create", empty, "--model", model])
        let other = workshop.path("Other.store")
        try workshop.done(["convert", empty, other, "--to", type])
        let export = try workshop.done(["export", store]).output
        try workshop.done(["import", other, "-", "--model", model], input: export)
        let again = try workshop.done(["export", other, "--model", model]).output
        #expect(try workshop.meaning(again) == workshop.meaning(export))
    }
}
