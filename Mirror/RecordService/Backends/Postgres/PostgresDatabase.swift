internal import PostgresDriver
public import RecordWire

/// A PostgreSQL database in which services keep their rows, and how one service works with it.
public struct PostgresDatabase: Sendable, CustomStringConvertible {
    /// The folder of assets: one for all services that share the database. Nil for one that ends
    /// with the service.
    public var assetsFolder: String?
    /// The most sessions at once, besides one that hears of other services' writes. Requests wait
    /// for one that is free.
    public var sessionsMax = 16
    /// How long one statement may take.
    public var statementSecondsMax = 60

    let address: PostgresAddress

    /// `address` is a connection string of libpq's: `postgresql://user@host,host2/name?…`, or
    /// `key=value` words. Variables and files of libpq's (PGPASSFILE, PGSERVICE …) add what it does
    /// not say. Throws BAD_REQUEST, without the text, for one that cannot be read.
    public init(address: String, assetsFolder: String?) throws(RecordError) {
        do {
            self.address = try PostgresAddress(address)
        } catch {
            throw RecordError(.badRequest, error.message)
        }
        self.assetsFolder = assetsFolder
    }

    /// Whether the address itself holds a password.
    public var showsPassword: Bool { address.hasPassword }

    /// Host and name, never the password.
    public var description: String { address.description }
}
