internal import RecordWire

/// Records by name. (SERVICE §3, records/lookup)
extension RecordService {
    func lookupRecords(
        _ lookup: LookupRecords, _ key: DatabaseKey, _ caller: Caller
    ) throws(RecordError) -> RecordResponse {
        try limits.checkCount(lookup.recordNames.count, of: "names")
        let address = try key.address(of: lookup.zoneID)
        let zone = address.shown
        return try backend.read(key.place) { transaction in
            let place = try ZonePlace(address, self.rules(for: caller), transaction)
            if let place {
                try ClientCheck(lookup.client, zone: place.row, zoneID: zone, limits: self.limits)?
                    .run(place.line, transaction)
            }
            let keys = lookup.desiredKeys.map { Set($0) }
            var bytesLeft = self.limits.pages.bytesMax
            if let place { try transaction.expect(records: lookup.recordNames, in: place.row.id) }
            let results = try lookup.recordNames.map { name -> RecordResult in
                guard bytesLeft > 0 else { return .failure(Self.pageIsFull(name)) }
                do {
                    return .record(
                        try self.damage(in: address.key).guarding(name, in: zone) {
                            var row = try place.flatMap {
                                try transaction.record(named: name, in: $0.row.id)
                            }
                            if let found = row, try place?.access.sees(found) == false { row = nil }
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

    static func notFound(_ name: String, wasDeleted: Bool) -> RecordError {
        RecordError(
            .notFound,
            wasDeleted
                ? "The record was deleted; create it with the deletion's tag to bring it back."
                : "There is no record of this name in the zone.", recordName: name)
    }

    private static func pageIsFull(_ name: String) -> RecordError {
        var error = RecordError(
            .tryAgainLater, "The answer is full before this record; ask for it in another request.",
            recordName: name)
        error.retryAfterSeconds = 0
        return error
    }
}
