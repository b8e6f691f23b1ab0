import ChildProcesses
import Foundation
import Testing

/// `diptych migrate`: what it tells before, what it does, and what it leaves when it is killed.
@Suite struct MigrateTests {
    /// Versions of the library's model: with another attribute, then with a renamed one.
    private func versions(_ workshop: Workshop) throws -> String {
        let bundle = workshop.folder.appendingPathComponent("Library.xcdatamodeld")
        let first = try String(
            contentsOfFile: Workshop.model + "/contents", encoding: .utf8)
        let second = first.replacing(
            "<attribute name=\"pages\"",
            with: "<attribute name=\"edition\" optional=\"YES\" attributeType=\"String\"/>\n"
                + "        <attribute name=\"pages\"")
        let third = second.replacing(
            "<attribute name=\"edition\" ",
            with: "<attribute name=\"issue\" elementID=\"edition\" ")
        for (name, text) in [("Library", first), ("Library 2", second), ("Library 10", third)] {
            let folder = bundle.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
        }
        return bundle.path
    }

    @Test func aTrialTellsAndChangesNothing() throws {
        let workshop = try Workshop()
        let (library, bundle) = (try workshop.library(), try versions(workshop))
        try workshop.edit(library, "insert Book title=Emma pages=474")
        let before = try Data(contentsOf: URL(fileURLWithPath: library))
        let run = try workshop.done(["migrate", library, "--to", bundle, "--dry-run"])
        #expect(run.output.contains("Step 1 of 2: Library to Library 2, inferred"))
        #expect(run.output.contains("Book.edition is new"))
        #expect(run.output.contains("Book.issue was edition"))
        #expect(run.output.contains("1 row"))
        let json = try workshop.done(["migrate", library, "--to", bundle, "--dry-run", "--json"])
        let steps = try #require(json.json["steps"] as? [[String: Any]])
        #expect(steps.map { $0["to"] as? String } == ["Library 2", "Library 10"])
        #expect(json.json["possible"] as? Bool == true)
        #expect((json.json["bytesNeeded"] as? Int ?? 0) > 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: library)) == before)
    }

