import Foundation
import RecordService
import RecordWire
import Testing

/// Fields that new clients do not need any more.
@Suite(.everyBackend) struct RetirementTests {
    private let fixture: ServiceFixture
    private var accounts: ServiceAccounts { fixture.service.accounts }
    private let container = ServiceFixture.container

    init() throws {
        fixture = try ServiceFixture()
        try fixture.save(note("a"))
        try accounts.retire(
            "colour", of: "Note", from: ClientVersion("2.10"), container: container)
    }

    private func note(_ name: String, colour: String = "red") -> Record {
        var record = Record.note(name)
        record.fields["colour"] = .string(colour)
        return record
    }

    /// The service as a client of this version sees it.
    private func client(_ version: String?) -> ServiceFixture {
        var client = fixture
        client.target.clientVersion = version.flatMap { ClientVersion($0) }
        return client
    }

    private func names(_ record: Record?) -> Set<String> {
        Set(record?.fields.keys.map { $0 } ?? [])
    }

    @Test(arguments: [
        (nil, true), ("2.9.9", true), ("2.10", false), ("2.10.0", false), ("3", false),
    ])
    func newClientsDoNotSeeItAndOldOnesDo(version: String?, isSeen: Bool) throws {
        let client = client(version)
        let expected: Set = isSeen ? ["title", "colour"] : ["title"]
        #expect(try names(client.lookup(["a"])[0].record) == expected)
        #expect(try names(client.changes(since: nil).records.first) == expected)
        let query = QueryRecords(
            RecordQuery(recordType: "Note"), zoneID: ServiceFixture.zone)
        guard case .records(let found) = try client.send(.queryRecords(query)) else {
            throw WrongAnswer()
        }
        #expect(names(found.results.first?.record) == expected)
        let exists = try client.modify([RecordOperation(.create, .note("a"))])[0].error
        #expect(names(exists?.serverRecord) == expected)
        let saved = try client.save(.note("a", "new"))
        #expect(names(saved) == expected)
    }

    @Test func theOtherFeedAndTheRootOfAShareHideItToo() throws {
        let world = try SharingFixture()
        var root = note("root")
        root.parent = nil
        try world.anna.save(root)
        let share = try world.anna.save(
            SharingFixture.share("share", of: "root", [SharingFixture.participant("_bert")]))
        try world.anna.service.accounts.retire(
            "colour", of: "Note", from: ClientVersion("2.10"), container: container)
        let lookup = ShareLookup([.init(shortGUID: share.shortGUID ?? "", fetchesRoot: true)])
        for (version, isSeen) in [("1", true), ("3", false)] {
            var (anna, bert) = (world.anna, world.bert)
            anna.target.clientVersion = ClientVersion(version)
            bert.target.clientVersion = ClientVersion(version)
            let found = try bert.shares(.resolveShares(lookup))[0].found
            #expect(found?.rootRecord?.fields["title"] != nil)
            #expect((found?.rootRecord?.fields["colour"] != nil) == isSeen)
            let zone = ZoneChanges.Zone(zoneID: ServiceFixture.zone, syncToken: nil)
            guard
                case .recordChanges(let page) = try anna.send(
                    .recordChanges(RecordChanges(zone: zone)))
            else { throw WrongAnswer() }
            let root = page.records.first { $0.recordName == "root" }
            #expect(root?.fields["title"] != nil && (root?.fields["colour"] != nil) == isSeen)
        }
    }

    @Test func nobodyLosesWhatNewClientsDoNotSee() throws {
        let (old, new) = (client("1"), client("3"))
        for (kind, title) in [
            (RecordOperation.Kind.forceReplace, "one"), (.forceUpdate, "two"), (.replace, "three"),
        ] {
            var record = Record.note("a", title)
            record.recordChangeTag = try new.lookup(["a"])[0].record?.recordChangeTag
            #expect(try new.modify([RecordOperation(kind, record)])[0].error == nil)
            let seen = try old.lookup(["a"])[0].record
            #expect(seen?.fields == ["title": .string(title), "colour": .string("red")])
        }
        // Old clients go on with it, also by replacing the record without it.
        try old.save(note("a", colour: "blue"))
        #expect(try old.lookup(["a"])[0].record?.fields["colour"] == .string("blue"))
        try old.save(.note("a", "t"), .forceReplace)
        #expect(try names(old.lookup(["a"])[0].record) == ["title"])
        // A new client makes records without it.
        try new.save(.note("b"))
        #expect(try names(old.lookup(["b"])[0].record) == ["title"])
    }

