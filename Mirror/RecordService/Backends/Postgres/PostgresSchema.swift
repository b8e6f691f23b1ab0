internal import PostgresDriver
internal import RecordWire

/// The tables of a service in a PostgreSQL database, and their versions.
///
/// The row of `diptych_schema` says the version of the tables and the oldest version of the program
/// that may still work with them. A migration that only adds keeps the second, so programs of both
/// versions work side by side while a host is updated. Migrations wait for each other by a lock on
/// that row, which every engine that speaks PostgreSQL's protocol has.
enum PostgresSchema {
    /// One step from the version before it.
    struct Migration {
        let version: Int64
        /// The oldest version of the program that works with the tables after this step.
        let worksWith: Int64
        let statements: [String]
    }

    static let migrations = [
        Migration(version: 1, worksWith: 1, statements: PostgresTables.first),
        // A program of version 1 would write without counting.
        Migration(version: 2, worksWith: 2, statements: PostgresTables.second),
        Migration(version: 3, worksWith: 2, statements: PostgresTables.serverKeys),
        Migration(version: 4, worksWith: 2, statements: PostgresTables.passwords),
        Migration(version: 5, worksWith: 2, statements: PostgresTables.identities),
        // A program of version 5 writes beside the keys: they are declared when all know them.
        Migration(version: 6, worksWith: 2, statements: PostgresTables.naturalKeys),
        Migration(version: 7, worksWith: 2, statements: PostgresTables.usedSignatures),
        Migration(version: 8, worksWith: 2, statements: PostgresTables.tokensOfCouriers),
        // A program of version 8 lets in tokens that have ended, and makes none that end.
        Migration(version: 9, worksWith: 2, statements: PostgresTables.tokenLives),
        Migration(version: 10, worksWith: 2, statements: PostgresTables.forgottenTokens),
        Migration(version: 11, worksWith: 2, statements: PostgresTables.clockMark),
        Migration(version: 12, worksWith: 2, statements: PostgresTables.assetHome),
    ]

    static var version: Int64 { migrations.last?.version ?? 0 }

    private static let attemptsMax = 5

    /// Makes what is missing. Throws INTERNAL_ERROR for another program's tables and for those of a
    /// newer version that this one may not work with. Several processes may come here at once.
    static func prepare(
        _ connection: PostgresConnection, serviceID: Int64,
        migrations: [Migration] = PostgresSchema.migrations
    ) throws {
        for attempt in 1... {
            do {
                return try prepareOnce(connection, serviceID, migrations)
            } catch let fault as PostgresFault {
                try connection.rollback()
                // Two that make the first table at once: one of them meets a duplicate.
                let mayRepeat = fault.isTransient || fault.isDuplicate
                guard mayRepeat, attempt < attemptsMax else { throw words(for: fault) }
            } catch {
                try connection.rollback()
                throw error
            }
        }
    }

    private static func prepareOnce(
        _ connection: PostgresConnection, _ serviceID: Int64, _ migrations: [Migration]
    ) throws {
        // By itself, so that there is a row to lock.
        try connection.send(
            """
            CREATE TABLE IF NOT EXISTS diptych_schema(
                one bigint PRIMARY KEY CHECK (one = 1), version bigint NOT NULL,
                works_with bigint NOT NULL)
            """)
        try connection.send(
            "INSERT INTO diptych_schema(one, version, works_with) VALUES (1, 0, 0) "
                + "ON CONFLICT (one) DO NOTHING")
        try connection.settle()
        try connection.send("BEGIN ISOLATION LEVEL READ COMMITTED")
        let found = try connection.rows(
            "SELECT version, works_with FROM diptych_schema WHERE one = 1 FOR UPDATE")
        let version = found.first?.int64(at: 0) ?? 0
        try check(worksWith: found.first?.int64(at: 1) ?? 0, migrations)
        for migration in migrations where migration.version > version {
            for statement in migration.statements { try connection.send(statement) }
            try connection.send(
                "UPDATE diptych_schema SET version = $1, works_with = $2 WHERE one = 1",
                [.integer(migration.version), .integer(migration.worksWith)])
        }
        try connection.send(
            "INSERT INTO service(one, id, epoch) VALUES (1, $1, 0) ON CONFLICT (one) DO NOTHING",
            [.integer(serviceID)])
        try connection.settle()
        try connection.commit {}
    }

    /// Throws INTERNAL_ERROR unless a service has made its tables here.
    static func require(_ connection: PostgresConnection) throws {
        do {
            let found = try connection.rows(
                "SELECT works_with FROM diptych_schema WHERE version > 0")
            guard let row = found.first else { throw absent }
            try check(worksWith: row.int64(at: 0), migrations)
        } catch let fault as PostgresFault where fault.isUnknownTable {
            throw absent
        }
    }

    private static func check(worksWith oldest: Int64, _ migrations: [Migration]) throws {
        guard oldest <= migrations.last?.version ?? 0 else {
            throw refusal("was written by a newer version of this service; update the program")
        }
    }

    private static func words(for fault: PostgresFault) -> any Error {
        fault.isDuplicate
            ? refusal("holds another program's tables; give the service a database of its own")
            : fault
    }

    private static let absent = RecordError(
        .internalError, "There is no service's data in the database; run `diptych serve` on it.")

    private static func refusal(_ what: String) -> RecordError {
        RecordError(.internalError, "The service's database \(what).")
    }
}
