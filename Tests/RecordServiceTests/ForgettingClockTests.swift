import Foundation
import RecordService
import RecordWire
import Testing

/// What is old is forgotten by a clock that may be wrong.
@Suite(.everyBackend) struct ForgettingClockTests {
    private let folder: AssetFolder
    private let fixture: ServiceFixture
    private let user: ServiceUser
    private let api: String

    init() throws {
        folder = try AssetFolder()
        fixture = try ServiceFixture(folder.storage)
        user = try fixture.service.accounts.createUser(label: "Anna")
        api = try fixture.service.accounts.issueAPIToken(
            container: ServiceFixture.container, label: "app"
        ).secret
    }

    private func advance(days: Int) { fixture.clock.advance(seconds: days * 86_400) }

    private func token(days: Int) throws -> IssuedToken {
        try fixture.service.accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "laptop", days: days)
    }

    private func code(_ token: IssuedToken) -> RecordError.Code? {
        fixture.code {
            _ = try fixture.service.authenticate(
                apiToken: api, userToken: token.secret, container: ServiceFixture.container)
        }
    }

    @Test func oneStartUnderAClockThatIsAheadForgetsNothing() throws {
        let token = try token(days: 365)
        let receipt = try fixture.upload()
        try fixture.save(.note("a"))
        let before = try fixture.changes(since: nil).syncToken
        _ = try fixture.modify([RecordOperation(.forceDelete, Record.note("a"))])
        #expect(fixture.service.forgetWhatIsOld().isEmpty)
        advance(days: 730)
        let told = fixture.service.forgetWhatIsOld()
        #expect(told.count == 1 && told.first?.reason.contains("clock") == true)
        advance(days: -730)
        #expect(fixture.service.forgetWhatIsOld().isEmpty)
        #expect(code(token) == nil)
        #expect(try fixture.changes(since: before).failure == nil)
        try fixture.save(fixture.note("b", receipt))
        #expect(try fixture.content(of: fixture.asset(of: "b")) == ServiceFixture.picture)
    }

    /// Each start under it counts for itself.
    @Test func startsUnderWrongClocksNowAndThenForgetNothing() throws {
        let token = try token(days: 365)
        for days in [730, 733, 740, 3_000, 3_001] {
            _ = fixture.service.forgetWhatIsOld()
            advance(days: days)
            _ = fixture.service.forgetWhatIsOld()
            advance(days: -days)
        }
        #expect(code(token) == nil)
    }

    @Test func aDatabaseThatKnowsNoTimeYetForgetsNothing() throws {
        let token = try token(days: 365)
        advance(days: 730)
        #expect(fixture.service.forgetWhatIsOld().isEmpty)
        advance(days: -730)
        _ = fixture.service.forgetWhatIsOld()
        #expect(code(token) == nil)
    }

    /// The service was off for long: after a week it goes on as ever.
    @Test func aClockThatGoesOnForAWeekIsBelieved() throws {
        let token = try token(days: 1)
        _ = fixture.service.forgetWhatIsOld()
        advance(days: 200)
        for _ in 0..<7 {
            #expect(fixture.service.forgetWhatIsOld().count == 1)
            #expect(code(token) == .authenticationRequired)
            advance(days: 1)
        }
        #expect(fixture.service.forgetWhatIsOld().isEmpty)
        #expect(code(token) == .authenticationFailed)
        advance(days: 1)
        #expect(fixture.service.forgetWhatIsOld().isEmpty)
    }

    /// A machine that is off at weekends is no news, and still forgets.
    @Test func shortRestsAreNotTold() throws {
        let token = try token(days: 1)
        for _ in 0..<15 {
            for pause in [1, 1, 1, 1, 3] {
                #expect(fixture.service.forgetWhatIsOld().isEmpty)
                advance(days: pause)
            }
        }
        #expect(code(token) == .authenticationFailed)
    }

    /// As on a board before it has asked for the time.
    @Test func aStartUnderAClockThatIsBehindDelaysNothing() throws {
        let token = try token(days: 1)
        for _ in 0..<90 {
            _ = fixture.service.forgetWhatIsOld()
            advance(days: -19_000)
            _ = fixture.service.forgetWhatIsOld()
            advance(days: 19_001)
        }
        #expect(code(token) == .authenticationRequired)
        for _ in 0..<2 {
            _ = fixture.service.forgetWhatIsOld()
            advance(days: 1)
        }
        #expect(fixture.service.forgetWhatIsOld().isEmpty)
        #expect(code(token) == .authenticationFailed)
    }

    /// The mark is in the database, not in the process.
    @Test func anotherServiceKnowsTheTime() throws {
        let token = try token(days: 365)
        _ = fixture.service.forgetWhatIsOld()
        let other = try ServiceFixture(folder.storage, seed: 2, makesZone: false)
        other.clock.advance(seconds: 730 * 86_400)
        #expect(other.service.forgetWhatIsOld().count == 1)
        #expect(code(token) == nil)
    }
}
