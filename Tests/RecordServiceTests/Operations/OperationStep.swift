import RecordWire

/// One thing that a user or an administrator does. It is drawn without a look at what is there, so
/// that a story stays one when steps are taken out of it.
struct OperationStep: Sendable, CustomStringConvertible {
    /// Users are numbers below `OperationWorld.usersCount`.
    var actor: Int
    var deed: Deed

    var description: String { "user \(actor): \(deed)" }

    enum Deed: Sendable {
        case write(Place, [Writing], atomic: Bool)
        case share(zone: Int, root: Int?, Sharing)
        case accept(owner: Int, zone: Int, root: Int?)
        case leave(owner: Int, zone: Int)
        case makeZone(Int, production: Bool)
        case deleteZone(Int, production: Bool)
        case follow(Place)
        case look(Place)
        case list
        case subscribe(Int, kind: Int, once: Bool)
        case unsubscribe(Int)
        case upload(Int)
        case rereference(zone: Int, name: Int)
        case profile(isDiscoverable: Bool)
        case discover(Int)
        case issueToken
        case revokeToken(Int)
        case grant(type: Int, role: Int, creates: Bool, reads: Bool, writes: Bool)
        case ungrant(type: Int)
        case giveRole(to: Int)
        case takeRole(from: Int)
        case deploy
        case declare(type: Int, field: String, isUnique: Bool)
        case quota(Int?)
        /// Half a year goes by, and deletions are forgotten.
        case forget
        /// The service is closed and opened again.
        case reopen
    }

    /// Where records are: zone 0 is the default one.
    enum Place: Hashable, Sendable {
        case own(Int, production: Bool)
        case common
        case shared(owner: Int, zone: Int)
    }

    struct Writing: Sendable {
        var kind: RecordOperation.Kind
        /// Of a record; from `firstShare` on that of the share of a root; `zoneShare`.
        var name: Int
        var tag: Tag
        var fields: [Field]
        /// A record to be below; -1 takes it out.
        var parent: Int?
    }

    enum Tag: Sendable { case right, stale, missing }

    enum Field: Sendable {
        case title(Int)
        case wrongTitle
        case count(Int)
        case secret(Int)
        case clear(String)
        case link(Int, RecordReference.Action)
        /// `receipt`: the last one that the user got for the content, else the content's checksum.
        case picture(Int, receipt: Bool)
    }

    struct Sharing: Sendable {
        var kind: RecordOperation.Kind
        /// Whether each other user may write; nil: the list stays as it is.
        var participants: [Int: Bool]?
        var permission: ShareParticipant.Permission?
    }

    static let firstShare = 10
    static let zoneShare = 20
    static let zonesCount = 3
    static let namesCount = 7
    static let contentsCount = 3
}

/// Draws steps.
struct OperationDice {
    let random: SeededRandomness
    /// Whether nobody else uses the service.
    let isAlone: Bool

    private func below(_ bound: Int) -> Int { random.below(bound) }
    private func chance(_ percent: Int) -> Bool { random.below(100) < percent }

    func step() -> OperationStep {
        OperationStep(actor: below(OperationWorld.usersCount), deed: deed())
    }

    private func deed() -> OperationStep.Deed {
        switch below(100) {
        case 0..<52: return .write(place(), writings(), atomic: chance(20))
        case 52..<58: return .share(zone: ownZone(), root: root(), sharing())
        case 58..<64: return .accept(owner: user(), zone: ownZone(), root: root())
        case 64: return .leave(owner: user(), zone: ownZone())
        case 65..<68: return .makeZone(below(3), production: chance(30))
        case 68: return .deleteZone(below(3), production: chance(30))
        case 69..<77: return .follow(place())
        case 77..<83: return .look(place())
        case 83: return .list
        case 84..<87: return .subscribe(below(4), kind: below(3), once: chance(20))
        case 87: return .unsubscribe(below(4))
        case 88..<91: return .upload(below(OperationStep.contentsCount))
        case 91: return .rereference(zone: below(3), name: name())
        default: return administration()
        }
    }

