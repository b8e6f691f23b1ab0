import RecordService
import RecordWire
import Testing

/// Who calls, and who may be found.
@Suite(.everyBackend) struct UserTests {
    private let fixture: ServiceFixture
    private let ann: String
    private let bob: String

    init() throws {
        var fixture = try ServiceFixture()
        let accounts = fixture.service.accounts
        ann = try accounts.createUser(label: "ann").userRecordName
        bob = try accounts.createUser(label: "bob").userRecordName
        try accounts.setProfile(
            UserProfile(
                emailAddress: "Ann@Example.org", givenName: "Ann", familyName: "Lee",
                isDiscoverable: true), of: ann)
        try accounts.setProfile(UserProfile(emailAddress: "bob@example.org"), of: bob)
        fixture.target.database = "public"
        self.fixture = fixture
    }

    private func users(_ form: UserLookup.Form, _ infos: [UserLookupInfo]) throws -> [UserIdentity]
    {
        guard
            case .users(let reply) = try fixture.send(.lookupUsers(UserLookup(form, infos)))
        else { throw WrongAnswer() }
        #expect(reply.form == form)
        return reply.users
    }

    @Test func whoCallsIsToldAllOfHimself() throws {
        var own = fixture
        own.caller = Caller(userRecordName: ann)
        guard case .caller(let reply) = try own.send(.caller) else { throw WrongAnswer() }
        #expect(reply.userRecordName == ann)
        #expect(reply.nameComponents == NameParts(givenName: "Ann", familyName: "Lee"))
        #expect(reply.lookupInfo == UserLookupInfo(emailAddress: "ann@example.org"))
        guard case .caller(var unknown) = try fixture.send(.caller) else { throw WrongAnswer() }
        #expect(unknown.serviceID != nil && unknown.serviceID == reply.serviceID)
        unknown.serviceID = nil
        #expect(unknown == CallerReply(userRecordName: "_anna"))
        guard case .caller(let former) = try own.send(.currentUser) else { throw WrongAnswer() }
        #expect(former.isFormer && former.nameComponents == reply.nameComponents)
        #expect(former.serviceID == nil)
    }

    @Test(arguments: [UserLookup.Form.discover, .email, .id])
    func onlyWhoAgreedIsFound(form: UserLookup.Form) throws {
        let infos: [UserLookupInfo] =
            form == .id
            ? [ann, bob, "_nobody"].map { UserLookupInfo(userRecordName: $0) }
            : ["ANN@example.org", "bob@example.org", "nobody@example.org"].map {
                UserLookupInfo(emailAddress: $0)
            }
        let found = try users(form, infos)
        #expect(found.map(\.userRecordName) == [ann])
        #expect(found[0].nameComponents?.givenName == "Ann")
        // What was not asked by is not told.
        #expect(found[0].lookupInfo == infos[0])
        #expect(try users(form, infos.suffix(2)) == [])
    }

    @Test func everybodyFindsHimself() throws {
        var own = fixture
        own.caller = Caller(userRecordName: bob)
        let lookup = UserLookup(.discover, [UserLookupInfo(emailAddress: "bob@example.org")])
        guard case .users(let reply) = try own.send(.lookupUsers(lookup)) else {
            throw WrongAnswer()
        }
        #expect(reply.users.map(\.userRecordName) == [bob])
    }

    @Test func nobodyIsInAnAddressBook() throws {
        #expect(try users(.addressBook, []) == [])
        #expect(try users(.contacts, []) == [])
        #expect(try users(.discover, [UserLookupInfo(phoneNumber: "1")]) == [])
    }

    @Test func theWorldFindsNobody() throws {
        var world = fixture
        world.caller = .world
        let error = #expect(throws: RecordError.self) {
            try world.send(.lookupUsers(UserLookup(.discover)))
        }
        #expect(error?.code == .authenticationRequired)
        var limits = ServiceLimits()
        limits.operationsPerRequestMax = 1
        let small = try ServiceFixture(limits: limits)
        let two = UserLookup(.discover, [UserLookupInfo(), UserLookupInfo()])
        let many = #expect(throws: RecordError.self) { try small.send(.lookupUsers(two)) }
        #expect(many?.code == .limitExceeded)
    }

    @Test func anAddressIsOneUsers() throws {
        let accounts = fixture.service.accounts
        func refusal(_ profile: UserProfile, of user: String) -> RecordError.Code? {
            do {
                try accounts.setProfile(profile, of: user)
                return nil
            } catch { return error.code }
        }
        #expect(refusal(UserProfile(emailAddress: "ann@example.ORG"), of: bob) == .exists)
        #expect(refusal(UserProfile(emailAddress: "ann@example.ORG"), of: ann) == nil)
        #expect(refusal(UserProfile(emailAddress: "ann"), of: ann) == .badRequest)
        #expect(refusal(UserProfile(), of: "_nobody") == .notFound)
        let long = String(repeating: "x", count: 256)
        #expect(refusal(UserProfile(givenName: long), of: ann) == .limitExceeded)
        #expect(try accounts.profile(of: ann) == UserProfile(emailAddress: "ann@example.org"))
    }
}
