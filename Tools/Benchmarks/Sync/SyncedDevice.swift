internal import Foundation
internal import MirrorEngine
internal import MirrorTransport
internal import Platform
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// A store and its mirror, with a service over TLS.
struct SyncedDevice {
    let store: SQLiteRowStore
    let mirrored: MirroredStore
    let channel: CurlChannel
    let session: MirrorSession
    private let configuration: ChannelConfiguration

    /// Opens the store at `file`; `folder` is the service's.
    init(_ file: URL, service folder: URL) throws {
        store = try SQLiteRowStore(url: file, model: SampleModel.make(linked: true))
        let ready = try Ready.read(folder)
        guard let url = URL(string: ready.url) else {
            throw BenchmarkError("The server's address cannot be read.")
        }
        mirrored = try MirroredStore(store: store, platform: .system)
        _ = try mirrored.prepare(container: ready.url)
        var configuration = ChannelConfiguration(
            serviceURL: url,
            target: RecordTarget(
                container: ServiceRole.container, deviceID: try mirrored.deviceID()),
            credentials: Credentials(apiToken: ready.api, userToken: ready.user))
        configuration.authorityFile = URL(fileURLWithPath: ready.authority)
        self.configuration = configuration
        channel = try CurlChannel(configuration: configuration)
        session = MirrorSession(mirrored: mirrored, container: ready.url, channel: channel)
    }

    /// Keeps it in sync by itself, until it is stopped.
    func scheduler() throws -> MirrorScheduler {
        MirrorScheduler(session, watching: try CurlChannel(configuration: configuration))
    }

    /// Makes one more entry.
    func insertOne(_ number: Int) throws {
        guard let entry = store.layout.entity(named: SampleModel.entity) else {
            throw BenchmarkError("The model lacks its entities.")
        }
        try ChangeFigures.insert(Sample.many(1, from: number), of: entry, into: store, folders: [])
    }

    func entries() throws -> Int {
        guard let entry = store.layout.entity(named: SampleModel.entity) else { return 0 }
        return try store.count(matching: RowQuery(entity: entry.number))
    }
}
