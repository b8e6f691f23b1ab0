import Foundation
import Testing

/// Ann shares books with Ben: two users of one service, a store each.
@Suite struct ShareTests {
    @Test func bothEditWhatIsSharedAndNothingElse() throws {
        let world = try ShareBench()
        let made = try world.share("make", "--objects", "Book:pages > 300", "--title", "Long")
        #expect(made.json["title"] as? String == "Long")
        // Two books, their author, and the tag of one.
        #expect(made.json["objects"] as? Int == 4)
        let link = try world.invite("ben@example.org", "write")
        #expect(link.hasPrefix(world.service.text("url") + "/share/"))
        let accepted = try world.accept(link)
        #expect(accepted.json["permission"] as? String == "write")
        #expect(accepted.json["title"] as? String == "Long")
        #expect(try world.titles(world.bens) == ["Dune", "The Dispossessed"])
        try world.workshop.edit(
            world.bens, "set Book[title == 'Dune'] shelf=B1\ninsert Book title=Emma")
        try world.workshop.edit(world.anns, "set Book[title == 'Dune'] pages=612")
        for store in [world.bens, world.anns, world.bens] { try world.sync(store) }
        let dune = "select ZPAGES, ZSHELF from ZBOOK where ZTITLE = 'Dune'"
        #expect(try world.workshop.sql(world.anns, dune) == "612|B1")
        #expect(try world.workshop.sql(world.bens, dune) == "612|B1")
        // What is linked with nothing belongs to the one share there is.
        #expect(try world.titles(world.anns) == ["Dune", "Emma", "Leaflet", "The Dispossessed"])
        #expect(try world.titles(world.bens) == ["Dune", "Emma", "The Dispossessed"])
        let listed = try world.workshop.done(["share", world.anns, "--json"])
        let people = listed.json["participants"] as? [[String: Any]] ?? []
        #expect(people.map { $0["role"] as? String } == ["owner", "participant"])
        #expect(people.last?["status"] as? String == "accepted")
        #expect(people.last?["permission"] as? String == "write")
        let paper = try world.workshop.done(["share", world.anns]).output
        #expect(paper.hasPrefix("Long: objects (") && paper.contains("takes part"))
        let again = try world.workshop.done(["share", world.anns, "link"]).output
        #expect(again == link + "\n")
    }

    @Test func aReaderIsToldOnceWhatStaysAndWhy() throws {
        let world = try ShareBench()
        try world.open("read")
        try world.workshop.edit(world.bens, "set Book[title == 'Dune'] shelf=B1")
        let refused = try world.workshop.run(["sync", world.bens, "--json"] + world.ben)
        #expect(refused.status == 1 && refused.errorCode == "readOnly")
        let message = refused.error["message"] as? String ?? ""
        #expect(message == "The share lets you read only; 1 edited record stays here.")
        let hint = refused.error["hint"] as? String ?? ""
        #expect(hint.contains("permission to write") && hint.contains("diptych status"))
        let status = try world.workshop.run("status", world.bens)
        #expect(status.status == 1 && status.output.contains("reading only"))
        #expect(status.output.contains("of user _"))
        let denied = try world.workshop.run(["share", world.bens, "end", "--json"] + world.ben)
        #expect(denied.status == 1 && denied.errorCode == "notOwner")
        // With the permission it goes by itself.
        _ = try world.invite("ben@example.org", "write")
        for store in [world.bens, world.bens, world.anns] { try world.sync(store) }
        let shelf = "select ZSHELF from ZBOOK where ZTITLE = 'Dune'"
        #expect(try world.workshop.sql(world.anns, shelf) == "B1")
        #expect(try world.workshop.run("status", world.bens).status == 0)
    }

