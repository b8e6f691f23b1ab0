internal import Platform
internal import RecordWire

/// Zones of others, as those see them to whom they are shared.
extension RecordService {
    func listSharedZones(_ key: DatabaseKey) throws(RecordError) -> RecordResponse {
        try backend.read(key.place) { transaction in
            guard let database = try transaction.database(key) else { return .zones([]) }
            return .zones(
                try transaction.zones(in: database.id).compactMap { standIn in
                    guard let zone = StandInName.zone(standIn.name) else { return nil }
                    return try Self.entry {
                        try self.describe(try key.address(of: zone), key.owner, transaction)
                    }
                })
        }
    }

    func lookupSharedZones(
        _ zones: [ZoneID], _ key: DatabaseKey
    ) throws(RecordError) -> RecordResponse {
        try backend.read(key.place) { transaction in
            .zones(
                try zones.map { zone in
                    try Self.entry {
                        try self.describe(try key.address(of: zone), key.owner, transaction)
                    }
                })
        }
    }

    private func describe(
        _ address: ZoneAddress, _ user: String, _ transaction: any BackendTransaction
    ) throws -> ZoneDescription {
        let view = try SharedView(address, user, transaction)
        return ZoneDescription(
            zoneID: address.shown,
            syncToken: SyncToken(
                try view.line(transaction), of: .zone, change: view.zone.counter
            ).text)
    }

    /// Who deletes a zone of another's leaves all its shares.
    func leaveZones(
        _ operations: [ZoneOperation], _ key: DatabaseKey, _ caller: Caller
    ) throws(RecordError) -> RecordResponse {
        try limits.checkCount(operations.count, of: "operations")
        var results: [ZoneResult] = []
        for operation in operations {
            do throws(RecordError) {
                guard operation.kind == .delete else {
                    throw RecordError(
                        .accessDenied, "Zones of the shared database are made by their owners.",
                        zoneID: operation.zoneID)
                }
                let address = try key.address(of: operation.zoneID)
                try leave(address, caller)
                results.append(
                    .zone(ZoneDescription(zoneID: address.shown, syncToken: nil, deleted: true)))
            } catch {
                results.append(.failure(error))
            }
        }
        return .zones(results)
    }

    private func leave(_ address: ZoneAddress, _ caller: Caller) throws(RecordError) {
        let shares = try backend.read(address.key.place) { transaction in
            let view = try SharedView(address, caller.userRecordName, transaction)
            return try transaction.grants(of: caller.userRecordName, in: view.zone.id).map(\.share)
        }
        let request = ModifyRecords(
            operations: shares.map {
                RecordOperation(
                    .delete, Record(recordName: $0, recordType: Record.shareType))
            }, zoneID: address.shown, atomic: true)
        _ = try modifyRecords(
            request, address.key.shared(with: caller.userRecordName), caller, device: nil)
    }

    /// Ends the shares of a zone that is deleted. Returns the users who saw it.
    func endShares(
        of zone: ZoneRow, _ key: DatabaseKey, _ transaction: any BackendTransaction
    ) throws -> Set<String> {
        guard try transaction.hasShares(in: zone.id) else { return [] }
        let users = Set(try transaction.grants(in: zone.id).map(\.user))
        try transaction.removeShares(in: zone.id)
        let views = SharedViews(
            key: key, zone: zone, limits: limits, transaction: transaction,
            draw: { self.platform.randomness.next() })
        for user in users.sorted() { try views.renew(user) }
        return users
    }
}
