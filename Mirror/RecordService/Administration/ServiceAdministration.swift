internal import Foundation
public import Platform
public import RecordWire
internal import SQLiteDriver

/// Administers a service's database, also while services work on it: nothing is asked of records
/// here, and no epoch begins.
///
/// Calls come from any thread. All throw `RecordError`.
public final class ServiceAdministration: Sendable {
    /// Containers, users and their tokens. A running service knows of changes at once.
    public let accounts: ServiceAccounts
    let backend: any Backend
    /// nil for a PostgreSQL database, whose own tools copy it.
    private let file: SQLiteBackend?
    private let source: String
    private let platform: Environment
    private let log: ServiceLog
    private let audit: AuditLog?

    /// Opens the database at `path`, which must be there. Throws INTERNAL_ERROR where it is not, or
    /// is not a service's, or is of a version that held all containers in one file: unless
    /// `isAlone` says that no service works on it, so that it is brought up to date. `log`
    /// hears what the disk does, what is done is noted in `audit`.
    public convenience init(
        path: String, platform: Environment, isAlone: Bool = false, audit: AuditLog? = nil,
        log: @escaping ServiceLog = { _ in }
    ) throws(RecordError) {
        let sqlite = try SQLiteBackend(
            administering: path, platform: platform, maySplit: isAlone, log: log)
        self.init(sqlite, file: sqlite, source: path, platform, audit, log)
    }

    /// Connects to a PostgreSQL database in which a service has made its tables. Throws
    /// INTERNAL_ERROR where none has, TRY_AGAIN_LATER where no server answers.
    public convenience init(
        database: PostgresDatabase, platform: Environment, audit: AuditLog? = nil,
        log: @escaping ServiceLog = { _ in }
    ) throws(RecordError) {
        let backend = try PostgresBackend(administering: database, platform: platform, log: log)
        self.init(backend, file: nil, source: database.description, platform, audit, log)
    }

    private init(
        _ backend: any Backend, file: SQLiteBackend?, source: String, _ platform: Environment,
        _ audit: AuditLog?, _ log: @escaping ServiceLog
    ) {
        self.backend = backend
        self.file = file
        self.source = source
        self.platform = platform
        self.audit = audit
        self.log = log
        accounts = ServiceAccounts(
            backend: backend, platform: platform, secrets: OpenSSLSecrets(), audit: audit)
    }

    /// Beside a service that works on the same rows in this process.
    init(of backend: any Backend, _ accounts: ServiceAccounts) {
        self.backend = backend
        self.accounts = accounts
        platform = accounts.platform
        audit = accounts.audit
        guard let sqlite = backend as? SQLiteBackend else {
            file = nil
            source = ""
            log = { _ in }
            return
        }
        file = sqlite.main.isInMemory ? nil : sqlite
        source = sqlite.main.path
        log = sqlite.main.settings.log
    }

    /// Throws BAD_REQUEST where the records are in no file that could be copied.
    package func requireFiles() throws(RecordError) {
        guard file != nil else { throw Self.ownTools }
    }

    /// What each container holds, by name and environment; only those of which somebody has a
    /// database. Cost: looks at every record.
    public func usage() throws(RecordError) -> [ContainerUsage] {
        try backend.read { try $0.usage() }
    }

    /// Writes the database to a new file at `path`, each container as it is at one moment to a file
    /// in the folder beside it, and the assets into another, while services go on reading and
    /// writing. On the disk when it returns; the file is there whole, with all its containers and
    /// assets, or not at all. Returns the containers that cannot be read; the copy is without them
    /// and says so. Throws BAD_REQUEST where there is something at `path`, and for a PostgreSQL
    /// database; TRY_AGAIN_LATER where its task is cancelled, which is looked at before each file.
    /// Cost: reads and writes all files, and each asset that the folder does not have from an
    /// earlier backup of this name.
    public func backUp(to path: String) throws(RecordError) -> [String] {
        guard let file else { throw Self.ownTools }
        var lacking: [String] = []
        do {
            try DatabaseCopy(to: path, faults: platform.faults).write { part, folder in
                lacking = try file.copy(to: part, containersTo: folder)
                try Self.copyAssets(
                    besides: source, to: path, platform: platform, log: log)
            }
        } catch {
            throw file.translate(error)
        }
        try audit?.note(
            .backup, path, lacking.isEmpty ? [:] : ["lacks": lacking.joined(separator: " ")])
        return lacking
    }

