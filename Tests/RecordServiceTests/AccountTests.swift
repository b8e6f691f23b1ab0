import Foundation
import Platform
import RecordService
import RecordWire
import Testing

/// Bytes that count up, so tokens are known.
private struct CountingSecrets: SecretSource {
    func bytes(_ count: Int) throws -> [UInt8] { (0..<count).map { UInt8($0) } }
}

@Suite(.everyBackend) struct AccountTests {
    private let container = ServiceFixture.container

    @Test func goodTokensNameTheCaller() throws {
        let service = try ServiceFixture().service
        let user = try service.accounts.createUser(label: "Anna")
        let api = try service.accounts.issueAPIToken(container: container, label: "app")
        let token = try service.accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "laptop")
        let caller = try service.authenticate(
            apiToken: api.secret, userToken: token.secret, container: container)
        #expect(caller.userRecordName == user.userRecordName)
        #expect(try service.accounts.users() == [user])
        let listed = try service.accounts.tokens()
        #expect(Set(listed.map(\.id)) == [api.description.id, token.description.id])
        #expect(listed.allSatisfy { $0.lastUsedAt != nil })
        #expect(user.userRecordName.first == "_")
    }

    private func code(
        _ service: RecordService, _ api: String?, _ user: String?, _ container: String
    ) -> RecordError.Code? {
        do {
            _ = try service.authenticate(apiToken: api, userToken: user, container: container)
            return nil
        } catch {
            return error.reason.isEmpty ? nil : error.code
        }
    }

    @Test func wrongAndMissingTokensAreToldApart() throws {
        let service = try ServiceFixture().service
        try service.accounts.createContainer("iCloud.other")
        let user = try service.accounts.createUser(label: "Anna")
        let api = try service.accounts.issueAPIToken(container: container, label: "app").secret
        let foreign = try service.accounts.issueAPIToken(container: "iCloud.other", label: "x")
        let token = try service.accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "l")
        let good = token.secret
        #expect(code(service, nil, good, container) == .authenticationRequired)
        #expect(code(service, "", good, container) == .authenticationRequired)
        #expect(code(service, api, nil, container) == .authenticationRequired)
        #expect(code(service, foreign.secret, good, container) == .authenticationFailed)
        #expect(code(service, good, good, container) == .authenticationFailed)
        #expect(code(service, api, api, container) == .authenticationFailed)
        for wrong in [
            String(good.dropLast()), good + "A", "dpt_", "dpt_x_y", "x", good.uppercased(),
            "dpt_\(token.description.id)_", String(repeating: "a", count: 100_000),
        ] {
            #expect(code(service, api, wrong, container) == .authenticationFailed)
            #expect(code(service, wrong, good, container) == .authenticationFailed)
        }
        #expect(code(service, api, good, "iCloud.unknown") == .notFound)
        #expect(code(service, api, good, container) == nil)
        try service.accounts.revoke(tokenID: token.description.id)
        #expect(code(service, api, good, container) == .authenticationFailed)
        let again = #expect(throws: RecordError.self) {
            try service.accounts.revoke(tokenID: token.description.id)
        }
        #expect(again?.code == .notFound)
        #expect(try service.accounts.tokens().contains { $0.revokedAt != nil })
    }

    @Test func tokensThatOutlivedTheirFileAreTakenInAgain() throws {
        let lost = try ServiceFixture().service
        let owner = try lost.accounts.createUser(label: "owner")
        let api = try lost.accounts.issueAPIToken(container: container, label: "serve").secret
        let user = try lost.accounts.issueUserToken(
            userRecordName: owner.userRecordName, label: "serve"
        ).secret
        let service = try ServiceFixture(seed: 2).service
        #expect(code(service, api, user, container) == .authenticationFailed)
        let heir = try service.accounts.createUser(label: "owner").userRecordName
        func takeIn(_ api: String, _ user: String) throws {
            try service.accounts.takeIn(
                apiToken: api, userToken: user, container: container, userRecordName: heir,
                label: "serve")
        }
        for wrong in ["", "dpt_1_2", "x", String(repeating: "_", count: 100)] {
            #expect(throws: RecordError.self) { try takeIn(api, wrong) }
        }
        #expect(code(service, api, user, container) == .authenticationFailed)
        try takeIn(api, user)
        let caller = try service.authenticate(apiToken: api, userToken: user, container: container)
        #expect(caller.userRecordName == heir)
        #expect(try service.accounts.user(ofTokensLabelled: "serve") == heir)
        // What was revoked stays so.
        let id = try #require(try service.accounts.tokens().first { $0.kind == .user }?.id)
        try service.accounts.revoke(tokenID: id)
        #expect(throws: RecordError.self) { try takeIn(api, user) }
        #expect(code(service, api, user, container) == .authenticationFailed)
    }

    @Test func secretsAreDrawnFromTheSourceAndNeverRepeat() throws {
        let platform = Environment(
            clock: SteppingClock(), randomness: SeededRandomness(seed: 1), faults: OneFault())
        let service = try RecordService(platform: platform, secrets: CountingSecrets())
        try service.accounts.createContainer(container)
        let issued = try service.accounts.issueAPIToken(container: container, label: "a")
        #expect(
            issued.secret
                == "dpt_0001020304050607_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8")
        let real = try ServiceFixture().service
        let secrets = try (0..<20).map { _ in
            try real.accounts.issueAPIToken(container: container, label: "a").secret
        }
        #expect(Set(secrets).count == 20)
    }

    @Test func theFileHoldsNoSecret() throws {
        try withStorage { storage in
            let service = try ServiceFixture(storage).service
            let user = try service.accounts.createUser(label: "Anna")
            let issued = [
                try service.accounts.issueAPIToken(container: container, label: "app-label"),
                try service.accounts.issueUserToken(
                    userRecordName: user.userRecordName, label: "l"),
            ]
            let bytes = try storage.contents()
            #expect(bytes.range(of: Data("app-label".utf8)) != nil)
            for token in issued {
                let secret = try #require(token.secret.split(separator: "_", maxSplits: 2).last)
                #expect(bytes.range(of: Data(secret.utf8)) == nil)
                #expect(bytes.range(of: Data(secret.utf8.prefix(12))) == nil)
                #expect(bytes.range(of: Data(token.description.id.utf8)) != nil)
            }
        }
    }

    @Test func unknownThingsAreNotFound() throws {
        let fixture = try ServiceFixture()
        let service = fixture.service
        var targets = [fixture.target, fixture.target, fixture.target]
        targets[0].container = "iCloud.unknown"
        targets[1].environment = "staging"
        targets[2].database = "common"
        for target in targets {
            let error = #expect(throws: RecordError.self) {
                try service.handle(.listZones, target: target, caller: fixture.caller)
            }
            #expect(error?.code == .notFound)
        }
        #expect(throws: RecordError.self) {
            try service.accounts.issueAPIToken(container: "iCloud.unknown", label: "x")
        }
        #expect(throws: RecordError.self) {
            try service.accounts.issueUserToken(userRecordName: "_nobody", label: "x")
        }
        var anywhere = fixture.target
        anywhere.database = "public"
        let answer = try service.handle(.caller, target: anywhere, caller: fixture.caller)
        guard case .caller(let reply) = answer else { throw WrongAnswer() }
        #expect(reply.userRecordName == "_anna")
    }

    @Test func containersHavePlainNames() throws {
        let service = try ServiceFixture().service
        try service.accounts.createContainer(container)
        try service.accounts.createContainer("a-b_c.1")
        #expect(try service.accounts.containers() == ["a-b_c.1", container].sorted())
        for name in ["", "a/b", "a b", "é", String(repeating: "a", count: 256)] {
            let error = #expect(throws: RecordError.self) {
                try service.accounts.createContainer(name)
            }
            #expect(error?.code == .badRequest)
        }
    }

    /// In a path they are ways to other folders, which clients go before they ask.
    @Test(arguments: [".", "..", "..."])
    func noContainerIsCalledByDotsAlone(name: String) throws {
        let service = try ServiceFixture().service
        let error = #expect(throws: RecordError.self) {
            try service.accounts.createContainer(name)
        }
        #expect(error?.code == .badRequest)
        try service.accounts.createContainer(name + "a")
    }

    /// Joiners are part of how scripts and emoji are spelled; alone they show nothing.
    @Test func labelsMayBeOfAnyScript() throws {
        let accounts = try ServiceFixture().service.accounts
        for label in ["می\u{200C}خواهم", "👩\u{200D}💻", "Ann \u{2764}\u{FE0F}", "क\u{94D}\u{200D}ष"]
        {
            let user = try accounts.createUser(label: label, profile: UserProfile())
            #expect(user.label == label)
        }
        for label in ["\u{200D}", "\u{200C}\u{FE0F}", "a\u{202E}b", "a\u{200B}b", "a\u{2028}b", ""]
        {
            let error = #expect(throws: RecordError.self) {
                _ = try accounts.createUser(label: label, profile: UserProfile())
            }
            #expect(error?.code == .badRequest)
        }
    }

    @Test func environmentsAndContainersAreApart() throws {
        var fixture = try ServiceFixture()
        try fixture.save(.note("a"))
        fixture.target.environment = "production"
        #expect(throws: RecordError.self) { try fixture.lookup(["a"]) }
        let other = Record(recordName: "a", recordType: "Note", fields: ["title": .int64(1)])
        try fixture.createZone(ServiceFixture.zone)
        #expect(try fixture.save(other).fields == other.fields)
    }
}
