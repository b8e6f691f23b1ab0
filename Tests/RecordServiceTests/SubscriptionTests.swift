import Foundation
import Platform
import RecordService
import RecordWire
import Testing

/// Subscriptions of users, and the notices that come of them.
@Suite(.everyBackend) struct SubscriptionTests {
    private func results(_ request: RecordRequest, _ fixture: ServiceFixture) throws
        -> [SubscriptionResult]
    {
        guard case .subscriptions(let results) = try fixture.send(request) else {
            throw WrongAnswer()
        }
        return results
    }

    @discardableResult
    private func save(
        _ subscription: RecordSubscription, _ fixture: ServiceFixture,
        _ kind: SubscriptionOperation.Kind = .create
    ) throws -> SubscriptionResult {
        try results(
            .modifySubscriptions([SubscriptionOperation(kind, subscription)]), fixture)[0]
    }

    private func token(_ fixture: ServiceFixture) throws -> String {
        let request = CourierToken(apnsEnvironment: "development")
        guard case .courierToken(let token) = try fixture.send(.createToken(request)) else {
            throw WrongAnswer()
        }
        return try #require(token.apnsToken)
    }

    /// What the courier brings, oldest first: the part that names what happened.
    private func notices(_ token: String, _ fixture: ServiceFixture) throws -> [String] {
        var notices: [String] = []
        while let next = try fixture.service.nextNotice(forCourierToken: token) {
            let all = try JSONSerialization.jsonObject(with: next) as? [String: Any]
            let ck = try #require(all?["ck"] as? [String: Any])
            #expect(ck["cid"] as? String == ServiceFixture.container)
            for kind in ["qry", "fet", "met"] {
                guard let what = ck[kind] as? [String: Any] else { continue }
                let words = ["sid", "rid", "fo", "zid"].compactMap { key in
                    what[key].map { "\($0)" }
                }
                notices.append(([kind] + words).joined(separator: " "))
            }
        }
        return notices
    }

    private func long(_ id: String = "long") -> RecordSubscription {
        let filter = RecordFilter(.field("title"), .beginsWith, .string("long"))
        return RecordSubscription(
            subscriptionID: id, kind: .query(RecordQuery(recordType: "Note", filters: [filter])),
            zoneID: ServiceFixture.zone)
    }

    private let zone = RecordSubscription(
        subscriptionID: "zone", kind: .zone, zoneID: ServiceFixture.zone)
    private let database = RecordSubscription(subscriptionID: "database", kind: .database)

    // MARK: Keeping

