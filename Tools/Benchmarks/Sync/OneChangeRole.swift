internal import Foundation
internal import MirrorEngine
internal import SQLiteStore
internal import Stores

/// Two devices that are in sync, one of which changes one object at a time.
struct OneChangeRole {
    private static let warmUps = 10
    private static let edits = 100

    private let writer: SyncedDevice
    private let reader: SyncedDevice
    private let ids: [RowID]

    /// Words: the store that is filled, the other device's, the service's folder.
    static func play(_ arguments: RoleArguments) async throws {
        let service = try arguments.url(2)
        let writer = try SyncedDevice(arguments.url(0), service: service)
        let reader = try SyncedDevice(arguments.url(1), service: service)
        _ = try await writer.session.sync()
        _ = try await reader.session.sync()
        try await OneChangeRole(writer, reader).measure()
    }

    private init(_ writer: SyncedDevice, _ reader: SyncedDevice) throws {
        self.writer = writer
        self.reader = reader
        guard let entry = writer.store.layout.entity(named: SampleModel.entity) else {
            throw BenchmarkError("The model lacks its entities.")
        }
        ids = try writer.store.ids(matching: RowQuery(entity: entry.number)).sorted()
        guard try reader.entries() == ids.count, !ids.isEmpty else {
            throw BenchmarkError("The devices are not equal before the first change.")
        }
    }

    /// Processor time of each device in the round that tells, or hears of, one change, and how long
    /// both rounds take by the clock: the medians.
    private func measure() async throws {
        var seconds: [String: [Double]] = [:]
        for edit in 0..<Self.warmUps + Self.edits {
            try change(edit)
            let begin = ContinuousClock.now
            let first = Stopwatch.cpuSeconds
            guard try await writer.session.sync().exported == 1 else {
                throw BenchmarkError("A round did not tell one change.")
            }
            let second = Stopwatch.cpuSeconds
            guard try await reader.session.sync().imported == 1 else {
                throw BenchmarkError("A round did not hear of one change.")
            }
            guard edit >= Self.warmUps else { continue }
            seconds["telling", default: []].append(second - first)
            seconds["hearing", default: []].append(Stopwatch.cpuSeconds - second)
            seconds["clock", default: []].append(Stopwatch.seconds(since: begin))
        }
        var found = Findings()
        for (name, times) in seconds { found[name] = times.sorted()[times.count / 2] }
        found.send()
    }

    /// Saves another note in an entry; the entries lie all over the store.
    private func change(_ edit: Int) throws {
        let id = ids[(edit &* 7_919_777) % ids.count]
        guard let row = try writer.store.row(id),
            let slot = writer.store.layout.entity(id.entity)?.attributeSlot("note")
        else { throw BenchmarkError("An entry is not there.") }
        var update = RowUpdate(id: id, expectedVersion: row.version)
        update.attributes = [(slot, .text("Changed by edit number \(edit)."))]
        var changes = ChangeSet()
        changes.updates = [update]
        _ = try writer.store.save(changes)
    }
}
