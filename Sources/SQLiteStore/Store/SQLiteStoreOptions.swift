/// How a SQLite store is opened.
public struct SQLiteStoreOptions: Sendable {
    /// Opens an existing file and never writes to it.
    public var isReadOnly = false
    /// Writes history with each save.
    public var tracksHistory = true
    /// How far a commit waits for the disk. A commit under `normal` survives a crash of the
    /// process; after a power cut the last commits may be missing, but the file is whole.
    public var synchronous = Synchronous.normal
    /// Further pragmas, run in name order when the file is opened.
    public var pragmas: [String: String] = [:]
    /// Opens a file whose version hashes differ, as long as it has every column the model needs.
    public var ignoresVersioning = false
    /// How long to wait for another process's lock.
    public var busyMilliseconds: Int32 = 10_000
    /// Who writes, for the history.
    public var origin = HistoryOrigin.thisProcess

    public init() {}

    /// Values are those of SQLite's pragma.
    public enum Synchronous: String, Sendable {
        case off = "OFF"
        case normal = "NORMAL"
        case full = "FULL"
        case extra = "EXTRA"
    }
}
