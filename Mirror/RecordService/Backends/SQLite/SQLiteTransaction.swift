internal import Foundation
internal import RecordWire
internal import SQLiteDriver

/// The rows, inside one transaction of one connection. Records are in `SQLiteTransaction+Records`.
final class SQLiteTransaction: BackendTransaction {
    let connection: Connection
    /// Whether records wait to be removed since this transaction.
    var hasDoomedRecords = false

    /// The files around this one; nil for who has no business there.
    let surroundings: SQLiteSurroundings?

    init(_ connection: Connection, _ surroundings: SQLiteSurroundings? = nil) {
        self.connection = connection
        self.surroundings = surroundings
    }

    // MARK: Databases

    func database(_ key: DatabaseKey) throws -> DatabaseRow? {
        try first(
            """
            SELECT id, counter, incarnation, floor FROM databases
            WHERE container = ? AND environment = ? AND scope = ? AND owner = ?
            """, Self.values(of: key)
        ) {
            DatabaseRow(
                id: $0.int64(at: 0), counter: $0.int64(at: 1),
                incarnation: UInt64(bitPattern: $0.int64(at: 2)), floor: $0.int64(at: 3))
        }
    }

    func makeDatabase(_ key: DatabaseKey, incarnation: UInt64) throws -> DatabaseRow {
        try notePlace(ofOwner: key.owner)
        try connection.run(
            """
            INSERT INTO databases(container, environment, scope, owner, counter, incarnation)
            VALUES (?, ?, ?, ?, 0, ?)
            """, Self.values(of: key) + [.integer(Int64(bitPattern: incarnation))])
        return DatabaseRow(
            id: connection.lastInsertedRowID, counter: 0, incarnation: incarnation, floor: 0)
    }

    func save(_ database: DatabaseRow) throws {
        try connection.run(
            "UPDATE databases SET counter = ?, floor = ? WHERE id = ?",
            [.integer(database.counter), .integer(database.floor), .integer(database.id)])
    }

    private static func values(of key: DatabaseKey) -> [SQLiteValue] {
        [.text(key.container), .text(key.environment), .text(key.scope), .text(key.owner)]
    }

    // MARK: Zones

    private static let zoneColumns =
        "id, name, incarnation, floor, counter, database_change, deleted"

    private static func zone(_ row: Statement) -> ZoneRow {
        ZoneRow(
            id: row.int64(at: 0), name: row.text(at: 1) ?? "",
            incarnation: UInt64(bitPattern: row.int64(at: 2)), floor: row.int64(at: 3),
            counter: row.int64(at: 4), databaseChange: row.int64(at: 5),
            isDeleted: row.int64(at: 6) != 0)
    }

    func zone(named name: String, in database: Int64) throws -> ZoneRow? {
        try first(
            "SELECT \(Self.zoneColumns) FROM zones WHERE database = ? AND name = ?",
            [.integer(database), .text(name)], Self.zone)
    }

    func zones(in database: Int64) throws -> [ZoneRow] {
        try all(
            """
            SELECT \(Self.zoneColumns) FROM zones WHERE database = ? AND deleted = 0 ORDER BY name
            """, [.integer(database)], Self.zone)
    }

    func zones(
        in database: Int64, changedAfter change: Int64, limit: Int
    ) throws -> [ZoneRow] {
        try all(
            """
            SELECT \(Self.zoneColumns) FROM zones WHERE database = ? AND database_change > ?
            ORDER BY database_change LIMIT ?
            """, [.integer(database), .integer(change), SQLiteValue(limit)], Self.zone)
    }

    func makeZone(
        named name: String, in database: Int64, incarnation: UInt64
    ) throws -> ZoneRow {
        try connection.run(
            """
            INSERT INTO zones(id, database, name, incarnation, counter, database_change, deleted)
            VALUES (?, ?, ?, ?, 0, 0, 0)
            """,
            [
                .integer(try nextZoneID()), .integer(database), .text(name),
                .integer(Int64(bitPattern: incarnation)),
            ])
        return ZoneRow(
            id: connection.lastInsertedRowID, name: name, incarnation: incarnation, floor: 0,
            counter: 0, databaseChange: 0, isDeleted: false)
    }

    func save(_ zone: ZoneRow) throws {
        try connection.run(
            """
            UPDATE zones SET incarnation = ?, floor = ?, counter = ?, database_change = ?,
            deleted = ? WHERE id = ?
            """,
            [
                .integer(Int64(bitPattern: zone.incarnation)), .integer(zone.floor),
                .integer(zone.counter), .integer(zone.databaseChange),
                SQLiteValue(zone.isDeleted), .integer(zone.id),
            ])
    }

    // MARK: Reading

    func first<Row>(
        _ sql: String, _ values: [SQLiteValue], _ row: (Statement) throws -> Row
    ) throws -> Row? {
        let statement = try connection.prepare(sql)
        defer { statement.reset() }
        try statement.bind(values)
        return try statement.step() ? row(statement) : nil
    }

    func all<Row>(
        _ sql: String, _ values: [SQLiteValue] = [], _ row: (Statement) throws -> Row
    ) throws -> [Row] {
        let statement = try connection.prepare(sql)
        defer { statement.reset() }
        try statement.bind(values)
        var rows: [Row] = []
        while try statement.step() { rows.append(try row(statement)) }
        return rows
    }
}
