import ChildProcesses
import Foundation
import Testing

/// What reaches a terminal: nothing of data, names, files or services acts on it.
@Suite struct TerminalTests {
    /// ESC, BEL, CSI as one byte, DEL, a bidi override, a line separator; as `edit` spells them.
    private static let hostile =
        #"a\u{1B}[31mb\u{7}c\u{9B}2Jd\u{7F}e\u{202E}f\u{2028}g\ndiptych: h"#
    private static let acting = Set(
        Array(0...8) + Array(11...31) + Array(0x7F...0x9F)
            + [0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0xFEFF] + Array(0x202A...0x202E)
            + Array(0x2066...0x2069)
    ).map { UInt32($0) }

    private func expectTame(_ text: String, _ what: String) {
        let found = text.unicodeScalars.filter { Self.acting.contains($0.value) }
        #expect(found.isEmpty, "\(what): \(found.map { String($0.value, radix: 16) })")
    }

    private func expectTame(_ run: Run, _ what: String) {
        expectTame(run.output, what)
        expectTame(run.complaint, what)
        #expect(!run.output.contains("\ndiptych: h"), "\(what) shows a line of the data's")
        #expect(!run.complaint.contains("\ndiptych: h"), "\(what) tells a line of the data's")
    }

    @Test func valuesNeverActOnTheTerminal() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let (desk, phone) = (try workshop.library("d.sqlite"), try workshop.library("p.sqlite"))
        try workshop.edit(
            desk, "insert Book title=old pages=1\ninsert Tag name=\"\(Self.hostile)\"")
        for store in [desk, phone] { try workshop.done(["sync", store] + service.settings) }
        try workshop.edit(desk, "set Book[pages == 1] title=\"\(Self.hostile)\"")
        try workshop.edit(phone, "set Book[pages == 1] title=\"mine \(Self.hostile)\"")
        try workshop.done(["sync", desk] + service.settings)
        try workshop.done(["sync", phone] + service.settings)
        let calls = [
            ["inspect", phone, "--entity", "Book"], ["inspect", phone, "--entity", "Tag"],
            ["inspect", phone, "--entity", "Tag", "--json"], ["export", phone],
            ["conflicts", phone], ["conflicts", phone, "--wide"], ["conflicts", phone, "--json"],
            ["status", phone], ["events", phone], ["inspect", phone],
        ]
        for words in calls {
            expectTame(try workshop.run(words), words.joined(separator: " "))
        }
        let text = try workshop.done(["inspect", phone, "--entity", "Tag"]).output
        #expect(text.contains(#"a\u{1B}[31mb\u{7}c\u{9B}2J"#))
        let row = try workshop.done(["inspect", phone, "--entity", "Tag", "--json"]).json
        let name = (row["values"] as? [String: Any])?["name"] as? String
        #expect(name == "a\u{1B}[31mb\u{7}c\u{9B}2Jd\u{7F}e\u{202E}f\u{2028}g\ndiptych: h")
    }

    @Test func namesOfFilesAndWordsNeverActOnTheTerminal() throws {
        let workshop = try Workshop()
        let bad = "x\u{1B}]0;y\u{7}\u{202E}\ndiptych: h"
        let file = workshop.path("\(bad).sqlite")
        try workshop.done(["create", file, "--model", Workshop.model])
        let calls = [
            ["create", file, "--model", Workshop.model], ["inspect", file], ["status", file],
            ["conflicts", file], ["reset", file], ["inspect", file, "--check"],
            ["inspect", file, "--entity", bad], ["inspect", workshop.path(bad)],
            ["model", "describe", workshop.path(bad)], ["edit", file, workshop.path(bad)],
            ["sync", file, "--service", bad, "--container", bad], [bad],
            ["sync", file, "--\(bad)"],
            ["sync", file, "--policy", bad], ["serve", "--listen", bad],
            ["inspect", file, "--entity", "Book", "--where", "title == '\(bad)' AND"],
            [
                "sync", file, "--container", "c", "--service", "https://127.0.0.1:1",
                "--token-file", bad,
            ],
        ]
        for words in calls {
            expectTame(try workshop.run(words), "\(words)")
            expectTame(try workshop.run(words + ["--json"]), "\(words) --json")
        }
        let told = try workshop.run("inspect", workshop.path(bad)).complaint
        #expect(told.contains(#"x\u{1B}]0;y\u{7}\u{202E}\ndiptych: h"#))
    }

    @Test func whatTheServiceSaysNeverActsOnTheTerminal() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=a")
        let service = try workshop.service()
        try workshop.done(["sync", library] + service.settings)
        _ = try workshop.sql(
            library,
            """
            insert into ADIPTYCHREFUSAL (ZRECORDNAME, ZDATE, ZCODE, ZREASON) values
            ('r' || char(27) || '[2J', 0, 'CODE' || char(155), 'told' || char(10, 8238) || 'so');
            """)
        let status = try workshop.run("status", library)
        expectTame(status, "status")
        #expect(status.output.contains(#"r\u{1B}[2J"#))
        expectTame(try workshop.run("status", library, "--json"), "status --json")
    }

    @Test func modelsNeverActOnTheTerminal() throws {
        let workshop = try Workshop()
        let model = try workshop.model {
            $0.replacing("name=\"shelf\"", with: "name=\"sh&#x9B;2J&#x202E;elf\"")
        }
        for words in [
            ["model", "describe", model], ["model", "check", model],
            ["model", "diff", Workshop.model, model],
            ["create", workshop.path("odd.sqlite"), "--model", model],
            ["inspect", workshop.path("odd.sqlite")],
            ["inspect", workshop.path("odd.sqlite"), "--schema"],
            ["inspect", workshop.path("odd.sqlite"), "--properties"],
        ] { expectTame(try workshop.run(words), "\(words)") }
    }

    // MARK: Columns

    @Test func wideCharactersKeepTheirColumns() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(
            library,
            """
            insert Author name="漢字かな" country=A
            insert Author name="e\\u{301}e\\u{301}" country=A
            insert Author name="😀👩‍👩‍👧🇩🇪" country=A
            insert Author name="plain" country=A
            """)
        let text = try workshop.done(["inspect", library, "--entity", "Author", "--sort", "name"])
        let lines = text.output.split(separator: "\n").dropFirst()
        #expect(lines.count == 4)
        // Each line has "–" for the teacher after the name, at a column that the widths decide.
        let columns = try lines.map { line -> Int in
            let name = try #require(line.range(of: " A  ")).upperBound
            let rest = try #require(line[name...].range(of: "–")).lowerBound
            return Self.columns(line[..<rest])
        }
        #expect(Set(columns).count == 1, "\(text.output)")
    }

    /// By hand, for the names above.
    private static func columns(_ text: Substring) -> Int {
        text.reduce(0) { sum, character in
            let first = character.unicodeScalars.first?.value ?? 0
            return sum + (first >= 0x3040 && first < 0xA000 || first >= 0x1F1E6 ? 2 : 1)
        }
    }

    // MARK: Terminals

    /// Runs the command under a terminal of `script`, and returns all that reached it.
    private func terminal(
        _ workshop: Workshop, _ words: [String], _ variables: [String: String] = [:]
    ) throws -> String {
        workshop.environment["TERM"] = "xterm"
        workshop.environment["NO_COLOR"] = nil
        for (name, value) in variables { workshop.environment[name] = value }
        let line = ([Workshop.command] + words).map { "'\($0)'" }.joined(separator: " ")
        let child = try workshop.start(
            "/usr/bin/env", ["script", "-qec", line, "/dev/null"])
        child.wait()
        return child.printed
    }

    /// Ctrl-C and Ctrl-\\, as terminals send them.
    @Test(arguments: ["\u{3}", "\u{1C}"])
    func aPromptThatIsInterruptedLeavesTheTerminalAsItWas(key: String) throws {
        let workshop = try Workshop()
        workshop.environment["TERM"] = "xterm"
        let (script, typed) = (workshop.path("script"), workshop.path("typed"))
        try workshop.write(
            """
            trap : INT QUIT
            '\(Workshop.command)' key create '\(workshop.path("z.keys"))'
            echo "ended $?"
            stty -a
            """, to: "script")
        #expect(mkfifo(typed, 0o600) == 0)
        let keyboard = open(typed, O_RDWR | O_CLOEXEC)
        defer { close(keyboard) }
        let child = try workshop.start(
            "/bin/sh", ["-c", "exec script -qec \"sh '\(script)'\" /dev/null < '\(typed)'"])
        try until { child.printed.contains("New passphrase: ") || !child.isRunning }
        let keys = Array("half\(key)".utf8)
        #expect(write(keyboard, keys, keys.count) == keys.count)
        child.wait()
        #expect(child.printed.contains("ended 130"), "\(child.printed)")
        let words = child.printed.split { $0.isWhitespace || $0 == ";" }
        #expect(words.contains("echo") && !words.contains("-echo"), "\(child.printed)")
        #expect(words.contains("isig"))
        #expect(!FileManager.default.fileExists(atPath: workshop.path("z.keys")))
    }

    /// Signals that somebody sends. (Who runs tests may have them ignore others.)
    @Test(arguments: [SIGTERM, SIGALRM])
    func aPromptThatASignalEndsLeavesTheTerminalAsItWas(number: Int32) throws {
        let workshop = try Workshop()
        workshop.environment["TERM"] = "xterm"
        let typed = workshop.path("typed")
        let script = try workshop.write(
            """
            trap : INT QUIT TERM HUP
            sh -c 'echo "number $$ "; exec "$0" key create "$1"' \
                '\(Workshop.command)' '\(workshop.path("z.keys"))'
            echo "ended $?"
            stty -a
            """, to: "script")
        #expect(mkfifo(typed, 0o600) == 0)
        let keyboard = open(typed, O_RDWR | O_CLOEXEC)
        defer { close(keyboard) }
        let child = try workshop.start(
            "/bin/sh", ["-c", "exec script -qec \"sh '\(script)'\" /dev/null < '\(typed)'"])
        try until { child.printed.contains("New passphrase: ") || !child.isRunning }
        let line = child.printed.split(separator: "\n").first { $0.contains("number ") }
        let words = line?.split { $0.isWhitespace } ?? []
        let process = try #require(words.dropFirst().first.flatMap { pid_t($0) })
        #expect(kill(process, number) == 0)
        child.wait()
        #expect(child.printed.contains("ended \(128 + number)"), "\(child.printed)")
        let settings = child.printed.split { $0.isWhitespace || $0 == ";" }
        #expect(settings.contains("echo") && !settings.contains("-echo"), "\(child.printed)")
        #expect(settings.contains("isig"))
    }

    @Test func anEmptyPassphraseIsNotTakenForNoTerminal() throws {
        let workshop = try Workshop()
        workshop.environment["TERM"] = "xterm"
        let (keys, typed) = (workshop.path("z.keys"), workshop.path("typed"))
        #expect(mkfifo(typed, 0o600) == 0)
        let keyboard = open(typed, O_RDWR | O_CLOEXEC)
        defer { close(keyboard) }
        let line = "'\(Workshop.command)' key create '\(keys)'"
        let child = try workshop.start(
            "/bin/sh", ["-c", "exec script -qec \"\(line)\" /dev/null < '\(typed)'"])
        try until { child.printed.contains("New passphrase: ") || !child.isRunning }
        #expect(write(keyboard, "\n", 1) == 1)
        child.wait()
        #expect(child.printed.contains("The passphrase is empty."), "\(child.printed)")
        #expect(!child.printed.contains("no terminal"))
        #expect(!FileManager.default.fileExists(atPath: keys))
    }

    @Test func coloursAreForTerminalsThatWantThem() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let status = ["status", library]
        #expect(try terminal(workshop, status).contains("\u{1B}[1m"))
        #expect(try !terminal(workshop, status, ["NO_COLOR": "1"]).contains("\u{1B}"))
        #expect(try !workshop.run(status).output.contains("\u{1B}"))
    }

    @Test func aTerminalSeesABarAndAFileSeesLines() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        let many = (0..<2300).map { "insert Tag name=t\($0)" }.joined(separator: "\n")
        try workshop.edit(library, many)
        let shown = try terminal(workshop, ["sync", library] + service.settings)
        #expect(shown.contains("\r[####"), "\(shown)")
        #expect(shown.contains("sending 2,001 to 2,300 of 2,300 records"))
        let copy = try workshop.library("copy.sqlite")
        let told = try workshop.done(["sync", copy] + service.settings).complaint
        let counts = told.split(separator: "\n").filter { $0.hasPrefix("fetched ") }
        #expect(counts.last == "fetched 2,300 records")
        #expect(counts.count > 1)
        #expect(!told.contains("\r"))
        try workshop.edit(copy, many.replacing("=t", with: "=u"))
        let sent = try workshop.done(["sync", copy] + service.settings).complaint
        #expect(sent.contains("sending 1 to 2,000 of 2,300 records"))
    }

    @Test func quietSaysNothingButErrors() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = workshop.path("l.sqlite")
        let file = try workshop.write("insert Tag name=a", to: "script")
        let lines = try workshop.write(#"{"entity":"Tag","values":{"name":"b"}}"#, to: "lines")
        let sync = ["sync", library] + service.settings
        for words in [
            ["create", library, "--model", Workshop.model], ["edit", library, file],
            ["import", library, lines], sync, ["status", library],
            ["convert", library, workshop.path("x.xml"), "--to", "xml"], ["reset", library],
        ] {
            let run = try workshop.done(words + ["--quiet"])
            #expect(run.output.isEmpty && run.complaint.isEmpty, "\(words): \(run.output)")
        }
        #expect(try workshop.run("status", library, "--quiet").status == 1)
        // What was asked for is no remark.
        #expect(try workshop.done(["export", library, "--quiet"]).lines.count == 2)
        let wrong = try workshop.run("inspect", workshop.path("none"), "--quiet")
        #expect(wrong.complaint.hasPrefix("diptych: There is no file"))
    }
}
