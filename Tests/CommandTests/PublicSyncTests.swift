import ChildProcesses
import Foundation
import Testing

/// Stores of the public database: Ann and Ben, two users of one service, with a store each.
@Suite struct PublicSyncTests {
    @Test func bothHaveWhatEitherMade() throws {
        let bench = try PublicBench()
        try bench.begin()
        try bench.workshop.edit(
            bench.bens,
            "insert Book e title=Emma\nlink Book[title == 'Emma'].tags Tag[name == 'novel']")
        try bench.workshop.edit(bench.anns, "delete Book[title == 'Leaflet']")
        for store in [bench.anns, bench.bens, bench.anns] { try bench.sync(store) }
        #expect(try bench.titles(bench.anns) == ["Dune", "Emma"])
        try bench.workshop.expectEqual(bench.anns, bench.bens)
        for store in [bench.anns, bench.bens] {
            #expect(try bench.workshop.run("status", store).status == 0)
        }
        // None of it is in the databases of their own.
        let own = try bench.workshop.library("Own.sqlite")
        try bench.sync(own)
        #expect(try bench.titles(own).isEmpty)
        #expect(try bench.database(own) == "private")
    }

    @Test func anEditOfAnothersIsRefusedStaysAndIsTold() throws {
        let bench = try PublicBench()
        try bench.begin()
        try bench.workshop.edit(
            bench.bens, "set Book[title == 'Dune'] shelf=B1\ninsert Book title=Emma")
        let refused = try bench.run("sync", bench.bens)
        #expect(refused.status == 1 && refused.errorCode == "notYours")
        let message = refused.error["message"] as? String ?? ""
        #expect(message.hasSuffix("theirs to change; 1 edit or deletion stays here."))
        #expect((refused.error["hint"] as? String)?.contains("diptych status") == true)
        let shelf = "select ZSHELF from ZBOOK where ZTITLE = 'Dune'"
        try bench.sync(bench.anns)
        #expect(try bench.titles(bench.anns) == ["Dune", "Emma", "Leaflet"])
        #expect(try bench.workshop.sql(bench.anns, shelf) == "")
        #expect(try bench.workshop.sql(bench.bens, shelf) == "B1")
        let status = try bench.workshop.run("status", bench.bens)
        #expect(status.status == 1)
        #expect(status.output.contains("not yours to make are refused, and stay here"))
        #expect(status.output.contains("ACCESS_DENIED: The record is another user's"))
        #expect(status.output.contains("Or take the edits back: `diptych conflicts "))
        let trace = try bench.workshop.done(["trace", bench.bens, "Book/p1"]).output
        #expect(trace.contains("ACCESS_DENIED"))
        let differing = try bench.run("verify", bench.bens)
        #expect(differing.status == 1 && differing.json["unexplained"] as? Int == 0)
        // A deletion is refused and told likewise.
        try bench.workshop.edit(bench.bens, "delete Book[title == 'Leaflet']")
        #expect(try bench.run("sync", bench.bens).errorCode == "notYours")
        let told = try bench.workshop.run("status", bench.bens).output
        #expect(told.components(separatedBy: "ACCESS_DENIED").count == 3)
        try bench.sync(bench.anns)
        #expect(try bench.titles(bench.anns) == ["Dune", "Emma", "Leaflet"])
        #expect(try bench.titles(bench.bens) == ["Dune", "Emma"])
    }

