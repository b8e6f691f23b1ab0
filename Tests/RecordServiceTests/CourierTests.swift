import Foundation
import Platform
import RecordService
import RecordWire
import Testing

/// Whom the courier serves, for how long, and what one user's notices cost another.
@Suite(.everyBackend) struct CourierTests {
    private func token(_ fixture: ServiceFixture) throws -> String {
        let request = CourierToken(apnsEnvironment: "development")
        guard case .courierToken(let token) = try fixture.send(.createToken(request)) else {
            throw WrongAnswer()
        }
        return try #require(token.apnsToken)
    }

    private func save(_ subscription: RecordSubscription, _ fixture: ServiceFixture) throws {
        _ = try fixture.send(
            .modifySubscriptions([SubscriptionOperation(.create, subscription)]))
    }

    private func query(_ id: String, _ filter: RecordFilter) -> RecordSubscription {
        var subscription = RecordSubscription(
            subscriptionID: id,
            kind: .query(RecordQuery(recordType: "Note", filters: [filter])))
        subscription.zoneWide = true
        return subscription
    }

    private func notices(_ token: String, _ fixture: ServiceFixture) throws -> [String] {
        var notices: [String] = []
        while let next = try fixture.service.nextNotice(forCourierToken: token) {
            let all = try JSONSerialization.jsonObject(with: next) as? [String: Any]
            let ck = try #require(all?["ck"] as? [String: Any])
            for kind in ["qry", "fet", "met"] {
                guard let what = ck[kind] as? [String: Any] else { continue }
                let words = ["sid", "rid"].compactMap { key in what[key].map { "\($0)" } }
                notices.append(([kind] + words).joined(separator: " "))
            }
        }
        return notices
    }

    private let zone = RecordSubscription(
        subscriptionID: "zone", kind: .zone, zoneID: ServiceFixture.zone)

    // MARK: Revoking

