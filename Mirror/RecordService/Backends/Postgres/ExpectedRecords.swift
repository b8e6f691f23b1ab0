internal import RecordWire

/// What a transaction read of records before it is asked for them, under the lock on their zone.
struct ExpectedRecords {
    private let zone: Int64?
    /// Those not asked for yet; nil where there is none.
    private var waiting: [ExactName: RecordRow?] = [:]
    /// The names of which the zone has no row, until the transaction writes.
    private var absent: Set<ExactName> = []

    /// Nothing is known.
    init() { zone = nil }

    /// None of them is there, unless it is noted.
    init(_ names: [String], in zone: Int64) {
        self.zone = zone
        absent = Set(names.map { ExactName($0) })
        waiting = Dictionary(absent.map { ($0, nil) }) { first, _ in first }
    }

    /// A record is there.
    mutating func note(_ row: RecordRow) {
        let name = ExactName(row.name)
        absent.remove(name)
        waiting[name] = .some(row)
    }

    /// A record is there, and is to be read when it is asked for.
    mutating func noteUnread(_ name: String) {
        absent.remove(ExactName(name))
        waiting[ExactName(name)] = nil
    }

    /// Gives each once; nil where nothing is known.
    mutating func take(_ name: String, in zone: Int64) -> RecordRow?? {
        zone == self.zone ? waiting.removeValue(forKey: ExactName(name)) : nil
    }

    /// Whether the zone is known to have no row of that name.
    func lacks(_ name: String, in zone: Int64) -> Bool {
        zone == self.zone && absent.contains(ExactName(name))
    }
}
