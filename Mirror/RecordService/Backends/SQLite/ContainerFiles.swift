internal import Dispatch
internal import Foundation
internal import Platform
internal import RecordWire
internal import SQLiteDriver

/// The files of containers: each is opened when it is asked for, and those that were asked for
/// longest ago are closed, so that any number of containers needs a bounded number of open files.
final class ContainerFiles: Sendable {
    let main: SQLiteFile
    /// Quotas of who writes, also that a user has none.
    let quotas = RowMemory<UserQuota?>()
    private let shelf = Lock(Shelf())

    /// Each may have five connections open, of three files.
    static let openMax = 32

    private struct Shelf {
        var containers: [ExactName: OpenContainer] = [:]
        /// What files looked like when they were closed.
        var closed: [ExactName: FileMark] = [:]
        /// Containers in which this start has begun an epoch.
        var begun: Set<ExactName> = []
        /// Those whose disk did not keep what the opening wrote.
        var stopped: Set<ExactName> = []
        /// Those that could not be used, which is said once.
        var unreadable: Set<ExactName> = []
        /// Whether another process wrote to one while nobody watched it.
        var hasMissed = false
        var turn = 0
    }

    init(main: SQLiteFile) { self.main = main }

    /// Runs `body` with the container's file. Throws NOT_FOUND for an unknown container,
    /// INTERNAL_ERROR for one whose file cannot be used, which is said in the log.
    func with<Result>(
        _ container: String, _ body: (SQLiteFile) throws -> Result
    ) throws -> Result {
        let entry = takeOut(container)
        defer { putBack(entry) }
        return try body(try entry.file { try open(container) })
    }

    /// Runs `body` on what the container has committed; nil where it has no file yet. Waits for
    /// nobody, so that it may be called with any lane held.
    func peek<Result>(
        _ container: String, _ body: (Connection) throws -> Result
    ) throws -> Result? {
        if let entry = known(container) {
            defer { putBack(entry) }
            if let file = entry.current { return try file.read(body) }
        }
        guard !main.isInMemory, let row = try row(of: container), row.isMade else { return nil }
        let connection = try Connection(
            path: path(of: row), access: .readWrite,
            busyMilliseconds: main.settings.lockWaitMilliseconds)
        guard try connection.value("SELECT id FROM service")?.int64 == row.id else {
            throw RecordError(.internalError, "The container's file is another's.")
        }
        return try SQLiteFile.read(connection, body).result
    }

    // MARK: The shelf

    private func takeOut(_ container: String) -> OpenContainer {
        shelf.withLock { shelf in
            let name = ExactName(container)
            let entry = shelf.containers[name] ?? OpenContainer(name)
            shelf.containers[name] = entry
            shelf.turn += 1
            entry.use(at: shelf.turn)
            return entry
        }
    }

    private func known(_ container: String) -> OpenContainer? {
        shelf.withLock { shelf in
            let entry = shelf.containers[ExactName(container)]
            entry?.use(at: shelf.turn)
            return entry
        }
    }

    /// Closes those that were used longest ago, where they are too many and nobody uses them.
    private func putBack(_ entry: OpenContainer) {
        let leaving = shelf.withLock { shelf in
            entry.leave()
            var leaving: [OpenContainer] = []
            while shelf.containers.count > Self.openMax,
                let oldest = shelf.containers.values.filter(\.mayLeave).min(by: {
                    $0.turn < $1.turn
                })
            {
                shelf.containers[oldest.name] = nil
                leaving.append(oldest)
            }
            return leaving
        }
        for entry in leaving { close(entry) }
    }

