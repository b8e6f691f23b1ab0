import Foundation
import Platform
import RecordService
import Testing

/// When tokens were shown last.
@Suite(.everyBackend) struct TokenUseTests {
    private func lastUse(_ id: String, _ accounts: ServiceAccounts) throws -> Int64? {
        try accounts.tokens().first { $0.id == id }?.lastUsedAt
    }

    @Test func usesAreKeptOnceInAWhileAndAtTheEnd() throws {
        try withStorage { storage in
            let fixture = try ServiceFixture(storage)
            let accounts = fixture.service.accounts
            let user = try accounts.createUser(label: "Anna")
            let token = try accounts.issueUserToken(
                userRecordName: user.userRecordName, label: "laptop")
            let id = token.description.id
            let other = try storage.administration().accounts
            #expect(try lastUse(id, accounts) == nil)
            _ = try accounts.bearer(of: token.secret)
            #expect(try lastUse(id, other) == nil)
            try accounts.keepTokenUses()
            let first = try lastUse(id, other) ?? 0
            #expect(first > 0)

            fixture.clock.advance(seconds: 60)
            _ = try accounts.bearer(of: token.secret)
            try accounts.keepTokenUses()
            #expect(try lastUse(id, other) == first)
            #expect(try lastUse(id, accounts) ?? 0 > first)

            fixture.clock.advance(seconds: 15 * 60)
            _ = try accounts.bearer(of: token.secret)
            try accounts.keepTokenUses()
            let second = try lastUse(id, other) ?? 0
            #expect(second > first)

            fixture.clock.advance(seconds: 1)
            _ = try accounts.bearer(of: token.secret)
            try accounts.keepTokenUses(isLast: true)
            #expect(try lastUse(id, other) ?? 0 > second)
        }
    }
}
