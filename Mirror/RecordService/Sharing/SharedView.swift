internal import RecordWire

/// A zone in the shared database of somebody to whom it was opened, inside one transaction.
///
/// The participant's database has a row for it, without records, so that it has a feed of zones as
/// every database has. That row's incarnation is drawn anew whenever the user comes to see other
/// shares of the zone: tokens of before then end, and the zone is read anew.
struct SharedView {
    let database: DatabaseRow
    let zone: ZoneRow
    let standIn: ZoneRow

    /// Throws ZONE_NOT_FOUND, in the same words for what is not there and what is not shared.
    init(
        _ address: ZoneAddress, _ user: String, _ transaction: any BackendTransaction
    ) throws {
        guard let database = try transaction.database(address.key),
            let zone = try transaction.zone(named: address.shown.zoneName, in: database.id),
            !zone.isDeleted, try !transaction.grants(of: user, in: zone.id).isEmpty,
            let own = try transaction.database(address.key.shared(with: user)),
            let standIn = try transaction.zone(
                named: StandInName(address.key.owner, address.shown.zoneName).text, in: own.id)
        else { throw address.notShared }
        self.database = database
        self.zone = zone
        self.standIn = standIn
    }

    func line(_ transaction: any BackendTransaction) throws -> EpochLine {
        try Self.line(of: standIn, over: zone, transaction)
    }

    /// The zone's line under the incarnation of the row that stands for it.
    static func line(
        of standIn: ZoneRow, over zone: ZoneRow, _ transaction: any BackendTransaction
    ) throws -> EpochLine {
        EpochLine(
            incarnation: standIn.incarnation, floor: zone.floor, newest: zone.counter,
            epochs: try transaction.epochs(of: .zone, zone.id))
    }
}

/// The name of the row that stands for a zone of another's: `5:_anna` and the zone's name. The
/// number of bytes tells where the owner ends.
struct StandInName {
    let text: String

    init(_ owner: String, _ zoneName: String) {
        text = "\(owner.utf8.count):\(owner)\(zoneName)"
    }

    /// The zone that is meant; nil for another text.
    static func zone(_ text: String) -> ZoneID? {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[0]), count >= 0,
            count <= parts[1].utf8.count
        else { return nil }
        let utf8 = parts[1].utf8
        return ZoneID(
            zoneName: String(decoding: utf8.dropFirst(count), as: UTF8.self),
            ownerRecordName: String(decoding: utf8.prefix(count), as: UTF8.self))
    }
}
