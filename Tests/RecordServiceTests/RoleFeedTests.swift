import RecordService
import RecordWire
import Testing

/// What feeds and the courier tell users whose roles change.
@Suite(.everyBackend) struct RoleFeedTests {
    private let anna: ServiceFixture
    private let bert: ServiceFixture
    private var accounts: ServiceAccounts { anna.service.accounts }
    private let container = ServiceFixture.container

    init() throws { try self.init(ServiceLimits()) }

    private init(_ limits: ServiceLimits) throws {
        var fixture = try ServiceFixture(limits: limits, makesZone: false)
        fixture.target.database = "public"
        anna = fixture
        let user = try fixture.service.accounts.createUser(label: "bert")
        fixture.caller = Caller(userRecordName: user.userRecordName)
        bert = fixture
        try grant("Plan", "editors", reads: true)
        try grant("Plan", "_creator", reads: true, writes: true)
        try grant("Plan", "_icloud", creates: true)
    }

    private func grant(
        _ type: String, _ role: String, creates: Bool = false, reads: Bool = false,
        writes: Bool = false
    ) throws {
        try accounts.setGrant(
            RoleGrant(
                recordType: type, role: role, creates: creates, reads: reads, writes: writes),
            container: container)
    }

    private func giveRole() throws {
        try accounts.addRole("editors", to: bert.caller.userRecordName, container: container)
    }

    private func takeRole() throws {
        try accounts.removeRole("editors", from: bert.caller.userRecordName, container: container)
    }

    @discardableResult
    private func plan(
        _ name: String, by user: ServiceFixture? = nil, _ kind: RecordOperation.Kind = .create
    ) throws -> Record {
        let record = Record(
            recordName: name, recordType: "Plan", fields: ["title": .string("long \(name)")])
        let result = try (user ?? anna).modify([RecordOperation(kind, record)], zone: nil)[0]
        return try #require(result.record)
    }

    /// The names of all pages since a token, and the token behind them.
    private func read(
        since token: String?, limit: Int? = nil, _ user: ServiceFixture? = nil
    ) throws -> (names: [String], token: String?) {
        var (names, token) = ([String](), token)
        while true {
            let page = try (user ?? bert).changes(since: token, zone: ZoneID(), limit: limit)
            #expect(page.failure == nil)
            #expect(page.records.allSatisfy { !$0.deleted })
            names += page.records.map(\.recordName)
            token = page.syncToken
            guard page.moreComing else { return (names, token) }
        }
    }

    // MARK: Feeds

    @Test(arguments: [nil, 1, 2]) func aRoleThatIsGivenBringsOlderRecords(limit: Int?) throws {
        try plan("a")
        _ = try anna.modify([RecordOperation(.create, .note("n"))], zone: nil)
        try plan("b")
        let first = try read(since: nil, limit: limit)
        #expect(first.names == ["n"])
        try giveRole()
        let second = try read(since: first.token, limit: limit)
        #expect(second.names == ["a", "n", "b"])
        #expect(try read(since: second.token, limit: limit).names.isEmpty)
        try plan("c")
        #expect(try read(since: second.token, limit: limit).names == ["c"])
    }

    /// What is hidden is not gone: the token goes on, and no deletion is told.
    @Test func aRoleThatIsTakenTellsNoDeletions() throws {
        try giveRole()
        try plan("a")
        let first = try read(since: nil)
        #expect(first.names == ["a"])
        try takeRole()
        let second = try read(since: first.token)
        #expect(second.names.isEmpty)
        try plan("b")
        let third = try read(since: second.token)
        #expect(third.names.isEmpty)
        try giveRole()
        #expect(try read(since: third.token).names == ["a", "b"])
    }

    private static var forgetful: ServiceLimits {
        var limits = ServiceLimits()
        limits.retention.deletionDaysMax = 0
        return limits
    }

