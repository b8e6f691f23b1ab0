internal import RecordWire

/// What a transaction read of records before it is asked for them, under the lock on their zone.
struct ExpectedRecords {
    private let zone: Int64?
    /// Those that are there and were not asked for yet.
    private var waiting: [ExactName: RecordRow] = [:]
    /// The names of which the zone has no row, until the transaction writes one.
    private var absent: Set<ExactName> = []
    /// The changes of the rows that it wrote.
    private var inserted: [ExactName: Int64] = [:]

    /// Nothing is known.
    init() { zone = nil }

    /// None of them is there, unless it is noted.
    init(_ names: [String], in zone: Int64) {
        self.zone = zone
        absent = Set(names.map { ExactName($0) })
    }

    /// A record is there.
    mutating func note(_ row: RecordRow) {
        let name = ExactName(row.name)
        absent.remove(name)
        waiting[name] = row
    }

    /// A record is there, and is to be read when it is asked for.
    mutating func noteUnread(_ name: String) { absent.remove(ExactName(name)) }

    /// Gives each that is there once; nil where nothing is known.
    mutating func take(_ name: String, in zone: Int64) -> RecordRow?? {
        guard zone == self.zone else { return nil }
        let name = ExactName(name)
        if absent.contains(name) { return .some(nil) }
        return waiting.removeValue(forKey: name).map { .some($0) }
    }

    /// Notes that a row is written; false where the zone may have one of that name.
    mutating func insert(_ row: RecordRow, in zone: Int64) -> Bool {
        let name = ExactName(row.name)
        guard zone == self.zone, absent.remove(name) != nil else { return false }
        inserted[name] = row.change
        return true
    }

    /// Whether this very row was written.
    func hasInserted(_ row: RecordRow, in zone: Int64) -> Bool {
        zone == self.zone && inserted[ExactName(row.name)] == row.change
    }
}
