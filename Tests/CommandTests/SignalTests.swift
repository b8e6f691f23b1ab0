import ChildProcesses
import Foundation
import Testing

/// Work that is told to stop says so, ends with a status of its own, and leaves the store whole.
@Suite struct SignalTests {
    private static func many(_ count: Int, from first: Int = 0) -> String {
        (first..<first + count).map { "insert Tag name=t\($0)" }.joined(separator: "\n")
    }

    /// Records of several batches, to end a round between two of them.
    private static let several = 12_000

    @Test(arguments: [(SIGINT, Int32(130), "Interrupted."), (SIGTERM, 143, "Told to end.")])
    func aRoundIsEndedBetweenTwoSteps(signal: Int32, status: Int32, words: String) throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        var complaint = ""
        var count = 0
        // On a busy machine a round may be over before this one sees that it began.
        for _ in 0..<50 where !complaint.contains("diptych: ") {
            try workshop.edit(library, Self.many(Self.several, from: count))
            count += Self.several
            let round = try workshop.start(["sync", library] + service.settings)
            try until { !round.isRunning || round.complaint.contains("sending 2,001") }
            round.send(signal)
            #expect([0, status].contains(round.wait()))
            complaint = round.complaint
        }
        #expect(complaint.contains("diptych: \(words)\nhint: "))
        try workshop.done(["inspect", library, "--check"])
        #expect(try workshop.run("status", library).status == 1)
        try workshop.done(["sync", library] + service.settings)
        let copy = try workshop.library("copy.sqlite")
        try workshop.done(["sync", copy] + service.settings)
        try workshop.expectEqual(library, copy, rows: count)
    }

    @Test func anEditIsMadeWholeOrNotAtAll() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let script = try workshop.write(Self.many(4000), to: "script")
        let edit = try workshop.start(["edit", library, script])
        try until {
            !edit.isRunning || FileManager.default.fileExists(atPath: library + "-wal")
        }
        usleep(100_000)
        edit.send(SIGINT)
        let status = edit.wait()
        #expect([0, 130].contains(status))
        if status == 130 { #expect(edit.complaint.hasPrefix("diptych: Interrupted.\n")) }
        try workshop.done(["inspect", library, "--check"])
        let rows = try workshop.sql(library, "select count(*) from ZTAG")
        #expect(rows == "0" || rows == "4000")
    }

    /// A copy of the store that is compared, and the stores of stories.
    @Test(arguments: [SIGINT, SIGTERM]) func nothingOfTheMomentStays(signal: Int32) throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        try workshop.done(["sync", library] + service.settings)
        let folder = workshop.folder.appendingPathComponent("moment")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        workshop.environment["TMPDIR"] = folder.path
        // Somebody who never answers.
        service.child.send(SIGSTOP)
        defer { service.child.send(SIGCONT) }
        for words in [
            ["verify", library] + service.settings,
            ["simulate", "--model", Workshop.model, "--seeds", "100000"],
        ] {
            let run = try workshop.start(words)
            func left() -> [String] {
                (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            }
            try until { !left().isEmpty || !run.isRunning }
            run.send(signal)
            #expect(run.wait() == 128 + signal, "\(run.complaint)")
            #expect(left().isEmpty, "\(words[0])")
        }
    }

    /// While it starts, and between one story and the next, too.
    @Test func aSignalIsHeardAtAnyMoment() throws {
        let workshop = try Workshop()
        let folder = workshop.folder.appendingPathComponent("moment")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        workshop.environment["TMPDIR"] = folder.path
        for turn in 0..<32 {
            let run = try workshop.start([
                "simulate", "--model", Workshop.model, "--seeds", "100000",
            ])
            usleep(UInt32(20_000 + turn * 4_000))
            run.send(SIGTERM)
            #expect(run.wait() == 128 + SIGTERM, "\(run.complaint)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    private static let books = 100_000

    /// A library of many books, and an empty folder beside it.
    private func many(_ workshop: Workshop) throws -> (library: String, folder: URL) {
        let library = try workshop.library()
        _ = try workshop.sql(
            library,
            "with recursive n(i) as (select 1 union all select i + 1 from n "
                + "where i < \(Self.books)) "
                + "insert into ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) select i, "
                + "(select Z_ENT from Z_PRIMARYKEY where Z_NAME = 'Book'), 1, 't' || i from n;"
                + "update Z_PRIMARYKEY set Z_MAX = \(Self.books) where Z_NAME = 'Book';")
        let folder = workshop.folder.appendingPathComponent("converted")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return (library, folder)
    }

    /// A conversion that is told twice does not wait until it can take back what it wrote.
    @Test(arguments: ["sqlite", "xml"]) func aConversionThatIsToldTwiceLeavesNothing(
        type: String
    ) throws {
        let workshop = try Workshop()
        let (library, folder) = try many(workshop)
        let copy = folder.appendingPathComponent("Copy").path
        let child = try workshop.start(["convert", library, copy, "--to", type])
        func names() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path)
        }
        try until { try !child.isRunning || !names().isEmpty }
        usleep(300_000)
        for _ in 0..<2 where child.isRunning {
            child.send(SIGINT)
            usleep(700_000)
        }
        let ended = child.wait()
        #expect([0, 130].contains(ended))
        #expect(try names().allSatisfy { ended == 0 && $0.hasPrefix("Copy") }, "\(type)")
    }

    /// As `timeout` does, which signals its child and then the group.
    @Test(arguments: [[SIGINT], [SIGTERM], [SIGINT, SIGTERM]])
    func aConversionThatIsEndedLeavesNothing(signals: [Int32]) throws {
        let workshop = try Workshop()
        let (library, folder) = try many(workshop)
        func names() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path)
        }
        let copy = folder.appendingPathComponent("Copy.sqlite").path
        let child = try workshop.start(["convert", library, copy, "--to", "sqlite"])
        try until { try !child.isRunning || !names().isEmpty }
        usleep(300_000)
        signals.forEach { child.send($0) }
        let ended = child.wait()
        #expect([0, 130, 143].contains(ended))
        #expect(ended == 0 || ended == 128 + signals[0] || signals.count > 1)
        // What was made before it heard the signal was not interrupted.
        #expect((ended == 0) == !child.complaint.contains("diptych: "), "\(child.complaint)")
        #expect(try ended == 0 || names().isEmpty)
        if ended == 0 { #expect(try workshop.sql(copy, "select count(*) from ZBOOK") == "100000") }
    }

    @Test func aLockedStoreEndsWithTryAgain() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let mark = workshop.path("held")
        let holder = try workshop.start(
            "/usr/bin/env", ["sqlite3", library],
            input: """
                begin immediate;
                .shell touch '\(mark)'; while test -e '\(mark)'; do sleep 0.1; done
                rollback;
                """)
        defer {
            try? FileManager.default.removeItem(atPath: mark)
            holder.wait()
        }
        try until { FileManager.default.fileExists(atPath: mark) }
        let run = try workshop.run(
            ["edit", library, "-", "--json"], input: "insert Tag name=a")
        #expect(run.status == 75)
        #expect(run.errorCode == "busy")
        #expect(run.error["hint"] is String)
        let help = try workshop.run("--help").output
        #expect(help.contains("75  the service is away or asks to wait, or another process holds"))
        for status in ["130  Ctrl-C", "141  nobody reads", "143  SIGTERM"] {
            #expect(help.contains(status))
        }
    }

    @Test func aReaderThatLeavesIsNoFailure() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(library, Self.many(4000))
        let line = "'\(Workshop.command)' export '\(library)' | head -n 1; echo ${PIPESTATUS[0]}"
        let child = try workshop.start("/usr/bin/env", ["bash", "-c", line])
        child.wait()
        #expect(child.printed.split(separator: "\n").last == "141")
        #expect(child.complaint.isEmpty)
    }
}
