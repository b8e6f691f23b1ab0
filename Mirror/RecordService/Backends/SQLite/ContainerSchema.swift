internal import RecordWire
internal import SQLiteDriver

/// The tables of one container, and whether a file holds them.
enum ContainerSchema {
    /// "DptC", written into the file's header.
    private static let applicationID: Int64 = 0x4470_7443
    private static let version: Int64 = 1

    /// Checks that the file is this container's, and makes the tables where it is new and
    /// `mayMake` says so. Throws INTERNAL_ERROR for anything else. Two processes may come here at
    /// once: the first makes the tables. Cost: no lock where they are there.
    static func prepare(
        _ connection: Connection, _ container: String, id: Int64, mayMake: Bool
    ) throws {
        if try isEmpty(connection) {
            guard mayMake else { throw refusal("is empty") }
            try connection.transaction(.immediate) {
                guard try isEmpty(connection) else { return }
                try make(connection, container, id: id, epoch: 0)
            }
        }
        guard try connection.pragma("application_id")?.int64 == applicationID else {
            throw refusal("holds other data")
        }
        guard try connection.pragma("user_version")?.int64 ?? 0 <= version else {
            throw refusal("was written by a newer version of this service; update the program")
        }
        guard try isOf(container, id: id, connection) else {
            throw refusal("is another container's, or another service's")
        }
    }

    /// Whose a file says that it is. Throws INTERNAL_ERROR for one that says nothing, or is of a
    /// newer version.
    static func identity(of connection: Connection) throws -> (container: String, id: Int64) {
        guard try connection.pragma("application_id")?.int64 == applicationID else {
            throw refusal("holds other data")
        }
        guard try connection.pragma("user_version")?.int64 ?? 0 <= version else {
            throw refusal("was written by a newer version of this service; update the program")
        }
        let rows = try connection.rows("SELECT container, id FROM service")
        guard rows.count == 1, let name = rows[0].first?.string, let id = rows[0].last?.int64 else {
            throw refusal("does not say whose it is")
        }
        return (name, id)
    }

    private static func isOf(
        _ container: String, id: Int64, _ connection: Connection
    ) throws -> Bool {
        let found = try connection.rows("SELECT id, container FROM service").first
        return found?.first?.int64 == id && found?.last?.string?.isExactly(container) == true
    }

    private static func isEmpty(_ connection: Connection) throws -> Bool {
        try connection.value("SELECT count(*) FROM sqlite_schema")?.int64 == 0
    }

    /// Inside a transaction, in an empty file.
    static func make(
        _ connection: Connection, _ container: String, id: Int64, epoch: Int64
    ) throws {
        try connection.script(SQLiteSchema.recordTables)
        try connection.script(SQLiteSchema.epochTables)
        try connection.script(FieldUseTable.table)
        try connection.script(UsageTables.zoneTable)
        try connection.script(UsageTables.ownerIndex)
        for table in SQLiteTransaction.containerTables { try connection.script(table) }
        try connection.script(
            "CREATE TABLE service(id INTEGER NOT NULL, epoch INTEGER NOT NULL, container TEXT);")
        try connection.run(
            "INSERT INTO service(id, epoch, container) VALUES (?, ?, ?)",
            [.integer(id), .integer(epoch), .text(container)])
        try connection.script(
            "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version);")
    }

    private static func refusal(_ what: String) -> RecordError {
        RecordError(.internalError, "The container's file \(what).")
    }
}

extension SQLiteTransaction {
    /// The tables that came after the first version, and are a container's.
    static let containerTables = [
        doomedTable, queryTables, linkTable, subscriptionTable, shareTables, roleTables,
        schemaTable, naturalKeyTable, assetUseTables,
    ]
}