    @Test func aRefusedDeletionIsTakenBackAsTheServiceHasIt() throws {
        let bench = try PublicBench()
        try bench.begin()
        let name =
            "select ZCKRECORDNAME from ANSCKRECORDMETADATA m join ZBOOK b on "
            + "b.Z_PK = m.ZENTITYPK and b.Z_ENT = m.ZENTITYID where b.ZTITLE = 'Dune'"
        let record = try bench.workshop.sql(bench.bens, name)
        let dune = try bench.workshop.sql(
            bench.bens, "select Z_PK from ZBOOK where ZTITLE = 'Dune'")
        try bench.workshop.edit(
            bench.bens, "delete Book[title == 'Dune']\ndelete Book[title == 'Leaflet']")
        #expect(try bench.run("sync", bench.bens).errorCode == "notYours")
        let status = try bench.workshop.run("status", bench.bens)
        #expect(status.status == 1)
        #expect(status.output.contains("Book/p\(dune), deleted here: ACCESS_DENIED"))
        #expect(status.output.contains("`diptych conflicts "))
        #expect(status.output.contains("--restore-refused`"))
        // Ann changes it meanwhile.
        try bench.workshop.edit(bench.anns, "set Book[title == 'Dune'] pages=612")
        try bench.sync(bench.anns)
        let one = try bench.workshop.done(
            ["conflicts", bench.bens, "--restore", "Book/p\(dune)", "--json"])
        #expect(one.json["restored"] as? String == record)
        #expect(one.json["way"] as? String == "tookBackDeletion")
        #expect(one.json["linksLost"] as? Int == 0)
        let all = try bench.workshop.done(["conflicts", bench.bens, "--restore-refused"])
        #expect(all.output.contains("is there again, with its links, as the service has it"))
        #expect(try bench.workshop.run("status", bench.bens).status == 0)
        let round = try bench.run("sync", bench.bens)
        #expect(round.status == 0 && round.json["exported"] as? Int == 0, "\(round.output)")
        #expect(try bench.titles(bench.bens) == ["Dune", "Leaflet"])
        #expect(try bench.workshop.sql(bench.bens, name) == record)
        try bench.workshop.expectEqual(bench.anns, bench.bens)
        let verified = try bench.run("verify", bench.bens)
        #expect(verified.status == 0, "\(verified.output)")
        // There is nothing more to take back.
        let again = try bench.workshop.run(
            ["conflicts", bench.bens, "--restore", "Book/p\(dune)", "--json"])
        #expect(again.status == 1 && again.errorCode == "noRefusedEdit")
        let both = ["conflicts", bench.bens, "--restore", "1", "--restore-refused", "--json"]
        #expect(try bench.workshop.run(both).errorCode == "usage")
    }

    @Test func aRefusedEditIsTakenBackAsTheServiceHasIt() throws {
        let bench = try PublicBench()
        try bench.begin()
        let shelf = "select ifnull(ZSHELF, '-') from ZBOOK where ZTITLE = 'Dune'"
        let dune = try bench.workshop.sql(
            bench.bens, "select Z_PK from ZBOOK where ZTITLE = 'Dune'")
        let before = try bench.workshop.sql(bench.bens, shelf)
        try bench.workshop.edit(bench.bens, "set Book[title == 'Dune'] shelf=B1")
        #expect(try bench.run("sync", bench.bens).errorCode == "notYours")
        let status = try bench.workshop.run("status", bench.bens)
        #expect(status.output.contains("Book/p\(dune), edited here: ACCESS_DENIED"))
        #expect(status.output.contains("--restore-refused`"))
        let one = try bench.workshop.done(
            ["conflicts", bench.bens, "--restore", "Book/p\(dune)", "--json"])
        #expect(one.json["way"] as? String == "tookBackEdit")
        #expect((one.json["staying"] as? [String])?.isEmpty == true)
        #expect(try bench.workshop.sql(bench.bens, shelf) == before)
        #expect(try bench.workshop.run("status", bench.bens).status == 0)
        #expect(try bench.workshop.done(["conflicts", bench.bens]).output.contains("B1"))
        // All at once, another way of saying it.
        try bench.workshop.edit(bench.bens, "set Book[title == 'Dune'] shelf=B2")
        #expect(try bench.run("sync", bench.bens).errorCode == "notYours")
        let all = try bench.workshop.done(["conflicts", bench.bens, "--restore-refused"])
        #expect(all.output.contains("is as the service has it; what you had is in the log"))
        let round = try bench.run("sync", bench.bens)
        #expect(round.status == 0 && round.json["exported"] as? Int == 0, "\(round.output)")
        let again = try bench.workshop.run(
            ["conflicts", bench.bens, "--restore", "Book/p\(dune)", "--json"])
        #expect(again.status == 1 && again.errorCode == "noRefusedEdit")
        let none = try bench.workshop.done(["conflicts", bench.bens, "--restore-refused"])
        #expect(none.output.contains("The service refused no deletion and no edit."))
    }

