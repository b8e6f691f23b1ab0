internal import Foundation
internal import RecordWire

/// Decides what one `records/modify` writes and answers. (SERVICE §3)
struct RecordModification {
    private let operations: [RecordOperation]
    private let zone: ZoneID
    private let isAtomic: Bool
    private let keys: Set<String>?
    private let stamp: RecordStamp
    private let limits: ServiceLimits
    private let dialect: ServiceDialect
    private let client: ClientState?
    /// nil in a database of the caller's own.
    private let access: PublicAccess?
    /// For a place that this request makes.
    private let incarnation: UInt64

    /// Checks what concerns the request as a whole, and names the records that come without a name.
    init(
        _ modify: ModifyRecords, owner: String, stamp: RecordStamp, limits: ServiceLimits,
        dialect: ServiceDialect, access: PublicAccess?, incarnation: UInt64,
        makeName: () -> String
    ) throws(RecordError) {
        try limits.checkCount(modify.operations.count, of: "operations")
        zone = try (modify.zoneID ?? ZoneID()).owned(by: owner)
        isAtomic = modify.atomic
        keys = modify.desiredKeys.map { Set($0) }
        self.stamp = stamp
        self.limits = limits
        self.dialect = dialect
        client = modify.client
        self.access = access
        self.incarnation = incarnation
        var names: Set<ExactName> = []
        var named: [RecordOperation] = []
        named.reserveCapacity(modify.operations.count)
        for operation in modify.operations {
            var operation = operation
            if operation.record.recordName.isEmpty, operation.kind.mayCreate {
                operation.record.recordName = makeName()
            }
            guard names.insert(ExactName(operation.record.recordName)).inserted else {
                throw Self.twice(operation.record.recordName)
            }
            try Self.check(operation.record, isIn: zone, owner)
            named.append(operation)
        }
        operations = named
        if let device = stamp.deviceID, device.utf8.count > limits.nameBytesMax {
            try limits.checkName(device, of: "device name")
        }
    }

    /// One result per operation, in order, and the zone's tokens before and after. Writes nothing
    /// when the request is atomic and one is refused.
    func perform(
        in key: DatabaseKey, _ transaction: any BackendTransaction, damage: DamageReport,
        broken: inout Set<ExactName>, written rows: inout [RecordRow]
    ) throws -> RecordsReply {
        rows = []
        let (database, zoneRow) = try places(key, transaction)
        let known = try transaction.line(of: zoneRow)
        let check = ClientCheck(client, zone: zoneRow, zoneID: zone, limits: limits)
        try check?.run(known, transaction)
        let line = try transaction.lineForWriting(known)
        let before = token(zoneRow.counter, known, key)
        let types = FieldTypeSession(database.id, transaction)
        let assets = AssetSession(database.id, transaction, now: stamp.timestamp)
        let usage = UsageSession(owner: key.owner, standard: limits.retention.quota, transaction)
        var change = OperationApplier(
            zone: zone, stamp: stamp, limits: limits,
            manner: OperationApplier.Manner(dialect: dialect, tellsWrites: client != nil),
            keys: keys, sessions: .init(types: types, assets: assets, usage: usage), damage: damage,
            counter: zoneRow.counter, epoch: line.epochs.last?.id ?? 0,
            references: ReferenceCheck(
                zone: zone, links: try ReferenceLinks(in: zoneRow.id, transaction), limits: limits,
                operations: operations))
        var results: [RecordResult] = []
        results.reserveCapacity(operations.count)
        // Rows are read one at a time: all of them at once may be four hundred megabytes.
        for operation in operations {
            results.append(
                try change.result(of: operation) {
                    var row = try row(operation.record.recordName, zoneRow.id, transaction, &broken)
                    if let change = row?.change { row?.epoch = known.epoch(of: change) }
                    try access?.check(operation, on: row, of: stamp.userRecordName)
                    return row
                })
            guard change.use.sentBytes <= limits.requestBytesMax else { throw tooLarge() }
        }
        if isAtomic, change.use.isFull { throw tooMuchAtOnce() }
        if isAtomic, results.contains(where: \.isFailure) {
            return RecordsReply(
                results: results.map(blocked), syncToken: before, previousSyncToken: before)
        }
        var reply = RecordsReply(results: results, syncToken: before, previousSyncToken: before)
        if known.isNews(to: client) { reply.epochs = known }
        guard !change.rows.isEmpty else { return reply }
        let own = change.counter
        try change.finish { try row($0, zoneRow.id, transaction, &broken) }
        var written = line
        written.newest = change.counter
        reply.syncToken = token(own, written, key)
        // The client has not heard of what went with its deletions: it reads on from its writes.
        if change.counter > own { reply.previousSyncToken = nil }
        if written.isNews(to: client) { reply.epochs = written }
        try save(change, database, zoneRow, transaction)
        try transaction.keep(line, of: .zone, zoneRow.id, newest: change.counter)
        try check?.remember(transaction, at: stamp.timestamp)
        try raiseCounters(
            database, zoneRow, to: change.counter, hasFeed: key.hasFeed(zone), transaction)
        rows = change.rows
        return reply
    }

