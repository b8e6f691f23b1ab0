internal import RecordWire

/// What one request adds to what its zone holds, and whether the zone's owner may keep it.
final class UsageSession {
    private let owner: String
    private let standard: UserQuota
    private let transaction: any BackendTransaction
    /// What the operations so far need more, as far as it counts for the quota; one that is refused
    /// is undone by putting the former back.
    var expected = StoredUse()
    /// What the records took before this request.
    private var seen: [ExactName: StoredUse] = [:]
    /// What the owner may keep and has; looked up by the first write that needs more room.
    private var room: (quota: UserQuota, used: StoredUse)?

    /// `owner` is empty for a public database, which is nobody's.
    init(owner: String, standard: UserQuota, _ transaction: any BackendTransaction) {
        self.owner = owner
        self.standard = standard
        self.transaction = transaction
    }

    /// Takes note of a row as it is stored, before it is written.
    func see(_ row: RecordRow?) {
        guard let row else { return }
        let name = ExactName(row.name)
        if seen[name] == nil { seen[name] = Self.use(of: row) }
    }

    /// Throws QUOTA_EXCEEDED unless a record may have `bytes` in the place of what it has.
    func check(_ bytes: Int, over live: RecordRow?) throws {
        let growth = Self.growth(to: bytes, over: live)
        if growth.records > 0 || growth.bytes > 0, !owner.isEmpty {
            let (quota, used) = try lookUp()
            let wanted = used + expected + growth
            if let max = quota.recordsMax, growth.records > 0, wanted.records > max {
                throw refusal("\(max) records")
            }
            if let max = quota.bytesMax, growth.bytes > 0, wanted.bytes > max {
                throw refusal("\(max) bytes of records")
            }
        }
        expected = expected + growth
    }

    /// Takes note of the room that a deleted record leaves.
    func leave(_ live: RecordRow?) {
        guard let live else { return }
        expected = expected + StoredUse(records: -1, bytes: -Int64(live.fields.count))
    }

    /// Counts what is written, whatever was refused before. Of rows of one name the last counts.
    func save(_ rows: [RecordRow], in zone: Int64) throws {
        var kept: [ExactName: StoredUse] = [:]
        kept.reserveCapacity(rows.count)
        for row in rows { kept[ExactName(row.name)] = Self.use(of: row) }
        let change = kept.reduce(into: StoredUse()) { change, row in
            let former = seen[row.key] ?? StoredUse()
            change.records += row.value.records - former.records
            change.bytes += row.value.bytes - former.bytes
        }
        try transaction.add(change, to: zone)
    }

    private static func use(of row: RecordRow) -> StoredUse {
        row.isDeleted
            ? StoredUse() : StoredUse(records: 1, bytes: Int64(row.fields.count))
    }

    private static func growth(to bytes: Int, over live: RecordRow?) -> StoredUse {
        StoredUse(
            records: live == nil ? 1 : 0, bytes: Int64(bytes) - Int64(live?.fields.count ?? 0))
    }

    private func lookUp() throws -> (quota: UserQuota, used: StoredUse) {
        if let room { return room }
        let own = try transaction.quota(of: owner)
        let quota = UserQuota(
            recordsMax: own?.recordsMax ?? standard.recordsMax,
            bytesMax: own?.bytesMax ?? standard.bytesMax)
        let isLimited = quota != UserQuota()
        let found = (quota, isLimited ? try transaction.use(ofOwner: owner) : StoredUse())
        room = found
        return found
    }

    private func refusal(_ what: String) -> RecordError {
        RecordError(
            .quotaExceeded,
            "With this record its owner would have more than the \(what) that are kept for one "
                + "user; delete some.")
    }
}
