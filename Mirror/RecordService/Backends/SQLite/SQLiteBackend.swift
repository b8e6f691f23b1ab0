internal import Dispatch
internal import Foundation
internal import Platform
internal import RecordWire
internal import SQLiteDriver

/// Keeps the rows in one SQLite file in WAL: one writer at a time, readers beside it.
final class SQLiteBackend: Backend, @unchecked Sendable {
    // @unchecked: `writer`, `isRemoving` and `seenVersion` are used on `queue` only; a connection
    // of `idleReaders` is used by the one call that has taken it out.
    /// Tells this file from another that is put in its place.
    private let fileID: Int64
    /// nil after the disk failed under it: the next write opens another, unless it is `stopped`.
    private var writer: Connection?
    private var isRemoving = false
    /// What the file's version was when it was last asked for.
    private var seenVersion: Int64?
    private let queue = DispatchQueue(label: "record-service.writer")
    private let group = GroupCommit()
    private let idleReaders = Lock<[Connection]>([])
    private let path: String
    private let platform: Environment
    private let lockWaitMilliseconds: Int32
    private let failures: SQLiteFailure
    private let health = Lock(WriterHealth.sound)

    private static let memory = ":memory:"
    private static let idleReadersMax = 8
    private static let administratorWaitMilliseconds = 10_000
    private static let walAttemptsMax = 50

    /// Opens or makes the file. Commits reach the disk before they are answered (synchronous FULL).
    convenience init(
        path: String, platform: Environment, lockWaitMilliseconds: Int,
        log: @escaping ServiceLog
    ) throws(RecordError) {
        try self.init(path, platform, lockWaitMilliseconds, log) {
            try Self.beginEpoch($0, platform)
        }
        removeLater()
    }

    /// Opens a file that is there, beside the services that work on it.
    convenience init(
        administering path: String, platform: Environment, log: @escaping ServiceLog
    ) throws(RecordError) {
        guard path != Self.memory, access(path, F_OK) == 0 else {
            throw RecordError(.internalError, "There is no service's database at \(path).")
        }
        try self.init(path, platform, Self.administratorWaitMilliseconds, log) { _ in }
    }

    private init(
        _ path: String, _ platform: Environment, _ lockWaitMilliseconds: Int,
        _ log: @escaping ServiceLog, opened: (Connection) throws -> Void
    ) throws(RecordError) {
        self.path = path
        self.lockWaitMilliseconds = Int32(clamping: lockWaitMilliseconds)
        self.platform = platform
        failures = SQLiteFailure(path: path, log: log)
        do {
            let connection = try Connection(
                path: path, access: .create, busyMilliseconds: self.lockWaitMilliseconds)
            if path != Self.memory { try Self.enterWAL(connection) }
            try SQLiteSchema.prepare(
                connection, fileID: Int64(bitPattern: platform.randomness.next()))
            try opened(connection)
            fileID = try connection.value("SELECT id FROM service")?.int64 ?? 0
            writer = connection
        } catch {
            throw SQLiteFailure.opening(error)
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
        _ = try connection.pragma("synchronous = FULL")
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
            var result: Result?
            try withoutActuallyEscaping(body) { body in
                let write = GroupCommit.Write { writer in
                    let transaction = SQLiteTransaction(writer)
                    result = try body(transaction)
                    try self.platform.faults.reach("service.write.beforeCommit")
                    if transaction.hasDoomedRecords { self.removeLater() }
                }
                group.add(write)
                try queue.sync { try group.finish(write, withWriter) }
            }
            note(.sound)
            guard let result else {
                throw RecordError(.internalError, "The service did not do what was asked of it.")
            }
            try platform.faults.reach("service.write.afterCommit")
            return result
        } catch {
            throw failures.translate(error)
        }
    }

    func read<Result>(
        _ body: (any BackendTransaction) throws -> Result
    ) throws(RecordError) -> Result {
        do {
            if path == Self.memory {
                return try queue.sync { try withWriter { try Self.read($0, body).result } }
            }
            let reader = try takeReader()
            let (result, isSound) = try Self.read(reader, body)
            if isSound {
                idleReaders.withLock { if $0.count < Self.idleReadersMax { $0.append(reader) } }
            }
            return result
        } catch {
            throw failures.translate(error)
        }
    }

    /// Where `body` went on behind a broken page, SQLite refuses to end the transaction as usual;
    /// what was read stands all the same.
    private static func read<Result>(
        _ connection: Connection, _ body: (any BackendTransaction) throws -> Result
    ) throws -> (result: Result, isSound: Bool) {
        var read: Result?
        do {
            let result = try connection.transaction(.deferred) {
                let result = try body(SQLiteTransaction(connection))
                read = result
                return result
            }
            return (result, true)
        } catch let fault as SQLiteFault where fault.isCorrupt {
            guard let read else { throw fault }
            return (read, false)
        }
    }

