internal import Foundation
internal import Platform
internal import RecordService
internal import RecordWire

/// Where a service keeps its records: in a file of its data folder, or in PostgreSQL.
enum RecordPlace {
    case file(URL)
    case postgres(PostgresDatabase)

    static let database = Option(
        "database", "ADDRESS", setting: true,
        "keep the records in PostgreSQL, at postgresql://USER@HOST/NAME")
    static let assets = Option(
        "assets", "DIR", setting: true,
        "with --database: the folder of assets that all services share; or s3://BUCKET/PREFIX")

    /// Throws for an address that cannot be read, without a word of it.
    init(_ arguments: Arguments, folder: URL) throws {
        guard let address = arguments.value(Self.database) else {
            self = .file(DataFolder.database(in: folder))
            return
        }
        let isBucket = arguments.value(Self.assets)?.hasPrefix(AssetChoice.scheme) == true
        let assets =
            (isBucket ? nil : arguments.file(Self.assets))
            ?? folder.appendingPathComponent("assets")
        do {
            self = .postgres(
                try PostgresDatabase(address: address, assetsFolder: assets.path))
        } catch {
            throw CommandError(
                "usage", "--database cannot be read: " + error.reason,
                hint: "Write postgresql://USER@HOST/NAME.", status: .usage)
        }
    }

    /// Whether services with folders of their own may share it.
    var isOfMany: Bool {
        switch self {
        case .file: false
        case .postgres: true
        }
    }

    var description: String {
        switch self {
        case .file(let url): url.lastPathComponent
        case .postgres(let database): database.description
        }
    }

    /// What to say of a password that the command line shows.
    static func warning(_ arguments: Arguments) -> String? {
        guard arguments.has(database), arguments.value(database).map(showsPassword) == true else {
            return nil
        }
        return "everybody on this machine can read the password in --database (ps); put it into "
            + "the file that PGPASSFILE names, or into a service file of libpq's"
    }

    /// Whether an address holds a password; one that cannot be read may.
    static func showsPassword(_ address: String) -> Bool {
        (try? PostgresDatabase(address: address, assetsFolder: nil))?.showsPassword ?? true
    }

    func service(
        dialect: ServiceDialect, limits: ServiceLimits, objects: ObjectPlace?, audit: AuditLog,
        log: @escaping ServiceLog
    ) throws(RecordError) -> RecordService {
        switch self {
        case .file(let url):
            try RecordService(
                path: url.path, platform: .system, limits: limits, dialect: dialect,
                objects: objects, audit: audit, log: log)
        case .postgres(let database):
            try RecordService(
                database: database, platform: .system, limits: limits, dialect: dialect,
                objects: objects, audit: audit, log: log)
        }
    }

    func administration(
        audit: AuditLog, log: @escaping ServiceLog
    ) throws(RecordError) -> ServiceAdministration {
        switch self {
        case .file(let url):
            try ServiceAdministration(path: url.path, platform: .system, audit: audit, log: log)
        case .postgres(let database):
            try ServiceAdministration(
                database: database, platform: .system, audit: audit, log: log)
        }
    }
}
