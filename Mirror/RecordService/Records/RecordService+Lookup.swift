internal import RecordWire

/// Records by name. (SERVICE §3, records/lookup)
extension RecordService {
    func lookupRecords(
        _ lookup: LookupRecords, _ key: DatabaseKey, device: String?
    ) throws(RecordError) -> RecordResponse {
        try limits.checkCount(lookup.recordNames.count, of: "names")
        let zone = try (lookup.zoneID ?? ZoneID()).owned(by: key.owner)
        return try backend.read { transaction in
            let place = try self.place(of: zone, key, transaction)
            let keys = lookup.desiredKeys.map { Set($0) }
            var bytesLeft = self.limits.pageBytesMax
            let results = try lookup.recordNames.map { name -> RecordResult in
                guard bytesLeft > 0 else { return .failure(Self.pageIsFull(name)) }
                do {
                    return .record(
                        try self.damage.guarding(name, in: zone) {
                            let row = try place.flatMap {
                                try transaction.record(named: name, in: $0, for: device)
                            }
                            guard let row, !row.isDeleted else {
                                throw Self.notFound(name, wasDeleted: row != nil)
                            }
                            bytesLeft -= row.fields.count + ServiceLimits.recordOverheadBytes
                            let own = lookup.desiredKeysByName[ExactName(name)].map { Set($0) }
                            return try row.record(in: zone, keys: own ?? keys)
                        })
                } catch let error as RecordError {
                    return .failure(error)
                }
            }
            return .records(RecordsReply(results: results))
        }
    }

    /// The row of the zone; nil for a default zone that nothing was written to.
    private func place(
        of zone: ZoneID, _ key: DatabaseKey, _ transaction: any BackendTransaction
    ) throws -> Int64? {
        guard let database = try transaction.database(key),
            let row = try transaction.zone(named: zone.zoneName, in: database.id)
        else {
            if zone.isDefault { return nil }
            throw zone.notFound(wasDeleted: false)
        }
        guard !row.isDeleted else { throw zone.notFound(wasDeleted: true) }
        return row.id
    }

    static func notFound(_ name: String, wasDeleted: Bool) -> RecordError {
        RecordError(
            .notFound,
            wasDeleted
                ? "The record was deleted; create it with the deletion's tag to bring it back."
                : "There is no record of this name in the zone.", recordName: name)
    }

    private static func pageIsFull(_ name: String) -> RecordError {
        RecordError(
            .limitExceeded, "The answer is full before this record; ask for it in another request.",
            recordName: name)
    }
}
