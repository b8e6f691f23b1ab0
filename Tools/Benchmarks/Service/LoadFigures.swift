internal import Foundation
internal import MirrorTransport
internal import Platform
internal import RecordWire

/// Clients of the record service that do nothing but ask: each is a thread with a connection of its
/// own over TLS.
struct LoadFigures: Codable {
    var clients: Int
    var requestsEach: Int
    var recordsEach: Int
    static let zone = ZoneID(zoneName: "load")

    var records: Int { clients * requestsEach * recordsEach }

    static func play(_ arguments: RoleArguments) throws {
        let folder = try arguments.url(0)
        let plan = try JSONDecoder().decode(Self.self, from: Data(try arguments.text(1).utf8))
        let ready = try Ready.read(folder)
        var found = Findings()
        try plan.push(to: ready, &found)
        found.send()
    }

    /// Reads all that is in the zone, page by page.
    static func pull(_ arguments: RoleArguments) throws {
        let channel = try channel(to: try Ready.read(try arguments.url(0)))
        var (token, count): (String?, Int) = (nil, 0)
        var found = Findings()
        found["seconds"] = try Stopwatch.seconds {
            var isMore = true
            while isMore {
                let zone = ZoneChanges.Zone(zoneID: zone, syncToken: token)
                guard
                    case .zoneChanges(let pages) = try channel.sendBlocking(
                        .zoneChanges(ZoneChanges(zones: [zone]))), let page = pages.first,
                    page.failure == nil
                else { throw BenchmarkError("The service gave no page.") }
                count += page.records.count
                token = page.syncToken
                isMore = page.moreComing
            }
        }
        found["records"] = Double(count)
        found.send()
    }

    private static func channel(to ready: Ready) throws -> CurlChannel {
        guard let url = URL(string: ready.url) else { throw BenchmarkError("No address.") }
        var configuration = ChannelConfiguration(
            serviceURL: url, target: RecordTarget(container: ServiceRole.container),
            credentials: Credentials(apiToken: ready.api, userToken: ready.user))
        configuration.authorityFile = URL(fileURLWithPath: ready.authority)
        return try CurlChannel(configuration: configuration)
    }

    private func push(to ready: Ready, _ found: inout Findings) throws {
        let channels = try (0..<clients).map { _ in try Self.channel(to: ready) }
        for channel in channels {
            // Connections are made before the clock starts.
            _ = try channel.sendBlocking(.modifyZones([ZoneOperation(.create, Self.zone)]))
        }
        let requests = channels.indices.map { client in
            (0..<requestsEach).map { request(of: client, $0) }
        }
        let times = Lock<[Double]>([])
        let failure = Lock<(any Error)?>(nil)
        found["seconds"] = Stopwatch.seconds {
            Self.inParallel(clients) { client in
                do {
                    let own = try requests[client].map { request in
                        try Stopwatch.seconds { try Self.send(request, by: channels[client]) }
                    }
                    times.withLock { $0 += own }
                } catch {
                    failure.withLock { $0 = error }
                }
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        let sorted = times.withLock { $0.sorted() }
        found["median"] = sorted[sorted.count / 2]
        found["slow"] = sorted[sorted.count * 99 / 100]
    }

    private static func send(_ request: RecordRequest, by channel: CurlChannel) throws {
        guard case .records(let reply) = try channel.sendBlocking(request),
            reply.results.allSatisfy({ if case .record = $0 { true } else { false } })
        else { throw BenchmarkError("The service refused a record.") }
    }

    /// As many threads as clients, however few processors there are.
    private static func inParallel(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let group = DispatchGroup()
        for index in 0..<count {
            group.enter()
            Thread.detachNewThread {
                body(index)
                group.leave()
            }
        }
        group.wait()
    }

    private func request(of client: Int, _ number: Int) -> RecordRequest {
        Self.request(of: client, number, records: recordsEach, .forceUpdate)
    }

    static func recordName(of client: Int, _ number: Int, index: Int) -> String {
        String(format: "%04d-%08d-%04d", client, number, index)
    }

    /// Books that no other client and no other request writes.
    static func request(
        of client: Int, _ number: Int, records: Int, _ kind: RecordOperation.Kind
    ) -> RecordRequest {
        let operations = (0..<records).map { index in
            var record = Record(
                recordName: recordName(of: client, number, index: index), recordType: "Book")
            record.fields = [
                "title": .string("The number \(number) of \(client)"),
                "pages": .int64(Int64(index)), "price": .double(9.5),
            ]
            return RecordOperation(kind, record)
        }
        var modify = ModifyRecords(operations: operations, zoneID: zone)
        modify.desiredKeys = []
        return .modifyRecords(modify)
    }
}