    @Test func aReaderTakesDeletionsBackAndADryRunTellsThemApart() throws {
        let world = try ShareBench()
        try world.open("read")
        try world.workshop.edit(world.bens, "delete Book[title == 'Dune']")
        let trial = try world.workshop.done(
            ["sync", world.bens, "--dry-run", "--json"] + world.ben)
        #expect(trial.json["sent"] as? Int == 0 && trial.json["refused"] as? Int == 1)
        let edit = try #require(trial.lines.first { $0["event"] as? String == "refuse" })
        #expect(edit["kind"] as? String == "delete" && edit["foreseen"] as? Bool == true)
        #expect((edit["reason"] as? String)?.contains("for reading only") == true)
        let refused = try world.workshop.run(["sync", world.bens, "--json"] + world.ben)
        #expect(refused.status == 1 && refused.errorCode == "readOnly")
        let status = try world.workshop.run("status", world.bens).output
        #expect(status.contains("deleted here: ACCESS_DENIED"))
        #expect(status.contains("--restore-refused`"))
        try world.workshop.done(["conflicts", world.bens, "--restore-refused"])
        #expect(try world.titles(world.bens) == ["Dune", "The Dispossessed"])
        #expect(try world.workshop.run("status", world.bens).status == 0)
        try world.sync(world.bens)
        let author = "select count(*) from ZBOOK where ZAUTHOR is not null"
        #expect(try world.workshop.sql(world.bens, author) == "2")
        let verified = try world.workshop.run(["verify", world.bens, "--json"] + world.ben)
        #expect(verified.status == 0, "\(verified.output)")
        #expect(try world.titles(world.anns) == ["Dune", "Leaflet", "The Dispossessed"])
    }

    @Test func whatASecondOwnerSharesComesIntoAStoreBesideTheFirst() throws {
        let world = try ShareBench()
        try world.open("read")
        let (cleo, cleos) = try world.addUser("Cleo")
        let made = try world.workshop.done(
            ["share", cleos, "make", "--whole-zone", "--open-to", "write", "--json"] + cleo)
        let link = try #require(made.json["invitation"] as? String)
        let accepted = try world.accept(link)
        let further = try #require(accepted.json["store"] as? String)
        let name = URL(fileURLWithPath: further).lastPathComponent
        #expect(name.hasPrefix("Ben-") && name.count == "Ben-.sqlite".count + 16)
        #expect(accepted.json["beside"] as? String == world.bens)
        #expect(try world.titles(world.bens) == ["Dune", "The Dispossessed"])
        #expect(try world.titles(further) == ["Persuasion"])

        // A round of the first goes through both, each to its own owner.
        try world.workshop.edit(further, "insert Book title=Emma")
        try world.workshop.edit(cleos, "set Book[title == 'Persuasion'] shelf=C1")
        try world.workshop.done(["sync", cleos] + cleo)
        let round = try world.workshop.done(["sync", world.bens, "--json"] + world.ben)
        let done = round.lines.filter { $0["event"] as? String == "done" }
        #expect(done.map { $0["store"] as? String } == [world.bens, further])
        let shelf = "select ZSHELF from ZBOOK where ZTITLE = 'Persuasion'"
        #expect(try world.workshop.sql(further, shelf) == "C1")
        try world.workshop.done(["sync", cleos] + cleo)
        #expect(try world.titles(cleos) == ["Emma", "Persuasion"])
        #expect(try world.titles(world.anns) == ["Dune", "Leaflet", "The Dispossessed"])

        let status = try world.workshop.done(["status", world.bens, "--json"])
        let members = status.json["furtherStores"] as? [[String: Any]] ?? []
        #expect(members.map { $0["store"] as? String } == [further])
        #expect(members.first?["inSync"] as? Bool == true)
        let paper = try world.workshop.done(["status", world.bens]).output
        #expect(paper.contains("\(world.bens): in sync.") && paper.contains("\(further): in sync."))
        let shares = try world.workshop.done(["share", world.bens, "--json"])
        #expect(shares.lines.map { $0["store"] as? String } == [world.bens, further])
        let verified = try world.workshop.done(["verify", world.bens, "--json"] + world.ben)
        #expect(verified.lines.map { $0["file"] as? String } == [world.bens, further])

        // What is refused in one holds up no other, and is told with its name.
        try world.workshop.edit(world.bens, "set Book[title == 'Dune'] shelf=B1")
        try world.workshop.edit(further, "insert Book title=Sanditon")
        let refused = try world.workshop.run(["sync", world.bens, "--json"] + world.ben)
        #expect(refused.status == 1 && refused.errorCode == "readOnly")
        let message = refused.error["message"] as? String ?? ""
        #expect(message.hasPrefix("\(world.bens): The share lets you read only"))
        try world.workshop.done(["sync", cleos] + cleo)
        #expect(try world.titles(cleos) == ["Emma", "Persuasion", "Sanditon"])
        #expect(try world.workshop.run("status", world.bens).status == 1)
        // Accepted again it is the same store, and one leaves it by its name.
        #expect(try world.accept(link).json["store"] as? String == further)
        try world.workshop.done(["share", further, "leave"] + world.ben)
        #expect(try world.titles(further).isEmpty)
        let rest = try world.workshop.run("status", world.bens, "--json")
        #expect((rest.json["furtherStores"] as? [Any])?.isEmpty == true)
        #expect(try world.titles(world.bens) == ["Dune", "The Dispossessed"])
    }