    @Test func aStoreGoesOverItsVersions() throws {
        let workshop = try Workshop()
        let (library, bundle) = (try workshop.library(), try versions(workshop))
        try workshop.edit(library, "insert Book title=Emma pages=474")
        try workshop.done(["migrate", library, "--to", bundle, "--version", "Library 2"])
        try workshop.edit(library, "set Book[pages == 474] edition=third")
        let done = try workshop.done(["migrate", library, "--to", bundle, "--backup", "--json"])
        #expect(done.json["to"] as? String == "Library 10")
        #expect(done.json["steps"] as? Int == 1)
        #expect(try workshop.sql(library, "select ZTITLE, ZISSUE from ZBOOK") == "Emma|third")
        let names = try FileManager.default.contentsOfDirectory(atPath: workshop.folder.path)
        let copy = try #require(names.first { $0.hasPrefix("Library-before-") })
        #expect(
            try workshop.sql(workshop.path(copy), "select ZEDITION from ZBOOK") == "third")
        #expect(done.json["backup"] as? String == workshop.path(copy))
        let again = try workshop.done(["migrate", library, "--to", bundle])
        #expect(again.output.contains("has that version already"))
        try workshop.done(["inspect", library, "--check"])
    }

    /// A log of an automatic run has each step once.
    @Test func eachStepIsALineWhereThereIsNoTerminal() throws {
        let workshop = try Workshop()
        let (library, bundle) = (try workshop.library(), try versions(workshop))
        try workshop.edit(library, "insert Book title=Emma pages=474")
        let run = try workshop.done(["migrate", library, "--to", bundle])
        let lines = run.complaint.split(separator: "\n")
        #expect(lines.count == 2, "\(run.complaint)")
        #expect(Set(lines).count == lines.count)
    }

    /// Nobody reads what is told beside the result, or nothing holds it: the work goes on.
    @Test(arguments: ["exec 2>/dev/full", "mkfifo F; exec 3<>F 2>F 3<&-", "exec 2>&-"])
    func theWorkOutlivesStandardError(closing: String) throws {
        let workshop = try Workshop()
        let (library, bundle) = (try workshop.library(), try versions(workshop))
        let words = "exec '\(Workshop.command)' migrate '\(library)' --to '\(bundle)'"
        let child = try workshop.start(
            "/usr/bin/env",
            ["bash", "-c", "cd '\(workshop.folder.path)'; \(closing); \(words)"])
        #expect(child.wait() == 0)
        #expect(child.printed.contains("Migrated "))
        let again = try workshop.done(["migrate", library, "--to", bundle])
        #expect(again.output.contains("has that version already"))
    }

    @Test(arguments: ["xml", "binary"]) func aTrialTellsWhatTheTypeRefuses(type: String) throws {
        let workshop = try Workshop()
        let derived = try workshop.derivedModel()
        let plain = workshop.path("Plain.xcdatamodel")
        try FileManager.default.createDirectory(atPath: plain, withIntermediateDirectories: true)
        let text = try String(contentsOfFile: derived + "/contents", encoding: .utf8)
        try workshop.write(
            text.split(separator: "\n").filter {
                !$0.contains("derived") && !$0.contains("derivation")
            }
            .joined(separator: "\n"), to: "Plain.xcdatamodel/contents")
        let (origin, store) = (workshop.path("origin.sqlite"), workshop.path("store"))
        try workshop.done(["create", origin, "--model", plain])
        try workshop.done(["convert", origin, store, "--to", type])
        let words = ["migrate", store, "--to", derived, "--model", plain]
        let trial = try workshop.run(words + ["--dry-run"])
        #expect(trial.status == 1)
        #expect(trial.output.contains("It cannot be done: "))
        #expect(trial.output.contains("derived properties, and Note.search is one"))
        let run = try workshop.run(words)
        #expect(run.status == 1)
        #expect(run.complaint.contains("derived properties, and Note.search is one"))
        try workshop.done(["migrate", origin, "--to", derived, "--dry-run"])
    }

    @Test func theCopyBesideIsNamed() throws {
        let workshop = try Workshop()
        let (library, bundle) = (try workshop.library(), try versions(workshop))
        let run = try workshop.done(["migrate", library, "--to", bundle, "--backup"])
        let names = try FileManager.default.contentsOfDirectory(atPath: workshop.folder.path)
        let copy = try #require(names.first { $0.hasPrefix("Library-before-") })
        #expect(run.output.contains(workshop.path(copy)))
        // Nothing is copied where nothing is done.
        let again = try workshop.done(["migrate", library, "--to", bundle, "--backup", "--json"])
        #expect(again.json["backup"] is NSNull)
    }

    /// Makes the store one that is mirrored, whose mirror has seen so many transactions.
    private func mirror(_ store: String, seen: Int, _ workshop: Workshop) throws {
        _ = try workshop.sql(
            store,
            "create table ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, "
                + "ZENTITYPK INTEGER, ZNEEDSUPLOAD INTEGER);"
                + "create table ANSCKMETADATAENTRY (ZKEY VARCHAR, ZINTEGERVALUE INTEGER);"
                + "insert into ANSCKMETADATAENTRY values "
                + "('NSCloudKitMirroringDelegateLastHistoryTokenKey', \(seen))")
    }

    @Test func editsThatWereNotSentAreToldWhereValuesGo() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(library, "insert Book title=Emma pages=474")
        let number = try #require(
            Int(try workshop.sql(library, "select ifnull(max(Z_PK), 0) from ATRANSACTION")))
        try mirror(library, seen: number - 1, workshop)
        let other = try workshop.model { text in
            let line = text.split(separator: "\n").first { $0.contains("name=\"pages\"") }
            return line.map { text.replacing(String($0), with: "") } ?? text
        }
        let trial = ["migrate", library, "--to", other, "--dry-run"]
        let told = try workshop.done(trial)
        #expect(told.output.contains("pages is gone, with its values  LOSES DATA"))
        #expect(told.output.contains("1 object of this mirrored store has edits"))
        let json = try workshop.done(trial + ["--json"])
        #expect(json.json["unsentObjects"] as? Int == 1)
        #expect((json.json["warnings"] as? [String])?.count == 1)
        _ = try workshop.sql(library, "update ANSCKMETADATAENTRY set ZINTEGERVALUE = \(number)")
        #expect(try !workshop.done(trial).output.contains("mirrored store"))
        _ = try workshop.sql(
            library,
            "insert into ANSCKRECORDMETADATA (ZENTITYID, ZENTITYPK, ZNEEDSUPLOAD) values (1, 1, 1)")
        let run = try workshop.run("migrate", library, "--to", other)
        #expect(run.status == 0 && run.complaint.contains("1 object of this mirrored store"))
    }

    @Test func aStoreOfALaterVersionIsRefused() throws {
        let workshop = try Workshop()
        let (library, bundle) = (try workshop.library(), try versions(workshop))
        try workshop.done(["migrate", library, "--to", bundle])
        let before = try Data(contentsOf: URL(fileURLWithPath: library))
        let run = try workshop.run("migrate", library, "--to", bundle, "--version", "Library 2")
        #expect(run.status == 1)
        #expect(run.complaint.contains("later version"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: library)) == before)
    }

    @Test func theRuleThatForbidsIsNamed() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let other = try workshop.model {
            $0.replacing(
                "attributeType=\"Integer 16\" minValueString=\"1\" usesScalarValueType=\"YES\"",
                with: "attributeType=\"String\"")
        }
        for words in [["--dry-run"], []] {
            let run = try workshop.run(["migrate", library, "--to", other] + words)
            #expect(run.status == 1)
            #expect(run.complaint.contains("types are incompatible (Book.pages)"))
            #expect(run.complaint.contains("--mapping"))
        }
    }

    @Test func aKilledMigrationLeavesAWholeStore() throws {
        let workshop = try Workshop()
        let (origin, bundle) = (try workshop.library("Origin.sqlite"), try versions(workshop))
        let rows = 20_000
        _ = try workshop.sql(
            origin,
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < \(rows)) "
                + "insert into ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) select i, "
                + "(select Z_ENT from Z_PRIMARYKEY where Z_NAME = 'Book'), 1, 't' || i from n;"
                + "update Z_PRIMARYKEY set Z_MAX = \(rows) where Z_NAME = 'Book';"
                + "pragma wal_checkpoint(truncate)")
        for pause in stride(from: 2_000, through: 60_000, by: 6_000) {
            let store = workshop.path("Library-\(pause).sqlite")
            try FileManager.default.copyItem(atPath: origin, toPath: store)
            let child = try workshop.start(["migrate", store, "--to", bundle])
            usleep(UInt32(pause))
            child.send(SIGKILL)
            child.wait()
            #expect(try workshop.sql(store, "pragma integrity_check") == "ok")
            #expect(try workshop.sql(store, "select count(*) from ZBOOK") == "\(rows)")
            try workshop.done(["migrate", store, "--to", bundle])
            #expect(
                try workshop.sql(store, "select count(*), count(ZISSUE) from ZBOOK")
                    == "\(rows)|0")
        }
    }

    @Test func aFullDiskIsToldAndLeavesTheStore() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        try workshop.edit(library, "insert Book title=Emma pages=474")
        let pages = try #require(Int(try workshop.sql(library, "pragma page_count")))
        let bundle = try versions(workshop)
        workshop.environment["DIPTYCH_SQLITE_PRAGMAS"] = "max_page_count=\(pages)"
        let other = try workshop.model {
            $0.replacing(
                "<entity name=\"Book\"", with: "<entity name=\"Aaa\"/><entity name=\"Book\"")
        }
        let run = try workshop.run("migrate", library, "--to", other)
        #expect(run.status == 1)
        #expect(run.complaint.contains("store is"))
        workshop.environment["DIPTYCH_SQLITE_PRAGMAS"] = nil
        try workshop.done(["migrate", library, "--to", bundle])
        #expect(try workshop.sql(library, "select ZTITLE from ZBOOK") == "Emma")
    }
}
