internal import Platform
internal import RecordWire
internal import SQLiteDriver

/// The tables of a service, and whether a file holds them.
enum SQLiteSchema {
    /// "DptS", written into the file's header.
    private static let applicationID: Int64 = 0x4470_7453
    private static let version: Int64 = 5
    /// In which all containers are in the service's file.
    private static let oneFileVersion: Int64 = 4

    /// Makes the tables in an empty file, and returns the file's number. Throws INTERNAL_ERROR for
    /// a file of somebody else's or of a newer version. Two processes may come here at once: the
    /// first makes the tables.
    static func prepare(_ connection: Connection, _ settings: SQLiteSettings) throws -> Int64 {
        try connection.transaction(.immediate) {
            let application = try connection.pragma("application_id")?.int64 ?? 0
            let found = try connection.pragma("user_version")?.int64 ?? 0
            let isEmpty =
                try connection.value("SELECT count(*) FROM sqlite_schema")?.int64 == 0
            if isEmpty {
                return try create(
                    connection, Int64(bitPattern: settings.platform.randomness.next()))
            }
            guard application == applicationID else {
                throw refusal("holds another program's data; choose another path")
            }
            guard found <= version else {
                throw refusal("was written by a newer version of this service; update the program")
            }
            guard found > oneFileVersion || settings.maySplit else {
                throw refusal(
                    "is of an older version; start the service once, which brings it up to date")
            }
            if found < 2 { try SQLiteUpgrade.addEpochs(connection) }
            if found < oneFileVersion {
                try prepareLaterTables(connection)
                try connection.script("PRAGMA user_version = \(oneFileVersion)")
            } else if found == oneFileVersion {
                try prepareLaterTables(connection)
            } else {
                try prepareServiceTables(connection)
            }
        }
        if try connection.pragma("user_version")?.int64 == oneFileVersion {
            try UsageTables.prepare(connection)
            try split(connection, settings)
        }
        return try connection.value("SELECT id FROM service")?.int64 ?? 0
    }

    /// Whether the file is a service's, of whatever version. Writes nothing.
    static func isMade(in connection: Connection) throws -> Bool {
        try connection.pragma("application_id")?.int64 == applicationID
            && connection.value("SELECT count(*) FROM sqlite_schema")?.int64 != 0
    }

    /// Throws INTERNAL_ERROR unless the file is a service's, and of this version. Writes nothing.
    static func require(_ connection: Connection) throws {
        guard try connection.pragma("application_id")?.int64 == applicationID else {
            throw refusal("holds another program's data; choose another path")
        }
        let found = try connection.pragma("user_version")?.int64 ?? 0
        guard found <= version else {
            throw refusal("was written by a newer version of this service; update the program")
        }
        guard found == version else {
            throw refusal("is of an older version; a restore brings it up to date")
        }
    }

    /// A damaged file is mended first by the service that begins to work on it.
    private static func split(_ connection: Connection, _ settings: SQLiteSettings) throws {
        do {
            try ContainerSplit(connection, settings).run(next: version)
        } catch let fault as SQLiteFault where fault.isCorrupt && settings.isService {
            try FileMending(connection.path, settings).run()
            try ContainerSplit(connection, settings).run(next: version)
        }
    }

    private static func create(_ connection: Connection, _ fileID: Int64) throws {
        try connection.script(accountTables)
        try connection.script(UsageTables.quotaTable)
        try prepareServiceTables(connection)
        try connection.run("INSERT INTO service(id, epoch) VALUES (?, 0)", [.integer(fileID)])
        try connection.script(
            "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version);")
    }

    /// What is no container's.
    static func prepareServiceTables(_ connection: Connection) throws {
        for table in [
            SQLiteTransaction.contentTables, SQLiteTransaction.courierTable,
            SQLiteTransaction.profileTable, SQLiteTransaction.tokenUseTable,
            SQLiteTransaction.tokenLifeTable, SQLiteTransaction.keyTable,
            SQLiteTransaction.passwordTable, SQLiteTransaction.identityTable,
            SQLiteTransaction.placeTables, SQLiteTransaction.clockTable,
        ] {
            try connection.script(table)
        }
    }

