internal import Foundation
internal import RecordWire

/// How much of its room one request has used.
struct RequestUse {
    /// Archived bytes of what the request itself brought.
    var sentBytes = 0
    /// Archived bytes of the rows to write.
    var writtenBytes = 0
    /// Archived bytes of the fields in the answer.
    var answeredBytes = 0
    /// Values that come into indexes.
    var newEntries = 0
    /// Whether an operation found no room in the transaction or the answer.
    var isFull = false
}

/// Applies operations to rows in memory, one after another, and gathers the rows to write.
struct OperationApplier {
    /// How the service speaks to who asks.
    struct Manner {
        let dialect: ServiceDialect
        /// The fields that the answer shows of the record at hand.
        var keys: Set<String>?
        /// Whether refusals tell the last writes of the record.
        let tellsWrites: Bool
        /// The epoch that wrote a change of the zone.
        let epoch: (Int64) -> UInt64
        /// Draws a name that nobody can guess.
        let makeGUID: () throws -> String
        /// Who asks, where the zone is another's.
        let participant: String?
        /// Whether shares are written as they come: somebody accepts or leaves one.
        var actsForService = false
        /// Fields that the client does not see: it takes none away by replacing a record.
        var retired = RetiredFields.none
    }

    let zone: ZoneID
    let stamp: RecordStamp
    let limits: ServiceLimits
    var manner: Manner
    let sessions: Sessions
    let damage: DamageReport
    /// The zone's last change number.
    private(set) var counter: Int64
    /// The epoch in which these operations are written.
    let epoch: UInt64
    var references: ReferenceCheck
    private(set) var rows: [RecordRow] = []
    /// Records that were written beside those that operations name, or again.
    private(set) var besides: Set<ExactName> = []
    private(set) var use = RequestUse()

    /// What is kept beside the rows.
    struct Sessions {
        let types: FieldTypeSession
        let assets: AssetSession
        let sharing: ShareSession
        let access: any RecordAccess
        let indexes: IndexSession
        let usage: UsageSession
        let naturalKeys: NaturalKeySession
    }

    init(
        zone: ZoneID, stamp: RecordStamp, limits: ServiceLimits, manner: Manner,
        sessions: Sessions, damage: DamageReport, counter: Int64,
        epoch: UInt64, references: ReferenceCheck
    ) {
        self.references = references
        self.zone = zone
        self.stamp = stamp
        self.limits = limits
        self.manner = manner
        self.sessions = sessions
        self.damage = damage
        self.counter = counter
        self.epoch = epoch
    }

    /// A refusal is the record's result; what else fails, fails the request.
    mutating func result(
        of operation: RecordOperation, on row: () throws -> RecordRow?
    ) throws -> RecordResult {
        let shares = sessions.sharing.state
        let expected = sessions.usage.expected
        let sentBytes = use.sentBytes
        do {
            try limits.checkName(operation.record.recordName, of: "record name")
            try checkOrigins(of: operation.record)
            let name = operation.record.recordName
            let row =
                besides.contains(ExactName(name))
                ? try storedRow(name) : try damage.guarding(name, in: zone, row)
            try sessions.access.check(operation, on: row)
            return .record(
                try damage.guarding(operation.record.recordName, in: zone) {
                    if let user = manner.participant, let row,
                        row.type.isExactly(Record.shareType)
                    {
                        return try leave(row, user)
                    }
                    return try apply(operation, to: row)
                })
        } catch var error as RecordError {
            sessions.sharing.state = shares
            sessions.usage.expected = expected
            error.recordName = operation.record.recordName
            // It may be performed again.
            if error.code == .uniqueFieldError { use.sentBytes = sentBytes }
            return .failure(error)
        }
    }