    @Test func aNewClientThatNamesItIsTold() throws {
        let new = client("3")
        let refused = try new.modify([
            RecordOperation(.forceUpdate, note("a", colour: "blue")),
            RecordOperation(.forceUpdate, .note("b")),
        ])
        #expect(refused[0].error?.code == .badRequest)
        #expect(refused[0].error?.reason.contains("colour of Note is retired") == true)
        let body = try refused[0].error.map { try WireCodec.encode($0) } ?? Data()
        #expect(String(decoding: body, as: UTF8.self).contains(#""detail":"SCHEMA""#))
        #expect(refused[1].error == nil)
        let filter = RecordFilter(.field("colour"), .equals, .string("red"))
        let query = QueryRecords(
            RecordQuery(recordType: "Note", filters: [filter]), zoneID: ServiceFixture.zone)
        let error = #expect(throws: RecordError.self) { try new.send(.queryRecords(query)) }
        #expect(error?.code == .badRequest)
        #expect(try client("1").lookup(["a"])[0].record?.fields["colour"] == .string("red"))
    }

    @Test func aDeploymentBringsItToProductionAndItCanBeTakenBack() throws {
        func inProduction(_ version: String) -> ServiceFixture {
            var other = client(version)
            other.target.environment = "production"
            return other
        }
        let (old, new) = (inProduction("1"), inProduction("3"))
        try old.createZone(ServiceFixture.zone)
        try old.save(note("p"))
        #expect(try names(new.lookup(["p"])[0].record) == ["title", "colour"])
        let added = try accounts.deploySchema(container: container)
        #expect(added.lines.contains("+ Note.colour RETIRED FROM 2.10"))
        #expect(try names(new.lookup(["p"])[0].record) == ["title"])
        #expect(try names(old.lookup(["p"])[0].record) == ["title", "colour"])
        try accounts.retire(
            "colour", of: "Note", from: nil, container: container, environment: "production")
        #expect(try names(new.lookup(["p"])[0].record) == ["title", "colour"])
        #expect(try names(client("3").lookup(["a"])[0].record) == ["title"])
        #expect(throws: RecordError.self) {
            try accounts.retire(
                "title", of: "Note", from: ClientVersion("2"), container: container,
                environment: "production")
        }
    }

    /// How a field comes to be seen again by clients of version 3.
    enum Return: CaseIterable, Sendable { case kept, retiredLater, imported, deployed }

    /// Who read records without it has them again; what never had it is not told.
    @Test(arguments: Return.allCases)
    func whatIsSeenAgainIsToldToWhoReadWithoutIt(how: Return) throws {
        var (old, new) = (client("1"), client("3"))
        if how == .deployed {
            old.target.environment = "production"
            new.target.environment = "production"
            try old.createZone(ServiceFixture.zone)
            try old.save(note("a"))
            try accounts.deploySchema(container: container)
        }
        // More than are written at a time.
        for number in 0..<60 { try old.save(note("n\(number)")) }
        try old.save(.note("without"))
        let token = try new.changes(since: nil).syncToken
        #expect(try names(new.lookup(["n7"])[0].record) == ["title"])
        switch how {
        case .kept:
            try accounts.retire("colour", of: "Note", from: nil, container: container)
        case .retiredLater:
            try accounts.retire(
                "colour", of: "Note", from: ClientVersion("4"), container: container)
        case .imported:
            let text = "DEFINE SCHEMA RECORD TYPE Note ( colour STRING );"
            try accounts.importSchema(RecordSchema(text: text), container: container)
        case .deployed:
            try accounts.retire(
                "colour", of: "Note", from: ClientVersion("4"), container: container)
            try accounts.deploySchema(container: container)
        }
        let page = try new.changes(since: token)
        let told = Set(page.records.map(\.recordName))
        #expect(told == Set((0..<60).map { "n\($0)" } + ["a"]))
        #expect(page.records.allSatisfy { names($0) == ["title", "colour"] })
        #expect(try old.lookup(["n7"])[0].record?.fields["colour"] == .string("red"))
        // A deed that was broken off is done again by name.
        let later = page.syncToken
        guard how == .kept else { return }
        try accounts.retire("colour", of: "Note", from: nil, container: container)
        #expect(try new.changes(since: later).records.count == 61)
    }

    @Test func itIsTakenOutOfRecordsByADeedOfItsOwn() throws {
        var bert = fixture
        bert.caller = Caller(userRecordName: "_bert")
        try bert.createZone(ServiceFixture.zone)
        for number in 0..<120 { try fixture.save(note("n\(number)")) }
        try bert.save(note("b"))
        try fixture.save(.note("without"))
        var open = fixture
        open.target.database = "public"
        #expect(try open.modify([RecordOperation(.create, note("p"))], zone: nil)[0].error == nil)
        let token = try fixture.changes(since: nil, limit: 400).syncToken
        let found = try accounts.holders(
            of: "colour", in: "Note", container: container, environment: "development")
        #expect(found == FieldHolders(records: 123, databases: 3))
        #expect(throws: RecordError.self) {
            try accounts.removeField(
                "title", of: "Note", container: container, environment: "development")
        }
        #expect(throws: RecordError.self) {
            try accounts.removeField(
                "colour", of: "Note", container: container, environment: "production")
        }
        let removed = try accounts.removeField(
            "colour", of: "Note", container: container, environment: "development")
        #expect(removed == found)
        #expect(
            try accounts.holders(
                of: "colour", in: "Note", container: container, environment: "development")
                == FieldHolders())
        // It is an edit that every device hears of, and nothing else is lost.
        let changed = try fixture.changes(since: token, limit: 400).records
        #expect(changed.count == 121)
        #expect(changed.allSatisfy { $0.fields == ["title": .string("t")] })
        #expect(try names(bert.lookup(["b"])[0].record) == ["title"])
        #expect(try names(open.lookup(["p"], zone: nil)[0].record) == ["title"])
        let schema = try accounts.schema(container: container, environment: "development")
        #expect(schema["Note"]?["colour"] == nil)
    }

    /// Takes the field out while another does something between the look at records and the write.
    private func removeColour(while deed: @escaping @Sendable () throws -> Void) throws {
        fixture.clock.atNextLook { try? deed() }
        try accounts.removeField(
            "colour", of: "Note", container: container, environment: "development")
    }

    @Test func whatIsDeletedMeanwhileStaysDeleted() throws {
        try fixture.save(note("b"))
        let fixture = fixture
        try removeColour { try fixture.save(.note("a"), .forceDelete) }
        #expect(try fixture.lookup(["a"])[0].error?.code == .notFound)
        let told = try fixture.changes(since: nil).records
        #expect(told.filter { !$0.deleted }.map(\.recordName) == ["b"])
        #expect(try names(fixture.lookup(["b"])[0].record) == ["title"])
    }

    @Test func whatIsEditedMeanwhileLosesTheFieldAlone() throws {
        try fixture.save(note("b"))
        let fixture = fixture
        let edit = Record.note("a", "new")
        try removeColour { try fixture.save(edit) }
        #expect(try fixture.lookup(["a"])[0].record?.fields == ["title": .string("new")])
        #expect(try names(fixture.lookup(["b"])[0].record) == ["title"])
    }

    @Test func whatComesBackAsSomethingElseKeepsItsFields() throws {
        let fixture = fixture
        var other = note("a")
        other.recordType = "Other"
        let again = other
        try removeColour {
            let tag = try fixture.save(.note("a"), .forceDelete).recordChangeTag
            var again = again
            again.recordChangeTag = tag
            try fixture.save(again, .create)
        }
        #expect(try names(fixture.lookup(["a"])[0].record) == ["title", "colour"])
    }

    @Test func aZoneThatGoesMeanwhileEndsNothing() throws {
        var bert = fixture
        bert.caller = Caller(userRecordName: "_bert")
        try bert.createZone(ServiceFixture.zone)
        try bert.save(note("b"))
        let fixture = fixture
        try removeColour {
            _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, ServiceFixture.zone)]))
        }
        #expect(try names(bert.lookup(["b"])[0].record) == ["title"])
    }

    @Test func whatCannotBeRetiredIsRefused() throws {
        for (type, field, code) in [
            ("None", "x", RecordError.Code.notFound), ("Note", "none", .badRequest),
        ] {
            let error = #expect(throws: RecordError.self) {
                try accounts.retire(
                    field, of: type, from: ClientVersion("1"), container: container)
            }
            #expect(error?.code == code)
        }
        try accounts.declareUnique(["title"], of: "Note", container: container)
        let key = #expect(throws: RecordError.self) {
            try accounts.retire("title", of: "Note", from: ClientVersion("1"), container: container)
        }
        #expect(key?.reason.contains("natural key") == true)
        #expect(throws: RecordError.self) {
            try accounts.declareUnique(["colour"], of: "Note", container: container)
        }
    }
}
