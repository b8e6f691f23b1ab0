import Foundation
import RecordWire
import Testing

@testable import RecordService

/// Tokens and quotas that are not read again while nothing was committed where they are kept.
@Suite struct RowMemoryTests {
    private func issued(_ accounts: ServiceAccounts) throws -> IssuedToken {
        let user = try accounts.createUser(label: "Anna")
        return try accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "laptop")
    }

    @Test func whatAnotherProcessRevokesIsRefusedAtOnce() throws {
        try withDatabasePath { path in
            let accounts = try ServiceFixture(path: path).service.accounts
            let other = try ServiceFixture(path: path, seed: 2).service.accounts
            let token = try issued(accounts)
            for _ in 0..<3 { _ = try accounts.bearer(of: token.secret) }
            #expect(accounts.memory.count == 1)
            try other.revoke(tokenID: token.description.id)
            #expect(throws: RecordError.self) { try accounts.bearer(of: token.secret) }
            #expect(throws: RecordError.self) {
                try accounts.requireGood(tokenID: token.description.id)
            }
        }
    }

    @Test func whatThisProcessRevokesIsRefusedAtOnce() throws {
        try withDatabasePath { path in
            let accounts = try ServiceFixture(path: path).service.accounts
            let token = try issued(accounts)
            for _ in 0..<3 { try accounts.requireGood(tokenID: token.description.id) }
            try accounts.revoke(tokenID: token.description.id)
            #expect(throws: RecordError.self) { try accounts.bearer(of: token.secret) }
        }
    }

    @Test func namesThatStrangersMakeUpAreNotKept() throws {
        try withDatabasePath { path in
            let accounts = try ServiceFixture(path: path).service.accounts
            for number in 0..<20 {
                #expect(throws: RecordError.self) {
                    try accounts.bearer(of: "dpt_\(number)_secret")
                }
                #expect(throws: RecordError.self) {
                    try accounts.requireGood(tokenID: "\(number)")
                }
            }
            #expect(accounts.memory.count == 0)
        }
    }

    @Test func aVersionTellsCommitsOfWhateverProcess() throws {
        try withDatabasePath { path in
            let service = try ServiceFixture(path: path).service
            let other = try ServiceFixture(path: path, seed: 2).service
            let first = try #require(service.backend.accountsVersion())
            #expect(service.backend.accountsVersion() == first)
            _ = try service.accounts.users()
            #expect(service.backend.accountsVersion() == first)
            _ = try service.accounts.createUser(label: "Anna")
            let second = try #require(service.backend.accountsVersion())
            #expect(second != first)
            _ = try other.accounts.createUser(label: "Bo")
            #expect(service.backend.accountsVersion() != second)
        }
    }

    @Test func rowsOfAnotherVersionAreReadAnew() {
        let memory = RowMemory<Int>()
        let version = RowsVersion(counter: 1, number: 1)
        #expect(memory.row("a", at: version) { 1 } == 1)
        #expect(memory.row("a", at: version) { 2 } == 1)
        #expect(memory.row("a", at: nil) { 3 } == 3)
        #expect(memory.row("a", at: RowsVersion(counter: 1, number: 2)) { 4 } == 4)
        #expect(memory.row("a", at: RowsVersion(counter: 2, number: 2)) { 5 } == 5)
        #expect(memory.row("b", at: RowsVersion(counter: 3, number: 2)) { 6 } == 6)
        #expect(memory.count == 1)
    }

    @Test func whatIsNotThereIsNotKept() {
        let memory = RowMemory<Int>()
        let version = RowsVersion(counter: 1, number: 1)
        #expect(memory.row("a", at: version) { nil } == nil)
        #expect(memory.count == 0)
        #expect(memory.row("a", at: version) { 1 } == 1)
    }

    @Test func memoryIsBounded() {
        let memory = RowMemory<Int>(rowsMax: 10)
        let version = RowsVersion(counter: 1, number: 1)
        for number in 0..<21 { _ = memory.row("\(number)", at: version) { number } }
        #expect(memory.count == 1)
    }

    /// A quota that is set while its user writes counts with the next request.
    @Test func aQuotaThatIsSetCountsAtOnce() throws {
        try withDatabasePath { path in
            var fixture = try ServiceFixture(path: path)
            let other = try ServiceFixture(path: path, seed: 2).service.accounts
            let user = try other.createUser(label: "Anna").userRecordName
            fixture.caller = Caller(userRecordName: user)
            try fixture.createZone(ServiceFixture.zone)
            try fixture.save(.note("a"))
            try fixture.save(.note("b"))
            try other.setQuota(UserQuota(recordsMax: 2), of: user)
            let refused = try fixture.modify([RecordOperation(.forceUpdate, .note("c"))])[0]
            #expect(refused.error?.code == .quotaExceeded)
            try other.setQuota(nil, of: user)
            try fixture.save(.note("c"))
        }
    }
}
