internal import SQLiteDriver

/// What this device counted and the service has not confirmed, count by count.
///
/// Triggers upon the counters' columns write down each change as it is saved, whoever saves it;
/// the look at the history gives it a name.
extension Ledger {
    /// The tables of the counts; older ledgers have none.
    package func keepsCounts() throws -> Bool {
        try connection.value(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ADIPTYCHCOUNT'") != nil
    }

    /// The unconfirmed counts of an object, newest first.
    package func counts(of name: String) throws -> CountOperations {
        CountOperations(
            try connection.rows(
                "SELECT ZPROPERTY, ZLABEL, ZAMOUNT FROM ADIPTYCHCOUNT WHERE ZRECORDNAME = ? "
                    + "ORDER BY Z_PK DESC", [.text(name)]
            ).map { row in
                CountOperation(
                    property: row[0].string ?? "", label: row[1].string ?? "",
                    amount: row[2].int64 ?? 0)
            })
    }

    /// Adds a count; a second one of the same transaction goes with the first.
    package func keepCount(_ operation: CountOperation, of name: String) throws {
        try connection.run(
            "INSERT INTO ADIPTYCHCOUNT (ZRECORDNAME, ZPROPERTY, ZLABEL, ZAMOUNT) "
                + "VALUES (?, ?, ?, ?) ON CONFLICT (ZRECORDNAME, ZPROPERTY, ZLABEL) "
                + "DO UPDATE SET ZAMOUNT = ZAMOUNT + excluded.ZAMOUNT",
            [
                .text(name), .text(operation.property), .text(operation.label),
                .integer(operation.amount),
            ])
    }

    /// Forgets the counts that the service is now known to have.
    package func confirm(_ counts: CountOperations, of name: String) throws {
        for operation in counts.operations {
            try connection.run(
                "DELETE FROM ADIPTYCHCOUNT WHERE ZRECORDNAME = ? AND ZPROPERTY = ? AND ZLABEL = ?",
                [.text(name), .text(operation.property), .text(operation.label)])
        }
    }

    package func forgetCounts(of name: String) throws {
        try connection.run("DELETE FROM ADIPTYCHCOUNT WHERE ZRECORDNAME = ?", [.text(name)])
    }

    /// Runs `body` without its writes being taken for counts. What throws undoes the transaction.
    func withoutCounting(_ body: () throws -> Void) throws {
        try connection.run("INSERT INTO ADIPTYCHQUIET (Z_PK) VALUES (1)")
        try body()
        try connection.run("DELETE FROM ADIPTYCHQUIET")
    }

    /// Forgets what was written down and not yet named: the history that would name it is gone.
    func forgetCountLog() throws { try connection.run("DELETE FROM ADIPTYCHCOUNTLOG") }
}