    @Test func aDryRunListsApartWhatWillBeRefused() throws {
        let bench = try PublicBench()
        try bench.begin()
        try bench.workshop.edit(
            bench.bens,
            """
            set Book[title == 'Dune'] shelf=B1
            delete Book[title == 'Leaflet']
            insert Book title=Emma
            """)
        let dump = try bench.workshop.sql(bench.bens, ".dump")
        for isForeseen in [true, false] {
            let run = try bench.run("sync", bench.bens, ["--dry-run"])
            #expect(run.status == 0 && run.json["sent"] as? Int == (isForeseen ? 1 : 0))
            #expect(run.json["refused"] as? Int == 2)
            let refused = run.lines.filter { $0["event"] as? String == "refuse" }
            #expect(Set(refused.map { $0["kind"] as? String }) == ["update", "delete"])
            #expect(refused.allSatisfy { $0["foreseen"] as? Bool == isForeseen })
            #expect(
                refused.allSatisfy {
                    ($0["reason"] as? String)?.hasPrefix("ACCESS_DENIED: The record is another")
                        == true
                })
            #expect((run.json["advice"] as? String)?.contains("--restore-refused") == true)
            guard isForeseen else { break }
            #expect(try bench.workshop.sql(bench.bens, ".dump") == dump)
            let paper = try bench.workshop.done(
                ["sync", bench.bens, "--dry-run"] + bench.ben
            ).output
            #expect(paper.contains("SEND  1") && paper.contains("REFUSED  2"))
            #expect(paper.contains("Ask them. What you deleted or edited stands there as it was"))
            #expect(try bench.run("sync", bench.bens).errorCode == "notYours")
        }
        // To the one who made them nothing of it is refused.
        try bench.workshop.edit(bench.anns, "delete Book[title == 'Leaflet']")
        let own = try bench.run("sync", bench.anns, ["--dry-run"])
        #expect(own.json["sent"] as? Int == 1 && own.json["refused"] as? Int == 0)
    }

    @Test func aValueThatIsSetBackIsRefusedNoMore() throws {
        let bench = try PublicBench()
        try bench.begin()
        try bench.workshop.edit(bench.bens, "set Book[title == 'Dune'] shelf=B1")
        #expect(try bench.run("sync", bench.bens).errorCode == "notYours")
        // With the value set back there is nothing to refuse.
        try bench.workshop.edit(bench.bens, "set Book[title == 'Dune'] shelf=null")
        try bench.sync(bench.bens)
        #expect(try bench.workshop.run("status", bench.bens).status == 0)
    }

    @Test func aRoleLetsOneChangeWhatAnotherMade() throws {
        let bench = try PublicBench()
        try bench.begin()
        try bench.workshop.edit(bench.bens, "set Book[title == 'Dune'] shelf=B1")
        #expect(try bench.run("sync", bench.bens).errorCode == "notYours")
        for words in [
            ["--grant", "_icloud", "--type", "CD_Book", "--rights", "create,read"],
            ["--grant", "_creator", "--type", "CD_Book", "--rights", "write"],
            ["--grant", "editors", "--type", "CD_Book", "--rights", "write"],
            ["--give", "editors", "--user", "Ben"],
        ] {
            try bench.workshop.done(
                [
                    "service", "roles", "--container", bench.service.text("container"), "--data",
                    bench.workshop.path("service"),
                ] + words)
        }
        // The next edit is sent with what was refused; without one it is tried again in an hour.
        try bench.workshop.edit(bench.bens, "set Book[title == 'Dune'] pages=612")
        for store in [bench.bens, bench.anns] { try bench.sync(store) }
        #expect(
            try bench.workshop.sql(bench.anns, "select ZSHELF from ZBOOK where ZTITLE = 'Dune'")
                == "B1")
    }

    @Test func aStoreKeepsToItsDatabaseUntilReset() throws {
        let bench = try PublicBench()
        try bench.begin()
        let before = try bench.workshop.sql(bench.anns, ".dump")
        let own = ["--database-scope", "private"]
        for words in [
            ["sync"], ["sync", "--dry-run"], ["verify"], ["status"], ["conflicts"], ["events"],
        ] {
            let run = try bench.run(words[0], bench.anns, Array(words.dropFirst()) + own)
            #expect(run.status == 2 && run.errorCode == "otherDatabase", "\(words)")
            let message = run.error["message"] as? String ?? ""
            #expect(message.hasSuffix("with the public database, not with the private one."))
            #expect((run.error["hint"] as? String)?.contains("`diptych reset ") == true)
        }
        #expect(try bench.workshop.sql(bench.anns, ".dump") == before)
        // A new address changes nothing of it.
        try bench.sync(bench.anns, "--moved")
        #expect(try bench.database(bench.anns) == "public")
        try bench.workshop.done(["reset", bench.anns])
        #expect(try bench.database(bench.anns) == nil)
        try bench.sync(bench.anns, "--database-scope", "private")
        #expect(try bench.database(bench.anns) == "private")
        #expect(try bench.titles(bench.anns) == ["Dune", "Leaflet"])
        let other = try bench.run("sync", bench.anns, ["--database-scope", "public"])
        #expect(other.status == 2 && other.errorCode == "otherDatabase")
        // The public database keeps what it had, and hears no more of the store.
        try bench.workshop.edit(bench.anns, "insert Book title=Persuasion")
        for store in [bench.anns, bench.bens] { try bench.sync(store) }
        #expect(try bench.titles(bench.bens) == ["Dune", "Leaflet"])
    }

    @Test func whatLooksGoesByTheDatabase() throws {
        let bench = try PublicBench()
        let open = ["--database-scope", "public"]
        let dump = try bench.workshop.sql(bench.anns, ".dump")
        let first = try bench.run("sync", bench.anns, ["--dry-run"] + open)
        #expect(first.status == 0 && first.json["sent"] as? Int == 4, "\(first.complaint)")
        #expect(try bench.workshop.sql(bench.anns, ".dump") == dump)
        try bench.begin()
        try bench.workshop.edit(bench.anns, "insert Book title=Emma")
        let second = try bench.run("sync", bench.anns, ["--dry-run"])
        #expect(second.json["sent"] as? Int == 1 && second.json["applied"] as? Int == 0)
        let waiting = try bench.run("verify", bench.anns)
        #expect(waiting.status == 1 && waiting.json["differences"] as? Int == 1)
        for store in [bench.anns, bench.bens] { try bench.sync(store) }
        for store in [bench.anns, bench.bens] {
            let verified = try bench.run("verify", store, open)
            #expect(verified.status == 0, "\(verified.output)")
        }
        let status = try bench.workshop.done(["status", bench.anns] + open).output
        #expect(status.contains("\(bench.service.text("container"))\n  database      public\n"))
        #expect(status.contains("zone          _defaultZone\n"))
        let wrong = try bench.run("sync", bench.anns, ["--database-scope", "shared"])
        #expect(wrong.status == 2 && wrong.errorCode == "usage")
    }

    @Test func whoShowsTheAppsTokenAloneReads() throws {
        let bench = try PublicBench()
        try bench.begin()
        let tokens = try String(
            contentsOfFile: bench.service.text("tokenFile"), encoding: .utf8)
        let api = try #require(tokens.split(separator: "\n").first { $0.hasPrefix("api:") })
        let file = try bench.workshop.write(String(api) + "\n", to: "world.tokens")
        let world = bench.ann.map { $0 == bench.service.text("tokenFile") ? file : $0 }
        let guest = try bench.workshop.library("Guest.sqlite")
        try bench.workshop.done(["sync", guest, "--database-scope", "public"] + world)
        #expect(try bench.titles(guest) == ["Dune", "Leaflet"])
        try bench.workshop.edit(guest, "insert Book title=Emma")
        let refused = try bench.workshop.run(["sync", guest, "--json"] + world)
        #expect(refused.status == 1 && refused.errorCode == "AUTHENTICATION_REQUIRED")
        let status = try bench.workshop.run("status", guest)
        #expect(status.output.contains("not signed in may only read public databases"))
        // With a user's tokens it goes.
        try bench.sync(guest)
        #expect(try bench.workshop.run("status", guest).status == 0)
    }

    @Test func rememberKeepsItForTheStoreAndNewOnesBesideIt() throws {
        let bench = try PublicBench()
        try bench.sync(bench.anns, "--database-scope", "public", "--remember")
        let settings = try String(
            contentsOfFile: bench.workshop.path("diptych.conf"), encoding: .utf8)
        #expect(settings.contains("database-scope = public\n"))
        try bench.workshop.done(["sync", bench.anns])
        let next = try bench.workshop.library("Next.sqlite")
        try bench.workshop.done(["sync", next])
        #expect(try bench.titles(next) == ["Dune", "Leaflet"])
        #expect(try bench.database(next) == "public")
        // A store of one's own beside it is looked at as what it is, and synced when that is said.
        let own = try bench.workshop.library("Own.sqlite")
        try bench.workshop.done(["sync", own, "--database-scope", "private"])
        #expect(try bench.workshop.done(["status", own]).output.contains("private\n"))
        #expect(try bench.workshop.run("sync", own, "--json").errorCode == "otherDatabase")
        try bench.workshop.done(["sync", own, "--database-scope", "private"])
    }

    @Test func sharesAndThePublicDatabaseStayApart() throws {
        let bench = try PublicBench()
        try bench.begin()
        for words in [["make", "--whole-zone"], ["end"], ["leave"], ["accept", "x"]] {
            let run = try bench.run("share", bench.anns, words)
            #expect(run.status == 1 && run.errorCode == "publicDatabase", "\(words)")
        }
        #expect(try bench.workshop.done(["share", bench.anns]).output == "Nothing is shared.\n")
        // What a file beside a store of a share says is for others.
        let own = try bench.workshop.library("Own.sqlite")
        try bench.workshop.edit(own, "insert Book title=Letters")
        let made = try bench.run("share", own, ["make", "--whole-zone", "--open-to", "read"])
        let link = try #require(made.json["invitation"] as? String, "\(made.complaint)")
        try bench.workshop.write("database-scope = public\n", to: "diptych.conf")
        let guest = try bench.workshop.library("Guest.sqlite")
        try bench.workshop.done(["share", guest, "accept", link] + bench.ben)
        try bench.workshop.done(["sync", guest] + bench.ben)
        #expect(try bench.titles(guest) == ["Letters"])
        #expect(try bench.database(guest) == "shared")
        let bound = try bench.workshop.run(
            ["sync", guest, "--json", "--database-scope", "public"] + bench.ben)
        #expect(bound.status == 2 && bound.errorCode == "otherDatabase")
        #expect((bound.error["hint"] as? String)?.contains("diptych create") == true)
    }

    @Test func aWatchHearsOfWhatAnotherMade() throws {
        let bench = try PublicBench()
        try bench.begin()
        let watching = try bench.workshop.start(
            ["sync", bench.bens, "--watch", "--json"] + bench.ben)
        try until { watching.printed.contains(#""event":"round""#) }
        try bench.workshop.edit(bench.anns, "insert Book title=Emma")
        try bench.sync(bench.anns)
        try until { try bench.titles(bench.bens).contains("Emma") }
        try bench.workshop.edit(bench.bens, "insert Book title=Persuasion")
        try until {
            try bench.sync(bench.anns)
            return try bench.titles(bench.anns).contains("Persuasion")
        }
        watching.send(SIGTERM)
        #expect(watching.wait() == 0)
        let installed = try bench.workshop.library("Installed.sqlite")
        try bench.workshop.done(
            ["sync", installed, "--watch", "--install", "--database-scope", "public"] + bench.ann)
        let settings = try String(
            contentsOfFile: bench.workshop.path("diptych.conf"), encoding: .utf8)
        #expect(settings.contains("database-scope = public\n"))
    }
}

/// A service with two users, Ann's library with two books, and an empty one of Ben's.
private struct PublicBench {
    let workshop: Workshop
    let service: TestService
    let anns: String
    let bens: String
    let ann: [String]
    let ben: [String]

    init() throws {
        workshop = try Workshop()
        service = try workshop.service()
        let data = ["--data", workshop.path("service")]
        try workshop.done(["service", "users", "--add", "Ben"] + data)
        let tokens = workshop.path("ben.tokens")
        try workshop.done(
            [
                "service", "tokens", "--issue", "Ben", "--container", service.text("container"),
                "--token-file", tokens,
            ] + data)
        ann = service.settings
        let own = service.text("tokenFile")
        ben = service.settings.map { $0 == own ? tokens : $0 }
        anns = try workshop.library("Ann.sqlite")
        bens = try workshop.library("Ben.sqlite")
        try workshop.edit(
            anns,
            """
            insert Book d title=Dune pages=604
            insert Tag n name=novel
            link d.tags n
            insert Book title=Leaflet pages=8
            """)
    }

    /// Puts both stores under the public database; from then on none is told which it is.
    func begin() throws {
        for store in [anns, bens] { try sync(store, "--database-scope", "public") }
    }

    func sync(_ store: String, _ words: String...) throws {
        try workshop.done(["sync", store] + words + tokens(store))
    }

    /// With the settings of the store's user, as far as the verb takes them.
    func run(_ verb: String, _ store: String, _ words: [String] = []) throws -> Run {
        let asks = ["sync", "verify", "share"].contains(verb)
        return try workshop.run([verb, store, "--json"] + words + (asks ? tokens(store) : []))
    }

    private func tokens(_ store: String) -> [String] { store == bens ? ben : ann }

    /// The database that `status` tells.
    func database(_ store: String) throws -> String? {
        let zones = try workshop.run("status", store, "--json").json["zones"] as? [[String: Any]]
        return zones?.first?["database"] as? String
    }

    func titles(_ store: String) throws -> [String] {
        try workshop.sql(store, "select ZTITLE from ZBOOK order by ZTITLE")
            .split(separator: "\n").map(String.init)
    }
}
