internal import Foundation
internal import RecordWire

/// Decides what one `records/modify` writes and answers. (SERVICE §3)
struct RecordModification {
    private let operations: [RecordOperation]
    private let address: ZoneAddress
    private var zone: ZoneID { address.shown }
    private let isAtomic: Bool
    private let keys: Set<String>?
    private let stamp: RecordStamp
    private let limits: ServiceLimits
    private let dialect: ServiceDialect
    private let client: ClientState?
    private let rules: AccessRules
    private let draw: Drawing
    /// Whether shares are written as they come.
    private let actsForService: Bool

    /// Numbers and names that nobody can foretell.
    struct Drawing {
        let number: () -> UInt64
        let name: () -> String
        /// Part of an address: who has it may use it.
        let secret: () throws -> String
    }

    /// What it did, for those who wait for changes.
    struct Written {
        var rows: [RecordRow] = []
        /// Whose shared databases changed.
        var users: Set<String> = []
    }

    /// Checks what concerns the request as a whole, and names the records that come without a name.
    init(
        _ modify: ModifyRecords, at address: ZoneAddress, stamp: RecordStamp,
        limits: ServiceLimits, dialect: ServiceDialect, rules: AccessRules, draw: Drawing,
        actsForService: Bool = false
    ) throws(RecordError) {
        try limits.checkCount(modify.operations.count, of: "operations")
        self.address = address
        self.actsForService = actsForService
        isAtomic = modify.atomic
        keys = modify.desiredKeys.map { Set($0) }
        self.stamp = stamp
        self.limits = limits
        self.dialect = dialect
        client = modify.client
        self.rules = rules
        self.draw = draw
        var names: Set<ExactName> = []
        var named: [RecordOperation] = []
        named.reserveCapacity(modify.operations.count)
        for operation in modify.operations {
            var operation = operation
            if operation.record.recordName.isEmpty, operation.kind.mayCreate {
                operation.record.recordName = draw.name()
            }
            guard names.insert(ExactName(operation.record.recordName)).inserted else {
                throw Self.twice(operation.record.recordName)
            }
            try Self.check(operation.record, isIn: address)
            named.append(operation)
        }
        operations = named
        if let device = stamp.deviceID, device.utf8.count > limits.nameBytesMax {
            try limits.checkName(device, of: "device name")
        }
    }

    /// One result per operation, in order, and the zone's tokens before and after. Writes no record
    /// when the request is atomic and one is refused.
    func perform(
        _ transaction: any BackendTransaction, damage: DamageReport,
        broken: inout Set<ExactName>, written: inout Written
    ) throws -> RecordsReply {
        written = Written()
        let key = address.key
        let place = try place(transaction)
        let (database, zoneRow) = (place.database, place.row)
        let known = try transaction.line(of: zoneRow)
        let check = ClientCheck(client, zone: zoneRow, zoneID: zone, limits: limits)
        try check?.run(known, transaction)
        let line = try transaction.lineForWriting(known)
        let view = try place.access.view
        let before = token(zoneRow.counter, place.line, view)
        let sessions = try sessions(in: place, transaction)
        var change = OperationApplier(
            zone: zone, stamp: stamp, limits: limits, manner: manner(known), sessions: sessions,
            damage: damage, counter: zoneRow.counter, epoch: line.epochs.last?.id ?? 0,
            references: try references(in: zoneRow, sessions.access, transaction))
        try transaction.expect(records: operations.map(\.record.recordName), in: zoneRow.id)
        try sessions.naturalKeys.expect(operations)
        var begun = 0
        // Rows are read one at a time: all of them at once may be four hundred megabytes.
        let perform = { (operation: RecordOperation) in
            change.manner.keys = keys(of: operation)
            let result = try change.result(of: operation) {
                var row = try row(operation.record.recordName, zoneRow.id, transaction, &broken)
                if let change = row?.change { row?.epoch = known.epoch(of: change) }
                sessions.usage.see(row)
                return row
            }
            guard change.use.sentBytes <= limits.requestBytesMax else { throw tooLarge() }
            try begin(saving: change.rows, &begun, in: zoneRow, transaction)
            return result
        }
        var results = try operations.inOrderOfWriting(perform)
        try operations.repeatWhereKeysAreFree(&results, sessions.naturalKeys, perform)
        try tell(change, in: &results)
        if isAtomic, change.use.isFull { throw tooMuchAtOnce() }
        let isRefused = isAtomic && results.contains(where: \.isFailure)
        var reply = RecordsReply(
            results: isRefused ? results.map(blocked) : results, syncToken: before,
            previousSyncToken: before)
        if !isRefused, known.isNews(to: client) { reply.epochs = place.line }
        guard !isRefused, !change.rows.isEmpty else {
            try check?.remember(refused: results, transaction, at: stamp.timestamp)
            return reply
        }
        let own = change.counter
        try change.finish { name in
            let row = try row(name, zoneRow.id, transaction, &broken)
            sessions.usage.see(row)
            return row
        }
        var shown = line
        shown.newest = change.counter
        shown.incarnation = place.line.incarnation
        reply.syncToken = token(own, shown, view)
        // The client has not heard of what went with its operations: it reads on from its writes.
        if change.counter > own || !change.besides.isEmpty { reply.previousSyncToken = nil }
        if shown.isNews(to: client) { reply.epochs = shown }
        try save(change, zoneRow, transaction)
        try transaction.keep(line, after: known, of: .zone, zoneRow.id, newest: change.counter)
        try check?.remember(transaction, at: stamp.timestamp)
        try raiseCounters(
            database, zoneRow, to: change.counter, hasFeed: key.hasFeed(zone), transaction)
        written.users = try sessions.sharing.save(draw.number)
        written.rows = change.rows
        return reply
    }