    @Test func whoIsRemovedKeepsUnsentEditsInTheLog() throws {
        let world = try ShareBench()
        try world.open("write")
        try world.workshop.edit(world.bens, "set Book[title == 'Dune'] shelf=B1")
        try world.share("remove", "ben@example.org")
        let ended = try world.workshop.run(["sync", world.bens, "--json"] + world.ben)
        #expect(ended.status == 1 && ended.errorCode == "shareEnded")
        #expect((ended.error["hint"] as? String)?.contains("diptych conflicts") == true)
        #expect(try world.titles(world.bens).isEmpty)
        let log = try world.workshop.run("conflicts", world.bens, "--json")
        #expect(log.lines.map { $0["rule"] as? String } == ["shareEnded"])
        #expect(log.json["local"] as? String == "B1")
        // It does not take to a zone of Ben's own.
        let waiting = try world.workshop.run(["sync", world.bens, "--json"] + world.ben)
        #expect(waiting.status == 1 && waiting.errorCode == "awaitsShare")
        #expect(try world.titles(world.anns) == ["Dune", "Leaflet", "The Dispossessed"])
        try world.accept(try world.invite("ben@example.org", "write"))
        #expect(try world.titles(world.bens) == ["Dune", "The Dispossessed"])
    }

    @Test func oneLeavesAndTheOwnerEnds() throws {
        let world = try ShareBench()
        try world.open("read")
        let left = try world.workshop.done(["share", world.bens, "leave", "--json"] + world.ben)
        #expect(left.json["left"] as? Int == 4)
        #expect(try world.titles(world.bens).isEmpty)
        try world.accept(try world.invite("ben@example.org", "read"))
        try world.share("end")
        #expect(try world.workshop.run(["sync", world.bens] + world.ben).status == 1)
        #expect(try world.titles(world.bens).isEmpty)
        #expect(try world.titles(world.anns) == ["Dune", "Leaflet", "The Dispossessed"])
        let none = try world.workshop.done(["share", world.anns])
        #expect(none.output == "Nothing is shared.\n")
        try world.sync(world.anns)
        let verified = try world.workshop.run(["verify", world.anns, "--json"] + world.ann)
        #expect(verified.status == 0, "\(verified.output)")
    }

