import Foundation
import Platform
import RecordService
import RecordWire
import SQLiteDriver
import Testing

/// Tokens that end, and go on under another text.
@Suite(.everyBackend) final class TokenLifeTests: Sendable {
    private static let day = 86_400
    private let folder: URL
    private let storage: ServiceStorage
    private let fixture: ServiceFixture
    private let user: ServiceUser
    private let api: String
    private let token: IssuedToken

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-lives-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        storage =
            StoragePlace.current == .sqlite
            ? .file(folder.appendingPathComponent("records.sqlite").path)
            : try StoragePlace.current.make()
        fixture = try ServiceFixture(storage)
        let accounts = fixture.service.accounts
        user = try accounts.createUser(label: "Anna")
        api = try accounts.issueAPIToken(container: ServiceFixture.container, label: "app").secret
        token = try accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "laptop", days: 30)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func advance(days: Int) { fixture.clock.advance(seconds: days * Self.day) }

    private func outlook(
        _ text: String, of service: RecordService? = nil
    ) throws(RecordError) -> TokenOutlook? {
        try (service ?? fixture.service).admit(
            apiToken: api, userToken: text, container: ServiceFixture.container
        ).1
    }

    private func code(_ text: String) -> RecordError.Code? {
        do throws(RecordError) {
            _ = try outlook(text)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func aTokenEndsAndSaysSoToWhoHasItOnly() throws {
        let end = try #require(token.description.expiresAt)
        // The clock moves a millisecond at each look.
        let life = end - token.description.createdAt
        #expect(abs(life - 30 * Int64(Self.day) * 1_000) < 10)
        #expect(try outlook(token.secret)?.expiresAt == end)
        #expect(try fixture.service.accounts.tokens().last?.expiresAt == end)
        #expect(try fixture.service.accounts.bearer(of: token.secret).label == "laptop")
        advance(days: 31)
        #expect(code(token.secret) == .authenticationRequired)
        #expect(code(token.secret + "x") == .authenticationFailed)
        let refusal = #expect(throws: RecordError.self) {
            try fixture.service.accounts.bearer(of: token.secret)
        }
        #expect(refusal?.code == .authenticationRequired)
        #expect(throws: RecordError.self) {
            try fixture.service.accounts.requireGood(tokenID: token.description.id)
        }
    }

    @Test func aTokenWithoutAnEndGoesOn() throws {
        let endless = try fixture.service.accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "folder")
        advance(days: 36_500)
        #expect(code(endless.secret) == nil)
        #expect(try outlook(endless.secret) == nil)
    }

    @Test func itIsRenewedAtTheEndOfItsLifeAndKeepsItsName() throws {
        advance(days: 19)
        #expect(try outlook(token.secret)?.next == nil)
        advance(days: 2)
        let next = try #require(try outlook(token.secret)?.next)
        let found = try #require(try outlook(next))
        #expect(found.next == nil && found.expiresAt > token.description.expiresAt ?? .max)
        let good = try fixture.service.accounts.tokens().filter { $0.kind == .user }
        #expect(good.count == 1 && good[0].id == token.description.id)
        advance(days: 28)
        #expect(code(next) == nil)
    }

    @Test func aLostAnswerLocksNobodyOut() throws {
        advance(days: 21)
        let first = try #require(try outlook(token.secret)?.next)
        // The answer was lost: the device shows the former text, and hears the same again.
        advance(days: 5)
        #expect(try outlook(token.secret)?.next == first)
        // Also from another process, and after a start.
        let other = try ServiceFixture(storage, seed: 2, makesZone: false)
        other.clock.advance(seconds: 26 * Self.day)
        let again = try outlook(token.secret, of: other.service)
        #expect(again?.next == first)
        // Once the new one arrived the former is good for an hour.
        #expect(code(first) == nil)
        #expect(try outlook(token.secret)?.next == first)
        fixture.clock.advance(seconds: 3_700)
        #expect(code(token.secret) == .authenticationRequired)
        #expect(code(first) == nil)
    }

    @Test func aDeviceThatPaysNoHeedIsGoodUntilItsEnd() throws {
        advance(days: 21)
        #expect(try outlook(token.secret)?.next != nil)
        advance(days: 8)
        #expect(code(token.secret) == nil)
        advance(days: 2)
        #expect(code(token.secret) == .authenticationRequired)
    }

    @Test func requestsAtOnceHearOfOneText() throws {
        advance(days: 21)
        let heard = Lock<Set<String>>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            let next = try? outlook(token.secret)?.next
            heard.withLock { heard in next.map { _ = heard.insert($0) } }
        }
        let texts = heard.withLock { $0 }
        #expect(texts.count == 1)
        for text in texts { #expect(code(text) == nil) }
    }

    @Test func rotationGoesOnForever() throws {
        var text = token.secret
        for _ in 1...5 {
            advance(days: 25)
            text = try #require(try outlook(text)?.next)
            #expect(code(text) == nil)
        }
        #expect(code(token.secret) == .authenticationFailed)
    }

    @Test func aUsersTokensEndTogether() throws {
        let accounts = fixture.service.accounts
        let other = try accounts.createUser(label: "Ben")
        let kept = try accounts.issueUserToken(userRecordName: other.userRecordName, label: "b")
        advance(days: 21)
        let next = try #require(try outlook(token.secret)?.next)
        #expect(try accounts.revokeTokens(of: user.userRecordName) == 1)
        #expect(code(token.secret) == .authenticationFailed)
        #expect(code(next) == .authenticationFailed)
        #expect(code(kept.secret) == nil)
    }

    // MARK: Forgetting

    @Test func endedTokensAreForgottenNinetyDaysLater() throws {
        let accounts = fixture.service.accounts
        let kept = try accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "kept", days: 365)
        let revoked = try accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "revoked")
        try accounts.revoke(tokenID: revoked.description.id)
        advance(days: 89)
        #expect(try accounts.forgetEndedTokens() == 0)
        #expect(code(token.secret) == .authenticationRequired)
        advance(days: 2)
        #expect(try accounts.forgetEndedTokens() == 1)
        #expect(try accounts.tokens().map(\.id).contains(token.description.id))
        #expect(code(token.secret) == .authenticationRequired)
        #expect(code(revoked.secret) == .authenticationFailed)
        advance(days: 30)
        #expect(try accounts.forgetEndedTokens() == 1)
        #expect(code(token.secret) == .authenticationFailed)
        #expect(try accounts.forgetEndedTokens() == 0)
        let left = try accounts.tokens().filter { $0.kind == .user }
        #expect(left.map(\.id) == [kept.description.id] && code(kept.secret) == nil)
    }

    /// Its former text is known as long as the token goes on.
    @Test func aRenewedTokenIsNotForgotten() throws {
        advance(days: 21)
        let next = try #require(try outlook(token.secret)?.next)
        #expect(code(next) == nil)
        for _ in 0..<4 {
            advance(days: 9)
            #expect(try fixture.service.accounts.forgetEndedTokens() == 0)
        }
        #expect(code(token.secret) == .authenticationRequired)
    }

    /// Nobody could say whether it was revoked.
    @Test func whatWasForgottenIsNotTakenInAgain() throws {
        let accounts = fixture.service.accounts
        let leaked = try accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "folder")
        try accounts.revoke(tokenID: leaked.description.id)
        advance(days: 91)
        #expect(try accounts.forgetEndedTokens() == 1)
        let other = try accounts.issueAPIToken(
            container: ServiceFixture.container, label: "lost")
        try accounts.revoke(tokenID: other.description.id)
        advance(days: 91)
        _ = try accounts.forgetEndedTokens()
        #expect(throws: RecordError.self) {
            try accounts.takeIn(
                apiToken: other.secret, userToken: leaked.secret,
                container: ServiceFixture.container, userRecordName: user.userRecordName,
                label: "serve")
        }
        #expect(code(leaked.secret) == .authenticationFailed)
    }

    @Test(arguments: [0, -1, 40_000]) func aLifeIsSomeDays(_ days: Int) throws {
        #expect(throws: RecordError.self) {
            try fixture.service.accounts.issueUserToken(
                userRecordName: user.userRecordName, label: "x", days: days)
        }
    }
}

/// Files of programs that knew no ends.
@Suite struct TokenUpgradeTests {
    @Test func tokensOfBeforeHaveNoEnd() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-lives-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("records.sqlite").path
        var secret = ""
        do {
            let accounts = try ServiceFixture(path: path).service.accounts
            let user = try accounts.createUser(label: "Anna")
            secret = try accounts.issueUserToken(
                userRecordName: user.userRecordName, label: "l"
            ).secret
        }
        try Connection(path: path).script("DROP TABLE token_lives")
        let accounts = try ServiceFixture(path: path, makesZone: false).service.accounts
        #expect(try accounts.bearer(of: secret).label == "l")
        #expect(try accounts.tokens().allSatisfy { $0.expiresAt == nil })
    }
}
