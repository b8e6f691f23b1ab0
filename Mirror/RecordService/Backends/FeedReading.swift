internal import RecordWire

/// Which rows of a zone's feed to read.
struct FeedReading {
    var zone: Int64
    var after: Int64
    var through = Int64.max
    var isNewestFirst = false
    /// The most rows to give.
    var limit: Int
    /// The most rows to look at, also of types that are not wanted.
    var lookedAtMax: Int
    /// nil: records of all types.
    var types: [String]?

    /// Where it stands in its order before it gives anything.
    var start: Int64 { isNewestFirst ? through + 1 : after }
    var order: String { isNewestFirst ? "change DESC" : "change" }

    /// What is left behind `change`.
    func going(onBehind change: Int64) -> FeedReading {
        var left = self
        if isNewestFirst { left.through = change - 1 } else { left.after = change }
        return left
    }

    /// What comes up to `change`.
    func ending(at change: Int64?) -> FeedReading {
        var part = self
        guard let change else { return part }
        if isNewestFirst { part.after = change - 1 } else { part.through = change }
        return part
    }
}

/// One place in a zone's order of changes.
enum FeedEntry {
    case record(RecordRow)
    /// A record of a share, at the place where it came, changed or left.
    case member(RecordRow, change: Int64)
    /// A row that the backend cannot read; the name, where that much can be read.
    case damaged(name: String?, change: Int64)

    var change: Int64 {
        switch self {
        case .record(let row): row.change
        case .member(_, let change): change
        case .damaged(_, let change): change
        }
    }
}

/// How far a reading of the feed went.
struct FeedEnd {
    /// Rows that were looked at, or more.
    var lookedAt: Int
    /// The last change looked at, where rows may follow that were not; nil at the end of the feed.
    var stoppedAt: Int64?
}

/// A field of a record type.
struct FieldKey: Hashable {
    let recordType: ExactName
    let field: ExactName

    init(_ field: String, of recordType: String) {
        self.recordType = ExactName(recordType)
        self.field = ExactName(field)
    }
}

/// The type of a field, and how many records of the database have the field.
struct FieldUse: Hashable {
    var type: String
    var records: Int64
}
