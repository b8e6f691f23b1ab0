internal import Foundation
internal import Platform
internal import RecordWire
internal import SQLiteDriver

/// Keeps the service's rows in one SQLite file, and each container's in a file of its own, so that
/// containers neither wait for one another nor break together.
final class SQLiteBackend: Backend {
    let main: SQLiteFile
    let files: ContainerFiles

    private static let administratorWaitMilliseconds = 10_000

    /// Opens or makes the file. Commits reach the disk before they are answered (synchronous FULL).
    convenience init(
        path: String, platform: Environment, lockWaitMilliseconds: Int,
        log: @escaping ServiceLog
    ) throws(RecordError) {
        try self.init(
            path,
            SQLiteSettings(
                platform: platform, lockWaitMilliseconds: Int32(clamping: lockWaitMilliseconds),
                log: log, isService: true, maySplit: true,
                commitSizes: GroupCommit.histogram()))
    }

    /// Opens a file that is there, beside the services that work on it. One of the time when it
    /// held all containers is split where `maySplit` says that no service works on it.
    convenience init(
        administering path: String, platform: Environment, maySplit: Bool,
        log: @escaping ServiceLog
    ) throws(RecordError) {
        guard path != SQLiteFile.memory, access(path, F_OK) == 0 else {
            throw RecordError(.internalError, "There is no service's database at \(path).")
        }
        try self.init(
            path,
            SQLiteSettings(
                platform: platform,
                lockWaitMilliseconds: Int32(clamping: Self.administratorWaitMilliseconds),
                log: log, isService: false, maySplit: maySplit,
                commitSizes: GroupCommit.histogram()))
    }

    private init(_ path: String, _ settings: SQLiteSettings) throws(RecordError) {
        do {
            main = try SQLiteFile(path, settings, lane: WriterLane()) { connection in
                let id = try SQLiteSchema.prepare(connection, settings)
                if settings.isService { try SQLiteFile.beginEpoch(connection, settings.platform) }
                return id
            }
            files = ContainerFiles(main: main)
        } catch {
            throw SQLiteFailure.opening(error)
        }
        if settings.isService, !main.isInMemory { takeUpContainers() }
    }

    /// What goes wrong here keeps nobody from what is known: it is said in the log.
    private func takeUpContainers() {
        do {
            for container in try ContainerSearch(files).takeUp() {
                try main.translating { try files.with(container) { try adopt($0, container) } }
            }
        } catch {
            _ = translate(error)
        }
    }

    // MARK: Transactions

    func write<Result>(
        _ place: RowPlace, _ body: (any BackendTransaction) throws -> Result
    ) throws(RecordError) -> Result {
        try at(place) { file, surroundings in
            let result = try file.write { connection in
                let transaction = SQLiteTransaction(connection, surroundings)
                let result = try body(transaction)
                try file.settings.platform.faults.reach("service.write.beforeCommit")
                if transaction.hasDoomedRecords { file.removeLater() }
                return result
            }
            try file.settings.platform.faults.reach("service.write.afterCommit")
            return result
        }
    }

    func read<Result>(
        _ place: RowPlace, _ body: (any BackendTransaction) throws -> Result
    ) throws(RecordError) -> Result {
        try at(place) { file, surroundings in
            try file.read { try body(SQLiteTransaction($0, surroundings)) }
        }
    }

    private func at<Result>(
        _ place: RowPlace, _ body: (SQLiteFile, SQLiteSurroundings) throws -> Result
    ) throws(RecordError) -> Result {
        switch place {
        case .service:
            return try main.translating {
                try body(main, SQLiteSurroundings(container: nil, files: files))
            }
        case .container(let name):
            return try main.translating {
                try files.with(name) { file in
                    try file.translating {
                        try body(file, SQLiteSurroundings(container: name, files: files))
                    }
                }
            }
        }
    }

    func places() throws(RecordError) -> [RowPlace] {
        try read { try $0.containers() }.map { .container($0) }
    }

    func file(of place: RowPlace) -> String? {
        switch place {
        case .service: main.path
        case .container(let name): files.path(ofOpen: name)
        }
    }

    func translate(_ error: any Error) -> RecordError { main.failures.translate(error) }

    // MARK: Watching

    /// Asks all that are open, so that none tells later what it could tell now. Where a container
    /// cannot be asked, which is said in the log, there may always be a change.
    func wasChangedElsewhere() throws(RecordError) -> Bool {
        var wasChanged = try main.translating { try main.wasChangedElsewhere() }
        files.eachOpen { file in
            do {
                wasChanged = try file.wasChangedElsewhere() || wasChanged
            } catch {
                _ = file.failures.translate(error)
                wasChanged = true
            }
        }
        return files.wereClosedOnesChanged() || wasChanged
    }

    func accountsVersion() -> RowsVersion? { main.version() }

    func probe() throws {
        _ = try read { try $0.hasContainer("") }
        try main.probe()
        try files.requireNoneStopped()
        try files.eachOpen { try $0.probe() }
    }

    /// What is wrong with the service's file, and with which containers'.
    func damage() throws(RecordError) -> [String] { try damage(besides: []) }

    /// The same, of all but these containers.
    func damage(besides lacking: Set<ExactName>) throws(RecordError) -> [String] {
        var damage = try main.translating { try main.damage() }
        // Without its list nobody knows which files there are.
        guard let places = try? places() else { return damage }
        for case .container(let name) in places where !lacking.contains(ExactName(name)) {
            do {
                damage += try files.with(name) { file in
                    try file.translating { try file.damage() }
                }.map { "container \(name): \($0)" }
            } catch {
                damage.append("container \(name): \(main.failures.translate(error).reason)")
            }
        }
        return damage
    }

    func removeDoomedRecords() throws(RecordError) {
        for case .container(let name) in try places() {
            try main.translating {
                try files.with(name) { file in
                    try file.translating { try file.removeDoomedRecords() }
                }
            }
        }
    }
}
