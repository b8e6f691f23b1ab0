internal import CSQLite

/// What SQLite refused, in its own result code and words. <https://www.sqlite.org/rescode.html>
public struct SQLiteFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The extended result code.
    public let code: Int32
    /// SQLite's message, or ours where SQLite has none.
    public let message: String
    /// The statement that failed, without its bound values.
    public let sql: String?

    /// `code` is SQLite's extended result code; `sql` is the statement's text, without its values.
    public init(code: Int32, message: String, sql: String? = nil) {
        self.code = code
        self.message = message
        self.sql = sql
    }

    /// The primary result code: the low eight bits of `code`.
    public var primaryCode: Int32 { code & 0xFF }
    /// Another connection holds a lock for longer than this one waits: the same call may succeed
    /// later.
    public var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }
    /// Whether a reading transaction wanted to write after another connection did.
    public var isStale: Bool { code == SQLITE_BUSY | 2 << 8 }
    /// Whether the file system has no locks or no shared memory, as WAL needs them.
    public var lacksSharing: Bool {
        // In order: LOCK, SHMOPEN, SHMSIZE, SHMLOCK, SHMMAP.
        primaryCode == SQLITE_IOERR && [15, 18, 19, 20, 21].contains(code >> 8)
    }
    /// Whether something could not be written, or made larger, for which a full disk may be the
    /// reason: SQLite says only that the system refused.
    public var mayLackRoom: Bool {
        // In order: WRITE, FSYNC, DIR_FSYNC, TRUNCATE, SHMOPEN, SHMSIZE, SHMMAP.
        isIOFailure && [3, 4, 5, 6, 18, 19, 21].contains(code >> 8)
    }
    /// A unique index, a CHECK or a NOT NULL forbids the row; the statement changed nothing.
    public var isConstraint: Bool { primaryCode == SQLITE_CONSTRAINT }
    /// The disk, or the file's own limit, is full.
    public var isFull: Bool { primaryCode == SQLITE_FULL }
    /// The file's bytes are no database, or a damaged one.
    public var isNotADatabase: Bool {
        primaryCode == SQLITE_NOTADB || primaryCode == SQLITE_CORRUPT
    }
    /// Whether a page of the file is not what it must be.
    public var isCorrupt: Bool { primaryCode == SQLITE_CORRUPT }
    /// Whether the disk or file system failed, so that what the connection believes may be wrong.
    public var isIOFailure: Bool { primaryCode == SQLITE_IOERR }
    /// Whether the system could not bring to the disk what was written (fsync of a file or folder):
    /// what it holds in memory may differ from the disk from then on, and it says so only once.
    public var isSyncFailure: Bool { isIOFailure && [4, 5].contains(code >> 8) }
    /// The file, its folder or the connection allows no writing.
    public var isReadOnly: Bool { primaryCode == SQLITE_READONLY }
    /// A save was left half done, and the connection may not take it back.
    public var wantsRollback: Bool { code == SQLITE_READONLY | (3 << 8) }
    /// There is no file, or it, or the log beside it, may not be opened.
    public var cannotOpen: Bool { primaryCode == SQLITE_CANTOPEN }
    /// Whether the statement itself is refused, as one that names a table that is not there.
    public var isOfStatement: Bool { primaryCode == SQLITE_ERROR }
    /// Whether a statement nests deeper than SQLite reads, which it has no code for.
    public var isOfDepth: Bool {
        primaryCode == SQLITE_ERROR
            && (message == "parser stack overflow"
                || message.hasPrefix("Expression tree is too large"))
    }

    public var description: String {
        let statement = sql.map { " in: \($0)" } ?? ""
        return "SQLite error \(code): \(message)\(statement)"
    }
}
