internal import RecordWire

/// What one request adds to what its zone holds, and whether the zone's owner may keep it.
final class UsageSession {
    private let owner: String
    private let standard: UserQuota
    private let transaction: any BackendTransaction
    private var change = StoredUse()
    /// What the owner may keep and has; looked up by the first write that needs more room.
    private var room: (quota: UserQuota, used: StoredUse)?

    /// `owner` is empty for a public database, which is nobody's.
    init(owner: String, standard: UserQuota, _ transaction: any BackendTransaction) {
        self.owner = owner
        self.standard = standard
        self.transaction = transaction
    }

    /// Throws QUOTA_EXCEEDED unless a record may have `bytes` in the place of what it has.
    func check(_ bytes: Int, over live: RecordRow?) throws {
        let growth = Self.growth(to: bytes, over: live)
        guard growth.records > 0 || growth.bytes > 0, !owner.isEmpty else { return }
        let (quota, used) = try lookUp()
        let wanted = used + change + growth
        if let max = quota.recordsMax, growth.records > 0, wanted.records > max {
            throw refusal("\(max) records")
        }
        if let max = quota.bytesMax, growth.bytes > 0, wanted.bytes > max {
            throw refusal("\(max) bytes of records")
        }
    }

    /// Takes note that a record has `bytes` now.
    func write(_ bytes: Int, over live: RecordRow?) {
        change = change + Self.growth(to: bytes, over: live)
    }

    /// Takes note that a record is gone.
    func remove(_ live: RecordRow?) {
        guard let live else { return }
        change = change + StoredUse(records: -1, bytes: -Int64(live.fields.count))
    }

    func save(in zone: Int64) throws { try transaction.add(change, to: zone) }

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
