internal import Foundation
internal import MirrorEngine
internal import MirrorTransport
internal import SQLiteStore
internal import Stores

/// One device: a store that is filled, or synced with a service.
enum DeviceRole {
    private static let rowsPerSave = 10_000

    /// Fills a store with entries in folders, a thousand to a folder.
    static func fill(_ arguments: RoleArguments) throws {
        let store = try SQLiteRowStore(
            url: arguments.url(0), model: SampleModel.make(linked: true))
        let count = try arguments.count(1)
        guard let entry = store.layout.entity(named: SampleModel.entity),
            let folder = store.layout.entity(named: SampleModel.folder)
        else { throw BenchmarkError("The model lacks its entities.") }
        let keys = try store.reserveKeys(entity: folder.number, count: max(1, count / 1_000))
        let folders = keys.map { RowID(entity: folder.number, key: $0) }
        var changes = ChangeSet()
        changes.inserts = folders.map { id in
            var row = Row(id: id, layout: folder)
            row.attributes = [.text("Folder \(id.key)")]
            return row
        }
        _ = try store.save(changes)
        var rest = count - folders.count
        while rest > 0 {
            let samples = Sample.many(min(rest, rowsPerSave), from: rest)
            try ChangeFigures.insert(samples, of: entry, into: store, folders: folders)
            rest -= samples.count
        }
        Findings().send()
    }

    /// One whole round of a device.
    static func sync(_ arguments: RoleArguments) async throws {
        let device = try SyncedDevice(arguments.url(0), service: arguments.url(1))
        let begin = ContinuousClock.now
        let summary = try await device.session.sync()
        var found = Findings()
        found["seconds"] = Stopwatch.seconds(since: begin)
        found["exported"] = Double(summary.exported)
        found["imported"] = Double(summary.imported)
        found["sent"] = Double(device.channel.byteCount.sent)
        found["received"] = Double(device.channel.byteCount.received)
        found["requests"] = Double(device.channel.byteCount.requests)
        found.send()
    }
}