    @Test func subscriptionsAreKept() throws {
        let fixture = try ServiceFixture()
        var full = long()
        full.firesOn = [.create]
        full.firesOnce = true
        full.notificationInfo = NotificationInfo()
        full.notificationInfo?.texts["alertBody"] = "New"
        #expect(try save(full, fixture) == .subscription(full))
        #expect(try save(full, fixture) == .subscription(full))
        try save(zone, fixture)
        #expect(
            try results(.listSubscriptions, fixture) == [.subscription(full), .subscription(zone)])
        let found = try results(.lookupSubscriptions(["zone", "none"]), fixture)
        #expect(found[0] == .subscription(zone))
        guard case .failure(let error) = found[1] else { throw WrongAnswer() }
        #expect(error.code == .notFound && error.subscriptionID == "none")
        full.firesOnce = false
        #expect(try save(full, fixture, .update) == .subscription(full))
        #expect(try save(full, fixture, .delete) == .deleted("long"))
        for kind in [SubscriptionOperation.Kind.delete, .update] {
            guard case .failure(let error) = try save(full, fixture, kind) else {
                throw WrongAnswer()
            }
            #expect(error.code == .notFound)
        }
        var bert = fixture
        bert.caller = Caller(userRecordName: "_bert")
        #expect(try results(.listSubscriptions, bert).isEmpty)
    }

    @Test func theServiceNamesWhatHasNoName() throws {
        let fixture = try ServiceFixture()
        let saved = try save(long(""), fixture)
        guard case .subscription(let made) = saved else { throw WrongAnswer() }
        #expect(UUID(uuidString: made.subscriptionID) != nil)
    }

    @Test func whatCouldNeverFireIsRefused() throws {
        var limits = ServiceLimits()
        limits.work.subscriptionsMax = 1
        let fixture = try ServiceFixture(limits: limits)
        func code(_ subscription: RecordSubscription) throws -> RecordError.Code? {
            guard case .failure(let error) = try save(subscription, fixture) else { return nil }
            return error.code
        }
        var elsewhere = zone
        elsewhere.zoneID = ZoneID(zoneName: "none")
        #expect(try code(elsewhere) == .zoneNotFound)
        var near = long()
        near.kind = .query(
            RecordQuery(
                recordType: "Note", filters: [RecordFilter(.field("a"), .near, .string("x"))]))
        #expect(try code(near) == .badRequest)
        var large = long()
        large.notificationInfo = NotificationInfo()
        large.notificationInfo?.texts["title"] = String(repeating: "x", count: 20_000)
        #expect(try code(large) == .limitExceeded)
        #expect(try code(zone) == nil)
        #expect(try code(database) == .limitExceeded)
    }

    // MARK: Notices

    @Test func aQueryTellsWhatMatches() throws {
        let fixture = try ServiceFixture()
        try save(long(), fixture)
        let token = try token(fixture)
        try fixture.save(.note("a", "short"))
        #expect(try notices(token, fixture).isEmpty)
        try fixture.save(.note("b", "long one"))
        try fixture.save(.note("a", "long now"))
        _ = try fixture.modify([RecordOperation(.forceUpdate, .note("c", "long"))], zone: nil)
        try fixture.save(.note("a"), .forceDelete)
        #expect(
            try notices(token, fixture) == [
                "qry long b 1 notes", "qry long a 2 notes", "qry long a 3 notes",
            ])
    }

    private func json(_ token: String, _ fixture: ServiceFixture) throws -> String {
        let next = try #require(try fixture.service.nextNotice(forCourierToken: token))
        // Each notice has a name of its own.
        return String(decoding: next, as: UTF8.self)
            .replacing(/"nid":"[0-9A-F-]+",/, with: "")
    }

    @Test func noticesShowWhatTheirSubscriptionsSay() throws {
        let fixture = try ServiceFixture()
        var shown = long()
        var info = NotificationInfo()
        info.texts = [
            "title": "T", "subtitleLocalizationKey": "S_%@", "alertLocalizationKey": "A_%@_%@",
            "alertActionLocalizationKey": "GO", "alertLaunchImage": "l.png",
            "soundName": "ding", "category": "c",
        ]
        info.lists = [
            "alertLocalizationArgs": ["title", "count"], "subtitleLocalizationArgs": ["none"],
            "additionalFields": ["count", "title", "secret", "long", "none"],
        ]
        info.flags = ["shouldBadge": true, "shouldSendMutableContent": true]
        shown.notificationInfo = info
        try save(shown, fixture)
        let token = try token(fixture)
        var note = Record.note("a", "long one")
        note.fields["count"] = .int64(7)
        note.fields["secret"] = .encrypted(.string("s"))
        note.fields["long"] = .string(String(repeating: "x", count: 5_000))
        try fixture.save(note)
        #expect(
            try json(token, fixture) == #"""
                {"aps":{"alert":{"title":"T","subtitle-loc-key":"S_%@",\#
                "subtitle-loc-args":[""],"loc-key":"A_%@_%@","loc-args":["long one","7"],\#
                "action-loc-key":"GO","launch-image":"l.png"},"badge":1,"sound":"ding",\#
                "category":"c","mutable-content":1},"ck":{"ce":2,\#
                "cid":"iCloud.org.example.notes","qry":{"rid":"a","fo":1,"zid":"notes",\#
                "zoid":"_anna","dbs":2,"sid":"long","af":{"count":7,"title":"long one"}}}}
                """#)
        // One record is told once, as it was written last.
        for count in [8, 9] {
            note.fields["count"] = .int64(Int64(count))
            try fixture.save(note)
        }
        #expect(try json(token, fixture).contains(#""count":9"#))
        #expect(try notices(token, fixture).isEmpty)
        try fixture.save(.note("a"), .forceDelete)
        let gone = try json(token, fixture)
        #expect(gone.contains(#""loc-args":["",""]"#) && !gone.contains(#""af""#))
    }

    /// Each time it is named is as long as its value.
    @Test func aFieldThatIsNamedOftenMakesNoNoticeLarge() throws {
        let fixture = try ServiceFixture()
        var shown = long()
        var info = NotificationInfo()
        info.texts = ["alertLocalizationKey": "A_%@"]
        info.lists = ["alertLocalizationArgs": Array(repeating: "text", count: 1_500)]
        shown.notificationInfo = info
        try save(shown, fixture)
        let token = try token(fixture)
        var note = Record.note("a", "long one")
        note.fields["text"] = .string(String(repeating: "x", count: 3_000))
        try fixture.save(note)
        let notice = try json(token, fixture)
        #expect(notice.contains("xxx") && notice.utf8.count < 50_000)
    }

    @Test func eventsAndPlacesAreChosen() throws {
        let fixture = try ServiceFixture()
        var wide = long("wide")
        wide.zoneID = nil
        wide.zoneWide = true
        wide.firesOn = [.delete]
        try save(wide, fixture)
        var home = long("home")
        home.zoneID = nil
        try save(home, fixture)
        let token = try token(fixture)
        try fixture.save(.note("a", "long"))
        try fixture.save(.note("a"), .forceDelete)
        _ = try fixture.modify([RecordOperation(.forceUpdate, .note("c", "long"))], zone: nil)
        #expect(
            try notices(token, fixture) == ["qry wide a 3 notes", "qry home c 1 _defaultZone"])
    }

    @Test func zonesAndDatabasesTellOnce() throws {
        let fixture = try ServiceFixture()
        try save(zone, fixture)
        try save(database, fixture)
        let token = try token(fixture)
        for name in ["a", "b"] { try fixture.save(.note(name)) }
        #expect(try notices(token, fixture) == ["met database", "fet zone notes"])
        try fixture.createZone(ZoneID(zoneName: "more"))
        #expect(try notices(token, fixture) == ["met database"])
        _ = try fixture.modify([RecordOperation(.forceUpdate, .note("a"))], zone: nil)
        #expect(try notices(token, fixture).isEmpty)
    }

    /// The type that its field had is gone, and another has come.
    @Test func aFilterThatFitsNoMoreSilencesNoOthers() throws {
        let fixture = try ServiceFixture()
        try save(long(), fixture)
        try save(zone, fixture)
        let token = try token(fixture)
        let other = Record(
            recordName: "a", recordType: "Note", fields: ["title": .int64(1)])
        try fixture.save(other)
        #expect(try notices(token, fixture) == ["fet zone notes"])
        try fixture.save(other, .forceDelete)
        #expect(try notices(token, fixture).sorted() == ["fet zone notes", "qry long a 3 notes"])
        try fixture.save(.note("a", "long"))
        #expect(try notices(token, fixture).sorted() == ["fet zone notes", "qry long a 1 notes"])
    }

    @Test func whatFiresOnceIsForgotten() throws {
        let fixture = try ServiceFixture()
        var once = long()
        once.firesOnce = true
        try save(once, fixture)
        let token = try token(fixture)
        for name in ["a", "b"] { try fixture.save(.note(name, "long")) }
        #expect(try notices(token, fixture) == ["qry long a 1 notes"])
        #expect(try results(.listSubscriptions, fixture).isEmpty)
    }

    @Test func aRefusedWriteTellsNothing() throws {
        let fixture = try ServiceFixture()
        try save(database, fixture)
        let token = try token(fixture)
        _ = try fixture.modify(
            [
                RecordOperation(.create, .note("a")),
                RecordOperation(.update, .note("b", tag: "1")),
            ], atomic: true)
        #expect(try notices(token, fixture).isEmpty)
    }

    @Test func usersHearOfThePublicDatabase() throws {
        var anna = try ServiceFixture(makesZone: false)
        anna.target.database = "public"
        var bert = anna
        bert.caller = Caller(userRecordName: "_bert")
        var notes = long()
        notes.zoneID = nil
        try save(notes, bert)
        let token = try token(bert)
        let others = try self.token(anna)
        _ = try anna.modify([RecordOperation(.create, .note("a", "long"))], zone: nil)
        #expect(try notices(token, bert) == ["qry long a 1 _defaultZone"])
        #expect(try notices(others, anna).isEmpty)
        var world = anna
        world.caller = .world
        #expect(throws: RecordError.self) { try world.send(.listSubscriptions) }
    }

    @Test func tokensOutliveTheService() throws {
        try withDatabasePath { path in
            let first = try ServiceFixture(path: path)
            try save(long(), first)
            try save(zone, first)
            let token = try token(first)
            #expect(try notices(token, first).isEmpty)
            let later = try ServiceFixture(path: path, seed: 2, makesZone: false)
            // It may have missed anything.
            #expect(try notices(token, later) == ["fet long notes", "fet zone notes"])
            #expect(try notices(token, later).isEmpty)
            try later.save(.note("a"))
            #expect(try notices(token, later) == ["fet zone notes"])
        }
    }

    @Test func noticesAndTokensAreBounded() throws {
        var limits = ServiceLimits()
        limits.work.courierTokensMax = 2
        let fixture = try ServiceFixture(limits: limits)
        try save(long(), fixture)
        let tokens = try (0..<3).map { _ in try token(fixture) }
        for number in 0..<130 { try fixture.save(.note("n\(number)", "long")) }
        let kept = try notices(tokens[2], fixture)
        #expect(kept.count == 100 && kept.last == "qry long n129 1 notes")
        for wrong in [tokens[0], "", "x", String(repeating: "x", count: 1_000)] {
            let error = #expect(throws: RecordError.self) {
                try fixture.service.nextNotice(forCourierToken: wrong)
            }
            #expect(error?.code == .authenticationFailed)
        }
        #expect(try fixture.service.user(ofCourierToken: tokens[1]) == "_anna")
    }

    @Test func whoListensIsCalled() throws {
        let fixture = try ServiceFixture()
        try save(zone, fixture)
        let token = try token(fixture)
        let calls = Lock(0)
        var listening: ChangeListening? = try fixture.service.listen(forCourierToken: token) {
            calls.withLock { $0 += 1 }
        }
        try fixture.save(.note("a"))
        #expect(calls.withLock { $0 } == 1)
        withExtendedLifetime(listening) {}
        listening = nil
        _ = try notices(token, fixture)
        try fixture.save(.note("a"))
        #expect(calls.withLock { $0 } == 1)
    }
}
