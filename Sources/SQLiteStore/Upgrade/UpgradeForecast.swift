internal import SQLiteDriver
internal import Stores

/// What an upgrade would do, and what it needs.
package struct UpgradeForecast: Sendable {
    /// One table of entities.
    package struct Table: Sendable {
        package let name: String
        package let rows: Int64
        /// Whether its rows are written anew; else it stays where it is.
        package let isRewritten: Bool
    }

    /// In order of their names.
    package let tables: [Table]
    /// How much room the disk must have beside the file, at most: the tables that are written anew
    /// stand in the file and in its log for a while.
    package let bytesNeeded: Int64

    init(of upgrade: TableUpgrade, _ connection: Connection) throws {
        let found = try upgrade.forecast()
        var tables: [Table] = []
        for (name, isRewritten) in found {
            let rows = try connection.value("SELECT count(*) FROM \(name)")?.int64 ?? 0
            tables.append(Table(name: name, rows: rows, isRewritten: isRewritten))
        }
        let pages = try connection.value("PRAGMA page_count")?.int64 ?? 0
        let page = try connection.value("PRAGMA page_size")?.int64 ?? 0
        let all = tables.reduce(0) { $0 + $1.rows }
        let rewritten = tables.filter(\.isRewritten).reduce(0) { $0 + $1.rows }
        // How large a table is, no file tells quickly: its share of the rows stands for it.
        let share = all == 0 ? 0 : Double(rewritten) / Double(all)
        bytesNeeded = Int64(Double(pages * page) * share * 2) + 64 * page
        self.tables = tables
    }
}
