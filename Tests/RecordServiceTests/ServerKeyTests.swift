import Dispatch
import Foundation
import KeyTesting
import Platform
import RecordService
import RecordWire
import Testing

/// Requests that a server signs with a key of its own.
@Suite(.everyBackend) struct ServerKeyTests {
    private let fixture: ServiceFixture
    private let signing: SigningKey
    private let key: ServerKey
    private var service: RecordService { fixture.service }

    private static let path =
        "/database/1/\(ServiceFixture.container)/production/public/records/modify"
    private static let target = RecordTarget(
        container: ServiceFixture.container, environment: "production", database: "public")
    private static let body = Data(
        #"{"zoneWide":false,"query":{"recordType":"Items","filterBy":[],"sortBy":[]}}"#.utf8)
    /// As the protocol's pages have it.
    private static let bodyHash = "0sdWcosXLRqAQp9TQ4LzZOTgiETnGpqlODfsnN9Cqr0="
    private static let emptyHash = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    init() throws {
        fixture = try ServiceFixture(makesZone: false)
        signing = try SigningKey.p256()
        key = try fixture.service.accounts.addServerKey(
            pem: signing.publicPEM, label: "importer", container: ServiceFixture.container,
            environment: "production")
    }

    private func date(_ seconds: Double = 0) -> String {
        fixture.clock.now().addingTimeInterval(seconds).ISO8601Format()
    }

    private func shown(
        _ message: String, date: String, key other: SigningKey? = nil
    ) throws -> RequestSignature {
        let signature = try (other ?? signing).signature(of: Data(message.utf8))
        return RequestSignature(
            keyID: key.id, date: date, signature: signature.base64EncodedString())
    }

    /// What the service says: the caller, or the code and the reason.
    private func answer(
        _ shown: RequestSignature, body: Data = ServerKeyTests.body,
        operation: String = "records/modify", target: RecordTarget = ServerKeyTests.target
    ) -> Result<Caller, RecordError> {
        Result { () throws(RecordError) -> Caller in
            let signer = try service.signer(shown, of: operation, target: target)
            let path = Self.path
            return try service.prove(
                signer, bodyHash: body.isEmpty ? nil : SigningKey.sha256(body),
                paths: [path, "\(path)?a=b"])
        }
    }

    private func reason(_ result: Result<Caller, RecordError>) -> String {
        switch result {
        case .success: "let in"
        case .failure(let error): "\(error.code.rawValue) \(error.reason)"
        }
    }

    @Test func aSignedRequestIsAnsweredInTheNameOfTheKey() throws {
        #expect(SigningKey.sha256(Self.body).base64EncodedString() == Self.bodyHash)
        let day = date()
        let shown = try shown("\(day):\(Self.bodyHash):\(Self.path)", date: day)
        let caller = try answer(shown).get()
        #expect(caller.userRecordName == key.userRecordName)
        #expect(key.id.count == 64 && key.userRecordName.hasPrefix("_"))
        #expect(try service.accounts.users().map(\.label) == ["importer"])
        #expect(try service.accounts.serverKeys().first?.lastUsedAt != nil)
        let saved = try service.handle(
            .modifyRecords(
                ModifyRecords(operations: [RecordOperation(.create, .note("a"))], zoneID: nil)),
            target: Self.target, caller: caller)
        guard case .records(let reply) = saved else { throw WrongAnswer() }
        #expect(reply.results[0].record?.created?.userRecordName == key.userRecordName)
        // Its user may be given a role, as others.
        try service.accounts.addRole(
            "Importer", to: key.userRecordName, container: ServiceFixture.container)
    }

    @Test func allReadingsOfTheProtocolAreTaken() throws {
        let zulu = date()
        let spelled = zulu.replacing("Z", with: "+00:00")
        let precise = zulu.replacing("Z", with: ".125Z")
        for day in [zulu, spelled, precise] {
            for (body, hash) in [
                (Self.body, Self.bodyHash), (Data(), ""), (Data(), Self.emptyHash),
            ] {
                for path in [Self.path, "\(Self.path)?a=b"] {
                    let shown = try shown("\(day):\(hash):\(path)", date: day)
                    #expect(reason(answer(shown, body: body)) == "let in")
                }
            }
        }
    }

    @Test func theReasonNamesTheWrongPart() throws {
        let day = date()
        let good = "\(day):\(Self.bodyHash):\(Self.path)"
        var unknown = try shown(good, date: day)
        unknown.keyID = String(repeating: "0", count: 64)
        #expect(reason(answer(unknown)).contains("key ID is unknown"))
        for wrong in [date(-700), date(700)] {
            let shown = try shown("\(wrong):\(Self.bodyHash):\(Self.path)", date: wrong)
            #expect(reason(answer(shown)).contains("date is more than 600 seconds"))
        }
        for wrong in ["", "yesterday", "2016-13-25T22:15:43Z", "2016-01-25 22:15:43Z"] {
            let shown = try shown("\(wrong):\(Self.bodyHash):\(Self.path)", date: wrong)
            #expect(reason(answer(shown)).contains("date is none in ISO 8601"))
        }
        var garbled = try shown(good, date: day)
        for wrong in [
            "", "!", "AAAA", garbled.signature + "AAAA", String(repeating: "A", count: 400),
        ] {
            garbled.signature = wrong
            #expect(reason(answer(garbled)).contains("no base64 of an ECDSA signature"))
        }
        for shown in [
            try shown(good, date: day, key: SigningKey.p256()),
            try shown("\(day):\(Self.emptyHash):\(Self.path)", date: day),
            try shown("\(day)::\(Self.path)", date: day),
            try shown("\(day):\(Self.bodyHash):/database/1/x", date: day),
            try shown("\(date(60)):\(Self.bodyHash):\(Self.path)", date: day),
        ] {
            let reason = reason(answer(shown))
            #expect(reason.hasPrefix("AUTHENTICATION_FAILED The signature is none of this key"))
            #expect(reason.contains(Self.bodyHash) && reason.contains(Self.path))
        }
    }

    @Test func aKeyIsForOnePublicDatabaseAndNobodysPerson() throws {
        let day = date()
        let shown = try shown("\(day):\(Self.bodyHash):\(Self.path)", date: day)
        try service.accounts.createContainer("iCloud.org.example.other")
        var target = Self.target
        target.environment = "development"
        #expect(reason(answer(shown, target: target)).contains("another container or environment"))
        target = Self.target
        target.container = "iCloud.org.example.other"
        #expect(reason(answer(shown, target: target)).contains("another container or environment"))
        for database in ["private", "shared"] {
            target = Self.target
            target.database = database
            #expect(reason(answer(shown, target: target)).hasPrefix("ACCESS_DENIED"))
        }
        for operation in [
            "users/discover", "users/lookup/email", "users/lookup/id", "users/lookup/contacts",
            "records/resolve", "records/accept",
        ] {
            #expect(reason(answer(shown, operation: operation)).hasPrefix("ACCESS_DENIED"))
        }
    }

    /// Programs of CloudKit JS ask it before anything else, some of them again and again.
    @Test(arguments: ["users/caller", "users/current"])
    func aKeyIsToldItsOwnName(operation: String) throws {
        let day = date()
        let message = "\(day):\(Self.bodyHash):\(Self.path)"
        let shown = try shown(message, date: day)
        for _ in 0..<2 {
            let caller = try answer(shown, operation: operation).get()
            let request: RecordRequest =
                operation == "users/caller" ? .caller : .currentUser
            guard
                case .caller(let reply) = try service.handle(
                    request, target: Self.target, caller: caller)
            else { throw WrongAnswer() }
            #expect(reply.userRecordName == key.userRecordName)
        }
        var target = Self.target
        target.database = "private"
        #expect(
            reason(answer(shown, operation: operation, target: target)).hasPrefix("ACCESS_DENIED"))
    }

