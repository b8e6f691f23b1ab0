internal import Foundation
internal import MirrorEngine
internal import SQLiteStore
internal import Stores

/// Pairs of devices that are in sync, in stores of several sizes: one of each pair changes one
/// object at a time.
struct OneChangeRole {
    private static let warmUps = 10
    private static let edits = 100
    private static let wordsPerPair = 3

    private let writer: SyncedDevice
    private let reader: SyncedDevice
    private let ids: [RowID]

    /// Words for each pair: the store that is filled, the other device's, the service's folder.
    /// The pairs take turns, so that what else the machine does strikes all alike. Finds processor
    /// time of each device in the round that tells, or hears of, one change, and how long both
    /// rounds take by the clock: the medians, with the number of the pair.
    static func play(_ arguments: RoleArguments) async throws {
        var pairs: [OneChangeRole] = []
        for first in stride(from: 0, to: arguments.wordCount, by: wordsPerPair) {
            pairs.append(try await OneChangeRole(arguments, first))
        }
        var seconds: [String: [Double]] = [:]
        for edit in 0..<warmUps + edits {
            for (number, pair) in pairs.enumerated() {
                for (name, time) in try await pair.sync(edit) where edit >= warmUps {
                    seconds["\(name)\(number)", default: []].append(time)
                }
            }
        }
        var found = Findings()
        for (name, times) in seconds { found[name] = times.sorted()[times.count / 2] }
        found.send()
    }

    private init(_ arguments: RoleArguments, _ first: Int) async throws {
        let service = try arguments.url(first + 2)
        writer = try SyncedDevice(arguments.url(first), service: service)
        reader = try SyncedDevice(arguments.url(first + 1), service: service)
        _ = try await writer.session.sync()
        _ = try await reader.session.sync()
        guard let entry = writer.store.layout.entity(named: SampleModel.entity) else {
            throw BenchmarkError("The model lacks its entities.")
        }
        ids = try writer.store.ids(matching: RowQuery(entity: entry.number)).sorted()
        guard try reader.entries() == ids.count, !ids.isEmpty else {
            throw BenchmarkError("The devices are not equal before the first change.")
        }
    }

    private func sync(_ edit: Int) async throws -> [(String, Double)] {
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
        let third = Stopwatch.cpuSeconds
        return [
            ("telling", second - first), ("hearing", third - second),
            ("clock", Stopwatch.seconds(since: begin)),
        ]
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
