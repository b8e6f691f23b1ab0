internal import Foundation
internal import Platform
internal import RecordService
internal import RecordWire

/// What single requests cost a service whose zone has few records, then more and more: processor
/// time, without the network.
struct GrowthFigures {
    static let kinds = ["200 new records", "one new record", "one edit", "lookup", "what changed"]
    private static let tries = 100

    private let service: RecordService
    private let target = RecordTarget(container: ServiceRole.container)
    private let caller: Caller
    /// Requests of 200 new records so far.
    private var batches = 0
    private var singles = 0
    private var token: String?

    static func play(_ arguments: RoleArguments) throws {
        var figures = try Self(folder: arguments.url(0))
        var found = Findings()
        for count in try arguments.text(1).split(separator: ",").compactMap({ Int($0) }) {
            try figures.fill(to: count)
            try figures.measure(count, &found)
        }
        found.send()
    }

    /// The name under which a cost is found.
    static func name(_ kind: String, _ count: Int) -> String {
        "\(kind.replacing(" ", with: "-"))-\(count)"
    }

    private init(folder: URL) throws {
        service = try RecordService(
            path: folder.appendingPathComponent("records.sqlite").path, platform: .system)
        try service.accounts.createContainer(ServiceRole.container)
        caller = Caller(
            userRecordName: try service.accounts.createUser(label: "bench").userRecordName)
        try ask(.modifyZones([ZoneOperation(.create, LoadFigures.zone)]))
    }

    private mutating func fill(to count: Int) throws {
        while batches * 200 < count { try addBatch() }
    }

    private mutating func measure(_ count: Int, _ found: inout Findings) throws {
        func cost(_ work: () throws -> Void) throws -> Double {
            let seconds = try Stopwatch.processorSeconds {
                for _ in 0..<Self.tries { try work() }
            }
            return seconds / Double(Self.tries)
        }
        var costs = [
            try cost { try addBatch() },
            try cost { try addOne() },
            try cost { try edit() },
            try cost { try look() },
        ]
        try readOn()
        costs.append(
            try cost {
                try edit()
                try readOn()
            })
        for (kind, cost) in zip(Self.kinds, costs) { found[Self.name(kind, count)] = cost }
    }

    // MARK: Requests

    private mutating func addBatch() throws {
        try ask(LoadFigures.request(of: 0, batches, records: 200, .forceUpdate))
        batches += 1
    }

    private mutating func addOne() throws {
        try ask(LoadFigures.request(of: 1, singles, records: 1, .forceUpdate))
        singles += 1
    }

    private mutating func edit() throws {
        try ask(LoadFigures.request(of: 0, scattered, records: 1, .forceUpdate))
    }

    private mutating func look() throws {
        let names = (0..<10).map { _ in LoadFigures.recordName(of: 0, scattered, index: 7) }
        try ask(.lookupRecords(LookupRecords(recordNames: names, zoneID: LoadFigures.zone)))
    }

    /// One batch after another, far apart.
    private var scattered: Int {
        mutating get {
            singles += 1
            return singles * 7_919 % batches
        }
    }

    /// Takes all changes since the last look; what stood there before is passed over.
    private mutating func readOn() throws {
        var isMore = true
        while isMore {
            let zone = ZoneChanges.Zone(zoneID: LoadFigures.zone, syncToken: token)
            guard case .zoneChanges(let pages) = try ask(.zoneChanges(ZoneChanges(zones: [zone]))),
                let page = pages.first, page.failure == nil
            else { throw BenchmarkError("The service gave no page.") }
            token = page.syncToken
            isMore = page.moreComing
        }
    }

    @discardableResult
    private func ask(_ request: RecordRequest) throws -> RecordResponse {
        let response = try service.handle(request, target: target, caller: caller)
        if case .records(let reply) = response {
            let isDone = reply.results.allSatisfy { if case .record = $0 { true } else { false } }
            guard isDone else { throw BenchmarkError("The service refused a record.") }
        }
        return response
    }
}
