internal import RecordWire

/// What a service tells the others over the same rows after a commit.
enum CommitNotice: Hashable, Sendable {
    /// Something in a database may have changed: who waits for it looks.
    case database(DatabaseKey)
    /// Records of a zone were written, for those who wait at the courier.
    case records(WrittenRecords)
    /// Zones were made or deleted.
    case zones([String], DatabaseKey)
    /// Something that others share with the database's owner changed.
    case shared(DatabaseKey)
    /// A subscription that fires once did, and is gone; each service has devices to tell.
    case fired(FiredSubscription)
    /// Who may do what: a token was revoked, or a role given or taken.
    case access
    /// Nobody knows what.
    case anything
}

/// Records of one zone that were written, by what tells them from others.
struct WrittenRecords: Hashable, Sendable {
    let key: DatabaseKey
    let zone: String
    /// The numbers of their changes.
    var changes: ClosedRange<Int64>
    /// When they were written, in milliseconds since 1970.
    var times: ClosedRange<Int64>

    /// nil for no rows.
    init?(_ rows: [RecordRow], in zone: ZoneID, _ key: DatabaseKey) {
        let (changes, times) = (rows.map(\.change), rows.map(\.modified.timestamp))
        guard let first = changes.min(), let last = changes.max(), let from = times.min(),
            let to = times.max()
        else { return nil }
        self.init(key: key, zone: zone.zoneName, changes: first...last, times: from...to)
    }

    init(
        key: DatabaseKey, zone: String, changes: ClosedRange<Int64>, times: ClosedRange<Int64>
    ) {
        self.key = key
        self.zone = zone
        self.changes = changes
        self.times = times
    }

    func isOfZone(_ other: Self) -> Bool { key == other.key && zone.isExactly(other.zone) }

    mutating func take(_ other: Self) {
        changes =
            min(
                changes.lowerBound, other.changes.lowerBound)...max(
                changes.upperBound, other.changes.upperBound)
        times =
            min(
                times.lowerBound, other.times.lowerBound)...max(
                times.upperBound, other.times.upperBound)
    }

    /// More than a courier keeps for one who waits.
    private static let rowsMax = 1_000

    /// The rows as they are now, one that was made by these writes as it was made: it may have
    /// changed since, which its writer tells by itself.
    func rows(_ transaction: any BackendTransaction) throws -> [RecordRow] {
        guard let database = try transaction.database(key),
            let zone = try transaction.zone(named: zone, in: database.id), !zone.isDeleted
        else { return [] }
        let reading = FeedReading(
            zone: zone.id, after: changes.lowerBound - 1, limit: Self.rowsMax,
            lookedAtMax: Self.rowsMax)
        var rows: [RecordRow] = []
        _ = try transaction.records(reading) { entry in
            guard case .record(var row) = entry else { return true }
            if !row.isDeleted, times.contains(row.created.timestamp) {
                row.modified = row.created
                rows.append(row)
            } else if row.change <= changes.upperBound {
                rows.append(row)
            }
            return true
        }
        return rows
    }
}

/// What a subscription told when it fired for the first and last time.
struct FiredSubscription: Hashable, Sendable {
    let owner: CourierRow
    let key: DatabaseKey
    /// Its name and what notices show; the rest may be missing.
    let subscription: RecordSubscription
    let cause: CourierNotice.Cause

    func notice(with fields: RecordFields) -> CourierNotice {
        subscription.notice(of: cause, fields, in: key)
    }
}

/// Commits that wait to be told, with nothing twice.
struct CommitNotices {
    private var notices: Set<CommitNotice> = []
    private var records: [WrittenRecords] = []

    var isEmpty: Bool { notices.isEmpty && records.isEmpty }

    mutating func add(_ notice: CommitNotice) {
        guard case .records(let written) = notice else {
            notices.insert(notice)
            return
        }
        guard let index = records.firstIndex(where: { $0.isOfZone(written) }) else {
            return records.append(written)
        }
        records[index].take(written)
    }

    /// Records first, so that who is woken finds them told.
    var all: [CommitNotice] { records.map { .records($0) } + notices }
}
