internal import SQLiteDriver

/// The tables of the history, as Apple declares them.
enum HistoryTables {
    static let change: Int64 = 16001
    static let transaction: Int64 = 16002
    static let string: Int64 = 16003

    /// The names of the system entities, by number.
    static let names: [(number: Int64, name: String)] = [
        (change, "CHANGE"), (transaction, "TRANSACTION"), (string, "TRANSACTIONSTRING"),
    ]

    private static let changeStart =
        "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, "
        + "ZCOLUMNS BLOB"

    private static let transactionTable =
        "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, "
        + "ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, "
        + "ZPROCESSID VARCHAR, ZQUERYGEN BLOB )"

    private static let stringTable =
        "CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, "
        + "Z_OPT INTEGER, ZNAME VARCHAR )"

    /// The columns of a transaction that point to its strings.
    static let stringColumns = ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"]

    private static let changeIndex =
        "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)"

    private static let otherIndexes =
        stringColumns.map { "CREATE INDEX ATRANSACTION_\($0)_INDEX ON ATRANSACTION (\($0))" } + [
            "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION "
                + "(ZAUTHOR COLLATE BINARY ASC)",
            "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION "
                + "(ZTIMESTAMP COLLATE BINARY ASC)",
            "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING "
                + "(ZNAME COLLATE BINARY ASC)",
        ]

    static func statements(tombstones: Int) -> [String] {
        let columns = (0..<tombstones).map { ", ZTOMBSTONE\($0) BLOB" }.joined()
        return ["\(changeStart)\(columns) )", transactionTable, stringTable, changeIndex]
            + otherIndexes
    }

    /// Whether the file has transactions, or somebody who reads them.
    static func areInUse(_ connection: Connection) throws -> Bool {
        guard try !columns(of: "ATRANSACTION", connection).isEmpty else { return false }
        return try connection.value("SELECT 1 FROM ATRANSACTION LIMIT 1") != nil
            || !HistoryConsumers(connection: connection).all().isEmpty
    }

    /// Whether nothing is missing that `prepare` would make.
    static func arePrepared(_ connection: Connection, tombstones: Int) throws -> Bool {
        let numbers = try connection.rows("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_ENT > 16000")
            .compactMap { $0[0].int64 }
        let graves = (0..<tombstones).map { "ZTOMBSTONE\($0)" }
        let changes = try columns(of: "ACHANGE", connection)
        return try !changes.isEmpty && changes.isSuperset(of: graves)
            && columns(of: "ATRANSACTION", connection).isSuperset(of: stringColumns)
            && !columns(of: "ATRANSACTIONSTRING", connection).isEmpty
            && Set(numbers).isSuperset(of: names.map(\.number))
    }

    /// Makes what is missing: everything in a store without history, single columns in one that an
    /// older version of Apple's framework or a smaller model wrote.
    static func prepare(_ connection: Connection, keys: KeyRegister, tombstones: Int) throws {
        let present = try columns(of: "ACHANGE", connection)
        if present.isEmpty {
            for statement in statements(tombstones: tombstones) { try connection.script(statement) }
        } else {
            for number in 0..<tombstones where !present.contains("ZTOMBSTONE\(number)") {
                try connection.script("ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE\(number) BLOB")
            }
            try prepareStrings(connection)
        }
        for (number, name) in names { try keys.ensure(number, name: name) }
    }

    private static func prepareStrings(_ connection: Connection) throws {
        let present = try columns(of: "ATRANSACTION", connection)
        for column in stringColumns where !present.contains(column) {
            try connection.script("ALTER TABLE ATRANSACTION ADD COLUMN \(column) INTEGER")
        }
        if try columns(of: "ATRANSACTIONSTRING", connection).isEmpty {
            try connection.script(stringTable)
        }
    }

    static func columns(of table: String, _ connection: Connection) throws -> Set<String> {
        Set(
            try connection.rows("SELECT name FROM pragma_table_info(?)", [.text(table)])
                .compactMap { $0[0].string })
    }
}