    /// The token at which Bert had plan a and lost the role, moved on past its deletion.
    private func tokenPastAHiddenDeletion() throws -> String? {
        try giveRole()
        try plan("a")
        let first = try read(since: nil)
        #expect(first.names == ["a"])
        try takeRole()
        _ = try anna.modify([RecordOperation(.create, .note("n"))], zone: nil)
        let second = try read(since: first.token)
        try plan("a", .forceDelete)
        return try read(since: second.token).token
    }

    @Test(arguments: [nil, 1])
    func aRoleThatComesBackTellsWhatWasDeletedMeanwhile(limit: Int?) throws {
        var token = try tokenPastAHiddenDeletion()
        try giveRole()
        var gone: [String] = []
        var goesOn = true
        for _ in 0..<9 where goesOn {
            let page = try bert.changes(since: token, zone: ZoneID(), limit: limit)
            gone += page.records.filter(\.deleted).map(\.recordName)
            (token, goesOn) = (page.syncToken, page.moreComing)
        }
        #expect(gone == ["a"])
    }

    /// What was deleted while it was hidden cannot be told any more: the token has gone past it,
    /// and yet is too old.
    @Test func aRoleThatComesBackTellsThatDeletionsWereForgotten() throws {
        let world = try RoleFeedTests(Self.forgetful)
        let token = try world.tokenPastAHiddenDeletion()
        try world.anna.service.forgetOldDeletions()
        #expect(try world.read(since: token).names.isEmpty)
        // Where more is hidden than before, nothing is missed.
        try world.grant("Note", "editors", reads: true)
        let narrow = try world.read(since: token)
        #expect(narrow.names.isEmpty)
        try world.giveRole()
        for token in [token, narrow.token] {
            let page = try world.bert.changes(since: token, zone: ZoneID())
            #expect(page.failure?.code == .changeTokenExpired)
            #expect(page.failure?.reason.contains("deletions") == true)
        }
        #expect(try world.read(since: nil).names == ["n"])
    }

    /// The deletion is forgotten while the reader is on the way to it.
    @Test func aRoleThatComesBackInPagesTellsThatDeletionsWereForgotten() throws {
        let world = try RoleFeedTests(Self.forgetful)
        let token = try world.tokenPastAHiddenDeletion()
        try world.giveRole()
        let page = try world.bert.changes(since: token, zone: ZoneID(), limit: 1)
        #expect(page.records.map(\.recordName) == ["n"] && page.moreComing)
        try world.anna.service.forgetOldDeletions()
        let next = try world.bert.changes(since: page.syncToken, zone: ZoneID())
        #expect(next.failure?.code == .changeTokenExpired)
    }

    /// Who never saw a type has nothing of it that could have been deleted.
    @Test func aRoleThatIsNewMissesNoDeletions() throws {
        let world = try RoleFeedTests(Self.forgetful)
        try world.plan("a")
        let first = try world.read(since: nil)
        try world.plan("a", .forceDelete)
        try world.plan("b")
        let second = try world.read(since: first.token)
        try world.anna.service.forgetOldDeletions()
        try world.giveRole()
        #expect(try world.read(since: second.token).names == ["b"])
    }

    @Test func aGrantThatIsTakenBackBringsWhatItHid() throws {
        try plan("a")
        let first = try read(since: nil)
        #expect(first.names.isEmpty)
        try accounts.removeGrants(recordType: "Plan", container: container)
        #expect(try read(since: first.token).names == ["a"])
    }

