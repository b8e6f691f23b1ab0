package import Stores

/// How a SQLite store is opened.
public struct SQLiteStoreOptions: Sendable {
    /// Opens an existing file and never writes to it.
    public var isReadOnly = false
    /// Whether saves write history; nil where they go on with one that the file has.
    ///
    /// A file that has a history opens read-only for false: a gap in it would hide saves from
    /// those who read it. One whose history was removed, and that nobody reads, opens for writing.
    public var tracksHistory: Bool? = true
    /// How far a commit waits for the disk. A commit under `normal` survives a crash of the
    /// process; after a power cut the last commits may be missing, but the file is whole.
    public var synchronous = Synchronous.normal
    /// Further pragmas, for each time the file is opened: `journal_mode`, `synchronous`,
    /// `cache_size` and others that hurt neither the file nor other processes; the rest is refused
    /// with a reason.
    public var pragmas: [String: String] = [:]
    /// The size from which a value that may have a file of its own gets one, as Apple's do from
    /// about 100 kB.
    public var externalBytesMin = 100 << 10
    /// Rewrites the file without its gaps when it is opened; nobody else may use it meanwhile.
    public var vacuumsOnOpening = false
    /// Gathers what the query planner wants to know when the file is opened.
    public var analyzesOnOpening = false
    /// Opens a file whose version hashes differ, as long as it has every column the model needs.
    public var ignoresVersioning = false
    /// How long to wait for another process's lock.
    public var busyMilliseconds: Int32 = 10_000
    /// How large the log may grow while snapshots are held, which keep it from being emptied. The
    /// save that finds it larger ends them.
    public var heldLogBytesMax: Int64 = 256 << 20
    /// Who writes, for the history.
    public var origin = HistoryOrigin.thisProcess

    /// What a file that is made begins with.
    package var making = Making()

    /// How a file is made.
    package struct Making: Sendable {
        /// Who may read and write it; nil for what new files have.
        package var access: FileAccess?
        /// The numbers of the entities, by name; nil to number them afresh.
        package var entityNumbers: [String: Int32]?
    }

    public init() {}

    /// Values are those of SQLite's pragma.
    public enum Synchronous: String, Sendable {
        /// A commit never waits for the disk: a power cut may damage the file.
        case off = "OFF"
        /// Waits when the log is emptied into the file, not at each commit.
        case normal = "NORMAL"
        /// Waits for the disk at each commit, so that a power cut loses none.
        case full = "FULL"
        /// As `full`, and for the folder where a journal is deleted; the same as `full` with a log.
        case extra = "EXTRA"
    }
}