    /// A reader that met an error is not put back, so none is used in an unknown state.
    private func takeReader() throws -> Connection {
        if let idle = idleReaders.withLock({ $0.popLast() }) { return idle }
        return try Connection(
            path: path, access: .readWrite, busyMilliseconds: self.lockWaitMilliseconds)
    }

    // MARK: The writer

    /// Runs `body` on the queue with the writing connection. After a failure of the disk the
    /// connection is closed: what it holds in memory may not be what the file has.
    private func withWriter<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        guard !hasStopped else { throw SQLiteFailure.stopped }
        let connection = try writer ?? reopened()
        writer = connection
        do {
            return try body(connection)
        } catch let fault as SQLiteFault where fault.isIOFailure && path != Self.memory {
            writer = nil
            note(fault.isSyncFailure ? .stopped : .failed)
            idleReaders.withLock { $0 = [] }
            throw fault
        }
    }

    private var hasStopped: Bool { health.withLock { $0 } == .stopped }

    /// Nothing but a new start follows `stopped`.
    private func note(_ now: WriterHealth) {
        health.withLock { if $0 != .stopped { $0 = now } }
    }

    private func reopened() throws -> Connection {
        try platform.faults.reach("service.openWriter")
        let connection = try Connection(
            path: path, access: .readWrite, busyMilliseconds: lockWaitMilliseconds)
        try Self.enterWAL(connection)
        guard try connection.value("SELECT id FROM service")?.int64 == fileID else {
            throw RecordError(
                .internalError, "The service's file was exchanged under it; start it anew.")
        }
        // The same file may be an older copy of itself by now.
        try Self.beginEpoch(connection, platform)
        return connection
    }

    /// SQLite counts the commits of other connections; the readers of this one make none. Who asks
    /// first hears that there were some. Without a writer to count, there may always be some.
    func wasChangedElsewhere() throws(RecordError) -> Bool {
        guard !hasStopped else { return true }
        do {
            return try queue.sync {
                let version = try withWriter { try $0.pragma("data_version")?.int64 }
                defer { seenVersion = version }
                return version != seenVersion
            }
        } catch {
            throw failures.translate(error)
        }
    }

    // MARK: Watching

    var commitSizes: HistogramSummary { group.sizes.summary }
    /// nil for rows in memory.
    var filePath: String? { path == Self.memory ? nil : path }

    func probe() throws {
        _ = try read { try $0.hasContainer("") }
        guard health.withLock({ $0 }) != .sound else { return }
        // Only what is written tells whether the disk takes it again.
        try queue.sync {
            try withWriter { writer in
                try writer.transaction(.immediate) {
                    _ = try writer.run("UPDATE service SET id = id")
                }
            }
        }
        note(.sound)
    }

    /// Writes one state of the rows to a new file, beside readers and writers.
    func copy(to path: String) throws {
        let reader = try takeReader()
        _ = try reader.run("VACUUM INTO ?", [.text(path)])
    }

    func translate(_ error: any Error) -> RecordError { failures.translate(error) }

    /// What SQLite finds wrong with the file, at most twenty things.
    func damage() throws(RecordError) -> [String] {
        do {
            return try queue.sync {
                try withWriter { try $0.rows("PRAGMA quick_check(20)") }
            }.compactMap { $0.first?.string }.filter { $0 != "ok" }
        } catch let fault as SQLiteFault where fault.isCorrupt || fault.isNotADatabase {
            return [fault.message]
        } catch {
            throw failures.translate(error)
        }
    }

    // MARK: Records of deleted zones

    /// Removes them a slice at a time; between two slices others have their turn on the queue.
    private func removeLater() {
        queue.async { [weak self] in
            guard let self, !isRemoving else { return }
            isRemoving = true
            removeNext()
        }
    }

    private func removeNext() {
        do {
            isRemoving = try removeSlice()
            guard isRemoving else { return }
            queue.async { [weak self] in self?.removeNext() }
        } catch {
            // The next deletion or start goes on with it.
            isRemoving = false
            _ = failures.translate(error)
        }
    }

    private func removeSlice() throws -> Bool {
        try withWriter { writer in
            try writer.transaction(.immediate) {
                try platform.faults.reach("service.removeSlice")
                return try SQLiteTransaction(writer).removeDoomedSlice()
            }
        }
    }

    func removeDoomedRecords() throws(RecordError) {
        do {
            while try queue.sync(execute: removeSlice) {}
        } catch {
            throw failures.translate(error)
        }
    }
}

/// How the last write went.
private enum WriterHealth {
    case sound
    /// The disk failed under it; another may go well.
    case failed
    /// The disk said that it did not keep what was written. The system forgets what it could not
    /// write and says so once, so a second try that goes well would prove nothing.
    case stopped
}
