internal import SQLiteDriver

/// Objects that are not to be sent, by the names of their records.
extension Ledger {
    static let outsideTable =
        "CREATE TABLE IF NOT EXISTS ADIPTYCHOUTSIDE (ZRECORDNAME VARCHAR PRIMARY KEY) WITHOUT ROWID"

    func setOutside(_ isOutside: Bool, _ name: String) throws {
        if isOutside {
            rare.note(.outside)
            try connection.run(
                "INSERT OR IGNORE INTO ADIPTYCHOUTSIDE (ZRECORDNAME) VALUES (?)", [.text(name)])
        } else if try mayHold(.outside) {
            try connection.run(
                "DELETE FROM ADIPTYCHOUTSIDE WHERE ZRECORDNAME = ?", [.text(name)])
        }
    }

    /// Whether the selection leaves an object out, by the name of its record.
    package func isOutside(_ name: String) throws -> Bool {
        guard try mayHold(.outside) else { return false }
        return try connection.value(
            "SELECT 1 FROM ADIPTYCHOUTSIDE WHERE ZRECORDNAME = ?", [.text(name)]) != nil
    }

    /// Ends a condition on lines: those are left out whose record, called `columns`, is outside.
    func withoutOutside(_ columns: String) throws -> String {
        guard try mayHold(.outside) else { return "" }
        return " AND NOT EXISTS (SELECT 1 FROM ADIPTYCHOUTSIDE o "
            + "WHERE o.ZRECORDNAME IN (\(columns)))"
    }

    func outsideCount() throws -> Int {
        guard try mayHold(.outside) else { return 0 }
        return Int(try connection.value("SELECT count(*) FROM ADIPTYCHOUTSIDE")?.int64 ?? 0)
    }

    func forgetOutside() throws {
        guard try mayHold(.outside) else { return }
        try connection.run("DELETE FROM ADIPTYCHOUTSIDE")
    }
}