    /// What others write up to now is told, and what they write from now on changes the mark. With
    /// the last connection SQLite empties the log into the file; as long as a log is there, others
    /// have it open, and a change was theirs.
    private func close(_ entry: OpenContainer) {
        guard let path = entry.current?.path else { return }
        let before = FileMark(path)
        let wasChanged = (try? entry.current?.wasChangedElsewhere()) ?? true
        entry.close()
        let mark = FileMark(path)
        shelf.withLock { shelf in
            shelf.closed[entry.name] = mark
            if wasChanged || mark.hasLog && mark != before { shelf.hasMissed = true }
        }
    }

    /// Where a container's file is; nil while it is not open.
    func path(ofOpen container: String) -> String? {
        shelf.withLock { $0.containers[ExactName(container)]?.current?.path }
    }

    /// Those that are open now, while `body` uses them.
    func eachOpen(_ body: (SQLiteFile) throws -> Void) rethrows {
        let entries = shelf.withLock { shelf in
            let all = Array(shelf.containers.values)
            for entry in all { entry.use(at: entry.turn) }
            return all
        }
        defer { entries.forEach(putBack) }
        for file in entries.compactMap(\.current) { try body(file) }
    }

    /// Throws where one takes nothing until the next start.
    func requireNoneStopped() throws {
        guard shelf.withLock({ $0.stopped.isEmpty }) else { throw SQLiteFailure.stopped }
    }

    /// How many are open.
    var openCount: Int { shelf.withLock { $0.containers.count } }

    /// Whether a file that is closed here was written by another process.
    func wereClosedOnesChanged() -> Bool {
        let closed = shelf.withLock { shelf in
            shelf.closed.filter { shelf.containers[$0.key] == nil }
        }
        let changed = closed.compactMapValues { mark in
            let now = FileMark(mark.path)
            return now == mark ? nil : now
        }
        return shelf.withLock { shelf in
            defer { shelf.hasMissed = false }
            shelf.closed.merge(changed) { _, now in now }
            return !changed.isEmpty || shelf.hasMissed
        }
    }

    // MARK: Files

    struct Row {
        let file: String
        let id: Int64
        /// Whether the file was made; one that was and is not there is lost, and not made again.
        let isMade: Bool
    }

    private func row(of container: String) throws -> Row? {
        try main.translating {
            try main.read { connection in
                try SQLiteTransaction(connection).first(
                    "SELECT file, id, made FROM container_files WHERE container = ?",
                    [.text(container)]
                ) {
                    Row(
                        file: $0.text(at: 0) ?? "", id: $0.int64(at: 1),
                        isMade: $0.int64(at: 2) != 0)
                }
            }
        }
    }

    var folder: String { ContainerFileName.folder(beside: main.path) }

    private func path(of row: Row) -> String {
        main.isInMemory ? SQLiteFile.memory : folder + "/" + row.file
    }

    private func open(_ container: String) throws -> SQLiteFile {
        let name = ExactName(container)
        guard shelf.withLock({ !$0.stopped.contains(name) }) else { throw SQLiteFailure.stopped }
        guard let row = try row(of: container) else { throw ServiceAccounts.unknown(container) }
        do {
            let file = try opened(container, row)
            shelf.withLock { _ = $0.unreadable.remove(name) }
            if !row.isMade, !main.isInMemory { try noteMade(container, row.id) }
            // A service that stopped may have left some.
            if main.settings.isService { file.removeLater() }
            return file
        } catch let fault as SQLiteFault
            where fault.isBusy || fault.isFull || fault.isIOFailure
        {
            if fault.isSyncFailure { shelf.withLock { _ = $0.stopped.insert(name) } }
            throw fault
        } catch let error as RecordError where error.code == .tryAgainLater {
            throw error
        } catch {
            throw noteUnreadable(container, error)
        }
    }

