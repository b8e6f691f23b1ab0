internal import Foundation
internal import MirrorEngine
internal import MirrorTransport
internal import Platform
internal import RecordWire
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
        let store = try SQLiteRowStore(
            url: arguments.url(0), model: SampleModel.make(linked: true))
        let ready = try Ready.read(arguments.url(1))
        guard let url = URL(string: ready.url) else {
            throw BenchmarkError("The server's address cannot be read.")
        }
        let mirrored = try MirroredStore(store: store, platform: .system)
        _ = try mirrored.prepare(container: ready.url)
        var configuration = ChannelConfiguration(
            serviceURL: url,
            target: RecordTarget(
                container: ServiceRole.container, deviceID: try mirrored.deviceID()),
            credentials: Credentials(apiToken: ready.api, userToken: ready.user))
        configuration.authorityFile = URL(fileURLWithPath: ready.authority)
        let channel = try CurlChannel(configuration: configuration)
        let session = MirrorSession(mirrored: mirrored, container: ready.url, channel: channel)
        let begin = ContinuousClock.now
        let summary = try await session.sync()
        var found = Findings()
        found["seconds"] = Stopwatch.seconds(since: begin)
        found["exported"] = Double(summary.exported)
        found["imported"] = Double(summary.imported)
        found["sent"] = Double(channel.byteCount.sent)
        found["received"] = Double(channel.byteCount.received)
        found["requests"] = Double(channel.byteCount.requests)
        found.send()
    }
}
