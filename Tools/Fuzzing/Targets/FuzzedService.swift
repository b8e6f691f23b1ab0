internal import Foundation
internal import Platform
internal import RecordServer
internal import RecordService
internal import RecordWire

/// A service in memory with a container, a user, a zone, records and a schema, the same after each
/// start: moment, numbers and secrets are fixed.
final class FuzzedService: Sendable {
    static let container = "iCloud.fuzz"
    static let moment = Date(timeIntervalSince1970: 1_700_000_000)
    /// A start costs as much as a hundred small requests, and what requests leave behind is to be
    /// met by others; yet a finding should not need all that came before it.
    private static let feedsMax = 200

    let service: RecordService
    let router: Router
    let caller: Caller
    /// Words that inputs may name where they cannot know the value: `$API`, `$USER` and so on.
    let words: [String: String]

    private static let current = Lock<(service: FuzzedService, feeds: Int)?>(nil)

    /// The one that stands, or another where it has seen enough.
    static func borrow() throws -> FuzzedService {
        if let known = current.withLock({ current -> FuzzedService? in
            guard let found = current, found.feeds < feedsMax else { return nil }
            current = (found.service, found.feeds + 1)
            return found.service
        }) {
            return known
        }
        let made = try FuzzedService()
        current.withLock { $0 = (made, 1) }
        return made
    }

    private init() throws {
        let platform = Environment(
            clock: FixedClock(), randomness: CountedRandomness(), faults: NoFaults())
        service = try RecordService(platform: platform, secrets: CountedSecrets())
        try service.accounts.createContainer(Self.container)
        let user = try service.accounts.createUser(label: "fuzz")
        let token = try service.accounts.issueUserToken(
            userRecordName: user.userRecordName, label: "fuzz")
        let api = try service.accounts.issueAPIToken(container: Self.container, label: "fuzz")
        let key = try service.accounts.addServerKey(
            pem: Self.key, label: "fuzz", container: Self.container, environment: "development")
        caller = Caller(userRecordName: user.userRecordName, tokenID: token.description.id)
        router = Router(service: service, platform: platform)
        var words = ["API": api.secret, "USER": token.secret, "KEY": key.id]
        for (index, body) in Self.beginning.enumerated() {
            let request = try WireCodec.decodeRequest(
                path: body.path, method: "POST", body: Data(body.text.utf8))
            let answer = try service.handle(request, target: Self.target, caller: caller)
            switch answer {
            case .assetUploads(let addresses): words["UPLOAD"] = Self.key(in: addresses[0].url)
            case .zoneChanges(let zones): words["SYNC"] = zones[0].syncToken ?? ""
            case .databaseChanges(let changes): words["META"] = changes.syncToken
            case .courierToken(let token): words["COURIER"] = token.apnsToken ?? ""
            case .records(let reply):
                words["TAG\(index)"] =
                    reply.results.lazy.compactMap { result in
                        if case .record(let record) = result { record.recordChangeTag } else { nil }
                    }.first
            default: break
            }
        }
        self.words = words
    }

    static let target = RecordTarget(container: container, environment: "development")

    private static func key(in address: String) -> String {
        address.split(separator: "=", maxSplits: 1).last.map(String.init) ?? ""
    }

    /// `text` with the values of the words it names.
    func filled(_ text: String) -> String {
        guard text.contains("$") else { return text }
        return words.reduce(text) { $0.replacing("$\($1.key)", with: $1.value) }
    }

    /// What is there before the first input.
    private static let beginning: [(path: String, text: String)] = [
        (
            "zones/modify",
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"z"}}}]}"#
        ),
        (
            "records/modify",
            #"""
            {"zoneID":{"zoneName":"z"},"operations":[{"operationType":"create","record":{
            "recordName":"r","recordType":"T","fields":{"s":{"value":"text"},"n":{"value":7},
            "d":{"value":0.5},"t":{"value":1700000000000,"type":"TIMESTAMP"},
            "b":{"value":"AAEC","type":"BYTES"},"l":{"value":["a","b"]},
            "p":{"value":{"latitude":1,"longitude":2}}}}}]}
            """#
        ),
        (
            "records/query",
            #"""
            {"zoneID":{"zoneName":"z"},"query":{"recordType":"T","filterBy":[{"fieldName":"n",
            "comparator":"GREATER_THAN","fieldValue":{"value":1}}]}}
            """#
        ),
        ("changes/zone", #"{"zones":[{"zoneID":{"zoneName":"z"}}]}"#),
        ("changes/database", "{}"),
        ("tokens/create", #"{"apnsEnvironment":"development"}"#),
        ("assets/upload", #"{"tokens":[{"fieldName":"a"}]}"#),
    ]

    /// A public key whose private half nobody has.
    private static let key = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEij0dj8SdR+yqcvUCZQHBI6//45f4
        v+hf89LT7fdJHoaoTkHHm0Sbc7ivLy4ER5MwOmlHL5H5DRyh9jVE70+Baw==
        -----END PUBLIC KEY-----
        """
}

private struct FixedClock: Clock {
    func now() -> Date { FuzzedService.moment }
}

/// SplitMix64 from a fixed seed.
private final class CountedRandomness: Randomness {
    private let state = Lock<UInt64>(1)

    func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}

private struct CountedSecrets: SecretSource {
    private let source = CountedRandomness()

    func bytes(_ count: Int) throws -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: source.next()) }
    }
}
