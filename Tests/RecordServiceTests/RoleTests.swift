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
}