    private func administration() -> OperationStep.Deed {
        switch below(18) {
        case 0: .profile(isDiscoverable: chance(50))
        case 1: .discover(user())
        case 2: .issueToken
        case 3: .revokeToken(below(4))
        case 4, 5:
            .grant(
                type: below(2), role: below(3), creates: chance(60), reads: chance(70),
                writes: chance(60))
        case 6, 7: .ungrant(type: below(2))
        case 8: .giveRole(to: user())
        case 9: .takeRole(from: user())
        case 10: chance(40) ? .deploy : .list
        case 11: .quota(3 + below(10))
        case 12, 13: .quota(nil)
        case 16, 17:
            .declare(
                type: below(2), field: chance(70) ? "count" : "title", isUnique: chance(50))
        case 14: isAlone ? .forget : .list
        default: isAlone ? .reopen : .list
        }
    }

    private func user() -> Int { below(OperationWorld.usersCount) }
    private func name() -> Int { below(OperationStep.namesCount) }
    private func ownZone() -> Int { chance(4) ? 0 : 1 + below(OperationStep.zonesCount - 1) }
    private func root() -> Int? { chance(25) ? nil : below(3) }

    private func place() -> OperationStep.Place {
        switch below(100) {
        case 0..<55: .own(chance(15) ? 0 : ownZone(), production: chance(12))
        case 55..<70: .common
        default: .shared(owner: user(), zone: ownZone())
        }
    }

    private func sharing() -> OperationStep.Sharing {
        let kinds: [RecordOperation.Kind] = [.create, .forceUpdate, .forceUpdate, .forceReplace]
        var participants: [Int: Bool]?
        if chance(75) {
            participants = [:]
            for user in 0..<OperationWorld.usersCount where chance(55) {
                participants?[user] = chance(65)
            }
        }
        let permissions: [ShareParticipant.Permission?] = [nil, nil, nil, .readOnly, .readWrite]
        return OperationStep.Sharing(
            kind: kinds[below(kinds.count)], participants: participants,
            permission: chance(10) ? ShareParticipant.Permission.none : permissions[below(5)])
    }

    private func writings() -> [OperationStep.Writing] {
        var names: Set<Int> = []
        return (0..<(chance(60) ? 1 : 2 + below(3))).compactMap { _ in
            let writing = writing()
            return names.insert(writing.name).inserted ? writing : nil
        }
    }

    private func writing() -> OperationStep.Writing {
        let kinds: [RecordOperation.Kind] = [
            .create, .create, .update, .update, .update, .replace, .forceUpdate, .forceUpdate,
            .forceReplace, .delete, .forceDelete,
        ]
        var kind = kinds[below(kinds.count)]
        var name = name()
        if chance(4) {
            kind = chance(50) ? .delete : .forceDelete
            name = chance(30) ? OperationStep.zoneShare : OperationStep.firstShare + below(3)
        }
        let tag: OperationStep.Tag = chance(75) ? .right : chance(50) ? .stale : .missing
        return OperationStep.Writing(
            kind: kind, name: name, tag: tag, fields: fields(),
            parent: chance(30) ? (chance(25) ? -1 : self.name()) : nil)
    }

    private func fields() -> [OperationStep.Field] {
        (0..<1 + below(3)).map { _ in
            switch below(20) {
            case 0..<8: .title(below(6))
            case 8: .wrongTitle
            case 9..<12: .count(below(5))
            case 12: .secret(below(3))
            case 13: .clear(["title", "count", "link", "picture"][below(4)])
            case 14..<17:
                .link(name(), [.none, .deleteSelf, .validate][below(3)])
            default: .picture(below(OperationStep.contentsCount), receipt: chance(60))
            }
        }
    }
}
