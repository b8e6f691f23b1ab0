import Foundation
import Platform
import Testing

@testable import RecordService

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

    /// A token that nobody shows any more costs no memory, and what was not written of it is.
    @Test func whatIsWrittenIsForgotten() throws {
        try withStorage { storage in
            let fixture = try ServiceFixture(storage)
            let accounts = fixture.service.accounts
            let user = try accounts.createUser(label: "Anna")
            let tokens = try ["laptop", "phone"].map {
                try accounts.issueUserToken(userRecordName: user.userRecordName, label: $0)
            }
            for token in tokens { _ = try accounts.bearer(of: token.secret) }
            try accounts.keepTokenUses()
            fixture.clock.advance(seconds: 60)
            _ = try accounts.bearer(of: tokens[0].secret)
            let last = try lastUse(tokens[0].description.id, accounts)
            #expect(accounts.uses.count == 2)
            for _ in 0..<2 {
                fixture.clock.advance(seconds: 16 * 60)
                try accounts.keepTokenUses()
            }
            #expect(accounts.uses.count == 0)
            let other = try storage.administration().accounts
            #expect(try lastUse(tokens[0].description.id, other) == last)
        }
    }

    /// More at once than are written with one commit wait for the next, and what could not be
    /// written is written later.
    @Test func manyUsesAreWrittenBitByBit() {
        let uses = TokenUses()
        let count = TokenUses.writtenMax + 10
        for index in 0..<count { uses.note("\(index)", at: 5) }
        let first = uses.takeDue(at: 6, isLast: false)
        #expect(first.count == TokenUses.writtenMax)
        uses.giveBack(first)
        var written: Set<String> = []
        for _ in 0..<2 {
            let due = uses.takeDue(at: 7, isLast: false)
            written.formUnion(due.keys)
            uses.kept(due)
        }
        #expect(written.count == count)
        #expect(uses.takeDue(at: 8, isLast: true).isEmpty)
    }
}
