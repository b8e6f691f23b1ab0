internal import Foundation
internal import SQLiteDriver

// A folder of values that several stores have: its name lacks the extension of the store's, so that
// a copy of `a.sqlite` that is called `a.db` names the same values.
extension ExternalFiles {
    /// Those of `names` that no other store of the folder names, so that they may go; none where
    /// one cannot be asked now. Cost: a look at the store's folder; where there is another store, a
    /// pass over its tables that may name values.
    func unnamedElsewhere(_ names: [UUID]) -> [UUID] {
        guard !names.isEmpty else { return [] }
        var left = Set(names)
        for store in neighbours where !left.isEmpty {
            guard let named = try? Self.named(left, in: store) else { return [] }
            left.subtract(named)
        }
        return names.filter(left.contains)
    }

    private static func named(_ names: Set<UUID>, in store: URL) throws -> Set<UUID> {
        let connection = try Connection.reading(store.path, busyMilliseconds: 0)
        let columns = try connection.rows(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
                + "WHERE m.type = 'table' AND c.type = 'BLOB' AND m.name GLOB 'Z*'"
        ).compactMap { row -> (table: String, column: String)? in
            guard let table = row[0].string, let column = row[1].string else { return nil }
            return (quoted(table), quoted(column))
        }
        var found: Set<UUID> = []
        for (table, column) in columns {
            try connection.forEachRow(
                "SELECT \(column) FROM \(table) WHERE length(\(column)) = 38"
            ) { statement in
                let name = statement.blob(at: 0).flatMap(ExternalFiles.name)
                if let name, names.contains(name) { found.insert(name) }
            }
        }
        return found
    }

    /// A name out of a file that anybody may have made.
    private static func quoted(_ name: String) -> String {
        "\"\(name.replacingOccurrences(of: "\"", with: "\"\""))\""
    }
}
