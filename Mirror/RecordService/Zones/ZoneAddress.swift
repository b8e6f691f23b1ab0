internal import RecordWire

/// Where the rows of a zone are that a request names, and how its answers call it.
struct ZoneAddress {
    let key: DatabaseKey
    let shown: ZoneID
    /// Who asks, where the zone is another's.
    let participant: String?

    /// Another zone as this one is called.
    func ownSpelling(of zone: ZoneID) throws(RecordError) -> ZoneID {
        guard let participant else { return try key.address(of: zone).shown }
        return try key.shared(with: participant).address(of: zone).shown
    }

    /// What stands for a zone that is not there or is not shared with who asks, in the same words.
    var notShared: RecordError {
        RecordError(
            .zoneNotFound,
            "There is no zone \(shown.zoneName) that \(key.owner) shares with you.", zoneID: shown)
    }
}

extension DatabaseKey {
    /// Throws ZONE_NOT_FOUND for a zone of another's outside the shared database, and for one of
    /// the caller's own inside it.
    func address(of zone: ZoneID?) throws(RecordError) -> ZoneAddress {
        let zone = zone ?? ZoneID()
        guard isShared else {
            return ZoneAddress(key: self, shown: try zone.owned(by: owner), participant: nil)
        }
        guard let other = zone.ownerRecordName, other != owner,
            !ZoneID.ownerAliases.contains(other), !zone.isDefault
        else {
            throw RecordError(
                .zoneNotFound,
                "The shared database holds zones of others; name the zone and its "
                    + "ownerRecordName.", zoneID: zone)
        }
        let key = DatabaseKey.ofUser(other, container: container, environment: environment)
        return ZoneAddress(key: key, shown: zone, participant: owner)
    }
}

/// A zone as a caller sees it, inside one transaction.
struct ZonePlace {
    let address: ZoneAddress
    let database: DatabaseRow
    let row: ZoneRow
    /// By which tokens are made; a participant's has an incarnation of its own, so that tokens end
    /// when other shares are seen.
    let line: EpochLine
    let access: any RecordAccess

    /// nil for a default zone that nothing was written to. Throws ZONE_NOT_FOUND.
    init?(
        _ address: ZoneAddress, _ rules: AccessRules, _ transaction: any BackendTransaction
    ) throws {
        guard let participant = address.participant else {
            guard let database = try transaction.database(address.key),
                let row = try transaction.zone(named: address.shown.zoneName, in: database.id)
            else {
                if address.shown.isDefault { return nil }
                throw address.shown.notFound(wasDeleted: false)
            }
            guard !row.isDeleted else { throw address.shown.notFound(wasDeleted: true) }
            self.address = address
            self.database = database
            self.row = row
            line = try transaction.line(of: row)
            access = try rules.access(to: address.key, transaction)
            return
        }
        let view = try SharedView(address, participant, transaction)
        self.address = address
        database = view.database
        row = view.zone
        line = try view.line(transaction)
        access = try ShareAccess(participant, in: row, transaction)
    }
}
