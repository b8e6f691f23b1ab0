import RecordService
import RecordWire
import Testing

/// Roles of a public database, and what they allow with records of a type.
@Suite(.everyBackend) struct RoleTests {
    private let anna: ServiceFixture
    private var accounts: ServiceAccounts { anna.service.accounts }
    private let container = ServiceFixture.container

    init() throws {
        var fixture = try ServiceFixture(makesZone: false)
        fixture.target.database = "public"
        anna = fixture
    }

    private func user(_ caller: Caller) -> ServiceFixture {
        var other = anna
        other.caller = caller
        return other
    }

    private func grant(
        _ role: String, creates: Bool = false, reads: Bool = false, writes: Bool = false
    ) throws {
        try accounts.setGrant(
            RoleGrant(
                recordType: "Note", role: role, creates: creates, reads: reads, writes: writes),
            container: container)
    }

    private func write(
        _ kind: RecordOperation.Kind, _ record: Record, _ user: ServiceFixture
    ) throws -> RecordError.Code? {
        try user.modify([RecordOperation(kind, record)], zone: nil)[0].error?.code
    }

    private func reads(_ name: String, _ user: ServiceFixture) throws -> [Bool] {
        let query = QueryRecords(RecordQuery(recordType: "Note"), zoneID: nil)
        guard case .records(let found) = try user.send(.queryRecords(query)) else {
            throw WrongAnswer()
        }
        return [
            try user.lookup([name], zone: nil)[0].record != nil,
            found.results.contains { $0.record?.recordName == name },
            try user.changes(since: nil, zone: ZoneID()).records.contains { $0.recordName == name },
        ]
    }

    @Test func withoutGrantsTheServicesRulesHold() throws {
        let bert = user(Caller(userRecordName: "_bert"))
        #expect(try write(.create, .note("a"), anna) == nil)
        #expect(try reads("a", user(.world)) == [true, true, true])
        #expect(try write(.forceUpdate, .note("a", "x"), bert) == .accessDenied)
        #expect(try write(.forceUpdate, .note("a", "x"), anna) == nil)
    }

    @Test func whatIsNotGrantedIsRefused() throws {
        let bert = user(Caller(userRecordName: "_bert"))
        #expect(try write(.create, .note("a"), anna) == nil)
        try grant("_icloud", reads: true)
        #expect(try reads("a", user(.world)) == [false, false, false])
        #expect(try reads("a", bert) == [true, true, true])
        #expect(try write(.create, .note("b"), bert) == .accessDenied)
        #expect(try write(.forceUpdate, .note("b"), bert) == .accessDenied)
        #expect(try write(.forceDelete, .note("b"), bert) == .accessDenied)
        #expect(try write(.forceUpdate, .note("a", "x"), anna) == .accessDenied)
        try grant("_creator", writes: true)
        #expect(try write(.forceUpdate, .note("a", "x"), anna) == nil)
        #expect(try write(.forceUpdate, .note("a", "y"), bert) == .accessDenied)
        try grant("_icloud", creates: true, reads: true)
        #expect(try write(.create, .note("b"), bert) == nil)
        try accounts.removeGrants(recordType: "Note", container: container)
        #expect(try reads("a", user(.world)) == [true, true, true])
    }

    @Test func whatIsHiddenIsNotToldByRefusals() throws {
        let bert = user(Caller(userRecordName: "_bert"))
        #expect(try write(.create, .note("a", "secret"), anna) == nil)
        try grant("_creator", creates: true, reads: true, writes: true)
        try grant("_icloud", creates: true, writes: true)
        #expect(try reads("a", bert) == [false, false, false])
        #expect(try reads("a", anna) == [true, true, true])
        for kind in RecordOperation.Kind.allCases {
            let result = try bert.modify(
                [RecordOperation(kind, .note("a", "x", tag: "0"))], zone: nil)[0]
            #expect(result.error?.code == .accessDenied, "\(kind)")
            #expect(result.error?.serverRecord == nil)
        }
    }

