public import Foundation

/// One save in the history.
public struct HistoryTransaction: Sendable {
    public var number: Int64
    public var date: Date
    public var author: String?
    public var contextName: String?
    public var bundleID: String?
    public var processID: String?
    /// In the order in which they were written.
    public var changes: [HistoryChange]

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
        case insert = 0
        case update = 1
        case delete = 2
    }

    public var number: Int64
    public var kind: Kind
    public var id: RowID
    /// For updates: the names of the properties that changed.
    public var changedProperties: [String]
    /// For deletes: the values of attributes preserved after deletion.
    public var tombstone: [String: AttributeValue]

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
