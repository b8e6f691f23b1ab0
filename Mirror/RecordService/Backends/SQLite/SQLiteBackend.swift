internal import Dispatch
internal import Platform
internal import RecordWire
internal import SQLiteDriver

/// Keeps the rows in one SQLite file in WAL: one writer at a time, readers beside it.
final class SQLiteBackend: Backend, @unchecked Sendable {
    // @unchecked: `writer` is used on `lane` only; a connection of `idleReaders` is used by the one
    // call that has taken it out.
    private let writer: Connection
    private let lane = DispatchQueue(label: "record-service.writer")
    private let idleReaders = Lock<[Connection]>([])
    private let path: String
    private let platform: Environment
    private let lockWaitMilliseconds: Int32

    private static let memory = ":memory:"
    private static let idleReadersMax = 8
    private static let walAttemptsMax = 50

    /// Opens or makes the file. Commits reach the disk before they are answered (synchronous FULL).
    init(path: String, platform: Environment, lockWaitMilliseconds: Int) throws(RecordError) {
        self.path = path
        self.lockWaitMilliseconds = Int32(clamping: lockWaitMilliseconds)
        self.platform = platform
        do {
            writer = try Connection(
                path: path, access: .create, busyMilliseconds: self.lockWaitMilliseconds)
            if path != Self.memory {
                try Self.enterWAL(writer)
                _ = try writer.pragma("synchronous = FULL")
            }
            try SQLiteSchema.prepare(writer)
            try Self.beginEpoch(writer, platform)
        } catch {
            throw SQLiteFailure.translate(error)
        }
    }

    /// Each start begins an epoch: who restored the file from a backup before it goes on in a time
    /// of its own. Several services over one file write in the newest one's.
    private static func beginEpoch(_ writer: Connection, _ platform: Environment) throws {
        let epoch = Int64(bitPattern: max(1, platform.randomness.next()))
        try writer.transaction(.immediate) {
            _ = try writer.run("UPDATE service SET epoch = ?", [.integer(epoch)])
        }
    }

    /// SQLite does not wait for a lock while it changes the journal, so several processes that
    /// open a new file meet a busy one; waiting for a turn to write and trying again passes it.
    private static func enterWAL(_ connection: Connection) throws {
        for _ in 0..<walAttemptsMax {
            do {
                _ = try connection.pragma("journal_mode = WAL")
                return
            } catch let fault as SQLiteFault where fault.isBusy {
                try connection.transaction(.immediate) {}
            }
        }
        _ = try connection.pragma("journal_mode = WAL")
    }

    func write<Result>(
        _ body: (any BackendTransaction) throws -> Result
    ) throws(RecordError) -> Result {
        do {
            let result = try lane.sync {
                try writer.transaction(.immediate) {
                    let result = try body(SQLiteTransaction(writer))
                    try platform.faults.reach("service.write.beforeCommit")
                    return result
                }
            }
            try platform.faults.reach("service.write.afterCommit")
            return result
        } catch {
            throw SQLiteFailure.translate(error)
        }
    }

    func read<Result>(
        _ body: (any BackendTransaction) throws -> Result
    ) throws(RecordError) -> Result {
        do {
            if path == Self.memory { return try lane.sync { try Self.read(writer, body) } }
            let reader = try takeReader()
            let result = try Self.read(reader, body)
            idleReaders.withLock { if $0.count < Self.idleReadersMax { $0.append(reader) } }
            return result
        } catch {
            throw SQLiteFailure.translate(error)
        }
    }

    private static func read<Result>(
        _ connection: Connection, _ body: (any BackendTransaction) throws -> Result
    ) throws -> Result {
        try connection.transaction(.deferred) { try body(SQLiteTransaction(connection)) }
    }

    /// A reader that met an error is not put back, so none is used in an unknown state.
    private func takeReader() throws -> Connection {
        if let idle = idleReaders.withLock({ $0.popLast() }) { return idle }
        return try Connection(
            path: path, access: .readWrite, busyMilliseconds: self.lockWaitMilliseconds)
    }
}

/// Says SQLite's faults to clients.
enum SQLiteFailure {
    private static let busyRetrySeconds = 2.0
    private static let fullRetrySeconds = 60.0

    static func translate(_ error: any Error) -> RecordError {
        switch error {
        case let error as RecordError: error
        case let fault as SQLiteFault: translate(fault)
        case let error as RecordArchiveError:
            RecordError(.internalError, "A stored record cannot be read. \(error.message)")
        default: RecordError(.internalError, "The service failed: \(error).")
        }
    }

    private static func translate(_ fault: SQLiteFault) -> RecordError {
        var error: RecordError
        if fault.isBusy {
            error = RecordError(
                .tryAgainLater, "The service's database is busy; nothing was saved. Try again.")
            error.retryAfterSeconds = busyRetrySeconds
        } else if fault.isFull {
            error = RecordError(
                .internalError, "The service's disk is full; nothing was saved. Try again later.")
            error.retryAfterSeconds = fullRetrySeconds
        } else {
            error = RecordError(
                .internalError,
                "The service's database failed (SQLite \(fault.code): \(fault.message)); "
                    + "nothing was saved.")
        }
        return error
    }
}
