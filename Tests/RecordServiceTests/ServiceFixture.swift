import Foundation
import Platform
import RecordService
import RecordWire

/// A clock that moves one millisecond at each look.
final class SteppingClock: Clock {
    private let milliseconds = Lock<Int64>(1_700_000_000_000)
    private let deed = Lock<(@Sendable () -> Void)?>(nil)

    /// Does something at the next look, once.
    func atNextLook(_ run: @escaping @Sendable () -> Void) { deed.withLock { $0 = run } }

    func advance(seconds: Int) { milliseconds.withLock { $0 += Int64(seconds) * 1_000 } }

    func now() -> Date {
        let run = deed.withLock { deed in
            defer { deed = nil }
            return deed
        }
        run?()
        let value = milliseconds.withLock { milliseconds -> Int64 in
            milliseconds += 1
            return milliseconds
        }
        return Date(timeIntervalSince1970: Double(value) / 1000)
    }
}

/// Words drawn from a seed (SplitMix64).
final class SeededRandomness: Randomness {
    private let state: Lock<UInt64>

    init(seed: UInt64) { state = Lock(seed) }

    func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

/// Throws an error at one point, once, and counts what was passed.
final class OneFault: FaultPoints {
    private let armed = Lock<(name: String, error: any Error)?>(nil)
    private let passed = Lock<[String: Int]>([:])
    private let deed = Lock<(name: String, run: @Sendable () throws -> Void)?>(nil)

    func arm(_ name: String, _ error: any Error) { armed.withLock { $0 = (name, error) } }

    /// Does something at one point, once.
    func atNext(_ name: String, _ run: @escaping @Sendable () throws -> Void) {
        deed.withLock { $0 = (name, run) }
    }

    /// How often the point was passed.
    func count(_ name: String) -> Int { passed.withLock { $0[name] ?? 0 } }

    func reach(_ name: String) throws {
        passed.withLock { $0[name, default: 0] += 1 }
        let error = armed.withLock { armed -> (any Error)? in
            guard let found = armed, found.name == name else { return nil }
            armed = nil
            return found.error
        }
        if let error { throw error }
        let run = deed.withLock { deed -> (@Sendable () throws -> Void)? in
            guard let found = deed, found.name == name else { return nil }
            deed = nil
            return found.run
        }
        try run?()
    }
}

/// A service with one container and one caller, and short words for what tests ask of it.
struct ServiceFixture {
    static let container = "iCloud.org.example.notes"
    static let zone = ZoneID(zoneName: "notes")

    let service: RecordService
    let faults: OneFault
    let clock = SteppingClock()
    var target = RecordTarget(container: container, deviceID: "device-1")
    var caller = Caller(userRecordName: "_anna")

    init(
        path: String = ":memory:", limits: ServiceLimits = ServiceLimits(), seed: UInt64 = 1,
        dialect: ServiceDialect = .extended, makesZone: Bool = true, faults: OneFault = OneFault(),
        publicAccess: PublicAccess = PublicAccess(),
        log: @escaping ServiceLog = { _ in }
    ) throws {
        let place =
            path == ":memory:" ? try StoragePlace.current.make() : ServiceStorage.file(path)
        try self.init(
            place, limits: limits, seed: seed, dialect: dialect, makesZone: makesZone,
            faults: faults, publicAccess: publicAccess, log: log)
    }

    init(
        _ storage: ServiceStorage, limits: ServiceLimits = ServiceLimits(), seed: UInt64 = 1,
        dialect: ServiceDialect = .extended, makesZone: Bool = true, faults: OneFault = OneFault(),
        publicAccess: PublicAccess = PublicAccess(), objects: ObjectPlace? = nil,
        log: @escaping ServiceLog = { _ in }
    ) throws {
        self.faults = faults
        let platform = Environment(
            clock: clock, randomness: SeededRandomness(seed: seed), faults: faults)
        switch storage {
        case .file(let path):
            service = try RecordService(
                path: path, platform: platform, limits: limits, dialect: dialect,
                publicAccess: publicAccess, objects: objects, log: log)
        case .postgres(let address, let assets):
            service = try RecordService(
                database: StoragePlace.database(address, assets: assets), platform: platform,
                limits: limits, dialect: dialect,
                publicAccess: publicAccess, objects: objects, log: log)
        }
        try service.accounts.createContainer(Self.container)
        if makesZone { try createZone(Self.zone) }
    }

    func send(_ request: RecordRequest) throws(RecordError) -> RecordResponse {
        try service.handle(request, target: target, caller: caller)
    }

    @discardableResult
    func createZone(_ zone: ZoneID) throws -> ZoneResult {
        try zones(.modifyZones([ZoneOperation(.create, zone)]))[0]
    }

    func zones(_ request: RecordRequest) throws -> [ZoneResult] {
        guard case .zones(let results) = try send(request) else { throw WrongAnswer() }
        return results
    }

    func modify(
        _ operations: [RecordOperation], zone: ZoneID? = ServiceFixture.zone, atomic: Bool = false,
        desiredKeys: [String]? = nil
    ) throws -> [RecordResult] {
        var modify = ModifyRecords(operations: operations, zoneID: zone, atomic: atomic)
        modify.desiredKeys = desiredKeys
        guard case .records(let reply) = try send(.modifyRecords(modify)) else {
            throw WrongAnswer()
        }
        return reply.results
    }

    @discardableResult
    func save(_ record: Record, _ kind: RecordOperation.Kind = .forceUpdate) throws -> Record {
        guard case .record(let saved) = try modify([RecordOperation(kind, record)])[0] else {
            throw WrongAnswer()
        }
        return saved
    }

    func lookup(_ names: [String], zone: ZoneID? = ServiceFixture.zone) throws -> [RecordResult] {
        let request = RecordRequest.lookupRecords(LookupRecords(recordNames: names, zoneID: zone))
        guard case .records(let reply) = try send(request) else { throw WrongAnswer() }
        return reply.results
    }

    func changes(
        since token: String?, zone: ZoneID = ServiceFixture.zone, limit: Int? = nil
    ) throws -> ZoneChangesReply {
        try changes(ZoneChanges.Zone(zoneID: zone, syncToken: token, resultsLimit: limit))
    }

    func changes(_ zone: ZoneChanges.Zone) throws -> ZoneChangesReply {
        guard case .zoneChanges(let replies) = try send(.zoneChanges(ZoneChanges(zones: [zone])))
        else { throw WrongAnswer() }
        return replies[0]
    }

    func databaseChanges(since token: String?, limit: Int? = nil) throws -> DatabaseChangesReply {
        let request = DatabaseChanges(syncToken: token, resultsLimit: limit)
        guard case .databaseChanges(let reply) = try send(.databaseChanges(request)) else {
            throw WrongAnswer()
        }
        return reply
    }
}

struct WrongAnswer: Error {}

extension Record {
    static func note(
        _ name: String, _ title: String = "t", tag: String? = nil
    ) -> Record {
        Record(
            recordName: name, recordType: "Note", recordChangeTag: tag,
            fields: ["title": .string(title)])
    }
}

extension RecordResult {
    var record: Record? { if case .record(let record) = self { record } else { nil } }
    var error: RecordError? { if case .failure(let error) = self { error } else { nil } }
}

extension ZoneResult {
    var zone: ZoneDescription? { if case .zone(let zone) = self { zone } else { nil } }
    var error: RecordError? { if case .failure(let error) = self { error } else { nil } }
}

/// A path in a folder of its own, removed when `body` ends.
func withDatabasePath(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "record-service-\(Environment.system.randomness.uuid().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appendingPathComponent("service.sqlite").path)
}
