import ChildProcesses
import Foundation
import Testing

/// Two devices and a service in processes of their own, over TLS: edits that collide, connections
/// that end, processes that are killed. Equality is read by sqlite3 alone.
@Suite struct WireTests {
    private final class Pair {
        let workshop: Workshop
        let service: TestService
        let desk: String
        let phone: String

        init() throws {
            workshop = try Workshop()
            service = try workshop.service()
            desk = try workshop.library("desk.sqlite")
            phone = try workshop.library("phone.sqlite")
        }

        @discardableResult
        func sync(_ store: String, _ words: String..., status: Int32 = 0) throws -> [String: Any] {
            let run = try workshop.run(["sync", store, "--json"] + words + service.settings)
            #expect(run.status == status, "\(run.complaint)")
            return run.json
        }

        /// Syncs in turn until a round on either side moves nothing.
        func rest(_ words: String...) throws {
            for _ in 0..<10 {
                let moved = try [desk, phone].map { store -> Int in
                    let run = try workshop.run(
                        ["sync", store, "--json"] + words + service.settings)
                    #expect(run.status == 0, "\(run.complaint)")
                    let json = run.json
                    return (json["exported"] as? Int ?? 1) + (json["imported"] as? Int ?? 1)
                }
                if moved == [0, 0] { return }
            }
            Issue.record("the devices did not come to rest")
        }

        func start(_ script: String) throws {
            try workshop.edit(desk, script)
            try rest()
            try workshop.expectEqual(desk, phone)
        }
    }

    private static let shelf = """
        insert Author jane name=Jane
        insert Book emma title=Emma pages=400 lent=2 author=jane
        insert Book ishi title=Ishi
        insert Tag classic name=classic
        link emma.tags classic
        insert Chapter one title=I book=emma
        insert Chapter two title=II book=emma
        """

    @Test func everyKindOfEditArrives() throws {
        let pair = try Pair()
        try pair.start(Self.shelf)
        try pair.workshop.edit(
            pair.phone,
            """
            insert Author ursula name=Ursula born=1929-10-21 country=USA
            link ursula.pupils Author[name == 'Jane']
            insert Book left title="The Left Hand" price=11.25 published=1969-03-01 author=ursula
            link left.related Book[title == 'Emma']
            insert Jacket red colour=red picture=base64:AAECAwQF book=left
            insert Reader ada name=Ada card=3F2504E0-4F89-11D3-9A0C-0305E82C3301
            link ada.favourites left Book[title == 'Ishi']
            insert Chapter zero title=0
            link Book[title == 'Emma'].chapters zero at=0
            delete Tag[name == 'classic']
            set Book[title == 'Ishi'] author=Author[name == 'Jane']
            """)
        try pair.rest()
        try pair.workshop.expectEqual(pair.desk, pair.phone, rows: 13)
        let order =
            "select group_concat(ZTITLE) from (select ZTITLE from ZCHAPTER order by Z_FOK_BOOK)"
        #expect(try pair.workshop.sql(pair.desk, order) == "0,I,II")
        try pair.workshop.done(["inspect", pair.desk, "--check"])
        try pair.workshop.done(["inspect", pair.phone, "--check"])
    }

