public import Platform
public import RecordWire

/// Administers a service's database, also while services work on it: nothing is asked of records
/// here, and no epoch begins.
///
/// Calls come from any thread. All throw `RecordError`.
public final class ServiceAdministration: Sendable {
    /// Containers, users and their tokens. A running service knows of changes at once.
    public let accounts: ServiceAccounts
    private let sqlite: SQLiteBackend

    /// Opens the database at `path`, which must be there. Throws INTERNAL_ERROR where it is not, or
    /// is not a service's. `log` hears what the disk does.
    public init(
        path: String, platform: Environment, log: @escaping ServiceLog = { _ in }
    ) throws(RecordError) {
        sqlite = try SQLiteBackend(administering: path, platform: platform, log: log)
        accounts = ServiceAccounts(
            backend: sqlite, platform: platform, secrets: OpenSSLSecrets())
    }

    /// What each container holds, by name and environment; only those of which somebody has a
    /// database. Cost: looks at every record.
    public func usage() throws(RecordError) -> [ContainerUsage] {
        try sqlite.read { try $0.usage() }
    }

    /// Writes one state of the database to a new file at `path`, while services go on reading and
    /// writing; on the disk when it returns, whole or not at all. Throws BAD_REQUEST where there is
    /// something at `path`. Cost: reads and writes the whole file.
    public func backUp(to path: String) throws(RecordError) {
        do {
            try DatabaseCopy(to: path).write { try sqlite.copy(to: $0) }
        } catch {
            throw sqlite.translate(error)
        }
    }

    /// What SQLite finds wrong with the file, in its words; empty where it is sound. Cost: reads
    /// the whole file.
    public func damageInFile() throws(RecordError) -> [String] { try sqlite.damageInFile() }
}
