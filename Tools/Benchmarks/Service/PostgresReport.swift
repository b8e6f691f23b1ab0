internal import Foundation
internal import Platform
internal import PostgresDriver
internal import PostgresTesting
internal import RecordService
internal import RecordWire

/// What the record service writes to PostgreSQL, beside raw libpq that is as careful.
struct PostgresReport {
    private static let container = "iCloud.bench"
    private static let batch = 200
    private let server: TestServer

    static func run(count: Int) throws {
        Report.title("The record service on PostgreSQL, in one process", "records/s")
        guard TestServer.isInstalled else {
            return Report.note("PostgreSQL is not installed; Tools/setup does that.")
        }
        let report = Self(server: try TestServer(isDurable: true))
        for clients in [1, 4] {
            try report.push(clients: clients, batches: max(1, count / batch / clients))
        }
        Report.note("The floor: rows of as many bytes and the raising of a counter under its lock,")
        Report.note("one transaction a batch by raw libpq, as many clients; commits on the disk.")
    }

    private func push(clients: Int, batches: Int) throws {
        let address = try server.makeDatabase()
        let service = try RecordService(
            database: try PostgresDatabase(address: address, assetsFolder: nil), platform: .system)
        try service.accounts.createContainer(Self.container)
        let target = RecordTarget(container: Self.container)
        let caller = Caller(userRecordName: "_bench")
        _ = try service.handle(
            .modifyZones([ZoneOperation(.create, LoadFigures.zone)]), target: target,
            caller: caller)
        let refused = Lock(0)
        // Made before the clock starts, as those of the clients over TLS are.
        let requests = (0..<clients).map { client in
            (0..<batches).map { Self.request(client, $0) }
        }
        let seconds = try inParallel(clients, batches) { client, number in
            let answer = try service.handle(
                requests[client][number], target: target, caller: caller)
            guard case .records(let reply) = answer else { throw BenchmarkError("No answer.") }
            let failures = reply.results.count {
                if case .failure = $0 { true } else { false }
            }
            refused.withLock { $0 += failures }
        }
        let raw = try RawPostgres(PostgresAddress(address), clients: clients)
        let floor = try inParallel(clients, batches) { try raw.insert(Self.batch, by: $0, $1) }
        let name = "batches of \(Self.batch), \(clients) client\(clients == 1 ? "" : "s"), one zone"
        Report.rate(name, clients * batches * Self.batch, seconds: seconds, floor: floor)
        Report.fact("  conflicts without a cause", "\(refused.withLock { $0 })")
    }

    /// Requests of one client come one after another.
    private func inParallel(
        _ clients: Int, _ batches: Int, _ body: @escaping @Sendable (Int, Int) throws -> Void
    ) throws -> Double {
        let failure = Lock<(any Error)?>(nil)
        let seconds = Stopwatch.seconds {
            let group = DispatchGroup()
            for client in 0..<clients {
                group.enter()
                Thread.detachNewThread {
                    do {
                        for number in 0..<batches { try body(client, number) }
                    } catch {
                        failure.withLock { $0 = error }
                    }
                    group.leave()
                }
            }
            group.wait()
        }
        if let error = failure.withLock({ $0 }) { throw error }
        return seconds
    }

    private static func request(_ client: Int, _ number: Int) -> RecordRequest {
        LoadFigures.request(of: client, number, records: batch, .create)
    }
}