    mutating func apply(
        _ operation: RecordOperation, to row: RecordRow?
    ) throws -> Record {
        let live = row.flatMap { $0.isDeleted ? nil : $0 }
        switch operation.kind {
        case .create:
            if let live { throw try exists(live) }
            if let row, manner.dialect == .extended { try checkRevival(operation.record, of: row) }
            return try write(operation.record, over: nil, after: row, keeping: false)
        case .update, .replace:
            guard let row, live != nil || manner.dialect == .extended else {
                throw RecordService.notFound(operation.record.recordName, wasDeleted: false)
            }
            let tag = try checkTag(of: operation, row)
            guard let live else { throw try conflict(row, tag) }
            return try write(
                operation.record, over: live, after: row, keeping: operation.kind == .update)
        case .forceUpdate:
            return try write(operation.record, over: live, after: row, keeping: true)
        case .forceReplace:
            return try write(operation.record, over: live, after: row, keeping: false)
        case .delete, .forceDelete:
            return try delete(operation, row)
        }
    }

    // MARK: Writing

    /// `keeping`: fields that are not given stay as they are.
    private mutating func write(
        _ given: Record, over live: RecordRow?, after older: RecordRow?, keeping: Bool
    ) throws -> Record {
        let type = try recordType(of: given, over: live)
        try check(given.fields)
        if !manner.retired.isEmpty {
            for name in given.fields.keys.sorted() { try manner.retired.check(name, of: type) }
        }
        var given = given
        given.fields = try sessions.assets.settled(given.fields)
        var fields =
            keeping ? try live.map { try RecordArchive.decodeFields($0.fields) } ?? [:] : [:]
        if fields.isEmpty {
            let clears = given.fields.contains { $0.value == nil }
            fields = clears ? given.fields.filter { $0.value != nil } : given.fields
        } else {
            for (name, value) in given.fields {
                try checkSpelling(of: name, in: fields)
                fields[name] = value.map { .some($0) }
            }
        }
        let former = try oldFields(of: live)
        if !keeping {
            for name in manner.retired[type] where given.fields[name] == nil {
                fields[name] = former[name]
            }
        }
        try settleSharing(&fields, of: given, type: type, former)
        let archive = RecordArchive.encodeFields(fields)
        use.sentBytes +=
            keeping && live != nil
            ? RecordArchive.encodeFields(given.fields).count : archive.count
        try checkSize(fields.count, archive.count)
        let types = try sessions.types.check(given.fields, of: type)
        let keys = try naturalKeys(of: given.recordName, type, fields)
        var row = RecordRow(
            name: given.recordName, type: type, change: 0, epoch: epoch, isDeleted: false,
            fields: archive, created: live?.created ?? stamp, modified: stamp)
        let indexed = sessions.indexes.change(from: live, former, to: row, fields)
        try checkRoom(for: archive.count, entries: indexed.newCount)
        try sessions.usage.check(archive.count, over: live)
        let move = try shareMove(of: given.recordName, type: type, fields)
        try references.write(given.recordName, fields, after: former)
        if former.isEmpty {
            sessions.types.add(types)
        } else {
            try sessions.types.replace(former, with: fields, of: type)
        }
        sessions.assets.replace(former, with: fields, of: given.recordName)
        sessions.naturalKeys.give(keys, to: given.recordName, type, after: former)
        sessions.sharing.begin(move, &counter)
        sessions.indexes.note(indexed, of: given.recordName)
        counter += 1
        row.change = counter
        row.descend(from: older, by: given)
        rows.append(row)
        sessions.sharing.end(move, &counter)
        if type.isExactly(Record.shareType) { try finishShare(fields, of: given.recordName) }
        use.writtenBytes += archive.count
        use.newEntries += indexed.newCount
        if manner.keys?.isEmpty != true { use.answeredBytes += archive.count }
        return row.record(in: zone, fields: shown(fields, manner.keys))
    }