    private func opened(_ container: String, _ row: Row) throws -> SQLiteFile {
        noteOpening(container)
        if !row.isMade, !main.isInMemory { try FileFolder.make(folder) }
        let file = try SQLiteFile(
            path(of: row), main.settings, lane: main.isInMemory ? main.lane : WriterLane(),
            access: row.isMade && !main.isInMemory ? .readWrite : .create
        ) { connection in
            try ContainerSchema.prepare(
                connection, container, id: row.id, mayMake: !row.isMade || main.isInMemory)
            if begins(container) {
                try main.settings.platform.faults.reach("service.container.begins")
                try SQLiteFile.beginEpoch(connection, main.settings.platform)
                shelf.withLock { _ = $0.begun.insert(ExactName(container)) }
            }
            return row.id
        }
        if !row.isMade, !main.isInMemory { try FileFolder.synchronize(folder) }
        return file
    }

    /// What others wrote while it was closed, and nobody has asked for.
    private func noteOpening(_ container: String) {
        let name = ExactName(container)
        guard let mark = shelf.withLock({ $0.closed.removeValue(forKey: name) }),
            FileMark(mark.path) != mark
        else { return }
        shelf.withLock { $0.hasMissed = true }
    }

    private func begins(_ container: String) -> Bool {
        main.settings.isService
            && shelf.withLock { !$0.begun.contains(ExactName(container)) }
    }

    /// From here on rows may be in it.
    private func noteMade(_ container: String, _ id: Int64) throws {
        try main.settings.platform.faults.reach("service.container.made")
        let isNoted = try main.translating {
            try main.write {
                try $0.run(
                    "UPDATE container_files SET made = 1 WHERE container = ? AND id = ?",
                    [.text(container), .integer(id)]) > 0
            }
        }
        // A service that started meanwhile has found the container's file of before.
        guard isNoted else { throw SQLiteFailure.busy }
    }

    @discardableResult
    func noteUnreadable(_ container: String, _ error: any Error) -> RecordError {
        let isFirst = shelf.withLock { $0.unreadable.insert(ExactName(container)).inserted }
        if isFirst { tell(container, error) }
        return RecordError(
            .internalError,
            "The data of the container \(container) cannot be used; nothing was saved. Tell who "
                + "runs the service.")
    }

    private func tell(_ container: String, _ error: any Error) {
        main.settings.log(
            ServiceNotice(
                "The file of a container cannot be used; the others go on. Stop the service, keep "
                    + "a copy of the file, and put that of a backup in its place.",
                fields: ["container": container, "file": folder, "cause": "\(error)"]))
    }
}

/// A container's file, which is opened by who comes first.
final class OpenContainer: @unchecked Sendable {
    // @unchecked: `uses` and `turn` are changed under the lock of the shelf.
    let name: ExactName
    private(set) var turn = 0
    private var uses = 0
    private let opening = DispatchQueue(label: "record-service.opening")
    private let opened = Lock<SQLiteFile?>(nil)

    init(_ name: ExactName) { self.name = name }

    var current: SQLiteFile? { opened.withLock { $0 } }
    var mayLeave: Bool { uses == 0 && current?.isIdle ?? true }

    func use(at turn: Int) {
        self.turn = turn
        uses += 1
    }

    func leave() { uses -= 1 }

    func file(_ open: () throws -> SQLiteFile) throws -> SQLiteFile {
        if let current { return current }
        return try opening.sync {
            if let current { return current }
            let file = try open()
            opened.withLock { $0 = file }
            return file
        }
    }

    func close() { opened.withLock { $0 = nil } }
}

/// What tells whether a closed file was written by others.
struct FileMark: Equatable, Sendable {
    let path: String
    private var sizes: [Int64] = []
    private var times: [Int64] = []

    /// Whether there is a log beside it.
    var hasLog: Bool { sizes.last ?? -1 >= 0 }

    init(_ path: String) {
        self.path = path
        for suffix in ["", "-wal"] {
            var facts = stat()
            let isThere = stat(path + suffix, &facts) == 0
            sizes.append(isThere ? Int64(facts.st_size) : -1)
            times.append(
                isThere
                    ? Int64(facts.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(facts.st_mtim.tv_nsec)
                    : 0)
        }
    }
}
