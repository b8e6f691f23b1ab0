import Foundation
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// A store of objects that takes its time, in memory.
private final class SlowStore: ObjectStore {
    let place = "slow"
    private let objects = Lock<[String: Data]>([:])
    private let putting: @Sendable () -> Void
    private let getting: @Sendable () throws(ObjectStoreFailure) -> Void

    init(
        putting: @escaping @Sendable () -> Void = {},
        getting: @escaping @Sendable () throws(ObjectStoreFailure) -> Void = {}
    ) {
        self.putting = putting
        self.getting = getting
    }

    func put(_ object: StoredObject, from descriptor: Int32) throws(ObjectStoreFailure) {
        putting()
        var bytes = [UInt8](repeating: 0, count: Int(object.size))
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count == bytes.count else { throw ObjectStoreFailure("short", isTransient: false) }
        objects.withLock { $0[object.name] = Data(bytes) }
    }

    func get(
        _ object: StoredObject, _ range: Range<Int64>, _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(ObjectStoreFailure) -> Bool {
        try getting()
        guard let bytes = objects.withLock({ $0[object.name] }) else { return false }
        let part = Data(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
        return part.withUnsafeBytes { take($0) }
    }

    func has(_ object: StoredObject) -> Bool { objects.withLock { $0[object.name] != nil } }
    func remove(_ name: String) { objects.withLock { $0[name] = nil } }
    func list(after mark: String?) -> ObjectPage { ObjectPage() }
}

extension BucketTests {
    private func service(_ store: SlowStore) throws -> RecordService {
        var limits = AssetBucketLimits()
        limits.cacheBytesMax = 0
        let service = try RecordService(
            path: ":memory:", platform: platform,
            objects: ObjectPlace(store, cache: nil, limits: limits))
        try service.accounts.createContainer(Self.container)
        _ = try send(.modifyZones([ZoneOperation(.create, Self.zone)]), service)
        return service
    }

    private func server(
        _ service: RecordService, _ change: (inout ServerConfiguration) -> Void
    ) throws -> (RecordServer, UInt16) {
        var configuration = ServerConfiguration(tls: .off)
        configuration.port = 0
        change(&configuration)
        let server = RecordServer(
            service: service, configuration: configuration, platform: platform)
        return (server, UInt16(try server.start().port ?? 0))
    }

    private func uploadKey(_ service: RecordService) throws -> String {
        let request = UploadAssets(
            tokens: [.init(recordName: "r", recordType: "Note", fieldName: "picture")],
            zoneID: Self.zone)
        guard case .assetUploads(let addresses) = try send(.uploadAssets(request), service) else {
            throw POSIXError(.EIO)
        }
        return try Self.key(in: addresses[0].url)
    }

    @Test func aProbeLeavesNothingAndTellsWhatFails() throws {
        let service = try service()
        #expect(service.probeAssets() && notices.withLock { $0.isEmpty })
        #expect(bucket.names.isEmpty)
        #expect(bucket.seen.map(\.method) == ["PUT", "HEAD", "DELETE"])
        bucket.fail(0, 403)
        #expect(!service.probeAssets())
        bucket.state.withLock { $0.isGone = true }
        #expect(!service.probeAssets())
        #expect(notices.withLock { $0.count } == 2)
        let folder = try RecordService(path: ":memory:", platform: platform)
        #expect(folder.probeAssets())
    }

    /// Its user could ask for nothing else for a while, not for records either.
    @Test func theTimeThatTheStoreTakesIsNotItsUsers() throws {
        let clock = clock
        let service = try service(SlowStore(putting: { clock.advance(days: 60.0 / 86_400) }))
        let (server, port) = try server(service) {
            var limits = ThrottleLimits()
            limits.unitsPerSecond = 100
            limits.unitsSavedMax = 3_000
            $0.throttle = limits
        }
        defer { server.stop() }
        for _ in 0..<2 {
            let client = try RawClient(port: port)
            client.send(
                "POST \(AssetPath.upload)?key=\(try uploadKey(service)) HTTP/1.1\r\nHost: h\r\n"
                    + "Content-Length: 4\r\nConnection: close\r\n\r\nabcd")
            let answer = client.read()
            #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
        }
    }

    /// Longer than a body may crawl: the client is no crawler.
    @Test func aDownloadWhoseStoreStallsIsAnswered() throws {
        let store = SlowStore(getting: { () throws(ObjectStoreFailure) in
            usleep(5_000_000)
            throw ObjectStoreFailure("it stalls", isTransient: false)
        })
        let service = try service(store)
        try save("a", try upload(bytes(4_000), service), service)
        let (server, port) = try server(service) { $0.http.connections.graceSeconds = 1 }
        defer { server.stop() }
        let client = try RawClient(port: port)
        client.send(
            "GET \(AssetPath.download)?key=\(try key(of: "a", service)) HTTP/1.1\r\nHost: h\r\n"
                + "Connection: close\r\n\r\n")
        let answer = client.read()
        #expect(answer.hasPrefix("HTTP/1.1 503") && answer.contains("Retry-After"), "\(answer)")
    }
}
