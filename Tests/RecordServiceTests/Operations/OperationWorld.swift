import Foundation
import RecordService
import RecordWire

/// A disagreement of service and model.
struct OperationViolation: Error, CustomStringConvertible {
    let description: String
}

/// Users of one container of a service, what they do, and the model of it.
final class OperationWorld {
    static let usersCount = 3

    struct ZoneKey: Hashable {
        /// nil: of all.
        var owner: Int?
        var zone: Int
        var production = false
    }

    /// Who follows which feed.
    struct Follower: Hashable {
        var user: Int
        var place: OperationStep.Place
    }

    /// What a follower has read.
    struct Reading {
        var token: String?
        var tags: [String: String] = [:]
        var incarnation = 0
        /// Deletions were forgotten since.
        var mayExpire = false
    }

    /// Where a user stands in `changes/database`, and which zones changed since.
    struct DatabaseReading {
        var token: String?
        var dirty: Set<String> = []
    }

    let container: String
    let clock: SteppingClock
    let random: SeededRandomness
    private let open: () throws -> RecordService
    private(set) var service: RecordService
    let users: [String]
    var zones: [ZoneKey: ZoneModel] = [:]
    var readings: [Follower: Reading] = [:]
    var settings = OperationSettings()
    /// How often each zone was made.
    var incarnations: [ZoneKey: Int] = [:]
    /// What each user read of `changes/database`.
    var databases: [Int: DatabaseReading] = [:]
    var counts: [String: Int] = [:]

    /// `open` makes the service, and once more after it was closed.
    init(
        _ number: Int, seed: UInt64, clock: SteppingClock,
        _ open: @escaping () throws -> RecordService
    ) throws {
        container = "iCloud.org.example.world\(number)"
        self.clock = clock
        self.open = open
        random = SeededRandomness(seed: seed &* 7 &+ 3)
        service = try open()
        try service.accounts.createContainer(container)
        let service = service
        users = try (0..<Self.usersCount).map {
            try service.accounts.createUser(label: "user \($0)").userRecordName
        }
        settings.prepare(number, users.count)
        for user in users.indices {
            try service.accounts.setProfile(settings.profile(user), of: users[user])
            zones[ZoneKey(owner: user, zone: 0)] = ZoneModel()
            zones[ZoneKey(owner: user, zone: 0, production: true)] = ZoneModel()
        }
        zones[ZoneKey(owner: nil, zone: 0)] = ZoneModel()
    }

    func reopen() throws {
        service = try open()
        settings.courierTokens = [:]
    }

    // MARK: Words

    static func name(_ number: Int) -> String {
        switch number {
        case OperationStep.zoneShare: Record.zoneShareName
        case OperationStep.firstShare...: "share-\(number - OperationStep.firstShare)"
        default: "r\(number)"
        }
    }

    static func type(_ number: Int) -> String {
        number >= OperationStep.firstShare ? Record.shareType : number < 5 ? "Note" : "Task"
    }

    func zoneID(_ key: ZoneKey, for user: Int) -> ZoneID? {
        guard key.zone > 0 else { return nil }
        let isOwn = key.owner == user
        return ZoneID(
            zoneName: "z\(key.zone)",
            ownerRecordName: isOwn ? nil : key.owner.map { users[$0] })
    }

    /// The zone that a place is, seen by `user`.
    func key(_ place: OperationStep.Place, _ user: Int) -> ZoneKey {
        switch place {
        case .own(let zone, let production):
            ZoneKey(owner: user, zone: zone, production: production)
        case .common: ZoneKey(owner: nil, zone: 0)
        case .shared(let owner, let zone): ZoneKey(owner: owner, zone: zone)
        }
    }

    func database(_ place: OperationStep.Place) -> (name: String, production: Bool) {
        switch place {
        case .own(_, let production): ("private", production)
        case .common: ("public", false)
        case .shared: ("shared", false)
        }
    }

    // MARK: Asking

    func send(
        _ request: RecordRequest, _ user: Int, _ place: OperationStep.Place
    ) throws -> RecordResponse {
        var target = RecordTarget(container: container, deviceID: "device")
        let database = database(place)
        target.database = database.name
        if database.production { target.environment = "production" }
        counts["requests", default: 0] += 1
        return try service.handle(
            request, target: target, caller: Caller(userRecordName: users[user]))
    }

    /// The code that a request is refused with as a whole; nil where it is not.
    func answer(
        _ request: RecordRequest, _ user: Int, _ place: OperationStep.Place
    ) throws -> (response: RecordResponse?, refusal: RecordError?) {
        do {
            return (try send(request, user, place), nil)
        } catch let error as RecordError {
            return (nil, error)
        }
    }

    func expect(_ holds: Bool, _ what: @autoclosure () -> String) throws {
        guard !holds else { return }
        throw OperationViolation(description: what())
    }

    // MARK: Places

    /// Whether a participant's zone is to be had: nil for zones of one's own.
    func isOpen(_ place: OperationStep.Place, _ user: Int) -> Bool {
        guard case .shared(let owner, let zone) = place else {
            return zones[key(place, user)] != nil
        }
        guard owner != user, let model = zones[ZoneKey(owner: owner, zone: zone)] else {
            return false
        }
        return !model.shares(acceptedBy: user).isEmpty
    }

    /// What a user sees of a place.
    func visible(_ place: OperationStep.Place, _ user: Int) -> Set<String> {
        guard let zone = zones[key(place, user)] else { return [] }
        switch place {
        case .own: return Set(zone.liveRecords.map(\.name))
        case .shared: return zone.visible(to: user)
        case .common:
            return Set(
                zone.liveRecords.filter {
                    settings.mayRead($0.record.type, user, isCreator: $0.record.creator == user)
                }.map(\.name))
        }
    }

    /// What the model's record should look like.
    func check(_ record: Record, _ zone: ZoneModel, _ place: OperationStep.Place) throws {
        let name = record.recordName
        guard let model = zone.live(name) else {
            throw OperationViolation(description: "\(name) is there, and should not be")
        }
        try expect(record.recordType == model.type, "\(name) is a \(record.recordType)")
        let tag = record.recordChangeTag
        try expect(
            model.tag == nil || model.tag == tag,
            "\(name) has the tag \(tag ?? "none"), not \(model.tag ?? "")")
        let shown = record.fields.filter { !SharingField.isReserved($0.key) }.mapValues(Self.plain)
        try expect(
            model.share != nil || shown == RecordFields(model.fields.mapValues { .some($0) }),
            "\(name) has \(shown), not \(model.fields)")
        guard case .own = place else { return }
        try expect(
            record.parent == model.parent, "\(name) has the parent \(record.parent ?? "none")")
        try expect(
            record.share == zone.share(ofRoot: name),
            "\(name) names the share \(record.share ?? "none")")
        guard let share = model.share else { return }
        let accepted = Set(
            (record.participants ?? []).filter { $0.status == .accepted && $0.kind != .owner }
                .compactMap(\.identity.userRecordName))
        let expected = Set(
            share.participants.filter { $0.value.hasAccepted }.map { users[$0.key] })
        try expect(accepted == expected, "\(name) is accepted by \(accepted), not \(expected)")
    }

    private static func plain(_ value: FieldValue?) -> FieldValue? {
        guard case .asset(let asset)? = value else { return value }
        var kept = RecordAsset()
        kept.fileChecksum = asset.fileChecksum
        return .asset(kept)
    }
}
