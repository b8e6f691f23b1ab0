internal import Dispatch
internal import Platform
internal import PostgresDriver

/// No server of the database's takes sessions now.
struct NoServer: Error {
    let fault: PostgresFault
}

/// The sessions of one service with its database. Calls come from any thread.
final class PostgresPool: @unchecked Sendable {
    // @unchecked: a connection of `idle` is used by the one call that has taken it out.
    private let idle = Lock<[PostgresConnection]>([])
    private let room: DispatchSemaphore
    /// Where writers of one database wait before they take sessions.
    let writers: WriterRoom
    private let address: PostgresAddress
    private let settings: String
    /// Called with each new session before anybody has it.
    private let opened = Handler<PostgresConnection, any Error>()

    init(_ database: PostgresDatabase, lockWaitMilliseconds: Int) {
        room = DispatchSemaphore(value: max(1, database.sessionsMax))
        writers = WriterRoom(sessions: database.sessionsMax)
        address = database.address
        settings = Self.settings(
            statement: database.statementSecondsMax * 1_000, lock: lockWaitMilliseconds)
    }

    /// A process that hangs in mid-transaction holds its locks no longer than this.
    private static let idleInTransactionMilliseconds = 60_000

    /// Milliseconds; 0 is without end.
    private static func settings(statement: Int, lock: Int) -> String {
        """
        SET statement_timeout = \(statement); SET lock_timeout = \(lock);
        SET idle_in_transaction_session_timeout = \(idleInTransactionMilliseconds)
        """
    }

    func whenOpened(_ body: @escaping @Sendable (PostgresConnection) throws -> Void) {
        opened.set(body)
    }

    /// Runs `body` with a session of its own. Waits while all are taken.
    func withConnection<Result>(
        _ body: (PostgresConnection) throws -> Result
    ) throws -> Result {
        room.wait()
        defer { room.signal() }
        let connection = try idle.withLock { $0.popLast() } ?? open()
        do {
            let result = try body(connection)
            idle.withLock { $0.append(connection) }
            return result
        } catch {
            giveBack(connection, after: error)
            throw error
        }
    }

    /// A session outside the pool, for work that takes long.
    func connect(settings: String? = nil) throws -> PostgresConnection {
        do {
            return try PostgresConnection(
                address, settings: settings ?? Self.settings(statement: 0, lock: 0))
        } catch {
            throw NoServer(fault: error)
        }
    }

    private func open() throws -> PostgresConnection {
        let connection = try connect(settings: settings)
        try opened(connection)
        return connection
    }

    /// Where a session was lost, or its server became a standby, those beside it are of the same
    /// server.
    private func giveBack(_ connection: PostgresConnection, after error: any Error) {
        let isReadOnly = (error as? PostgresFault)?.isReadOnly == true
        guard !isReadOnly, connection.isUsable, (try? connection.rollback()) != nil else {
            idle.withLock { $0 = [] }
            return
        }
        idle.withLock { $0.append(connection) }
    }
}
