internal import Foundation
internal import PostgresDriver
internal import RecordWire

/// The rows, inside one transaction of one session. Records are in `PostgresTransaction+Records`.
///
/// Writes are queued and go to the server with the next reading, or before the transaction ends.
final class PostgresTransaction: BackendTransaction {
    let connection: TransactionSession
    /// Whether rows of databases and zones that are read are locked until the end.
    let isWriting: Bool
    /// Whether records wait to be removed since this transaction.
    var hasDoomedRecords = false
    var expected = ExpectedRecords()
    var holdsAssets = false

    /// Without a memory it is a transaction that only reads.
    init(_ connection: PostgresConnection, _ memory: ReadingMemory?) {
        self.connection = TransactionSession(connection, memory)
        isWriting = memory != nil
    }

    /// The first row of a reading that locks it in a writing transaction.
    private func locked<Row>(
        _ question: PostgresQuestion, isPlace: Bool, _ row: (PostgresRow) -> Row
    ) throws -> Row? {
        guard isWriting else { return try connection.answer(to: question).first.map(row) }
        return try connection.lock(
            PostgresQuestion(question.table, question.sql + " FOR UPDATE", question.values),
            isPlace: isPlace
        ).first.map(row)
    }

    // MARK: Databases

    /// In a writing transaction its other writers wait from here on.
    func database(_ key: DatabaseKey) throws -> DatabaseRow? {
        try locked(
            PostgresQuestion(
                "databases",
                """
                SELECT id, counter, incarnation, floor FROM databases
                WHERE container = $1 AND environment = $2 AND scope = $3 AND owner = $4
                """, Self.values(of: key)), isPlace: false
        ) {
            DatabaseRow(
                id: $0.int64(at: 0), counter: $0.int64(at: 1),
                incarnation: UInt64(bitPattern: $0.int64(at: 2)), floor: $0.int64(at: 3))
        }
    }

    /// Of two that make it at once the second meets the first's row, and runs again.
    func makeDatabase(_ key: DatabaseKey, incarnation: UInt64) throws -> DatabaseRow {
        let id = try number(
            """
            INSERT INTO databases(container, environment, scope, owner, counter, incarnation)
            VALUES ($1, $2, $3, $4, 0, $5) RETURNING id
            """, Self.values(of: key) + [.integer(Int64(bitPattern: incarnation))])
        return DatabaseRow(id: id ?? 0, counter: 0, incarnation: incarnation, floor: 0)
    }

    func save(_ database: DatabaseRow) throws {
        try connection.send(
            "UPDATE databases SET counter = $1, floor = $2 WHERE id = $3",
            [.integer(database.counter), .integer(database.floor), .integer(database.id)])
    }

    static func values(of key: DatabaseKey) -> [PostgresValue] {
        [.name(key.container), .name(key.environment), .name(key.scope), .name(key.owner)]
    }

    // MARK: Zones

    private static let zoneColumns =
        "id, name, incarnation, floor, counter, database_change, deleted"

    private static func zone(_ row: PostgresRow) -> ZoneRow {
        ZoneRow(
            id: row.int64(at: 0), name: row.text(at: 1),
            incarnation: UInt64(bitPattern: row.int64(at: 2)), floor: row.int64(at: 3),
            counter: row.int64(at: 4), databaseChange: row.int64(at: 5),
            isDeleted: row.bool(at: 6))
    }

    /// In a writing transaction the zone's counter is nobody else's from here on.
    func zone(named name: String, in database: Int64) throws -> ZoneRow? {
        try locked(
            PostgresQuestion(
                "zones", "SELECT \(Self.zoneColumns) FROM zones WHERE database = $1 AND name = $2",
                [.integer(database), .name(name)]), isPlace: true, Self.zone)
    }

    func zones(in database: Int64) throws -> [ZoneRow] {
        try all(
            """
            SELECT \(Self.zoneColumns) FROM zones WHERE database = $1 AND NOT deleted ORDER BY name
            """, [.integer(database)], Self.zone)
    }

    func zones(
        in database: Int64, changedAfter change: Int64, limit: Int
    ) throws -> [ZoneRow] {
        try all(
            """
            SELECT \(Self.zoneColumns) FROM zones WHERE database = $1 AND database_change > $2
            ORDER BY database_change LIMIT $3
            """, [.integer(database), .integer(change), PostgresValue(limit)], Self.zone)
    }

    func makeZone(
        named name: String, in database: Int64, incarnation: UInt64
    ) throws -> ZoneRow {
        let id = try number(
            """
            INSERT INTO zones(id, database, name, incarnation, counter, database_change, deleted)
            VALUES (nextval('zone_ids'), $1, $2, $3, 0, 0, false) RETURNING id
            """,
            [.integer(database), .name(name), .integer(Int64(bitPattern: incarnation))])
        return ZoneRow(
            id: id ?? 0, name: name, incarnation: incarnation, floor: 0, counter: 0,
            databaseChange: 0, isDeleted: false)
    }

    func save(_ zone: ZoneRow) throws {
        try connection.send(
            """
            UPDATE zones SET incarnation = $1, floor = $2, counter = $3, database_change = $4,
            deleted = $5 WHERE id = $6
            """,
            [
                .integer(Int64(bitPattern: zone.incarnation)), .integer(zone.floor),
                .integer(zone.counter), .integer(zone.databaseChange),
                .boolean(zone.isDeleted), .integer(zone.id),
            ])
    }

    // MARK: Reading

    /// `table`: the one that is read, where the answer holds until that is written to.
    func first<Row>(
        _ sql: String, _ values: [PostgresValue], of table: String? = nil,
        _ row: (PostgresRow) throws -> Row
    ) throws -> Row? {
        try rows(sql, values, table).first.map(row)
    }

    func all<Row>(
        _ sql: String, _ values: [PostgresValue] = [], of table: String? = nil,
        _ row: (PostgresRow) throws -> Row
    ) throws -> [Row] {
        try rows(sql, values, table).map(row)
    }

    private func rows(
        _ sql: String, _ values: [PostgresValue], _ table: String?
    ) throws -> PostgresRows {
        guard let table else { return try connection.rows(sql, values) }
        return try connection.answer(to: PostgresQuestion(table, sql, values))
    }

    /// The first column of the first row.
    func number(
        _ sql: String, _ values: [PostgresValue] = [], of table: String? = nil
    ) throws -> Int64? {
        try first(sql, values, of: table) { $0.isNull(at: 0) ? nil : $0.int64(at: 0) } ?? nil
    }

    func isThere(
        _ sql: String, _ values: [PostgresValue], of table: String? = nil
    ) throws -> Bool {
        try rows(sql, values, table).count > 0
    }
}
