internal import RecordWire

/// Records by name. (SERVICE §3, records/lookup)
extension RecordService {
    func lookupRecords(
        _ lookup: LookupRecords, _ key: DatabaseKey
    ) throws(RecordError) -> RecordResponse {
        try limits.checkCount(lookup.recordNames.count, of: "names")
        let zone = try (lookup.zoneID ?? ZoneID()).owned(by: key.owner)
        return try backend.read { transaction in
            let (rows, line) = try self.rows(of: lookup, zone, key, transaction)
            let keys = lookup.desiredKeys.map { Set($0) }
            var bytesLeft = self.limits.pageBytesMax
            var reply = RecordsReply(
                results: try lookup.recordNames.map { name in
                    guard let row = rows[name], !row.isDeleted else {
                        return .failure(Self.notFound(name, wasDeleted: rows[name] != nil))
                    }
                    guard bytesLeft > 0 else { return .failure(Self.pageIsFull(name)) }
                    bytesLeft -= row.fields.count
                    let own = lookup.desiredKeysByName[name].map { Set($0) }
                    return .record(
                        try row.record(
                            in: zone, keys: own ?? keys,
                            tellsWrites: lookup.client?.wantsWriteIDs ?? false))
                })
            if let line, line.isNews(to: lookup.client) { reply.epochs = line }
            return .records(reply)
        }
    }

    private func rows(
        of lookup: LookupRecords, _ zone: ZoneID, _ key: DatabaseKey,
        _ transaction: any BackendTransaction
    ) throws -> (rows: [String: RecordRow], line: EpochLine?) {
        guard let database = try transaction.database(key),
            let row = try transaction.zone(named: zone.zoneName, in: database.id)
        else {
            if zone.isDefault { return ([:], nil) }
            throw zone.notFound(wasDeleted: false)
        }
        guard !row.isDeleted else { throw zone.notFound(wasDeleted: true) }
        let line = try transaction.line(of: row)
        try ClientCheck(lookup.client, zone: row, zoneID: zone, limits: limits)?
            .run(line, transaction)
        let rows = try transaction.records(named: lookup.recordNames, in: row.id).mapValues { row in
            var row = row
            row.epoch = line.epoch(of: row.change)
            return row
        }
        return (rows, line)
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
