import Foundation

/// Why a statement of a real file may differ from ours. Nothing else may.
struct KnownReasons {
    let framework: Int
    let isMigrated: Bool
    private let ours: Set<String>
    private let theirs: Set<String>
    private let ourIndexes: Set<IndexShape>
    private let theirIndexes: Set<IndexShape>
    private let joins: (ours: JoinTexts, theirs: JoinTexts)

    init(framework: Int, isMigrated: Bool, ours: Set<String>, theirs: Set<String>) {
        self.framework = framework
        self.isMigrated = isMigrated
        self.ours = ours
        self.theirs = theirs
        ourIndexes = Set(ours.compactMap { IndexShape($0) })
        theirIndexes = Set(theirs.compactMap { IndexShape($0) })
        joins = (JoinTexts(ours, ourIndexes), JoinTexts(theirs, theirIndexes))
    }

    /// Why they have a statement that we do not make; nil where nobody knows.
    func reason(forTheirs text: String) -> String? {
        ofApplication(text) ?? ofOldFrameworks(text, others: ours, ourIndexes)
            ?? ofMigration(text) ?? ofJoins(text, others: joins.ours)
    }

    /// Why we make a statement that they do not have; nil where nobody knows.
    func reason(forOurs text: String) -> String? {
        if framework < 637, text.hasPrefix("CREATE TABLE Z_MODELCACHE") {
            return "no model cache up to FW 519"
        }
        if framework < 847, text.hasPrefix("CREATE INDEX Z_"), text.contains("_INDEX ON Z_") {
            return "no second index on join tables before FW 847"
        }
        if isMigrated, text.hasPrefix("CREATE TRIGGER Z_RT_"),
            theirs.contains(where: { $0.hasPrefix("CREATE VIRTUAL TABLE Z_RT_") })
        {
            return "triggers of an R-tree lost in a migration in place"
        }
        return ofOldFrameworks(text, others: theirs, theirIndexes)
            ?? ofJoins(text, others: joins.theirs)
    }

    // MARK: Applications

    private func ofApplication(_ text: String) -> String? {
        if text.hasPrefix("CREATE TRIGGER ZT_") { return "trigger of the application itself" }
        if text.hasPrefix("CREATE INDEX RADAR_") { return "index of the application itself" }
        return nil
    }

    // MARK: Old frameworks

    private func ofOldFrameworks(
        _ text: String, others: Set<String>, _ otherIndexes: Set<IndexShape>
    ) -> String? {
        if let index = IndexShape(text), otherIndexes.contains(index) {
            if framework < 847 { return "name of an index before FW 847" }
            if framework < 866 { return "name of a compound index before fetch indexes" }
        }
        if isUniqueness(text, others: others) {
            return "uniqueness declared in the table by an old framework"
        }
        let hasStrings = theirs.contains { $0.hasPrefix("CREATE TABLE ATRANSACTIONSTRING") }
        if !hasStrings, text.contains("ATRANSACTION") || text.contains("TRANSACTIONSTRING") {
            return "history of FW 851 keeps its texts in the transactions"
        }
        return nil
    }

    private func isUniqueness(_ text: String, others: Set<String>) -> Bool {
        if text.hasPrefix("CREATE TABLE") {
            return others.contains { Self.unconstrained($0) == Self.unconstrained(text) }
        }
        guard text.hasPrefix("CREATE UNIQUE INDEX"), let index = IndexShape(text) else {
            return false
        }
        let list = "UNIQUE (\(index.columns.joined(separator: ", "))"
        let column = "\(index.columns[0]) VARCHAR UNIQUE"
        return others.contains {
            $0.hasPrefix("CREATE TABLE \(index.table) ")
                && ($0.contains(list) || index.columns.count == 1 && $0.contains(column))
        }
    }

    /// The table without the clauses for uniqueness that old frameworks wrote into it.
    private static func unconstrained(_ sql: String) -> String {
        let plain = sql.replacing(" VARCHAR UNIQUE", with: " VARCHAR")
        guard let start = plain.range(of: ", CONSTRAINT ") else { return plain }
        return plain[..<start.lowerBound] + " )"
    }

    // MARK: Join tables

    /// Numbers that tell equal columns of different join tables apart are given in an order nobody
    /// knows; the rest of the statement must be the same.
    private func ofJoins(_ text: String, others: JoinTexts) -> String? {
        guard text.contains(" Z_"), !text.hasPrefix("CREATE TRIGGER") else { return nil }
        let isThere =
            IndexShape(text).map { others.indexes.contains($0.unnumbered) }
            ?? others.tables.contains(JoinTexts.unnumbered(text))
        return isThere ? "number that tells equal join columns apart, unknown order" : nil
    }

    // MARK: Migrations

    private func ofMigration(_ text: String) -> String? {
        guard isMigrated else { return nil }
        if let index = IndexShape(text), index.table.hasPrefix("Z_"),
            theirs.contains(where: { $0.hasPrefix("CREATE TABLE \(index.table) ") }),
            !text.hasPrefix("CREATE INDEX \(index.table)_")
        {
            return "index left by a migration in place, under the join table's former name"
        }
        if let index = IndexShape(text), index.columns.count == 1, ourIndexes.contains(index) {
            return "index of an attribute left by a migration in place beside its fetch index"
        }
        return nil
    }
}

/// What an index is over, whatever its name and the spelling of its order.
private struct IndexShape: Hashable {
    var table: String
    var columns: [String]

    var unnumbered: IndexShape {
        var index = self
        index.columns = columns.map(JoinTexts.unnumbered)
        return index
    }

    init?(_ sql: String) {
        guard let match = sql.firstMatch(of: /^CREATE (?:UNIQUE )?INDEX \S+ ON (\S+) \((.*)\)$/)
        else { return nil }
        table = String(match.output.1)
        columns = match.output.2.split(separator: ", ").map {
            $0.split(separator: " ").first.map(String.init) ?? ""
        }
    }
}

/// The statements about join tables without the numbers that tell equal columns apart.
private struct JoinTexts {
    let tables: Set<String>
    let indexes: Set<IndexShape>

    init(_ statements: Set<String>, _ indexes: Set<IndexShape>) {
        tables = Set(
            statements.filter { $0.hasPrefix("CREATE TABLE Z_") }.map(Self.unnumbered))
        self.indexes = Set(
            indexes.filter { $0.table.hasPrefix("Z_") }.map(\.unnumbered))
    }

    static func unnumbered(_ text: String) -> String {
        text.replacing(/(Z_(?:FOK_)?[0-9]+[A-Z]+)[0-9]+/) { String($0.output.1) }
    }
}
