internal import Platform
internal import SQLiteDriver
package import SQLiteStore

/// Which of a container's two environments a store is mirrored with: they have nothing in common.
extension MirroredStore {
    /// What a store is mirrored with where nobody says.
    package static let standardEnvironment = "development"

    /// The environment that a store is mirrored with; nil before its first round, after a reset,
    /// and where the last round was of a version that kept none.
    package static func knownEnvironment(of store: SQLiteRowStore) throws -> String? {
        try store.glance { transaction in
            guard try Ledger.exists(in: transaction.connection) else { return nil }
            let ledger = Ledger(connection: transaction.connection, platform: .system)
            return try ledger.setting(.environment)?.string
        }
    }

    /// A store whose ledger names none takes the one that it is asked for: its app named the same
    /// before. Throws for another one than it has.
    func checkEnvironment(_ ledger: Ledger) throws {
        let asked = settings.scope.environment
        guard let known = try ledger.setting(.environment)?.string else {
            return try ledger.set(.environment, to: .text(asked))
        }
        guard known == asked else {
            throw MirrorError(
                .otherContainer,
                "The store is mirrored with the container's environment \(known), not with "
                    + "\(asked). Use that one, or run 'diptych reset' to start over with this one.",
                fields: ["known": known, "asked": asked])
        }
    }
}