    @Test func theWholeStoreAndSingleObjectsAreShared() throws {
        let world = try ShareBench()
        let one = try world.share("make", "--objects", "Book/p1", "--title", "One")
        #expect(one.json["objects"] as? Int ?? 0 >= 1)
        let row = try world.workshop.sql(
            world.anns, "select Z_PK from ZBOOK where ZTITLE = 'Leaflet'")
        let added = try world.share("add", "--objects", "Book/p\(row)", "--share", "One")
        #expect(added.json["objects"] as? Int == 1)
        try world.share("end", "--share", "One")
        let all = try world.share("make", "--whole-zone", "--open-to", "read")
        #expect(all.json["wholeZone"] as? Bool == true && all.json["openTo"] as? String == "read")
        // Nobody was invited by name.
        let accepted = try world.accept(try #require(all.json["invitation"] as? String))
        #expect(accepted.json["permission"] as? String == "read")
        #expect(try world.titles(world.bens) == ["Dune", "Leaflet", "The Dispossessed"])
        let verified = try world.workshop.run(["verify", world.bens, "--json"] + world.ben)
        #expect(verified.status == 0, "\(verified.output)")
    }

    @Test func whatCannotBeDoneIsToldInASentence() throws {
        let world = try ShareBench()
        func code(_ words: String..., as tokens: [String]? = nil) throws -> (Int32, String) {
            let run = try world.workshop.run(["share"] + words + ["--json"] + (tokens ?? world.ann))
            return (run.status, run.errorCode)
        }
        #expect(try code(world.anns, "make") == (2, "usage"))
        #expect(try code(world.anns, "make", "--objects", "Bok") == (1, "notFound"))
        #expect(try code(world.anns, "make", "--objects", "Book:pages >") == (2, "badPredicate"))
        #expect(try code(world.anns, "make", "--objects", "Book:pages > 9000") == (1, "notFound"))
        #expect(try code(world.anns, "invite") == (2, "usage"))
        #expect(try code(world.anns, "invite", "Ben") == (2, "usage"))
        #expect(try code(world.anns, "invite", "ben@example.org") == (1, "noShare"))
        #expect(try code(world.anns, "leave") == (1, "ownZone"))
        #expect(try code(world.anns, "lend") == (2, "usage"))
        #expect(try code(world.anns, "list", "--title", "x") == (2, "usage"))
        #expect(try code(world.bens, "accept", "nothing", as: world.ben) == (1, "noInvitation"))
        #expect(try code(world.anns, "accept", "nothing") == (1, "notEmpty"))
        try world.share("make", "--objects", "Book:title == 'Dune'")
        #expect(
            try code(world.anns, "make", "--objects", "Book:title == 'Dune'")
                == (1, "alreadyShared"))
        let link = try world.workshop.done(["share", world.anns, "link"]).output
            .trimmingCharacters(in: .newlines)
        // Ben is not invited; an invitation is none for its owner.
        #expect(try code(world.bens, "accept", link, as: world.ben) == (1, "noInvitation"))
        let empty = try world.workshop.library("Empty.sqlite")
        #expect(try code(empty, "accept", link) == (1, "ownShare"))
        #expect(try code(world.anns, "remove", "ben@example.org") == (1, "notFound"))
    }
}

/// A service with two users, Ann's library with three books in sync, and an empty one of Ben's.
private struct ShareBench {
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
        try workshop.done(
            ["service", "users", "--add", "Ben", "--email", "ben@example.org"] + data)
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
            insert Author u name="Ursula K. Le Guin"
            insert Tag n name=novel
            insert Book d title="The Dispossessed" pages=341 author=u
            link d.tags n
            insert Book title=Dune pages=604 author=u
            insert Book title=Leaflet pages=8
            """)
        try sync(anns)
    }

    /// Another user's settings, and a library with one book.
    func addUser(_ name: String) throws -> (settings: [String], store: String) {
        let data = ["--data", workshop.path("service")]
        try workshop.done(["service", "users", "--add", name] + data)
        let tokens = workshop.path("\(name).tokens")
        try workshop.done(
            [
                "service", "tokens", "--issue", name, "--container", service.text("container"),
                "--token-file", tokens,
            ] + data)
        let own = service.text("tokenFile")
        let settings = service.settings.map { $0 == own ? tokens : $0 }
        let store = try workshop.library("\(name).sqlite")
        try workshop.edit(store, "insert Book title=Persuasion")
        try workshop.done(["sync", store] + settings)
        return (settings, store)
    }

    func sync(_ store: String) throws {
        try workshop.done(["sync", store] + (store == bens ? ben : ann))
    }

    @discardableResult
    func share(_ words: String...) throws -> Run {
        try workshop.done(["share", anns] + words + ["--json"] + ann)
    }

    /// The invitation.
    func invite(_ user: String, _ permission: String) throws -> String {
        let run = try share("invite", user, "--permission", permission)
        return try #require(run.json["invitation"] as? String)
    }

    @discardableResult
    func accept(_ link: String) throws -> Run {
        try workshop.done(["share", bens, "accept", link, "--json"] + ben)
    }

    /// Ann shares her two long books with Ben, who takes them.
    func open(_ permission: String) throws {
        try share("make", "--objects", "Book:pages > 300", "--title", "Long")
        try accept(try invite("ben@example.org", permission))
    }

    func titles(_ store: String) throws -> [String] {
        try workshop.sql(store, "select ZTITLE from ZBOOK order by ZTITLE")
            .split(separator: "\n").map(String.init)
    }
}
