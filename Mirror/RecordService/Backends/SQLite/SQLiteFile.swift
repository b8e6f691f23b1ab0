internal import Foundation
internal import Platform
internal import RecordWire
internal import SQLiteDriver

/// What all files of a service have in common.
struct SQLiteSettings: Sendable {
    let platform: Environment
    let lockWaitMilliseconds: Int32
    let log: ServiceLog
    /// Whether this is a service, whose start begins an epoch, and not who administers one.
    let isService: Bool
    /// Whether a file of the time when it held all containers is split.
    let maySplit: Bool
    /// How many writes shared each commit, of all files.
    let commitSizes: Histogram
}

/// One SQLite file in WAL: one writer at a time, readers beside it.
final class SQLiteFile: @unchecked Sendable {
    // @unchecked: `writer` and `seenVersion` are used on `lane` only; a connection of `idleReaders`
    // is used by the one call that has taken it out.
    let path: String
    let settings: SQLiteSettings
    let lane: WriterLane
    /// Whether records of deleted zones are being removed.
    let isRemoving = Lock(false)
    /// Tells this file from another that is put in its place.
    private let fileID: Int64
    /// nil after the disk failed under it: the next write opens another, unless it is `stopped`.
    private var writer: Connection?
    /// What the file's version was when it was last asked for.
    private var seenVersion: Int64?
    private let group: GroupCommit
    private let idleReaders = Lock<[Connection]>([])
    private let watch = VersionWatch()
    private let health = Lock(WriterHealth.sound)
    /// Calls that have the lane, or wait for it.
    private let busyCalls = Lock(0)

    static let memory = ":memory:"
    private static let idleReadersMax = 4
    private static let walAttemptsMax = 50

    /// Opens the file. Commits reach the disk before they are answered (synchronous FULL).
    /// `prepare` makes or checks its tables and gives the file's number.
    init(
        _ path: String, _ settings: SQLiteSettings, lane: WriterLane,
        access: Connection.Access = .create, prepare: (Connection) throws -> Int64
    ) throws {
        self.path = path
        self.settings = settings
        self.lane = lane
        group = GroupCommit(sizes: settings.commitSizes)
        let connection = try Connection(
            path: path, access: access, busyMilliseconds: settings.lockWaitMilliseconds)
        if path != Self.memory { try Self.enterWAL(connection) }
        fileID = try prepare(connection)
        seenVersion = try connection.pragma("data_version")?.int64
        writer = connection
    }

    var isInMemory: Bool { path == Self.memory }
    var failures: SQLiteFailure { SQLiteFailure(path: path, log: settings.log) }

    /// Each start begins an epoch: who restored the file from a backup before it goes on in a time
    /// of its own. Several services over one file write in the newest one's.
    static func beginEpoch(_ writer: Connection, _ platform: Environment) throws {
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

    // MARK: Transactions

    /// Runs `body` in a transaction, which may be shared with others that wait for this file.
    func write<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        var result: Result?
        try withoutActuallyEscaping(body) { body in
            let write = GroupCommit.Write { result = try body($0) }
            group.add(write)
            try working { try group.finish(write, withWriter) }
        }
        note(.sound)
        guard let result else {
            throw RecordError(.internalError, "The service did not do what was asked of it.")
        }
        return result
    }

