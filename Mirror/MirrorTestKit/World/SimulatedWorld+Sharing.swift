internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import Platform
internal import Predicates
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// What a world knows of its share. Its dice are its own, so that a seed is the same world but for
/// sharing.
struct WorldShare {
    /// The other user.
    static let guest = "guest"

    let dice: SeededRandomness
    /// The share's record; nil before there is one.
    var record: Record?
    var isInvited = false
    var mayWrite = true
    /// Whether somebody ever took part no more.
    var wasRevoked = false

    init(seed: UInt64) { dice = SeededRandomness(seed: seed &* 122_949_829) }
}

extension SimulatedWorld {
    var owners: [SimulatedDevice] { devices.filter { $0.user == nil } }
    var guests: [SimulatedDevice] { devices.filter { $0.user != nil } }

    /// Throws the dice for what is done about the share. Returns whether anything was.
    func changeSharing() throws -> Bool {
        guard let sharing = settings.faults.devices.sharing, sharing.guests > 0 else {
            return false
        }
        network.disarm()
        disarmDevices()
        defer {
            network.arm()
            armDevices()
        }
        guard share.record != nil else {
            return try share.dice.chance(percent: sharing.sharePercent) && makeShare()
        }
        guard share.isInvited else {
            guard share.dice.chance(percent: sharing.acceptPercent) else { return false }
            let mayWrite = sharing.permissionPercent == 0 || share.dice.chance(percent: 60)
            return try invite(mayWrite: mayWrite)
        }
        if share.dice.chance(percent: sharing.revokePercent) { return try revoke() }
        if share.dice.chance(percent: sharing.permissionPercent) {
            return try invite(mayWrite: !share.mayWrite)
        }
        guard let guest = guests.first(where: \.waitsForShare),
            share.dice.chance(percent: sharing.acceptPercent)
        else { return false }
        return try accept(on: guest)
    }

    /// The owner shares one or two objects, or all.
    private func makeShare() throws -> Bool {
        guard let owner = owners.first, let sharing = settings.faults.devices.sharing else {
            return false
        }
        let rows = try owner.store.layout.entities.filter { !$0.entity.isAbstract }
            .flatMap { try owner.store.ids(matching: RowQuery(entity: $0.number)) }.sorted()
        guard let first = share.dice.pick(rows), let second = share.dice.pick(rows) else {
            return false
        }
        let requests = ZoneShares(owner.mirrored)
        let request = sharing.sharesZone ? requests.creationOfWhole() : requests.creation()
        guard let record = try? requests.takeShare(ask(request, as: owner)) else { return false }
        share.record = record
        if let root = record.sharedRoot {
            guard let count = try put([first, second], below: root, on: owner) else {
                // It has not heard of the loss of the share that they were in.
                let end = requests.end(of: record.recordName)
                try requests.takeEnd(of: record.recordName, ask(end, as: owner))
                share.record = nil
                return true
            }
            tell("\(owner.name) shares \(count) objects")
        } else {
            tell("\(owner.name) shares everything")
        }
        statistics.count(.shared)
        return true
    }

    /// Returns how many objects are shared by that; nil where one is in another share.
    private func put(
        _ rows: [RowID], below root: String, on owner: SimulatedDevice
    ) throws -> Int? {
        do {
            return try owner.mirrored.share(rows, below: root).count
        } catch let error as MirrorError where error.code == .alreadyShared {
            tell("\(owner.name) cannot share: \(error.message)")
            return nil
        }
    }

    private func invite(mayWrite: Bool) throws -> Bool {
        let identity = UserIdentity(
            lookupInfo: UserLookupInfo(userRecordName: WorldShare.guest))
        let participant = ShareParticipant(
            identity: identity, permission: mayWrite ? .readWrite : .readOnly)
        guard try change([participant]) else { return false }
        share.isInvited = true
        share.mayWrite = mayWrite
        tell("the guest may \(mayWrite ? "write" : "read")")
        return true
    }

    private func revoke() throws -> Bool {
        guard try change([]) else { return false }
        share.isInvited = false
        share.wasRevoked = true
        statistics.count(.revoked)
        tell("the guest takes part no more")
        return true
    }

    private func change(_ participants: [ShareParticipant]) throws -> Bool {
        guard let owner = owners.first, let known = share.record else { return false }
        var change = Record(recordName: known.recordName, recordType: Record.shareType)
        change.publicPermission = ShareParticipant.Permission.none
        change.participants = participants
        let requests = ZoneShares(owner.mirrored)
        do {
            share.record = try requests.takeShare(
                ask(requests.write(change, .forceUpdate), as: owner))
            return true
        } catch let error as RecordError {
            tell("the share cannot be changed: \(error.reason)")
            return false
        }
    }

    private func accept(on guest: SimulatedDevice) throws -> Bool {
        guard let guid = share.record?.shortGUID else { return false }
        service.give(try guest.mirrored.deviceID(), to: WorldShare.guest)
        do {
            let answer = try ask(ZoneShares.acceptance(of: [guid]), as: guest)
            guard let zone = try ZoneShares.metadata(answer).first?.zoneID else { return false }
            try guest.join(zone)
        } catch let error as RecordError {
            tell("the invitation is refused: \(error.reason)")
            return false
        }
        tell("\(guest.name) takes part")
        statistics.count(.joined)
        return true
    }

