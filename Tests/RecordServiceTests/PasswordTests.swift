import Foundation
import RecordService
import RecordWire
import Testing

/// Users who sign in by name and password.
@Suite(.everyBackend) struct PasswordTests {
    private let accounts: ServiceAccounts
    private let anna: ServiceUser

    init() throws {
        accounts = try ServiceFixture(makesZone: false).service.accounts
        anna = try accounts.createUser(label: "Anna")
        try accounts.setPassword("correct horse", name: "anna", of: anna.userRecordName)
    }

    private func code(_ body: () throws -> Void) -> RecordError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? RecordError)?.code
        }
    }

    @Test func theRightPasswordNamesTheUser() throws {
        let bearer = try accounts.bearer(name: "anna", password: "correct horse")
        #expect(bearer.userRecordName == anna.userRecordName && !bearer.isAdministrator)
        #expect(bearer.tokenID == nil && bearer.label == "anna")
        #expect(try accounts.passwordNames() == [anna.userRecordName: "anna"])
    }

    @Test func allElseIsRefusedInTheSameWords() throws {
        var reasons: Set<String> = []
        for (name, password) in [
            ("anna", "correct horsf"), ("anna", ""), ("anna", "correct horse "),
            ("Anna", "correct horse"), ("ben", "correct horse"), ("", ""),
            ("anna", String(repeating: "x", count: 100_000)),
        ] {
            let error = #expect(throws: RecordError.self) {
                try accounts.bearer(name: name, password: password)
            }
            #expect(error?.code == .authenticationFailed)
            reasons.insert(error?.reason ?? "")
        }
        #expect(reasons.count == 1)
    }

    @Test func composedLettersAreTheSamePassword() throws {
        try accounts.setPassword("caf\u{E9} au lait", name: "anna", of: anna.userRecordName)
        _ = try accounts.bearer(name: "anna", password: "cafe\u{301} au lait")
    }

    @Test func aChangeEndsWhatBeganWithTheFormer() throws {
        let user = anna.userRecordName
        let bearer = try accounts.bearer(name: "anna", password: "correct horse")
        try accounts.requireGood(bearer)
        #expect(
            code { try accounts.changePassword(of: user, from: "wrong one", to: "battery staple") }
                == .accessDenied)
        #expect(
            code { try accounts.changePassword(of: user, from: "correct horse", to: "short") }
                == .badRequest)
        try accounts.changePassword(of: user, from: "correct horse", to: "battery staple")
        #expect(code { try accounts.requireGood(bearer) } == .authenticationFailed)
        #expect(
            code { _ = try accounts.bearer(name: "anna", password: "correct horse") }
                == .authenticationFailed)
        let next = try accounts.bearer(name: "anna", password: "battery staple")
        try accounts.removePassword(of: user)
        #expect(code { try accounts.requireGood(next) } == .authenticationFailed)
        #expect(code { try accounts.removePassword(of: user) } == .notFound)
        #expect(
            code { try accounts.changePassword(of: user, from: "x", to: "battery staple") }
                == .notFound)
    }

    @Test func namesAreOneUsersEach() throws {
        let ben = try accounts.createUser(label: "Ben").userRecordName
        #expect(
            code { try accounts.setPassword("correct horse", name: "anna", of: ben) } == .exists)
        try accounts.setPassword("correct horse", name: "ben", of: ben)
        // The same password leaves no sign of being the same.
        try accounts.setPassword("correct horse", name: "anne", of: anna.userRecordName)
        #expect(code { _ = try accounts.bearer(name: "anna", password: "correct horse") } != nil)
        _ = try accounts.bearer(name: "anne", password: "correct horse")
        #expect(
            code { try accounts.setPassword("correct horse", name: "x", of: "_nobody") }
                == .notFound)
        #expect(
            code { try accounts.setPassword("correct horse", name: "", of: ben) } == .badRequest)
    }
}
