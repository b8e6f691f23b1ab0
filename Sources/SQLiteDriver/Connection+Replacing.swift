internal import CSQLite

extension Connection {
    /// Replaces all that this database holds by what `source` holds, in one transaction: whatever
    /// happens meanwhile, the file has either all of the old or all of the new. Waits for other
    /// connections' locks as a writing statement does; readers go on with the old.
    ///
    /// `prepare` runs once this database is locked for writing; where it throws, all stays as it
    /// was. In WAL mode both must have pages of one size. <https://www.sqlite.org/backup.html>
    public func replaceContents(
        with source: Connection, whenLocked prepare: () throws -> Void = {}
    ) throws {
        guard let copying = sqlite3_backup_init(handle, "main", source.handle, "main") else {
            throw fault(sqlite3_errcode(handle), sql: nil)
        }
        var isFinished = false
        defer { if !isFinished { sqlite3_backup_finish(copying) } }
        // A step of no pages takes the lock, and nothing else.
        let locking = sqlite3_backup_step(copying, 0)
        guard locking == SQLITE_OK || locking == SQLITE_DONE else { throw failure(locking) }
        try prepare()
        let code = sqlite3_backup_step(copying, -1)
        guard code == SQLITE_DONE else { throw failure(code) }
        isFinished = true
        let end = sqlite3_backup_finish(copying)
        guard end == SQLITE_OK else { throw failure(end) }
    }

    /// A copy's failure belongs to neither connection.
    private func failure(_ code: Int32) -> SQLiteFault {
        SQLiteFault(code: code, message: String(cString: sqlite3_errstr(code)))
    }
}