    /// What is hidden takes its part of a page, also where only some types are asked for.
    @Test(arguments: [nil, 1, 2], [nil, 3])
    func whatIsSeenComesBehindWhatIsHidden(limit: Int?, rowsMax: Int?) throws {
        var limits = ServiceLimits()
        if let rowsMax { limits.work.rowsMax = rowsMax }
        let world = try RoleFeedTests(limits)
        for name in ["a", "b"] { try world.plan(name) }
        try world.plan("c", by: world.bert)
        for name in ["d", "e", "f"] { try world.plan(name) }
        _ = try world.anna.modify([RecordOperation(.create, .note("n"))], zone: nil)
        try world.plan("g")
        for (types, isReversed) in [(nil, false), (["Plan", "Note"], false), (nil, true)] {
            var zone = ZoneChanges.Zone(zoneID: ZoneID(), syncToken: nil, resultsLimit: limit)
            zone.desiredRecordTypes = types
            zone.isReversed = isReversed
            var names: [String] = []
            var goesOn = true
            for _ in 0..<30 where goesOn {
                let page = try world.bert.changes(zone)
                names += page.records.map(\.recordName)
                zone.syncToken = page.syncToken
                goesOn = page.moreComing
            }
            #expect(!goesOn)
            #expect(names == (isReversed ? ["n", "c"] : ["c", "n"]), "\(types ?? [])")
        }
    }

    /// Of a type of which users see what they made, each has another view.
    @Test func aTokenOfAnotherUsersViewBeginsOnceMore() throws {
        try plan("a")
        try plan("b", by: bert)
        #expect(try read(since: nil).names == ["b"])
        let annas = try read(since: nil, anna)
        #expect(annas.names == ["a"])
        #expect(try read(since: annas.token).names == ["b"])
    }

    @Test func writersGoOnFromTheirWrites() throws {
        try plan("a")
        let before = try read(since: nil, anna)
        let write = ModifyRecords(
            operations: [RecordOperation(.create, .note("n"))], zoneID: nil)
        guard case .records(let reply) = try anna.send(.modifyRecords(write)) else {
            throw WrongAnswer()
        }
        #expect(reply.previousSyncToken == before.token)
        #expect(try read(since: reply.syncToken, anna).names.isEmpty)
    }

    @Test func theDatabaseTellsItsZoneOnceMore() throws {
        try plan("a")
        let token = try bert.databaseChanges(since: nil).syncToken
        #expect(try bert.databaseChanges(since: token).zones.isEmpty)
        try giveRole()
        let changes = try bert.databaseChanges(since: token)
        #expect(changes.zones == [.init(zoneID: ZoneID(), deleted: false)])
        #expect(try bert.databaseChanges(since: changes.syncToken).zones.isEmpty)
    }

    // MARK: The courier

    private func subscribe(_ user: ServiceFixture) throws -> String {
        let filter = RecordFilter(.field("title"), .beginsWith, .string("long"))
        var query = RecordSubscription(
            subscriptionID: "query",
            kind: .query(RecordQuery(recordType: "Plan", filters: [filter])))
        query.zoneWide = true
        var once = query
        once.subscriptionID = "once"
        once.firesOnce = true
        let database = RecordSubscription(subscriptionID: "database", kind: .database)
        let zone = RecordSubscription(subscriptionID: "zone", kind: .zone, zoneID: ZoneID())
        _ = try user.send(
            .modifySubscriptions(
                [query, once, database, zone].map { SubscriptionOperation(.create, $0) }))
        let request = CourierToken(apnsEnvironment: "development")
        guard case .courierToken(let token) = try user.send(.createToken(request)) else {
            throw WrongAnswer()
        }
        return try #require(token.apnsToken)
    }

    private func countOfNotices(_ token: String) throws -> Int {
        var count = 0
        while try anna.service.nextNotice(forCourierToken: token) != nil { count += 1 }
        return count
    }

    @Test func theCourierTellsNothingThatRolesHide() throws {
        let token = try subscribe(bert)
        try plan("a")
        try plan("a", .forceReplace)
        try plan("a", .forceDelete)
        #expect(try countOfNotices(token) == 0)
        try giveRole()
        try plan("b")
        #expect(try countOfNotices(token) == 4)
        try plan("b", .forceDelete)
        #expect(try countOfNotices(token) == 3)
        try takeRole()
        try plan("c", by: bert)
        #expect(try countOfNotices(token) == 3)
    }
}
