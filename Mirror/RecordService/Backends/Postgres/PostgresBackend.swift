internal import Dispatch
internal import Platform
internal import PostgresDriver
internal import RecordWire

/// Nobody knows whether a transaction was kept: the session went while its end was on the way.
struct UnknownOutcome: Error {
    let cause: String
}

/// Keeps the rows in a PostgreSQL database, which several services share.
///
/// Writers of one database of records (one user's, or a public one) come one after another: each
/// locks its row first, then the zone's. So what is read under the locks is as it stays, counters
/// are given in the order of the commits, and no writer meets another's half.
final class PostgresBackend: Backend {
    private let pool: PostgresPool
    private let bell: ChangeBell
    private let platform: Environment
    private let failures: PostgresFailure
    private let queue = DispatchQueue(label: "record-service.removing")
    private let isRemoving = Lock(false)
    private let memory = ReadingMemory()

    /// How often a transaction runs again that met another's, and one whose session was lost.
    private static let racesMax = 50
    private static let lossesMax = 3
    private static let administratorWaitMilliseconds = 10_000

    /// Connects, brings the tables up to date and begins an epoch.
    convenience init(
        _ database: PostgresDatabase, platform: Environment, lockWaitMilliseconds: Int,
        log: @escaping ServiceLog
    ) throws(RecordError) {
        let pool = PostgresPool(database, lockWaitMilliseconds: lockWaitMilliseconds)
        let bell = try Self.opening(database, pool, platform) { session in
            let servers = KnownServers(platform)
            try PostgresSchema.prepare(
                session, serviceID: Int64(bitPattern: platform.randomness.next()))
            try servers.begin(session)
            pool.whenOpened { try servers.begin($0) }
        }
        self.init(pool, bell, platform, PostgresFailure(place: database.description, log: log))
        removeLater()
    }

    /// Connects beside the services that work with the database. Throws where it is no service's.
    convenience init(
        administering database: PostgresDatabase, platform: Environment, log: @escaping ServiceLog
    ) throws(RecordError) {
        let pool = PostgresPool(
            database, lockWaitMilliseconds: Self.administratorWaitMilliseconds)
        let bell = try Self.opening(database, pool, platform, PostgresSchema.require)
        self.init(pool, bell, platform, PostgresFailure(place: database.description, log: log))
    }

    private init(
        _ pool: PostgresPool, _ bell: ChangeBell, _ platform: Environment,
        _ failures: PostgresFailure
    ) {
        self.pool = pool
        self.bell = bell
        self.platform = platform
        self.failures = failures
    }

    private static func opening(
        _ database: PostgresDatabase, _ pool: PostgresPool, _ platform: Environment,
        _ prepare: (PostgresConnection) throws -> Void
    ) throws(RecordError) -> ChangeBell {
        do {
            let session = try pool.connect()
            try prepare(session)
            let id = try session.rows("SELECT id FROM service").first?.int64(at: 0) ?? 0
            return ChangeBell(
                pool, channel: "diptych_\(UInt64(bitPattern: id))",
                sender: String(platform.randomness.next(), radix: 36))
        } catch {
            throw PostgresFailure.opening(error, place: database.description)
        }
    }

    deinit { bell.stop() }

    // MARK: Transactions

    func write<Result>(
        _ place: RowPlace, _ body: (any BackendTransaction) throws -> Result
    ) throws(RecordError) -> Result {
        do {
            let (result, hasDoomedRecords) = try repeating { connection in
                try connection.send("BEGIN ISOLATION LEVEL READ COMMITTED")
                let transaction = PostgresTransaction(connection, memory)
                let result = try body(transaction)
                try platform.faults.reach("service.write.beforeCommit")
                try commit(connection, "service.write.commitSent")
                transaction.connection.remember()
                return (result, transaction.hasDoomedRecords)
            }
            if hasDoomedRecords { removeLater() }
            try platform.faults.reach("service.write.afterCommit")
            return result
        } catch {
            throw failures.translate(error)
        }
    }

    func write<Result>(
        to key: DatabaseKey, _ body: (any BackendTransaction) throws -> Result
    ) throws(RecordError) -> Result {
        pool.writers.enter(key)
        defer { pool.writers.leave(key) }
        return try write(key.place, body)
    }

    func read<Result>(
        _ place: RowPlace, _ body: (any BackendTransaction) throws -> Result
    ) throws(RecordError) -> Result {
        do {
            return try repeating { connection in
                try connection.send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                let result = try body(PostgresTransaction(connection, nil))
                if let fault = connection.fault { throw fault }
                try connection.endReading()
                return result
            }
        } catch {
            throw failures.translate(error)
        }
    }

    /// What fails before COMMIT is sent did not happen; what fails after it may have.
    private func commit(_ connection: PostgresConnection, _ point: String) throws {
        try connection.settle()
        do {
            try connection.commit { try platform.faults.reach(point) }
        } catch let fault as PostgresFault where !fault.isLost {
            throw fault
        } catch {
            throw UnknownOutcome(cause: "\(error)")
        }
    }

    /// Runs the transaction again where another was in its way, where its session was lost before
    /// its end, and where its server became a standby.
    private func repeating<Result>(
        _ attempt: (PostgresConnection) throws -> Result
    ) throws -> Result {
        var races = 0
        var losses = 0
        while true {
            do {
                return try pool.withConnection(attempt)
            } catch let fault as PostgresFault {
                memory.forget()
                if fault.isTransient || fault.isUniqueViolation, races < Self.racesMax {
                    races += 1
                } else if fault.isLost || fault.isReadOnly, losses < Self.lossesMax {
                    losses += 1
                } else {
                    throw fault
                }
            }
        }
    }

    // MARK: Other services

    func listen(_ heard: @escaping @Sendable (CommitNotice) -> Void) { bell.listen(heard) }

    func announce(_ notice: CommitNotice) { bell.ring(notice) }

    func sayWhatIsOwed() { bell.sayWhatIsOwed() }

    func wasChangedElsewhere() throws(RecordError) -> Bool { bell.mayHaveMissed() }

    /// Enough that the next is at the lock when the one before it ends.
    private static let writersMax = 4

    func facts() -> BackendFacts {
        BackendFacts(writerOrder: .ofDatabases(writersMax: Self.writersMax))
    }

    /// PostgreSQL looks after its own pages.
    func damage() throws(RecordError) -> [String] { [] }

    // MARK: Records of deleted zones

    /// Removes them a slice at a time, beside other work.
    private func removeLater() {
        let begins = isRemoving.withLock { isRemoving in
            defer { isRemoving = true }
            return !isRemoving
        }
        guard begins else { return }
        queue.async { [weak self] in self?.removeNext() }
    }

    private func removeNext() {
        do {
            if try removeSlice() {
                queue.async { [weak self] in self?.removeNext() }
                return
            }
        } catch {
            // The next deletion or start goes on with it.
            _ = failures.translate(error)
        }
        isRemoving.withLock { $0 = false }
    }

    private func removeSlice() throws -> Bool {
        try repeating { connection in
            try connection.send("BEGIN ISOLATION LEVEL READ COMMITTED")
            let transaction = PostgresTransaction(connection, memory)
            let goesOn = try transaction.removeDoomedSlice()
            try commit(connection, "service.removeSlice.commitSent")
            return goesOn
        }
    }

    func removeDoomedRecords() throws(RecordError) {
        do {
            while try removeSlice() {}
        } catch {
            throw failures.translate(error)
        }
    }
}
