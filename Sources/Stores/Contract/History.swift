public import Foundation

/// One save in the history.
public struct HistoryTransaction: Sendable {
    /// Ascending, never given twice in one store, with gaps where transactions were removed. Z_PK
    /// of the transaction's table.
    public var number: Int64
    /// The platform's time when it was written; it may go back where the machine's clock does.
    public var date: Date
    /// Who changed it (`transactionAuthor`); nil where the context names nobody.
    public var author: String?
    /// The context's name; nil where it has none.
    public var contextName: String?
    /// The program that wrote it (a bundle's identifier or the process's name).
    public var bundleID: String?
    /// The name of the process that wrote it.
    public var processID: String?
    /// In the order in which they were written.
    public var changes: [HistoryChange]

    /// For stores, which read or write it; who and where are set afterwards.
    public init(number: Int64, date: Date, changes: [HistoryChange] = []) {
        self.number = number
        self.date = date
        self.changes = changes
    }
}

/// Which transactions of the history to read.
public struct HistoryQuery: Sendable {
    /// The number of the last transaction that is known; 0 for none. What came after it must still
    /// be there.
    public var after: Int64
    /// Only transactions of higher numbers, whether or not there are gaps before them.
    public var above: Int64 = 0
    /// Only transactions of later moments.
    public var since: Date?
    /// How many at most; nil for all.
    public var limit: Int?
    /// Whether the changes are read, too.
    public var includesChanges = true

    /// All that came after a transaction, with changes.
    public init(after number: Int64 = 0) { after = number }

    /// The number that all transactions asked for exceed.
    package var lowest: Int64 { max(after, above) }
}

/// How much of the history is to be removed, beginning with the oldest transaction.
public enum HistoryExtent: Sendable {
    /// Everything there is.
    case all
    /// Up to and with a number.
    case upTo(Int64)
    /// Up to the first transaction that is of this moment or later.
    case before(Date)
}

/// One who reads the history and must see it before it goes.
public struct HistoryConsumer: Sendable, Hashable {
    /// What it calls itself; one name is one consumer.
    public var name: String
    /// The number of the last transaction it has seen; 0 for none.
    public var lastSeen: Int64
    /// When it said so.
    public var date: Date

    /// For stores, which read it or write it down.
    public init(name: String, lastSeen: Int64, date: Date) {
        self.name = name
        self.lastSeen = lastSeen
        self.date = date
    }
}

/// What a removal of history did.
public struct HistoryRemoval: Sendable, Hashable {
    /// How many transactions were removed.
    public var transactions = 0
    /// How many changes went with them.
    public var changes = 0
    /// The consumers for whom transactions were kept that were to go.
    public var heldBy: [String] = []

    public init() {}
}

/// One row's change within a transaction.
public struct HistoryChange: Sendable {
    /// Raw values are those of ZCHANGETYPE.
    public enum Kind: Int64, Sendable {
        /// A row that the transaction made.
        case insert = 0
        /// A row whose values, links or members the transaction changed.
        case update = 1
        /// A row that the transaction ended.
        case delete = 2
    }

    /// Ascending within the store. Z_PK of the changes' table.
    public var number: Int64
    /// What happened to the row.
    public var kind: Kind
    /// The row, which may be gone since.
    public var id: RowID
    /// For updates: the names of the properties that changed.
    public var changedProperties: [String]
    /// For deletes: the values of attributes preserved after deletion.
    public var tombstone: [String: AttributeValue]

    /// For stores, which read or write it.
    public init(
        number: Int64, kind: Kind, id: RowID, changedProperties: [String] = [],
        tombstone: [String: AttributeValue] = [:]
    ) {
        self.number = number
        self.kind = kind
        self.id = id
        self.changedProperties = changedProperties
        self.tombstone = tombstone
    }
}
