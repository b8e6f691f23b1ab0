internal import Foundation
internal import Platform

extension Connection {
    /// Opens an existing file for reading, wherever it lies, and leaves its folder as it found it.
    ///
    /// A file in WAL mode wants a log and its index beside it. Where they cannot be made, the file
    /// is read as it stands, with its log where it has one, as long as nobody works with it. Where
    /// they were not there before, they are gone when the connection and its statements are. A save
    /// that a program without a log left half done is taken back first, or the file not read.
    public static func reading(
        _ path: String, busyMilliseconds: Int32 = 10_000
    ) throws -> Connection {
        let tidier = tidier(of: path)
        let connection = try Connection(
            path: path, access: .readOnly, busyMilliseconds: busyMilliseconds)
        connection.tidier = tidier
        do {
            try connection.look()
            return connection
        } catch let fault as SQLiteFault where fault.wantsRollback {
            try rollBack(path, busyMilliseconds, fault)
            let connection = try Connection(
                path: path, access: .readOnly, busyMilliseconds: busyMilliseconds)
            try connection.look()
            return connection
        } catch let fault as SQLiteFault where fault.cannotOpen || fault.isReadOnly {
            guard size(path + "-wal") ?? 0 > 0 else {
                return try Connection(path: path, access: .immutable)
            }
            guard size(path + "-shm") == nil else { throw fault }
            return try Connection(path: path, access: .abandoned)
        }
    }

    /// A connection that may write but does not: SQLite lets only such a one remove a log that is
    /// empty, and only when nobody else has the file open. Nil where there is nothing to clear
    /// away, or something that was there before.
    ///
    /// All readings of a file in this process share one, which so closes after the last of them,
    /// in whatever order they close.
    private static func tidier(of path: String) -> Connection? {
        if let known = tidiers.withLock({ $0[path]?.connection }) { return known }
        guard let made = newTidier(of: path) else { return nil }
        tidiers.withLock { known in
            known = known.filter { $0.value.connection != nil }
            known[path] = WeakConnection(connection: made)
        }
        return made
    }

    private static let tidiers = Lock<[String: WeakConnection]>([:])

    private static func newTidier(of path: String) -> Connection? {
        let isAlone = ["-wal", "-shm", "-journal"].allSatisfy { size(path + $0) == nil }
        guard isAlone, let writer = try? Connection(path: path, access: .readWrite),
            !writer.isReadOnly, (try? writer.pragma("journal_mode")) == "wal",
            (try? writer.look()) != nil
        else { return nil }
        return writer
    }

    /// Takes a save back that was left half done, as every program does that may write the file.
    private static func rollBack(
        _ path: String, _ busyMilliseconds: Int32, _ fault: SQLiteFault
    ) throws {
        let writer = try? Connection(
            path: path, access: .readWrite, busyMilliseconds: busyMilliseconds)
        guard let writer, !writer.isReadOnly else { throw fault }
        try writer.look()
    }

    private func look() throws { _ = try value("SELECT count(*) FROM sqlite_master") }

    /// Bytes in a file; nil where there is none.
    private static func size(_ path: String) -> Int64? {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int64(facts.st_size) : nil
    }
}

private struct WeakConnection {
    weak var connection: Connection?
}