    /// Tables that came after version 1 and before containers had files of their own, made where
    /// they are missing.
    private static func prepareLaterTables(_ connection: Connection) throws {
        try FieldUseTable.prepare(connection)
        try connection.script(SQLiteTransaction.doomedTable)
        try connection.script(SQLiteTransaction.contentTables)
        try connection.script(SQLiteTransaction.assetUseTables)
        try connection.script(SQLiteTransaction.queryTables)
        try connection.script(SQLiteTransaction.linkTable)
        try SQLiteTransaction.prepareSubscriptions(connection)
        try connection.script(SQLiteTransaction.profileTable)
        try connection.script(SQLiteTransaction.shareTables)
        try connection.script(SQLiteTransaction.roleTables)
        try connection.script(SQLiteTransaction.tokenUseTable)
        try connection.script(SQLiteTransaction.tokenLifeTable)
        try connection.script(SQLiteTransaction.keyTable)
        try connection.script(SQLiteTransaction.passwordTable)
        try connection.script(SQLiteTransaction.identityTable)
        try connection.script(SQLiteTransaction.schemaTable)
        try connection.script(SQLiteTransaction.naturalKeyTable)
    }

    private static func refusal(_ what: String) -> RecordError {
        RecordError(.internalError, "The service's database file \(what).")
    }

    /// What epochs need: which start wrote which changes, which client's store was here last, and
    /// a way to the deletions that may be forgotten.
    static let epochTables = """
        CREATE TABLE epochs(
            kind INTEGER NOT NULL, place INTEGER NOT NULL, first INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            PRIMARY KEY (kind, place, first)) WITHOUT ROWID;
        CREATE TABLE instances(
            zone INTEGER NOT NULL, id TEXT NOT NULL, round INTEGER NOT NULL,
            nonce TEXT NOT NULL, seen_at INTEGER NOT NULL,
            PRIMARY KEY (zone, id)) WITHOUT ROWID;
        CREATE INDEX records_by_deletion ON records(modified_at) WHERE deleted = 1;
        """

    static let recordTables = """
        CREATE TABLE databases(
            id INTEGER PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
            scope TEXT NOT NULL, owner TEXT NOT NULL, counter INTEGER NOT NULL,
            incarnation INTEGER NOT NULL, floor INTEGER NOT NULL DEFAULT 0,
            UNIQUE (container, environment, scope, owner));
        CREATE TABLE zones(
            id INTEGER PRIMARY KEY, database INTEGER NOT NULL, name TEXT NOT NULL,
            incarnation INTEGER NOT NULL, floor INTEGER NOT NULL DEFAULT 0,
            counter INTEGER NOT NULL,
            database_change INTEGER NOT NULL, deleted INTEGER NOT NULL,
            UNIQUE (database, name));
        CREATE INDEX zones_by_change ON zones(database, database_change);
        CREATE TABLE records(
            zone INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL,
            change INTEGER NOT NULL, deleted INTEGER NOT NULL,
            created_at INTEGER NOT NULL, created_by TEXT, created_on TEXT,
            modified_at INTEGER NOT NULL, modified_by TEXT, modified_on TEXT,
            write_ids TEXT, replays TEXT, fields BLOB NOT NULL,
            PRIMARY KEY (zone, name));
        CREATE UNIQUE INDEX records_by_change ON records(zone, change);
        """

    private static let accountTables = """
        CREATE TABLE service(id INTEGER NOT NULL, epoch INTEGER NOT NULL);
        CREATE TABLE containers(name TEXT PRIMARY KEY, created_at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE users(
            record_name TEXT PRIMARY KEY, label TEXT NOT NULL,
            created_at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE tokens(
            id TEXT PRIMARY KEY, kind TEXT NOT NULL, container TEXT, user TEXT,
            label TEXT NOT NULL, hash BLOB NOT NULL, created_at INTEGER NOT NULL,
            revoked_at INTEGER) WITHOUT ROWID;
        """
}
