/// A reading of one table, whose answer holds until that table is written to.
package struct PostgresQuestion: Hashable, Sendable {
    package let table: String
    package let sql: String
    package let values: [PostgresValue]

    /// `sql` reads from `table` and from no other.
    package init(_ table: String, _ sql: String, _ values: [PostgresValue]) {
        self.table = table
        self.sql = sql
        self.values = values
    }
}
