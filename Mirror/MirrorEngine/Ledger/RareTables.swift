internal import SQLiteDriver

/// Which of the tables that hold something only now and then hold anything. Each is asked once in
/// a transaction, so that a million records need not look for what is not there.
final class RareTables {
    enum Table: Int, CaseIterable {
        case refusals, inFlight, sentBatches, replays, foreign, deletions, outside, roots, shares
        case pendingLinks, formerRows, formerEdits, formerBases, computed

        fileprivate var name: String {
            switch self {
            case .refusals: "ADIPTYCHREFUSAL"
            case .inFlight: "ADIPTYCHINFLIGHT"
            case .sentBatches: "ADIPTYCHBATCH"
            case .replays: "ADIPTYCHREPLAY"
            case .foreign: "ADIPTYCHFOREIGN"
            case .deletions: "ADIPTYCHDELETED"
            case .outside: "ADIPTYCHOUTSIDE"
            case .roots: "ADIPTYCHROOT"
            case .shares: "ADIPTYCHSHARE"
            case .pendingLinks: "ANSCKIMPORTPENDINGRELATIONSHIP"
            case .formerRows: "ADIPTYCHFORMERROW"
            case .formerEdits: "ADIPTYCHFORMEREDIT"
            case .formerBases: "ADIPTYCHFORMERBASE"
            case .computed: "ADIPTYCHCOMPUTED"
            }
        }

        /// The tables of an older version of this library have none, or a migration makes it.
        fileprivate var isLater: Bool {
            [
                .outside, .roots, .shares, .sentBatches, .formerRows, .formerEdits, .formerBases,
                .computed,
            ].contains(self)
        }
    }

    /// What was found out, by table.
    private var known = [Bool?](repeating: nil, count: Table.allCases.count)

    /// Whether there may be a row; false only where there is none. What others write meanwhile
    /// waits for the transaction.
    func mayHold(_ table: Table, _ connection: Connection) throws -> Bool {
        if let known = known[table.rawValue] { return known }
        let holds =
            try (!table.isLater || isThere(table, connection))
            && connection.value("SELECT 1 FROM \(table.name) LIMIT 1") != nil
        known[table.rawValue] = holds
        return holds
    }

    private func isThere(_ table: Table, _ connection: Connection) throws -> Bool {
        try connection.value(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
            [.text(table.name)]) != nil
    }

    /// A row is added.
    func note(_ table: Table) { known[table.rawValue] = true }

    /// All rows are gone.
    func empty(_ table: Table) { known[table.rawValue] = false }
}

extension Ledger {
    func mayHold(_ table: RareTables.Table) throws -> Bool {
        try rare.mayHold(table, connection)
    }
}