    /// After time was lost the share is as the service has it, or gone.
    func lookAtShare() throws {
        guard !guests.isEmpty, let owner = owners.first else { return }
        let former = share.record
        share.record = try service.records(inZone: owner.mirrored.settings.zoneName).values
            .first(where: \.isShare)
        // It may have been lost before, and be there again.
        guard former != nil || share.record != nil else { return }
        share.wasRevoked = true
        let guest = share.record?.participants?.first {
            $0.identity.lookupInfo?.userRecordName == WorldShare.guest
                || $0.identity.userRecordName == WorldShare.guest
        }
        share.isInvited = guest != nil
        share.mayWrite = guest?.permission == .readWrite
    }

    /// A request that no fault befalls.
    private func ask(_ request: RecordRequest, as device: SimulatedDevice) throws -> RecordResponse
    {
        network.freeDisk()
        return try service.handle(request, from: device.mirrored.deviceID())
    }

    /// Whether a guest's round found that it takes part no more; it waits then.
    func leaves(_ device: SimulatedDevice, after result: RoundResult) throws -> Bool {
        guard device.user != nil, result.error?.code == .shareEnded else { return false }
        tell("\(device.name) has nothing to do with the zone any more")
        try device.join(nil)
        return true
    }

    /// In the end the guest may write, or takes part no more.
    func endSharing() throws {
        guard let sharing = settings.faults.devices.sharing, share.record != nil else { return }
        guard !sharing.endsRevoked else {
            if share.isInvited { _ = try revoke() }
            return
        }
        if !share.isInvited || !share.mayWrite { _ = try invite(mayWrite: true) }
        for guest in guests where guest.waitsForShare { _ = try accept(on: guest) }
    }

    // MARK: Selections

    private var selectionPercent: Int { settings.faults.devices.sharing?.selectionPercent ?? 0 }

    /// Throws the dice for what a device sends. Returns whether it was started anew with another
    /// choice.
    func changeSelection(of device: SimulatedDevice) throws -> Bool {
        guard share.dice.chance(percent: selectionPercent) else { return false }
        disarmDevices()
        defer { armDevices() }
        statistics.count(.chosen)
        if try device.mirrored.status()?.keptHere ?? 0 > 0 { statistics.count(.keptHere) }
        let (selection, words) = drawnSelection()
        tell("\(device.name) sends \(words)")
        try device.choose(selection)
        return true
    }

    private func drawnSelection() -> (SyncSelection?, String) {
        // The sample's names are not those of its later version.
        guard SampleModel.isMade(settings.model), settings.laterModel == nil else {
            return drawnSelectionOfOwnModel()
        }
        var selection = SyncSelection()
        switch share.dice.below(5) {
        case 0: return (nil, "everything")
        case 1:
            let entity = share.dice.pick(["Folder", "Tag", "Cover", "TodoNote", "Note"]) ?? "Tag"
            selection.exclude(entity: entity)
            return (selection, "no \(entity)")
        case 2:
            selection.include(entity: "Note", where: NSPredicate(format: "views > 1"))
            return (selection, "notes that were viewed")
        case 3:
            selection.include(entity: "Note", where: NSPredicate(format: "folder == nil"))
            selection.exclude(entity: "Cover")
            return (selection, "notes outside of folders, no covers")
        default:
            selection.include(entity: "Folder", where: NSPredicate(format: "name < 'm'"))
            selection.include(entity: "Tag", where: NSPredicate(format: "label != nil"))
            return (selection, "some folders and tags")
        }
    }

    /// Everything, all but an entity, or what has a value, among what all versions of the model
    /// have.
    private func drawnSelectionOfOwnModel() -> (SyncSelection?, String) {
        let later = settings.laterModel ?? settings.model
        let entities = settings.model.entitiesByName.sorted { $0.key < $1.key }
            .filter { later.entitiesByName[$0.key] != nil }
        let kind = share.dice.below(3)
        guard kind > 0, let (name, entity) = share.dice.pick(entities) else {
            return (nil, "everything")
        }
        var selection = SyncSelection()
        let properties = entity.propertiesByName.filter { name, property in
            later.entitiesByName[entity.name ?? ""]?.propertiesByName[name] != nil
                && property.isChoosable
        }
        guard kind == 1, let property = share.dice.pick(properties.keys.sorted()) else {
            selection.exclude(entity: name)
            return (selection, "no \(name)")
        }
        selection.include(entity: name, where: NSPredicate(format: "%K != nil", property))
        return (selection, "each \(name) that has \(property)")
    }

    /// In the end all devices send everything.
    func endSelections() throws {
        guard selectionPercent > 0 else { return }
        for device in devices where device.selection != nil {
            try device.choose(nil, calm: true)
        }
    }
}

extension NSPropertyDescription {
    /// Whether a selection may ask if an object has it: an open attribute or a link to one object.
    fileprivate var isChoosable: Bool {
        switch self {
        case let attribute as NSAttributeDescription:
            !attribute.allowsCloudEncryption && !attribute.isTransient
                && !(attribute is NSDerivedAttributeDescription)
                && ![.undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType]
                    .contains(attribute.attributeType)
        case let relationship as NSRelationshipDescription: !relationship.isToMany
        default: false
        }
    }
}
