internal import Platform
internal import PostgresDriver

/// The servers that this service has had sessions with. With another one an epoch begins before
/// anything is written: it may have been promoted without the last writes, or restored.
final class KnownServers: Sendable {
    private let platform: Environment
    private let known = Lock<Set<Int64>>([])

    init(_ platform: Environment) { self.platform = platform }

    func begin(_ connection: PostgresConnection) throws {
        let server = try Self.start(of: connection)
        guard !known.withLock({ $0.contains(server) }) else { return }
        let epoch = Int64(bitPattern: platform.randomness.next())
        try connection.send("UPDATE service SET epoch = $1", [.integer(epoch)])
        try connection.settle()
        // Not before the epoch is kept: another thread's session goes to work by this.
        known.withLock { _ = $0.insert(server) }
    }

    /// When the server's process began tells it from all others; 0 for an engine that has no such
    /// moment, which then loses no commit either.
    private static func start(of connection: PostgresConnection) throws -> Int64 {
        do {
            return try connection.rows(
                "SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint"
            ).first?.int64(at: 0) ?? 0
        } catch {
            guard error.isUnknownFeature else { throw error }
            try connection.rollback()
            return 0
        }
    }
}