    private func save(
        _ change: OperationApplier, _ database: DatabaseRow, _ zoneRow: ZoneRow,
        _ transaction: any BackendTransaction
    ) throws {
        try transaction.save(change.rows, in: zoneRow.id)
        try change.sessions.types.save()
        try change.sessions.assets.save(in: zoneRow.id)
        try change.sessions.usage.save(in: zoneRow.id)
        try change.references.links.save()
        try QueryIndexing(database.id, transaction).note(change.rows, in: zoneRow.id)
    }

    private func token(_ change: Int64, _ line: EpochLine, _ key: DatabaseKey) -> String? {
        key.hasFeed(zone) ? SyncToken(line, of: .zone, change: change).text : nil
    }

    /// The row of a record. One on a broken page is not touched twice.
    private func row(
        _ name: String, _ zone: Int64, _ transaction: any BackendTransaction,
        _ broken: inout Set<ExactName>
    ) throws -> RecordRow? {
        guard !broken.contains(ExactName(name)) else {
            throw DamagedRow(cause: "a page of the file is damaged")
        }
        do {
            return try transaction.record(named: name, in: zone)
        } catch let error as DamagedRow {
            broken.insert(ExactName(name))
            throw error
        }
    }

    /// The default zone's row comes with its first write.
    private func places(
        _ key: DatabaseKey, _ transaction: any BackendTransaction
    ) throws -> (DatabaseRow, ZoneRow) {
        let database = try transaction.databaseForWriting(key, incarnation: incarnation)
        if zone.isDefault {
            let row = try transaction.zone(named: zone.zoneName, in: database.id)
            return (
                database,
                try row
                    ?? transaction.makeZone(
                        named: zone.zoneName, in: database.id, incarnation: incarnation)
            )
        }
        return (database, try transaction.liveZone(zone, in: database))
    }

    private func raiseCounters(
        _ database: DatabaseRow, _ zoneRow: ZoneRow, to counter: Int64, hasFeed: Bool,
        _ transaction: any BackendTransaction
    ) throws {
        var database = database
        var zoneRow = zoneRow
        zoneRow.counter = counter
        if hasFeed {
            try transaction.raiseCounter(of: &database)
            zoneRow.databaseChange = database.counter
            try transaction.save(database)
        }
        try transaction.save(zoneRow)
    }

    private func blocked(_ result: RecordResult) -> RecordResult {
        guard case .record(let record) = result else { return result }
        return .failure(
            RecordError(
                .atomicError,
                "Another operation of this atomic request was refused; see its entry.",
                recordName: record.recordName))
    }

    // MARK: Refusals of the whole request

    private static func check(
        _ record: Record, isIn zone: ZoneID, _ owner: String
    ) throws(RecordError) {
        guard let own = record.zoneID, own != zone else { return }
        guard try own.owned(by: owner) != zone else { return }
        throw RecordError(
            .badRequest,
            "The record names the zone \(own.zoneName), the request \(zone.zoneName); "
                + "send one request for each zone.", recordName: record.recordName)
    }

    private static func twice(_ name: String) -> RecordError {
        RecordError(
            .badRequest,
            name.isEmpty
                ? "Two operations have no record name; name the records to change."
                : "Two operations concern one record; send them one after another.",
            recordName: name)
    }

    private func tooLarge() -> RecordError {
        RecordError(
            .limitExceeded,
            "The records of the request take too many bytes; at most \(limits.requestBytesMax) are "
                + "taken. Split it and send the parts.")
    }

    private func tooMuchAtOnce() -> RecordError {
        RecordError(
            .limitExceeded,
            "The records that this atomic request changes are too large together; at most "
                + "\(limits.work.writtenBytesMax) bytes are written and \(limits.pageBytesMax) "
                + "answered at once. Split it, or ask for fewer fields with desiredKeys.")
    }
}

extension RecordOperation.Kind {
    var mayCreate: Bool { self == .create || self == .forceUpdate || self == .forceReplace }
}

extension RecordResult {
    var isFailure: Bool { if case .failure = self { true } else { false } }
}
