public import Predicates

/// New values for all rows that a query finds.
public struct BatchUpdate: Sendable {
    /// What an attribute becomes.
    public enum Assignment: Sendable {
        /// The same value for all rows, normalized as a save's values are.
        case value(AttributeValue)
        /// Computed of each row as it was; normalized.
        case expression(ExpressionNode)
    }

    /// Which rows; its sorting has no effect.
    public var rows: RowQuery
    /// By the attribute's name.
    public var assignments: [(attribute: String, value: Assignment)] = []
    /// New targets of to-one relationships, by name; nil for none. Their inverses are to-manys
    /// without order, or none.
    public var links: [(relationship: String, target: RowID?)] = []
    /// Who changes it: goes into the history's transaction.
    public var author: String?
    /// The name of the context that asks: goes into the history's transaction, too.
    public var contextName: String?

    /// A batch update of nothing yet.
    public init(rows: RowQuery) { self.rows = rows }
}