    /// A record deleted already answers the same again, so a request whose answer was lost may be
    /// sent again.
    private mutating func delete(_ operation: RecordOperation, _ row: RecordRow?) throws -> Record {
        let name = operation.record.recordName
        if manner.dialect == .plain, row?.isDeleted ?? true { return try deleteNothing(operation) }
        guard let row = try row ?? newTombstone(for: operation) else {
            throw RecordService.notFound(name, wasDeleted: false)
        }
        guard !row.isDeleted || row.change == 0 else { return row.record(in: zone, fields: [:]) }
        if operation.kind == .delete, operation.record.recordChangeTag != nil {
            try checkTag(of: operation, row)
        }
        for source in manner.participant == nil ? [] : try references.sources(goingWith: name) {
            try storedRow(source).map(checkTaking)
        }
        try references.delete(name)
        return try bury(row, by: operation.record).record(in: zone, fields: [:])
    }

    mutating func bury(_ row: RecordRow, by given: Record) throws -> RecordRow {
        let former = try oldFields(of: row.isDeleted ? nil : row)
        try sessions.types.remove(former, of: row.type)
        sessions.assets.replace(former, with: [:], of: row.name)
        sessions.naturalKeys.give([], to: row.name, row.type, after: former)
        sessions.usage.leave(row.isDeleted ? nil : row)
        sessions.indexes.remove(row)
        var row = row
        counter += 1
        row.change = counter
        row.epoch = epoch
        row.descend(from: row, by: given)
        row.isDeleted = true
        row.fields = Data()
        row.modified = stamp
        besides.contains(ExactName(row.name)) ? replace(row) : rows.append(row)
        try finishDeletion(of: row, former)
        return row
    }

    /// Puts a row in the place of an earlier one of this request, or beside the others.
    mutating func replace(_ row: RecordRow) {
        expect(row.name)
        rows.removeAll { $0.name.isExactly(row.name) }
        rows.append(row)
    }

    /// The record may be written a second time.
    mutating func expect(_ name: String) { besides.insert(ExactName(name)) }

    /// Takes numbers of the zone's order of changes that something else drew.
    mutating func raise(to number: Int64) { counter = max(counter, number) }

    /// Deletes what goes with the records that were deleted. `row` reads what the request did not
    /// write. Throws VALIDATING_REFERENCE_ERROR where a reference would lead nowhere.
    mutating func finish(_ row: (String) throws -> RecordRow?) throws {
        let written = Dictionary(rows.map { (ExactName($0.name), $0) }) { _, last in last }
        var check = references
        try check.finish { name in
            guard let row = try written[ExactName(name)] ?? row(name), !row.isDeleted else {
                return
            }
            try checkTaking(row)
            _ = try bury(row, by: Record(recordName: name, recordType: row.type))
        }
    }

    /// Refuses to take along what a participant may not delete alone. Throws ACCESS_DENIED.
    private func checkTaking(_ row: RecordRow) throws {
        guard manner.participant != nil, !row.isDeleted else { return }
        let refusal = RecordError(
            .accessDenied,
            "Records that you may not delete would go with this one; only the owner deletes it.")
        guard !row.type.isExactly(Record.shareType) else { throw refusal }
        let record = Record(recordName: row.name, recordType: row.type)
        do {
            try sessions.access.check(RecordOperation(.forceDelete, record), on: row)
        } catch is RecordError {
            throw refusal
        }
    }

    /// What the plain dialect answers where there is nothing to delete, or nothing any more.
    private func deleteNothing(_ operation: RecordOperation) throws -> Record {
        guard operation.kind == .forceDelete else {
            throw RecordService.notFound(operation.record.recordName, wasDeleted: false)
        }
        var gone = operation.record
        gone.deleted = true
        gone.fields = [:]
        gone.zoneID = zone
        return gone
    }

    /// The name of a record that never came is closed by a forceDelete, so that a late copy of the
    /// request that would have made it finds it deleted.
    private func newTombstone(for operation: RecordOperation) throws -> RecordRow? {
        guard operation.kind == .forceDelete else { return nil }
        let type = operation.record.recordType
        if !type.isEmpty { try limits.checkName(type, of: "record type") }
        return RecordRow(
            name: operation.record.recordName, type: type, change: 0,
            isDeleted: true, fields: Data(), created: stamp, modified: stamp)
    }