    /// Runs `body` on one state of the file.
    func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        if isInMemory {
            return try working { try withWriter { try Self.read($0, body).result } }
        }
        let reader = try takeReader()
        let (result, isSound) = try Self.read(reader, body)
        if isSound {
            idleReaders.withLock { if $0.count < Self.idleReadersMax { $0.append(reader) } }
        }
        return result
    }

    /// Where `body` went on behind a broken page, SQLite refuses to end the transaction as usual;
    /// what was read stands all the same.
    static func read<Result>(
        _ connection: Connection, _ body: (Connection) throws -> Result
    ) throws -> (result: Result, isSound: Bool) {
        var read: Result?
        do {
            let result = try connection.transaction(.deferred) {
                let result = try body(connection)
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
        try idleReaders.withLock { $0.popLast() } ?? newReader()
    }

    private func newReader() throws -> Connection {
        try Connection(
            path: path, access: .readWrite, busyMilliseconds: settings.lockWaitMilliseconds)
    }

    // MARK: The writer

    /// Runs `body` alone on the lane.
    func working<Result>(_ body: () throws -> Result) rethrows -> Result {
        busyCalls.withLock { $0 += 1 }
        defer { busyCalls.withLock { $0 -= 1 } }
        return try lane.sync(body)
    }

    /// Runs `body` on the lane with the writing connection. After a failure of the disk the
    /// connection is closed: what it holds in memory may not be what the file has.
    func withWriter<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        guard !hasStopped else { throw SQLiteFailure.stopped }
        let connection = try writer ?? reopened()
        writer = connection
        do {
            return try body(connection)
        } catch let fault as SQLiteFault where fault.isIOFailure && !isInMemory {
            writer = nil
            note(fault.isSyncFailure ? .stopped : .failed)
            idleReaders.withLock { $0 = [] }
            watch.close()
            throw fault
        }
    }

    private var hasStopped: Bool { health.withLock { $0 } == .stopped }

    /// Nothing but a new start follows `stopped`.
    private func note(_ now: WriterHealth) {
        health.withLock { if $0 != .stopped { $0 = now } }
    }

    private func reopened() throws -> Connection {
        try settings.platform.faults.reach("service.openWriter")
        let connection = try Connection(
            path: path, access: .readWrite, busyMilliseconds: settings.lockWaitMilliseconds)
        try Self.enterWAL(connection)
        guard try connection.value("SELECT id FROM service")?.int64 == fileID else {
            throw RecordError(
                .internalError, "The service's file was exchanged under it; start it anew.")
        }
        // The same file may be an older copy of itself by now.
        try Self.beginEpoch(connection, settings.platform)
        return connection
    }

    // MARK: Watching

    /// Whether it can be closed and opened again without losing what is known of it.
    var isIdle: Bool {
        busyCalls.withLock { $0 } == 0 && !isRemoving.withLock { $0 }
            && health.withLock { $0 } == .sound && !isInMemory
    }

    /// What it is now; nil in memory, where there is no second connection to count.
    func version() -> RowsVersion? { isInMemory ? nil : watch.version(newReader) }

    /// SQLite counts the commits of other connections; the readers of this one make none. Without a
    /// writer to count, there may always be some; while it is at work, nobody waits for it, and the
    /// next look tells.
    func wasChangedElsewhere() throws -> Bool {
        guard !hasStopped else { return true }
        guard busyCalls.withLock({ $0 }) == 0 else { return false }
        return try working {
            let version = try withWriter { try $0.pragma("data_version")?.int64 }
            defer { seenVersion = version }
            return version != seenVersion
        }
    }

    /// Throws unless the disk takes again what it did not take last.
    func probe() throws {
        guard health.withLock({ $0 }) != .sound else { return }
        // Only what is written tells whether the disk takes it again.
        try working {
            try withWriter { writer in
                try writer.transaction(.immediate) {
                    _ = try writer.run("UPDATE service SET id = id")
                }
            }
        }
        note(.sound)
    }

    /// What SQLite finds wrong with the file, at most twenty things.
    func damage() throws -> [String] {
        do {
            return try working {
                try withWriter { try $0.rows("PRAGMA quick_check(20)") }
            }.compactMap { $0.first?.string }.filter { $0 != "ok" }
        } catch let fault as SQLiteFault where fault.isCorrupt || fault.isNotADatabase {
            return [fault.message]
        }
    }

    /// Writes its rows, as they are at one moment, to a new file.
    func copy(to path: String) throws {
        if isInMemory {
            try working { try withWriter { _ = try $0.run("VACUUM INTO ?", [.text(path)]) } }
            return
        }
        _ = try takeReader().run("VACUUM INTO ?", [.text(path)])
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
