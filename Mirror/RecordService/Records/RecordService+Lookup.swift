internal import RecordWire

/// Records by name. (SERVICE §3, records/lookup)
extension RecordService {
    func lookupRecords(
        _ lookup: LookupRecords, _ key: DatabaseKey
    ) throws(RecordError) -> RecordResponse {
        try limits.checkCount(lookup.recordNames.count, of: "names")
        let zone = try (lookup.zoneID ?? ZoneID()).owned(by: key.owner)
        return try backend.read { transaction in
            let place = try self.place(of: lookup, zone, key, transaction)
            let keys = lookup.desiredKeys.map { Set($0) }
            var bytesLeft = self.limits.pageBytesMax
            if let place { try transaction.expect(records: lookup.recordNames, in: place.zone) }
            let results = try lookup.recordNames.map { name -> RecordResult in
                guard bytesLeft > 0 else { return .failure(Self.pageIsFull(name)) }
                do {
                    return .record(
                        try self.damage.guarding(name, in: zone) {
                            var row = try place.flatMap {
                                try transaction.record(named: name, in: $0.zone)
                            }
                            guard let change = row?.change, row?.isDeleted == false else {
                                throw Self.notFound(name, wasDeleted: row != nil)
                            }
                            row?.epoch = place?.line.epoch(of: change) ?? 0
                            guard let row else { throw Self.notFound(name, wasDeleted: false) }
                            bytesLeft -= row.fields.count + ServiceLimits.recordOverheadBytes
                            let own = lookup.desiredKeysByName[ExactName(name)].map { Set($0) }
                            return try row.record(
                                in: zone, keys: own ?? keys,
                                tellsWrites: lookup.client?.wantsWriteIDs ?? false)
                        })
                } catch let error as RecordError {
                    return .failure(error)
                }
            }
            var reply = RecordsReply(results: results)
            if let line = place?.line, line.isNews(to: lookup.client) { reply.epochs = line }
            return .records(reply)
        }
    }

    /// The row of the zone and its epochs; nil for a default zone that nothing was written to.
    private func place(
        of lookup: LookupRecords, _ zone: ZoneID, _ key: DatabaseKey,
        _ transaction: any BackendTransaction
    ) throws -> (zone: Int64, line: EpochLine)? {
        guard let database = try transaction.database(key),
            let row = try transaction.zone(named: zone.zoneName, in: database.id)
        else {
            if zone.isDefault { return nil }
            throw zone.notFound(wasDeleted: false)
        }
        guard !row.isDeleted else { throw zone.notFound(wasDeleted: true) }
        let line = try transaction.line(of: row)
        try ClientCheck(lookup.client, zone: row, zoneID: zone, limits: limits)?
            .run(line, transaction)
        return (row.id, line)
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