    /// The fields a record has before it is written. One that cannot be read is written over all
    /// the same, and its types stay taken.
    private func oldFields(of live: RecordRow?) throws -> RecordFields {
        guard let live else { return [:] }
        return (try? RecordArchive.decodeFields(live.fields)) ?? [:]
    }

    func shown(_ fields: RecordFields, _ keys: Set<String>?) -> RecordFields {
        guard let keys else { return fields }
        return fields.filter { keys.contains($0.key) || SharingField.isReserved($0.key) }
    }

    // MARK: Checks

    private func recordType(of given: Record, over live: RecordRow?) throws -> String {
        // A record that a damaged file lost has no type any more.
        guard let live, !live.type.isEmpty else {
            try limits.checkName(given.recordType, of: "record type")
            guard !given.isOfReservedType else { throw Self.reserved }
            return given.recordType
        }
        let type = given.recordType
        guard type.isEmpty || type.isExactly(live.type) else {
            throw RecordError(
                .badRequest,
                "The record is a \(live.type) and cannot become a \(given.recordType); "
                    + "delete it and create another.")
        }
        return live.type
    }

    private static let reserved = RecordError(
        .badRequest,
        "Record types that begin with cloudkit. are the protocol's own; of those the service keeps "
            + "\(Record.shareType) alone. Choose another name.")

    @discardableResult
    private mutating func checkTag(of operation: RecordOperation, _ row: RecordRow) throws -> String
    {
        guard let tag = operation.record.recordChangeTag else {
            throw RecordError(
                .badRequest,
                "\(operation.kind.rawValue) needs the recordChangeTag of the record it changes; "
                    + "send it, or use \(operation.kind.forced.rawValue).")
        }
        guard tag == row.tag.text else { throw try conflict(row, tag) }
        return tag
    }

    /// A deleted name comes to life again only for a client that knows of the deletion and names
    /// its tag: a late copy of the request that made the record first must not bring it back.
    private mutating func checkRevival(_ given: Record, of row: RecordRow) throws {
        guard let tag = given.recordChangeTag else { throw try exists(row) }
        guard tag == row.tag.text else { throw try conflict(row, tag) }
    }

    private mutating func conflict(_ row: RecordRow, _ tag: String) throws -> RecordError {
        let what = row.isDeleted ? "deleted" : "changed"
        let base = manner.dialect == .plain ? "look it up, merge" : "merge with serverRecord"
        return try showing(
            row,
            RecordError(
                .conflict,
                "The record was \(what) since tag \(tag) was given; \(base) and retry."))
    }

    private mutating func exists(_ row: RecordRow) throws -> RecordError {
        return try showing(
            row,
            RecordError(
                .exists,
                row.isDeleted
                    ? "A record of this name was deleted; send the deletion's tag to bring it back."
                    : "A record of this name exists; update it, or create one of another name."))
    }

    /// What the record is called by the natural keys of its type. Throws UNIQUE_FIELD_ERROR where
    /// another is called so, with that one, unless it is hidden from the caller.
    private mutating func naturalKeys(
        of name: String, _ type: String, _ fields: RecordFields
    ) throws -> [NaturalKeyValue] {
        let (values, holder) = try sessions.naturalKeys.check(name, type, fields)
        guard let holder else { return values }
        guard let row = try? storedRow(holder.name), try sessions.access.sees(row) else {
            throw RecordError(
                .uniqueFieldError,
                "A record that you do not see has the same \(holder.key.key), which is unique.")
        }
        throw try showing(
            row,
            RecordError(
                .uniqueFieldError,
                "The record \(holder.name) has the same \(holder.key.key), which is unique in a "
                    + "zone; change that one, or delete one of the two."))
    }

    /// The refusal with the service's record, while the answer has room for it; after that a client
    /// looks the record up.
    private mutating func showing(_ row: RecordRow, _ error: RecordError) throws -> RecordError {
        var error = error
        guard use.answeredBytes < limits.pages.bytesMax else {
            error.reason += " The answer is full; look the record up."
            return error
        }
        use.answeredBytes += row.fields.count + ServiceLimits.recordOverheadBytes
        error.serverRecord = try damage.guarding(row.name, in: zone) {
            try row.record(in: zone, tellsWrites: manner.tellsWrites)
        }
        return error
    }