    /// Rows are given to the backend in groups of so many while the rest is decided.
    private static let rowsBegunMax = 64

    /// Where the request is written whatever becomes of its other operations.
    private func begin(
        saving rows: [RecordRow], _ begun: inout Int, in zoneRow: ZoneRow,
        _ transaction: any BackendTransaction
    ) throws {
        guard !isAtomic, rows.count >= begun + Self.rowsBegunMax else { return }
        try transaction.begin(saving: rows[begun...], in: zoneRow.id)
        begun = rows.count
    }

    private func references(
        in zoneRow: ZoneRow, _ access: any RecordAccess,
        _ transaction: any BackendTransaction
    ) throws -> ReferenceCheck {
        let seesAll = address.participant == nil && access.seesAll
        return ReferenceCheck(
            zone: zone, of: address.key.owner,
            links: try ReferenceLinks(in: zoneRow.id, transaction), limits: limits,
            operations: operations, access: seesAll || actsForService ? nil : access,
            keepsForUnseen: address.participant != nil)
    }

    private func sessions(
        in place: ZonePlace, _ transaction: any BackendTransaction
    ) throws -> OperationApplier.Sessions {
        let sharing = try ShareSession(
            place.row, address.key, time: stamp.timestamp, limits: limits, transaction)
        (place.access as? ShareAccess)?.session = sharing
        return OperationApplier.Sessions(
            types: FieldTypeSession(
                place.database.id, transaction,
                schema: try rules.schemas.binding(address.key, transaction)),
            assets: AssetSession(
                place.database.id, transaction, now: stamp.timestamp,
                takesNamed: address.participant == nil && dialect == .extended),
            sharing: sharing, access: place.access,
            indexes: try IndexSession(place.database.id, transaction),
            usage: UsageSession(
                owner: address.key.owner, standard: limits.retention.quota, transaction),
            naturalKeys: NaturalKeySession(
                place.row.id, transaction, try rules.schemas.naturalKeys(address.key, transaction)))
    }

    private func manner(_ line: EpochLine) -> OperationApplier.Manner {
        OperationApplier.Manner(
            dialect: dialect, keys: keys, tellsWrites: client != nil, epoch: line.epoch,
            makeGUID: draw.secret, participant: actsForService ? nil : address.participant,
            actsForService: actsForService, retired: rules.retired)
    }

    private func save(
        _ change: OperationApplier, _ zoneRow: ZoneRow, _ transaction: any BackendTransaction
    ) throws {
        try transaction.save(change.rows, in: zoneRow.id)
        try change.sessions.types.save()
        try change.sessions.assets.save(in: zoneRow.id)
        try change.sessions.usage.save(change.rows, in: zoneRow.id)
        try change.references.links.save()
        try change.sessions.naturalKeys.save()
        try change.sessions.indexes.save(in: zoneRow.id)
    }

    private func token(_ change: Int64, _ line: EpochLine, _ view: HiddenView?) -> String? {
        guard address.key.hasFeed(zone) else { return nil }
        return SyncToken(line, of: .zone, change: change, view: view).text
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
    private func place(_ transaction: any BackendTransaction) throws -> ZonePlace {
        if address.participant == nil {
            let database = try transaction.databaseForWriting(
                address.key, incarnation: draw.number())
            if zone.isDefault,
                try transaction.zone(named: zone.zoneName, in: database.id) == nil
            {
                try transaction.holdSchema(ofContainer: address.key.container)
                _ = try transaction.makeZone(
                    named: zone.zoneName, in: database.id, incarnation: draw.number())
            }
        }
        guard let place = try ZonePlace(address, rules, transaction) else {
            throw zone.notFound(wasDeleted: false)
        }
        return place
    }

    /// What later operations did to the records of earlier ones stands in their answers.
    private func tell(_ change: OperationApplier, in results: inout [RecordResult]) throws {
        guard !change.besides.isEmpty else { return }
        for (index, operation) in operations.enumerated()
        where change.besides.contains(ExactName(operation.record.recordName)) {
            guard case .record(let record) = results[index], !record.isShare,
                let row = change.rows.last(where: { $0.name.isExactly(record.recordName) })
            else { continue }
            let fields = row.isDeleted ? [:] : try RecordArchive.decodeFields(row.fields)
            results[index] = .record(
                row.record(in: zone, fields: change.shown(fields, keys(of: operation))))
        }
    }

    /// The fields that the answer shows of an operation's record.
    private func keys(of operation: RecordOperation) -> Set<String>? {
        operation.desiredKeys.map { Set($0) } ?? keys
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
        _ record: Record, isIn address: ZoneAddress
    ) throws(RecordError) {
        let zone = address.shown
        guard let own = record.zoneID, own != zone else { return }
        guard try address.ownSpelling(of: own) != zone else { return }
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
                + "\(limits.work.writtenBytesMax) bytes are written, \(limits.pages.bytesMax) "
                + "answered and \(limits.indexing.newEntriesMax) values indexed at once. Split it, "
                + "or ask for fewer fields with desiredKeys.")
    }
}

extension RecordOperation.Kind {
    var mayCreate: Bool { self == .create || self == .forceUpdate || self == .forceReplace }
}

extension RecordResult {
    var isFailure: Bool { if case .failure = self { true } else { false } }
}