    /// The containers that the database lacks, as a backup says of itself that was made while they
    /// could not be read; empty for PostgreSQL.
    public func lackingContainers() throws(RecordError) -> [String] {
        guard let main = file?.main else { return [] }
        return try main.translating { try main.read { try CopyGaps.read($0) } }
    }

    /// The same, of a backup that is asked nothing else. Throws what SQLite and the disk do. Cost:
    /// opens the file and reads two of its tables.
    package static func lackingContainers(ofBackup path: String) throws -> [String] {
        try CopyGaps.read(try Connection.reading(path))
    }

    /// Whether the file at `path` is a database that a service made, of whatever version. Throws
    /// what SQLite and the disk do. Cost: opens the file.
    package static func isDatabase(at path: String) throws -> Bool {
        try SQLiteSchema.isMade(in: try Connection.reading(path))
    }

    /// What to do with a PostgreSQL database instead of a copy of a file.
    public static let ownTools = RecordError(
        .badRequest,
        "The records are in PostgreSQL, which has tools of its own: pg_dump copies them and "
            + "pg_restore brings them back (stop the services first, start them afterwards). The "
            + "folder of assets is copied beside, after pg_dump.")

    /// Brings the assets beside one database to the folder beside another, which may have some
    /// already; neither database is opened. Throws TRY_AGAIN_LATER and INTERNAL_ERROR for what the
    /// disk does. Cost: reads and writes each that is copied. `log` hears which are damaged.
    public static func copyAssets(
        besides path: String, to other: String, platform: Environment,
        log: @escaping ServiceLog = { _ in }
    ) throws(RecordError) {
        try AssetFiles(besides: path, platform: platform, log: log)
            .copy(to: AssetFiles(besides: other, platform: platform, log: log))
    }

    var now: Date { platform.clock.now() }

    func bucket(at place: ObjectPlace) -> AssetBucket {
        place.bucket(place.files(platform, log), log)
    }

    func note(
        _ act: AuditEntry.Act, _ subject: String, _ details: [String: String]
    ) throws(RecordError) {
        try audit?.note(act, subject, details)
    }

    /// Brings the files of a backup's containers beside the database at another path, where the
    /// service's own file of the backup was brought already; no file is opened by others. What is
    /// there already is written over. Throws what SQLite and the disk do. Cost: reads and writes
    /// all of them.
    public static func copyContainers(besides path: String, to other: String) throws {
        let (from, to) = (
            ContainerFileName.folder(beside: path), ContainerFileName.folder(beside: other)
        )
        let names = FileFolder.names(in: from).filter { $0.hasSuffix(ContainerFileName.suffix) }
        guard !names.isEmpty else { return }
        try FileFolder.make(to)
        for name in names {
            try Connection(path: to + "/" + name).replaceContents(with: .reading(from + "/" + name))
            try FileFolder.protect(to + "/" + name)
        }
        try FileFolder.synchronize(to)
    }

    /// Where the containers of the database at `path` are.
    public static func containersFolder(besides path: String) -> String {
        ContainerFileName.folder(beside: path)
    }

    /// What SQLite finds wrong with the files, in its words; empty where they are sound. Cost:
    /// reads them whole.
    public func damageInFile() throws(RecordError) -> [String] { try backend.damage() }

    /// The same, but of what a backup has: that it lacks a container is no damage.
    public func damageInBackup() throws(RecordError) -> [String] {
        guard let file else { return [] }
        let lacking = try lackingContainers().map { ExactName($0) }
        return try file.damage(besides: Set(lacking))
    }
}