    @Test func aRoleOfItsOwnIsForItsMembers() throws {
        let editor = try accounts.createUser(label: "editor").userRecordName
        let bert = user(Caller(userRecordName: "_bert"))
        let member = user(Caller(userRecordName: editor))
        #expect(try write(.create, .note("a"), anna) == nil)
        try grant("_world", reads: true)
        try grant("editors", creates: true, reads: true, writes: true)
        #expect(try write(.forceUpdate, .note("a", "x"), member) == .accessDenied)
        try accounts.addRole("editors", to: editor, container: container)
        #expect(try write(.forceUpdate, .note("a", "x"), member) == nil)
        #expect(try write(.create, .note("b"), member) == nil)
        #expect(try write(.forceUpdate, .note("a", "x"), bert) == .accessDenied)
        #expect(try reads("a", user(.world)) == [true, true, true])
        // In another container the role is another.
        try accounts.createContainer("iCloud.other")
        var other = member
        other.target.container = "iCloud.other"
        try accounts.setGrant(
            RoleGrant(recordType: "Note", role: "editors", creates: true),
            container: "iCloud.other")
        #expect(try write(.create, .note("c"), other) == .accessDenied)
        #expect(
            try accounts.roleMembers(container: container)
                == [RoleMember(role: "editors", userRecordName: editor)])
        try accounts.removeRole("editors", from: editor, container: container)
        #expect(try write(.forceUpdate, .note("a", "y"), member) == .accessDenied)
    }

    @Test func whatCannotBeGrantedIsRefused() throws {
        func code(_ body: () throws -> Void) -> RecordError.Code? {
            do {
                try body()
                return nil
            } catch { return (error as? RecordError)?.code }
        }
        #expect(code { try grant("_world", creates: true) } == .badRequest)
        #expect(code { try grant("_world", writes: true) } == .badRequest)
        #expect(code { try grant("_admins", reads: true) } == .badRequest)
        #expect(code { try grant("9", reads: true) } == .badRequest)
        #expect(code { try grant("", reads: true) } == .badRequest)
        #expect(
            code { try accounts.addRole("_icloud", to: "_x", container: container) } == .badRequest)
        #expect(
            code { try accounts.addRole("editors", to: "_x", container: container) } == .notFound)
        #expect(
            code { try accounts.removeRole("editors", from: "_x", container: container) }
                == .notFound)
        #expect(
            code { try accounts.removeGrants(recordType: "Note", container: container) }
                == .notFound)
        #expect(code { _ = try accounts.grants(container: "none") } == .notFound)
        #expect(
            code {
                try accounts.setGrant(
                    RoleGrant(recordType: "", role: "_world"), container: container)
            } == .badRequest)
    }

    // MARK: References to what is hidden

    private func child(
        _ name: String, of target: String, _ action: RecordReference.Action
    ) -> Record {
        var record = Record.note(name)
        record.fields["target"] = .reference(RecordReference(recordName: target, action: action))
        return record
    }

    private func grantOwn() throws {
        try grant("_icloud", creates: true)
        try grant("_creator", reads: true, writes: true)
    }

    @Test func aHiddenRecordIsNotThereForReferences() throws {
        try grantOwn()
        let bert = user(Caller(userRecordName: "_bert"))
        #expect(try write(.create, .note("a"), anna) == nil)
        let answers = try ["a", "none"].map { target in
            try bert.modify(
                [RecordOperation(.create, child("of \(target)", of: target, .validate))],
                zone: nil)[0].error
        }
        #expect(answers.map(\.?.code) == [.validatingReferenceError, .validatingReferenceError])
        #expect(answers[0]?.reason.contains("save it first") == true)
        #expect(try write(.create, child("b", of: "a", .deleteSelf), bert) == nil)
        #expect(try write(.forceDelete, .note("a"), anna) == nil)
        #expect(try bert.lookup(["b"], zone: nil)[0].record != nil)
    }

    /// What was pinned while it was seen.
    @Test func aRecordGoesAlthoughOneThatIsHiddenValidatesIt() throws {
        let bert = user(Caller(userRecordName: "_bert"))
        #expect(try write(.create, .note("a"), anna) == nil)
        #expect(try write(.create, child("b", of: "a", .validate), bert) == nil)
        #expect(try write(.forceDelete, .note("a"), anna) == .validatingReferenceError)
        try grantOwn()
        #expect(try write(.forceDelete, .note("a"), anna) == nil)
        // Its writer may still change it, and may not lead it to nothing anew.
        #expect(try write(.forceUpdate, .note("b", "x"), bert) == nil)
        #expect(
            try write(.forceUpdate, child("b", of: "c", .validate), bert)
                == .validatingReferenceError)
    }

    /// Of a type that nothing is granted for, while something is for another.
    @Test func theReasonNamesWhatIsInTheWayWhereItIsSeen() throws {
        try accounts.setGrant(
            RoleGrant(recordType: "Secret", role: "_creator", reads: true), container: container)
        let bert = user(Caller(userRecordName: "_bert"))
        #expect(try write(.create, .note("a"), anna) == nil)
        #expect(try write(.create, child("b", of: "a", .validate), bert) == nil)
        let kept = try anna.modify([RecordOperation(.forceDelete, .note("a"))], zone: nil)[0].error
        #expect(kept?.code == .validatingReferenceError && kept?.reason.contains("b leads") == true)
        let missing = try bert.modify(
            [RecordOperation(.create, child("c", of: "none", .validate))], zone: nil)[0].error
        #expect(missing?.reason.contains("save it first") == true)
    }

    // MARK: Names of users

    /// By a user's name others look up who that is.
    @Test func nobodyTakesTheNameOfAnotherUser() throws {
        let (one, other) = (
            try accounts.createUser(label: "one").userRecordName,
            try accounts.createUser(label: "other").userRecordName
        )
        let first = user(Caller(userRecordName: one))
        #expect(try write(.create, .note(other), first) == .accessDenied)
        #expect(try write(.forceDelete, .note(other), first) == .accessDenied)
        #expect(try write(.forceUpdate, .note(one), first) == nil)
        #expect(try write(.forceUpdate, .note("_other"), first) == nil)
    }
}
