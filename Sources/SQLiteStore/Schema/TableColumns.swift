internal import SQLiteDriver

/// A table of the file: its columns, and which of them have an index of Apple's for keys.
struct TableColumns {
    struct Column {
        let name: String
        let type: String
        var quoted: String { TableColumns.quoted(name) }
    }

    let name: String
    var columns: [Column] = []
    var indexed: Set<String> = []

    var quoted: String { Self.quoted(name) }
    var hasKey: Bool { has("Z_PK") }
    func has(_ column: String) -> Bool { columns.contains { $0.name == column } }

    /// The number in the name of the column beside `column` that tells the entity of its key.
    func companion(of column: String) -> Int64? {
        let ending = "_\(column.dropFirst())"
        for other in columns where other.name.hasSuffix(ending) {
            if let number = Int64(other.name.dropFirst().dropLast(ending.count)) { return number }
        }
        return nil
    }

    static func all(in connection: Connection) throws -> [String: TableColumns] {
        var tables: [String: TableColumns] = [:]
        let columns = try connection.rows(
            "SELECT m.name, c.name, upper(c.type) "
                + "FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' "
                + "AND m.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY c.cid"
        )
        for row in columns {
            guard let table = row[0].string, let column = row[1].string else { continue }
            tables[table, default: TableColumns(name: table)].columns.append(
                Column(name: column, type: row[2].string ?? ""))
        }
        let indexes = try connection.rows(
            "SELECT tbl_name, name FROM sqlite_master WHERE type = 'index'")
        for row in indexes {
            guard let table = row[0].string, let index = row[1].string,
                index.hasPrefix("\(table)_"), index.hasSuffix("_INDEX")
            else { continue }
            tables[table]?.indexed.insert(
                String(index.dropFirst(table.count + 1).dropLast("_INDEX".count)))
        }
        return tables
    }

    private static func quoted(_ name: String) -> String {
        "\"\(name.replacing("\"", with: "\"\""))\""
    }
}