    /// A fixture whose caller showed a token of its own, and that token's name.
    private func signedIn(
        _ fixture: ServiceFixture, as user: ServiceUser
    ) throws -> (ServiceFixture, tokenID: String) {
        let accounts = fixture.service.accounts
        let issued = try accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "device")
        let api = try accounts.issueAPIToken(container: ServiceFixture.container, label: "app")
        var signedIn = fixture
        signedIn.caller = try fixture.service.authenticate(
            apiToken: api.secret, userToken: issued.secret, container: ServiceFixture.container)
        return (signedIn, issued.description.id)
    }

    @Test func aRevokedTokenEndsWhatItAskedTheCourierFor() throws {
        let fixture = try ServiceFixture()
        let user = try fixture.service.accounts.createUser(label: "anna")
        let (lost, lostID) = try signedIn(fixture, as: user)
        let (kept, _) = try signedIn(fixture, as: user)
        try kept.createZone(ServiceFixture.zone)
        try save(zone, kept)
        let (lostToken, keptToken) = (try token(lost), try token(kept))
        let calls = Lock(0)
        let waiting = try fixture.service.listen(forCourierToken: lostToken) {
            calls.withLock { $0 += 1 }
        }
        try fixture.service.accounts.revoke(tokenID: lostID)
        #expect(calls.withLock { $0 } == 1)
        try kept.save(.note("a"))
        for _ in 0..<2 {
            let error = #expect(throws: RecordError.self) {
                try fixture.service.nextNotice(forCourierToken: lostToken)
            }
            #expect(error?.code == .authenticationFailed)
        }
        #expect(throws: RecordError.self) {
            try fixture.service.user(ofCourierToken: lostToken)
        }
        #expect(try notices(keptToken, kept) == ["fet zone"])
        withExtendedLifetime(waiting) {}
    }

    /// So that who waits with it is looked at again and turned away.
    @Test func aRevokedTokenWakesWhoWaits() throws {
        let fixture = try ServiceFixture()
        let user = try fixture.service.accounts.createUser(label: "anna")
        let (waiter, tokenID) = try signedIn(fixture, as: user)
        let calls = Lock(0)
        let listening = try fixture.service.listen(
            for: .databaseChanges(DatabaseChanges(syncToken: nil)), target: waiter.target,
            caller: waiter.caller
        ) { calls.withLock { $0 += 1 } }
        try fixture.service.accounts.revoke(tokenID: tokenID)
        #expect(calls.withLock { $0 } == 1)
        withExtendedLifetime(listening) {}
    }

    // MARK: One user and others

    @Test func manyTokensOfOneUserSilenceNoOther() throws {
        let anna = try ServiceFixture()
        var bert = anna
        bert.caller = Caller(userRecordName: "_bert")
        try save(query("all", RecordFilter(.field("title"), .equals, .string("t"))), anna)
        let token = try token(anna)
        try anna.save(.note("a"))
        for _ in 0..<2_001 { _ = try self.token(bert) }
        #expect(try notices(token, anna) == ["qry all a"])
    }

    /// What many write to a public database hides nothing of a user's own.
    @Test func oneSubscriptionSilencesNoOther() throws {
        let anna = try ServiceFixture()
        try save(zone, anna)
        var inPublic = anna
        inPublic.target.database = "public"
        try save(query("all", RecordFilter(.field("title"), .equals, .string("t"))), inPublic)
        let token = try token(anna)
        try anna.save(.note("a"))
        var bert = inPublic
        bert.caller = Caller(userRecordName: "_bert")
        for number in 0..<130 {
            _ = try bert.modify([RecordOperation(.create, .note("n\(number)"))], zone: nil)
        }
        let kept = try notices(token, anna)
        #expect(kept.count == 100 && kept.first == "fet zone" && kept.last == "qry all n129")
    }

    /// A notice that was taken and not delivered is the next, before those that came meanwhile.
    @Test func aNoticeThatWasNotDeliveredIsTheNext() throws {
        let fixture = try ServiceFixture()
        try save(query("all", RecordFilter(.field("title"), .equals, .string("t"))), fixture)
        let token = try token(fixture)
        try fixture.save(.note("a"))
        let lost = try fixture.service.nextNotice(forCourierToken: token, poll: "lost")
        try fixture.save(.note("b"))
        lost?.putBack()
        #expect(try notices(token, fixture) == ["qry all a", "qry all b"])
    }

    @Test func anOlderPollIsToldNothing() throws {
        let fixture = try ServiceFixture()
        try save(query("all", RecordFilter(.field("title"), .equals, .string("t"))), fixture)
        let (service, token) = (fixture.service, try token(fixture))
        let older = try service.listen(forCourierToken: token, poll: "older") {}
        let newer = try service.listen(forCourierToken: token, poll: "newer") {}
        try fixture.save(.note("a"))
        #expect(try service.nextNotice(forCourierToken: token, poll: "older")?.json == nil)
        #expect(try service.nextNotice(forCourierToken: token, poll: "newer")?.json != nil)
        withExtendedLifetime((older, newer)) {}
    }

    // MARK: System fields

    @Test(arguments: [
        RecordFilter(.system(.recordName), .equals, .string("a")),
        RecordFilter(.system(.recordName), .equals, .reference(RecordReference(recordName: "a"))),
        RecordFilter(
            .system(.createdUserRecordName), .equals,
            .reference(RecordReference(recordName: "_anna"))),
        RecordFilter(.system(.createdUserRecordName), .equals, .string("_anna")),
        RecordFilter(
            .system(.modifiedUserRecordName), .isIn,
            .list(type: .reference, [.reference(RecordReference(recordName: "_anna"))])),
        RecordFilter(.system(.createdTimestamp), .greaterThan, .int64(1)),
        RecordFilter(.system(.modifiedTimestamp), .greaterThan, .timestamp(1)),
    ]) func systemFieldsAreLookedAt(filter: RecordFilter) throws {
        let fixture = try ServiceFixture()
        try save(query("system", filter), fixture)
        let token = try token(fixture)
        try fixture.save(.note("a"))
        #expect(try notices(token, fixture) == ["qry system a"])
    }

    @Test func systemFieldsKeepWhatDoesNotFit() throws {
        let fixture = try ServiceFixture()
        let other = RecordFilter(
            .system(.createdUserRecordName), .equals,
            .reference(RecordReference(recordName: "_bert")))
        try save(query("system", other), fixture)
        let token = try token(fixture)
        try fixture.save(.note("a"))
        #expect(try notices(token, fixture).isEmpty)
        let wrong = RecordFilter(.system(.createdTimestamp), .equals, .string("x"))
        guard
            case .subscriptions(let results) = try fixture.send(
                .modifySubscriptions([SubscriptionOperation(.create, query("wrong", wrong))])),
            case .failure(let error) = results[0]
        else { throw WrongAnswer() }
        #expect(error.code == .badRequest)
    }
}
