import ChildProcesses
import Foundation
import Testing

/// `sync --only`: what is sent, kept in the store.
@Suite struct SelectionTests {
    private let workshop: Workshop
    private let service: TestService
    private let desk: String
    private let phone: String

    init() throws {
        workshop = try Workshop()
        service = try workshop.service()
        desk = try workshop.library("desk.sqlite")
        phone = try workshop.library("phone.sqlite")
        try workshop.edit(
            desk,
            """
            insert Tag name=novel
            insert Book title=Long pages=500
            insert Book title=Short pages=5
            """)
    }

    private func sync(_ store: String, _ words: String...) throws -> Run {
        try workshop.done(["sync", store, "--json"] + words + service.settings)
    }

    private func titles(_ store: String) throws -> [String] {
        try workshop.sql(store, "select ZTITLE from ZBOOK order by ZTITLE")
            .split(separator: "\n").map(String.init)
    }

    @Test func theStoreKeepsWhatItIsTold() throws {
        #expect(
            try sync(desk, "--only", "Book:pages > 300", "--only", "Author").json["inSync"]
                as? Bool == true)
        _ = try sync(phone)
        #expect(try titles(phone) == ["Long"])
        #expect(try workshop.sql(phone, "select count(*) from ZTAG") == "0")
        let status = try workshop.run("status", desk)
        #expect(status.status == 0)
        #expect(status.output.contains("only Author, Book where pages > 300"))
        #expect(status.output.contains("2 objects, which --only leaves out"))
        let told = try workshop.run("status", desk, "--json").json
        #expect(told["keptHere"] as? Int == 2)
        #expect((told["selection"] as? [Any])?.isEmpty == false)
        // What is saved and looked at before the next round is outside too.
        try workshop.edit(desk, "insert Book title=Brief pages=9\ninsert Book title=Vast pages=900")
        _ = try workshop.run("status", desk)
        _ = try sync(desk)
        _ = try sync(phone)
        #expect(try titles(phone) == ["Long", "Vast"])
        let verified = try workshop.done(["verify", desk, "--json"] + service.settings)
        #expect(verified.json["leftOut"] as? Int == 3)
        // An edit takes one out; it is deleted nowhere.
        try workshop.edit(desk, "set Book[title == 'Long'] pages=3")
        for store in [desk, phone] { _ = try sync(store) }
        #expect(
            try workshop.sql(phone, "select ZPAGES from ZBOOK where ZTITLE = 'Long'") == "500")
        _ = try sync(desk, "--only", "all")
        _ = try sync(phone)
        #expect(try titles(phone) == ["Brief", "Long", "Short", "Vast"])
        #expect(
            try workshop.sql(phone, "select ZPAGES from ZBOOK where ZTITLE = 'Long'") == "3")
        let all = try workshop.run("status", desk)
        #expect(!all.output.contains("sends") && !all.output.contains("kept here"))
    }

    /// What it leads to may never come: `verify` tells that as it does of a pair.
    @Test func aLinkToWhatIsNotSentHasItsReason() throws {
        try workshop.edit(
            desk, "insert Author a name=Herbert\ninsert Book title=Dune pages=412 author=a")
        _ = try sync(desk, "--only", "Book")
        _ = try sync(phone)
        let verified = try workshop.run(["verify", phone, "--json"] + service.settings)
        let told = verified.lines.filter { $0["event"] as? String == "difference" }
        #expect(
            told.map { $0["reason"] as? String } == ["an object that it leads to is not here"])
        #expect(verified.status == 1 && verified.json["unexplained"] as? Int == 0)
        _ = try sync(desk, "--only", "all")
        _ = try sync(phone)
        try workshop.done(["verify", phone] + service.settings)
    }

    /// A newer version of the model may call otherwise what the store's selection speaks of:
    /// nothing is sent by half of it.
    @Test(arguments: [
        ("name=\"pages\"", "name=\"length\" renamingIdentifier=\"pages\"", "Book:length > 300"),
        ("name=\"Book\"", "name=\"Volume\" elementID=\"Book\"", "Volume:pages > 300"),
    ])
    func whatTheModelCallsOtherwiseIsChosenAnew(
        former: String, latter: String, choice: String
    ) throws {
        _ = try sync(desk, "--only", "Book:pages > 300")
        let newer = try workshop.model { text in
            ["destinationEntity", "inverseEntity"].reduce(text.replacing(former, with: latter)) {
                $0.replacing("\($1)=\"Book\"", with: "\($1)=\"\(entity(choice))\"")
            }
        }
        try workshop.done(["migrate", desk, "--to", newer])
        let property = former.contains("pages") ? "length" : "pages"
        try workshop.edit(desk, "insert \(entity(choice)) title=Secret \(property)=4")
        for verb in ["sync", "status"] {
            let settings = verb == "sync" ? service.settings : []
            let run = try workshop.run([verb, desk] + settings)
            #expect(run.status == 1, "\(verb)")
            #expect((run.output + run.complaint).contains("its model has no more"))
        }
        _ = try sync(phone)
        #expect(try titles(phone) == ["Long"])
        _ = try sync(desk, "--only", choice)
        #expect(try workshop.run("status", desk).status == 0)
        _ = try sync(phone)
        #expect(try titles(phone) == ["Long"])
    }

    private func entity(_ choice: String) -> String { String(choice.prefix { $0 != ":" }) }

    @Test func onlySomeIsFetched() throws {
        _ = try sync(desk)
        _ = try sync(phone, "--only", "Tag")
        #expect(try titles(phone).isEmpty)
        #expect(try workshop.sql(phone, "select count(*) from ZTAG") == "1")
        #expect(try workshop.run("status", phone).status == 0)
        _ = try sync(desk)
        #expect(try titles(desk) == ["Long", "Short"])
        _ = try sync(phone, "--only", "all")
        #expect(try titles(phone) == ["Long", "Short"])
    }

    @Test func whatCannotBeChosenIsTold() throws {
        func code(_ words: String...) throws -> (Int32, String) {
            let run = try workshop.run(["sync", desk, "--json"] + words + service.settings)
            return (run.status, run.errorCode)
        }
        #expect(try code("--only", "Bok") == (2, "unknownEntity"))
        #expect(try code("--only", "Book:pages >") == (2, "badPredicate"))
        #expect(try code("--only", "all", "--only", "Book") == (2, "usage"))
        #expect(try code("--only", "Book:nothing == 1").0 != 0)
        #expect(try code("--service", "https://127.0.0.1:1", "--service", "x") == (2, "usage"))
        // None of these was kept.
        #expect(try workshop.run("status", desk, "--json").json["selection"] is NSNull)
        let preview = try workshop.done(
            ["sync", desk, "--dry-run", "--json", "--only", "Tag"] + service.settings)
        #expect(!preview.output.contains("Short"))
        #expect(try workshop.run("status", desk, "--json").json["selection"] is NSNull)
    }
}
