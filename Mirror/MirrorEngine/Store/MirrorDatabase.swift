internal import Platform
internal import SQLiteDriver
package import SQLiteStore

/// One of a container's databases, by the name that it has on the wire.
package enum MirrorDatabase: String, Sendable {
    /// Of the user's own.
    case `private`
    /// Of all users.
    case `public`
    /// What other users share.
    case shared
}

extension MirroredStore {
    /// The database that a store is mirrored with; nil before its first round and after a reset.
    package static func knownDatabase(of store: SQLiteRowStore) throws -> MirrorDatabase? {
        try store.glance { transaction in
            guard try Ledger.exists(in: transaction.connection) else { return nil }
            let ledger = Ledger(connection: transaction.connection, platform: .system)
            return try ledger.knownDatabase()
        }
    }
}

extension Ledger {
    /// A store that ever had a zone of another's is of the shared database for good, also while it
    /// waits for a share.
    func knownDatabase() throws -> MirrorDatabase? {
        if try knowsSharedDatabase() { return .shared }
        guard let name = try setting(.container)?.string else { return nil }
        return MirrorDestination.isPublic(name) ? .public : .private
    }
}
