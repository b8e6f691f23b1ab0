internal import Foundation
internal import Platform
internal import RecordWire

/// What short GUIDs lead to, and taking part in it. (SERVICE §3, sharing)
extension RecordService {
    func resolveShares(
        _ lookup: ShareLookup, _ key: DatabaseKey, _ target: RecordTarget, _ caller: Caller
    ) throws(RecordError) -> RecordResponse {
        try checkCount(of: lookup)
        return try backend.read(key.place) { transaction in
            .shares(
                try lookup.entries.map { entry in
                    do {
                        return .share(
                            try self.found(entry, key, caller, transaction)
                                .metadata(entry, target, transaction))
                    } catch let error as RecordError {
                        return .failure(error)
                    }
                })
        }
    }

    /// A refusal of one is its entry; the others are accepted all the same.
    func acceptShares(
        _ lookup: ShareLookup, _ key: DatabaseKey, _ target: RecordTarget, _ caller: Caller
    ) throws(RecordError) -> RecordResponse {
        try checkCount(of: lookup)
        var written: [(RecordModification.Written, ZoneAddress)] = []
        let results = try backend.write(key.place) { transaction in
            written = []
            return try lookup.entries.map { entry -> ShareResult in
                do {
                    let found = try self.found(entry, key, caller, transaction)
                    if let change = try self.accept(found, caller, transaction) {
                        written.append(change)
                    }
                    return .share(
                        try self.found(entry, key, caller, transaction)
                            .metadata(entry, target, transaction))
                } catch let error as RecordError {
                    return .failure(error)
                }
            }
        }
        for (change, address) in written { tell(change, at: address) }
        return .shares(results)
    }

    /// nil where nothing had to be written.
    private func accept(
        _ found: FoundShare, _ caller: Caller, _ transaction: any BackendTransaction
    ) throws -> (RecordModification.Written, ZoneAddress)? {
        guard found.participant.status != .accepted else { return nil }
        let user = caller.userRecordName
        try SharedViews(
            key: found.row.database, zone: found.zone, limits: limits, transaction: transaction,
            draw: { self.platform.randomness.next() }
        ).checkRoom(for: user)
        var list = ShareParticipants(
            found.share.participants ?? [], limits.work.sharing,
            { try self.accounts.drawnSecret() })
        _ = try list.accept(found.participant, user, try transaction.profile(of: user))
        var share = found.share
        share.participants = list.list
        let address = try found.row.database.address(of: ZoneID(zoneName: found.zone.name))
        let modification = try modification(
            ModifyRecords(
                operations: [RecordOperation(.forceUpdate, share)], zoneID: address.shown,
                atomic: true), at: address, caller, device: nil, actsForService: true)
        var broken: Set<ExactName> = []
        var written = RecordModification.Written()
        let reply = try modification.perform(
            transaction, damage: damage(in: address.key), broken: &broken, written: &written)
        if case .failure(let error)? = reply.results.first { throw error }
        return (written, address)
    }

    /// The share behind a short GUID. Throws NOT_FOUND, in the same words where there is none and
    /// where it is not meant for who asks.
    private func found(
        _ entry: ShareLookup.Entry, _ key: DatabaseKey, _ caller: Caller,
        _ transaction: any BackendTransaction
    ) throws -> FoundShare {
        let nothing = RecordError(.notFound, "There is no share of this short GUID for you.")
        guard entry.shortGUID.utf8.count <= limits.nameBytesMax,
            let row = try transaction.share(
                shortGUID: entry.shortGUID, container: key.container,
                environment: key.environment),
            let database = try transaction.database(row.database),
            let zone = try transaction.zone(named: row.zoneName, in: database.id),
            zone.id == row.zone,
            var stored = try transaction.record(named: row.name, in: zone.id), !stored.isDeleted
        else { throw nothing }
        let user = caller.userRecordName
        let line = try transaction.line(of: zone)
        stored.epoch = line.epoch(of: stored.change)
        let share = try damage(in: row.database).guarding(
            row.name, in: ZoneID(zoneName: row.zoneName)
        ) {
            try stored.record(in: ZoneID(zoneName: row.zoneName))
        }
        let list = ShareParticipants(share.participants ?? [], limits.work.sharing, { "" })
        guard
            let participant = list.participant(
                user, try transaction.profile(of: user),
                publicPermission: share.publicPermission ?? .none)
        else { throw nothing }
        return FoundShare(
            row: row, zone: zone, line: line, share: share,
            participant: participant, user: user)
    }

    private func checkCount(of lookup: ShareLookup) throws(RecordError) {
        let most = limits.work.sharing.shortGUIDsMax
        guard lookup.entries.count > most else { return }
        throw RecordError.ofCount(
            "The request has \(lookup.entries.count) short GUIDs; at most \(most) are taken.")
    }
}

/// A share, and who asks for it.
private struct FoundShare {
    let row: ShareRow
    let zone: ZoneRow
    let line: EpochLine
    /// As it is stored.
    let share: Record
    let participant: ShareParticipant
    let user: String

    func metadata(
        _ entry: ShareLookup.Entry, _ target: RecordTarget, _ transaction: any BackendTransaction
    ) throws -> ShareMetadata {
        let isOwner = participant.kind == .owner
        let zoneID = ZoneID(
            zoneName: zone.name, ownerRecordName: isOwner ? nil : row.database.owner)
        var shown = share.share(shownTo: user, participantID: participant.participantID)
        shown.zoneID = zoneID
        var owner =
            share.participants?.first { $0.kind == .owner }?.identity
            ?? UserIdentity(userRecordName: row.database.owner)
        if !isOwner { owner.lookupInfo = nil }
        var found = ShareMetadata(
            shortGUID: row.shortGUID, target: target, isShared: !isOwner, zoneID: zoneID,
            share: shown, owner: owner, participant: participant)
        found.rootRecordName = row.root
        if entry.fetchesRoot, let root = row.root,
            var stored = try transaction.record(named: root, in: zone.id), !stored.isDeleted
        {
            stored.epoch = line.epoch(of: stored.change)
            found.rootRecord = try stored.record(in: zoneID, keys: entry.rootKeys.map { Set($0) })
        }
        return found
    }
}
