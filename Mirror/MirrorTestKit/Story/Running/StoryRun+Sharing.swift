internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import Predicates
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// What a story does about shares and selections.
extension StoryRun {
    /// What the service or the mirror does not allow is a refusal, which a story may expect.
    func share(_ sharing: StorySharing, on device: ManagedDevice) throws {
        do {
            try perform(sharing, on: device)
        } catch let error as RecordError {
            refusal = error.reason
        } catch let error as MirrorError {
            refusal = error.message
        } catch let error as any ChannelFailure {
            refusal = error.message
        }
        try world.learn()
    }

    private func perform(_ sharing: StorySharing, on device: ManagedDevice) throws {
        let requests = ZoneShares(device.mirrored)
        if case .accept(let name) = sharing { return try accept(name, on: device) }
        // The zone and the share are there, as they are now.
        _ = try sync(device)
        switch sharing {
        case .share(let handles, let name):
            let request = handles.isEmpty ? requests.creationOfWhole() : requests.creation()
            let share = try requests.takeShare(ask(request, as: device))
            shares[name] = share.recordName
            guard let root = share.sharedRoot else { return }
            do {
                _ = try device.mirrored.share(rows(handles, on: device), below: root)
            } catch let error as MirrorError {
                // A share that was made for these objects alone is of no use.
                shares[name] = nil
                try requests.takeEnd(
                    of: share.recordName, ask(requests.end(of: share.recordName), as: device))
                throw error
            }
            _ = try sync(device)
        case .invite(let user, let name, let mayWrite):
            let permission: ShareParticipant.Permission = mayWrite ? .readWrite : .readOnly
            try change(name, as: device) { list in
                if let place = list.firstIndex(where: { Self.is($0, user) }) {
                    list[place].permission = permission
                } else {
                    let identity = UserIdentity(lookupInfo: UserLookupInfo(userRecordName: user))
                    list.append(ShareParticipant(identity: identity, permission: permission))
                }
            }
        case .revoke(let name, let user):
            try change(name, as: device) { $0.removeAll { Self.is($0, user) } }
        case .leave(let name), .end(let name):
            let record = try recordName(of: name)
            try requests.takeEnd(of: record, ask(requests.end(of: record), as: device))
            _ = try sync(device)
        case .accept: break
        }
    }

    private func accept(_ name: String, on device: ManagedDevice) throws {
        let record = try recordName(of: name)
        let owner = try world.devices.lazy.filter { $0.setting.place.user == nil }
            .compactMap { try $0.mirrored.shares().first { $0.recordName == record } }.first
        guard let guid = owner?.shortGUID else {
            throw StoryError("The share \(name) is not there.", "Let it be shared before.")
        }
        let answer = try ask(ZoneShares.acceptance(of: [guid]), as: device)
        if let zone = try ZoneShares.metadata(answer).first?.zoneID, device.waitsForShare {
            try device.restart(in: zone)
        }
        _ = try sync(device)
    }

    private func change(
        _ name: String, as device: ManagedDevice, _ body: (inout [ShareParticipant]) -> Void
    ) throws {
        let requests = ZoneShares(device.mirrored)
        let record = try recordName(of: name)
        guard let share = try device.mirrored.shares().first(where: { $0.recordName == record })
        else { throw RecordError(.notFound, "The share \(name) is not there.") }
        _ = try requests.takeShare(ask(requests.change(of: share, body), as: device))
    }

    private static func `is`(_ participant: ShareParticipant, _ user: String) -> Bool {
        participant.identity.lookupInfo?.userRecordName == user
            || participant.identity.userRecordName == user
    }

    private func recordName(of share: String) throws -> String {
        guard let name = shares[share] else {
            throw StoryError("The share \(share) was not made.", "Let it be shared before.")
        }
        return name
    }

    private func rows(_ handles: [String], on device: ManagedDevice) throws -> [RowID] {
        try device.mirrored.store.read { transaction in
            try handles.map { handle in
                let row = try world.objects.row(
                    of: handle, in: world.store(of: device.name), transaction,
                    device.ledger(in: transaction))
                guard let row else { throw MissingObject(handle: handle, device: device.name) }
                return row
            }
        }
    }

    private func ask(_ request: RecordRequest, as device: ManagedDevice) throws -> RecordResponse {
        try world.network.carry(
            request, from: device.name, id: device.mirrored.deviceID(),
            of: device.setting.place.user
        ).get()
    }

    /// nil for everything.
    static func selection(
        _ choices: [StoryChoice], _ model: NSManagedObjectModel
    ) throws -> SyncSelection? {
        guard !choices.isEmpty else { return nil }
        let parts = try choices.map { choice in
            do {
                return (choice.entity, try choice.predicate.map { try NSPredicate.parse($0) })
            } catch let error as PredicateFormatError {
                throw StoryError(
                    "The predicate of \(choice.entity) cannot be read: \(error.expected).")
            }
        }
        return SyncSelection(only: parts, of: model)
    }
}