    // MARK: Room

    /// Refuses this operation alone, for another request, when the rows to write or the fields to
    /// answer grow too large: a small edit of a large record costs the whole record, and one of a
    /// list an entry of an index for each element.
    private mutating func checkRoom(for bytes: Int, entries: Int) throws {
        let isAnswered = manner.keys?.isEmpty != true
        let fits =
            use.writtenBytes == 0
            || use.writtenBytes + bytes <= limits.work.writtenBytesMax
                && use.newEntries + entries <= limits.indexing.newEntriesMax
                && (!isAnswered || use.answeredBytes < limits.pages.bytesMax)
        guard !fits else { return }
        use.isFull = true
        var error = RecordError(
            .tryAgainLater,
            "The request is full before this record; send it again in another request.")
        error.retryAfterSeconds = 0
        throw error
    }

    /// Two names of one look and other bytes would be one field to some clients and two to others.
    private func checkSpelling(of name: String, in fields: RecordFields) throws {
        guard let spelling = fields.spelling(of: name), !spelling.isExactly(name) else { return }
        throw RecordError(
            .badRequest,
            "The field \(name) is spelled with other code points than the field of the same look "
                + "that the record has; send one spelling.")
    }

    /// A write ID is short and has no space; a replay names a tag.
    private func checkOrigins(of record: Record) throws {
        if let id = record.writeID {
            try limits.checkName(id, of: "write ID")
            guard !id.utf8.contains(UInt8(ascii: " ")) else {
                throw RecordError(.badRequest, "The write ID has a space; send one without.")
            }
        }
        guard record.replays.allSatisfy({ ChangeTag(text: $0.tag) != nil }) else {
            throw RecordError(.badRequest, "A replay names something that is no change tag.")
        }
    }

    private func check(_ fields: RecordFields) throws {
        for (name, value) in fields {
            try limits.checkName(name, of: "field name")
            try checkValue(value, in: name)
        }
    }

    private func checkValue(_ value: FieldValue?, in field: String) throws {
        switch value {
        case .list(let type, let elements):
            for element in elements {
                guard element.type == type else {
                    throw RecordError(
                        .badRequest,
                        "The list \(field) is of \(type.rawValue) and holds \(element.wireType).")
                }
                try checkValue(element, in: field)
            }
        case .encrypted(let plain): try checkValue(plain, in: field)
        case .location(let place): try check(place, in: field)
        case .reference(let target):
            try limits.checkName(target.recordName, of: "name of the record in \(field)")
        case .string, .int64, .double, .timestamp, .bytes, .asset, nil: return
        }
    }

    private func check(_ place: RecordLocation, in field: String) throws {
        guard (-90...90).contains(place.latitude), (-180...180).contains(place.longitude) else {
            throw RecordError(
                .badRequest,
                "The location \(field) is no place of the earth: a latitude is from -90 to 90, a "
                    + "longitude from -180 to 180.")
        }
    }

    private func checkSize(_ fields: Int, _ bytes: Int) throws {
        guard fields <= limits.fieldsPerRecordMax else {
            throw RecordError(
                .limitExceeded,
                "The record has \(fields) fields; at most \(limits.fieldsPerRecordMax) are taken.")
        }
        guard bytes <= limits.recordBytesMax else {
            throw RecordError(
                manner.dialect == .plain ? .quotaExceeded : .limitExceeded,
                "The record takes \(bytes) bytes; at most \(limits.recordBytesMax) are taken.")
        }
    }
}

extension RecordOperation.Kind {
    /// The same operation without the test for conflicts.
    fileprivate var forced: Self {
        switch self {
        case .update, .forceUpdate, .create: .forceUpdate
        case .replace, .forceReplace: .forceReplace
        case .delete, .forceDelete: .forceDelete
        }
    }
}
