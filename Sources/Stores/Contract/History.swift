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