    /// It is the label of the user as whom the key works.
    @Test(arguments: ["", "a\u{202E}b", "a\nb", String(repeating: "a", count: 256)])
    func aKeysLabelIsReadable(label: String) throws {
        let users = try service.accounts.users().count
        let error = #expect(throws: RecordError.self) {
            try service.accounts.addServerKey(
                pem: signing.publicPEM, label: label, container: ServiceFixture.container,
                environment: "production")
        }
        #expect(error?.code == .badRequest)
        #expect(try service.accounts.users().count == users)
    }

    @Test func aSignatureThatChangesSomethingIsGoodOnce() throws {
        let day = date()
        let message = "\(day):\(Self.bodyHash):\(Self.path)"
        let first = try shown(message, date: day)
        #expect(reason(answer(first)) == "let in")
        #expect(reason(answer(first)).contains("was used before"))
        // Whoever read it can make another of it for the same message.
        let made = try Self.twin(of: first.signature)
        #expect(made != first.signature)
        var twin = first
        twin.signature = made
        #expect(reason(answer(twin)).contains("was used before"))
        #expect(reason(answer(try shown(message, date: day))) == "let in")
        let reading = try shown(message, date: day)
        for _ in 0..<3 { #expect(reason(answer(reading, operation: "records/query")) == "let in") }
    }

    /// Three services over one storage, as three processes would be, and one that starts later.
    @Test func aSignatureIsGoodOnceAtAllServicesTogether() throws {
        try withStorage { storage in
            let services = try (1...3).map {
                try ServiceFixture(storage, seed: UInt64($0), makesZone: false)
            }
            let key = try services[0].service.accounts.addServerKey(
                pem: signing.publicPEM, label: "importer", container: ServiceFixture.container,
                environment: "production")
            @Sendable func answers(_ shown: RequestSignature, _ fixture: ServiceFixture) -> String {
                reason(
                    Result { () throws(RecordError) -> Caller in
                        let signer = try fixture.service.signer(
                            shown, of: "records/modify", target: Self.target)
                        return try fixture.service.prove(
                            signer, bodyHash: SigningKey.sha256(Self.body), paths: [Self.path])
                    })
            }
            let day = date()
            let message = Data("\(day):\(Self.bodyHash):\(Self.path)".utf8)
            for first in 0..<3 {
                let signature = try signing.signature(of: message).base64EncodedString()
                let shown = RequestSignature(keyID: key.id, date: day, signature: signature)
                #expect(answers(shown, services[first]) == "let in")
                for fixture in services {
                    #expect(answers(shown, fixture).contains("was used before"))
                }
                let later = try ServiceFixture(storage, seed: 9, makesZone: false)
                #expect(answers(shown, later).contains("was used before"))
            }
            // All at once: one is let in.
            let signature = try signing.signature(of: message).base64EncodedString()
            let shown = RequestSignature(keyID: key.id, date: day, signature: signature)
            let count = Lock(0)
            DispatchQueue.concurrentPerform(iterations: 6) { number in
                let isIn = answers(shown, services[number % 3]) == "let in"
                if isIn { count.withLock { $0 += 1 } }
            }
            #expect(count.withLock { $0 } == 1)
            #expect(try Self.kept(storage) == 4)
            // Those that are too old to be good are forgotten.
            for fixture in services { fixture.clock.advance(seconds: 1_300) }
            let newDay = services[0].clock.now().ISO8601Format()
            let late = Data("\(newDay):\(Self.bodyHash):\(Self.path)".utf8)
            for _ in 0..<100 {
                let signature = try signing.signature(of: late).base64EncodedString()
                let shown = RequestSignature(keyID: key.id, date: newDay, signature: signature)
                #expect(answers(shown, services[0]) == "let in")
            }
            #expect(try Self.kept(storage) == 100)
        }
    }

    private static func kept(_ storage: ServiceStorage) throws -> Int {
        try storage.texts("SELECT count(*) FROM used_signatures").first.flatMap { Int($0) } ?? 0
    }

    /// The signature (r, n - s) of a signature (r, s).
    private static func twin(of text: String) throws -> String {
        let order: [UInt8] = [
            0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63,
            0x25, 0x51,
        ]
        let der = [UInt8](try #require(Data(base64Encoded: text)))
        let r = Array(der[2..<4 + Int(der[3])])
        let s = Array(der[(6 + Int(der[3]))...].drop { $0 == 0 })
        let padded = [UInt8](repeating: 0, count: 32 - s.count) + s
        var (rest, borrow) = ([UInt8](repeating: 0, count: 32), 0)
        for index in (0..<32).reversed() {
            let value = Int(order[index]) - Int(padded[index]) - borrow
            rest[index] = UInt8(truncatingIfNeeded: value)
            borrow = value < 0 ? 1 : 0
        }
        var number = Array(rest.drop { $0 == 0 })
        if number[0] > 0x7F { number.insert(0, at: 0) }
        let content = r + [0x02, UInt8(number.count)] + number
        return Data([0x30, UInt8(content.count)] + content).base64EncodedString()
    }

    @Test func aRevokedKeyIsGoodForNothing() throws {
        let day = date()
        let shown = try shown("\(day):\(Self.bodyHash):\(Self.path)", date: day)
        let signer = try service.signer(shown, of: "records/query", target: Self.target)
        try service.accounts.revoke(serverKeyID: key.id)
        #expect(throws: RecordError.self) { try service.requireGood(signer) }
        #expect(reason(answer(shown)).contains("was revoked"))
        #expect(throws: RecordError.self) { try service.accounts.revoke(serverKeyID: key.id) }
        #expect(try service.accounts.serverKeys().first?.revokedAt != nil)
    }

    @Test func otherKeysAreRefused() throws {
        for (pem, part) in [
            ("", "no public key"), ("-----BEGIN PUBLIC KEY-----", "no public key"),
            (try SigningKey.p256().privatePEM, "private key"),
            (try SigningKey.rsa().publicPEM, "no public key"),
            (try SigningKey.p384().publicPEM, "no public key"),
            (String(repeating: "x", count: 5_000), "no public key"),
        ] {
            let error = #expect(throws: RecordError.self) {
                try service.accounts.addServerKey(
                    pem: pem, label: "x", container: ServiceFixture.container,
                    environment: "production")
            }
            #expect(error?.code == .badRequest && error?.reason.contains(part) == true)
        }
        #expect(throws: RecordError.self) {
            try service.accounts.addServerKey(
                pem: signing.publicPEM, label: "x", container: ServiceFixture.container,
                environment: "staging")
        }
        #expect(try service.accounts.users().count == 1)
    }
}