    @Test func concurrentEditsMeetAsTheRulesSay() throws {
        let pair = try Pair()
        let workshop = pair.workshop
        try pair.start(Self.shelf)
        try workshop.edit(
            pair.desk,
            """
            set Book[title == 'Emma'] pages=500 lent=4
            set Book[title == 'Emma'] title=Desk
            delete Book[title == 'Ishi']
            insert Tag new name=new
            link Book[title == 'Desk'].tags new
            """)
        try workshop.edit(
            pair.phone,
            """
            set Book[title == 'Emma'] shelf=window lent=5
            set Book[title == 'Emma'] title=Phone
            set Book[title == 'Ishi'] shelf=new
            unlink Book[title == 'Phone'].tags Tag[name == 'classic']
            """)
        try pair.sync(pair.desk)
        let round = try pair.sync(pair.phone)
        #expect(round["merged"] as? Int ?? 0 > 0)
        #expect(round["conflicts"] as? Int == 3)
        try pair.rest()
        try workshop.expectEqual(pair.desk, pair.phone)
        let book = "select ZTITLE, ZPAGES, ZSHELF, ZLENT from ZBOOK"
        #expect(try workshop.sql(pair.desk, book) == "Phone|500|window|7")
        let tags = "select ZNAME from Z_1TAGS join ZTAG on Z_PK = Z_7TAGS"
        #expect(try workshop.sql(pair.desk, tags) == "new")
        let log = try workshop.done(["conflicts", pair.phone, "--json"]).lines
        let settled = log.reduce(into: [String: [String]]()) { settled, line in
            let words = ["rule", "winner"].compactMap { line[$0] as? String }
            settled[line["property"] as? String ?? ""] = words
        }
        #expect(
            settled == [
                "title": ["local", "local"], "lent": ["counter", "merged"],
                "shelf": ["deleteWins", "remote"],
            ])
    }

    @Test func aDeletedObjectComesBackWhereEditsAreKept() throws {
        let pair = try Pair()
        try pair.start(Self.shelf)
        try pair.workshop.edit(pair.desk, "delete Book[title == 'Ishi']")
        try pair.workshop.edit(pair.phone, "set Book[title == 'Ishi'] shelf=kept")
        try pair.rest("--deletion", "keepEdited")
        try pair.workshop.expectEqual(pair.desk, pair.phone)
        let shelf = "select ZSHELF from ZBOOK where ZTITLE = 'Ishi'"
        #expect(try pair.workshop.sql(pair.desk, shelf) == "kept")
    }

    @Test func aConflictWaitsUntilItIsDecided() throws {
        let pair = try Pair()
        let workshop = pair.workshop
        try pair.start(Self.shelf)
        try workshop.edit(pair.desk, "set Book[title == 'Emma'] title=Desk")
        try workshop.edit(pair.phone, "set Book[title == 'Emma'] title=Phone\ninsert Tag name=on")
        try pair.sync(pair.desk, "--policy", "error")
        let held = try pair.sync(pair.phone, "--policy", "error", status: 3)
        #expect(held["inSync"] as? Bool == false)
        // Everything else goes on.
        #expect(held["exported"] as? Int == 1)
        #expect(try workshop.run("status", pair.phone).status == 3)
        let waiting = try workshop.run("conflicts", pair.phone, "--waiting", "--json")
        #expect(waiting.status == 3)
        let keys: Set = [
            "id", "date", "entity", "record", "property", "rule", "winner", "base", "local",
            "remote", "object", "device", "localDevice",
        ]
        #expect(Set(waiting.json.keys) == keys)
        #expect(waiting.json["base"] as? String == "Emma")
        #expect(waiting.json["local"] as? String == "Phone")
        #expect(waiting.json["remote"] as? String == "Desk")
        let unknown = try workshop.run(
            "conflicts", pair.phone, "--resolve", "99", "--take", "local", "--json")
        #expect(unknown.status == 1)
        #expect(unknown.errorCode == "unknownConflict")
        let id = try #require(waiting.json["id"] as? Int)
        try workshop.done(["conflicts", pair.phone, "--resolve", "\(id)", "--take", "remote"])
        try pair.rest("--policy", "error")
        try workshop.expectEqual(pair.desk, pair.phone)
        #expect(
            try workshop.sql(pair.phone, "select count(*) from ZBOOK where ZTITLE='Desk'") == "1")
        #expect(try workshop.run("status", pair.phone).status == 0)
    }

    @Test func whatBothMadeAlikeBecomesOne() throws {
        let pair = try Pair()
        for store in [pair.desk, pair.phone] {
            try pair.workshop.edit(
                store, "insert Tag t name=same\ninsert Book b title=x\nlink b.tags t")
        }
        try pair.rest()
        try pair.workshop.expectEqual(pair.desk, pair.phone, rows: 5)
    }

    // MARK: Losses

    private static let many = (0..<6000).map { "insert Tag name=tag\($0)" }.joined(separator: "\n")

    /// Waits until a round of `child` has sent a batch, or is over.
    private func awaitExport(_ child: Child, records: Int) {
        for _ in 0..<300_000 where child.isRunning {
            let hasSent = child.printed.split(separator: "\n").contains { line in
                let json = try? JSONSerialization.jsonObject(with: Data(line.utf8))
                return ((json as? [String: Any])?["done"] as? Int ?? 0) >= records
            }
            if hasSent { return }
            usleep(2000)
        }
    }

    @Test func aServiceKilledWithinARoundLosesNothing() throws {
        let pair = try Pair()
        let workshop = pair.workshop
        try workshop.edit(pair.desk, Self.many)
        let round = try workshop.start(["sync", pair.desk, "--json"] + pair.service.settings)
        awaitExport(round, records: 2000)
        pair.service.kill()
        try pair.service.restart()
        // The round finds the service again by itself, or ends and says to try again.
        let status = round.wait()
        #expect([0, 75].contains(status), "\(round.complaint)")
        try pair.rest()
        try workshop.expectEqual(pair.desk, pair.phone, rows: 6000)
        let records = "select count(distinct ZCKRECORDNAME) from ANSCKRECORDMETADATA"
        #expect(try workshop.sql(pair.phone, records) == "6000")
    }

    @Test func aServiceKilledWhileADeviceFetchesLosesNothing() throws {
        let pair = try Pair()
        let workshop = pair.workshop
        try workshop.edit(pair.desk, Self.many)
        try pair.sync(pair.desk)
        for _ in 0..<3 {
            let round = try workshop.start(["sync", pair.phone, "--json"] + pair.service.settings)
            try until { !round.isRunning || round.printed.contains("\"importing\"") }
            pair.service.kill()
            try pair.service.restart()
            #expect([0, 75].contains(round.wait()), "\(round.complaint)")
        }
        try pair.rest()
        try workshop.expectEqual(pair.desk, pair.phone, rows: 6000)
    }

    @Test func aDeviceKilledWithinARoundLosesNothing() throws {
        let pair = try Pair()
        let workshop = pair.workshop
        try workshop.edit(pair.desk, Self.many)
        for records in [1, 2001, 4001] {
            let round = try workshop.start(["sync", pair.desk, "--json"] + pair.service.settings)
            awaitExport(round, records: records)
            round.send(SIGKILL)
            round.wait()
            try workshop.done(["inspect", pair.desk, "--check"])
        }
        try pair.rest()
        try workshop.expectEqual(pair.desk, pair.phone, rows: 6000)
    }

    @Test func theDemoProvesItself() throws {
        let workshop = try Workshop()
        workshop.environment["DIPTYCH_COMMAND"] = Workshop.command
        let demo = Workshop.package.appendingPathComponent("Tools/demo").path
        let child = try workshop.start("/usr/bin/env", ["bash", demo])
        #expect(child.wait() == 0, "\(child.complaint)")
        #expect(child.printed.contains("the desk and the phone are equal."))
        #expect(!child.printed.contains("\u{1B}"))
    }
}
