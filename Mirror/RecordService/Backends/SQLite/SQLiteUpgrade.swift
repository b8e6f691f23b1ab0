internal import SQLiteDriver

/// Brings a file of an older version of the service up to date, inside the caller's transaction.
enum SQLiteUpgrade {
    /// Version 2: epochs. Changes written before count to epoch 0, so tags that clients keep stay
    /// as they are. Write marks of version 1 were numbers that two devices could share: they go.
    static func addEpochs(_ connection: Connection) throws {
        try connection.script(
            """
            ALTER TABLE service ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE databases ADD COLUMN incarnation INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE databases ADD COLUMN floor INTEGER NOT NULL DEFAULT 0;
            UPDATE databases SET incarnation = random();
            ALTER TABLE zones ADD COLUMN incarnation INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE zones ADD COLUMN floor INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE zones DROP COLUMN generation;
            UPDATE zones SET incarnation = random();
            ALTER TABLE records ADD COLUMN write_ids TEXT;
            ALTER TABLE records ADD COLUMN replays TEXT;
            ALTER TABLE records DROP COLUMN mark;
            DROP TABLE former_writers;
            """)
        try connection.script(SQLiteSchema.epochTables)
        try connection.script(
            """
            INSERT INTO epochs(kind, place, first, epoch)
                SELECT 1, id, 1, 0 FROM zones WHERE counter > 0;
            INSERT INTO epochs(kind, place, first, epoch)
                SELECT 2, id, 1, 0 FROM databases WHERE counter > 0;
            """)
    }
}
