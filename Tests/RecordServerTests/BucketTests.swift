import Foundation
import ObjectStorage
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// Assets in a bucket of an S3-compatible store.
@Suite struct BucketTests {
    let bucket: BucketDouble
    let notices = Lock<[ServiceNotice]>([])
    let clock = BucketClock()
    private let caller = Caller(userRecordName: "_anna")
    static let container = "iCloud.org.example"
    static let zone = ZoneID(zoneName: "notes")

    init() throws { bucket = try BucketDouble() }

    func service(
        secret: String = BucketDouble.secretKey, path: String = ":memory:", cache: URL? = nil,
        _ change: (inout AssetBucketLimits) -> Void = { _ in }
    ) throws -> RecordService {
        let objects = try objects(secret: secret, cache: cache, change)
        let notices = notices
        let service = try RecordService(
            path: path, platform: platform, objects: objects,
            log: { notice in notices.withLock { $0.append(notice) } })
        try service.accounts.createContainer(Self.container)
        _ = try send(.modifyZones([ZoneOperation(.create, Self.zone)]), service)
        return service
    }

    var platform: Environment {
        Environment(clock: clock, randomness: SystemRandomness(), faults: NoFaults())
    }

    func objects(
        secret: String = BucketDouble.secretKey, cache: URL? = nil,
        _ change: (inout AssetBucketLimits) -> Void = { _ in }
    ) throws -> ObjectPlace {
        var limits = AssetBucketLimits()
        change(&limits)
        var wait = S3Limits()
        wait.stallSeconds = 1
        return ObjectPlace(
            S3Bucket(try bucket.address(secret: secret), limits: wait), cache: cache,
            limits: limits)
    }

    func send(
        _ request: RecordRequest, _ service: RecordService
    ) throws -> RecordResponse {
        try service.handle(
            request, target: RecordTarget(container: Self.container), caller: caller)
    }

    static func key(in url: String?) throws -> String {
        String(try #require(url?.split(separator: "=", maxSplits: 1).last))
    }

    func upload(_ data: Data, _ service: RecordService) throws -> RecordAsset {
        let request = UploadAssets(
            tokens: [.init(recordName: "r", recordType: "Note", fieldName: "picture")],
            zoneID: Self.zone)
        guard case .assetUploads(let addresses) = try send(.uploadAssets(request), service) else {
            throw POSIXError(.EIO)
        }
        let upload = try service.beginUpload(
            key: try Self.key(in: addresses[0].url), announced: Int64(data.count))
        for start in stride(from: 0, to: data.count, by: 50_000) {
            try data[start..<min(data.count, start + 50_000)].withUnsafeBytes {
                try upload.take($0)
            }
        }
        return try upload.finish()
    }

    func save(_ name: String, _ asset: RecordAsset?, _ service: RecordService) throws {
        var record = Record(recordName: name, recordType: "Note")
        record.fields["picture"] = asset.map { .asset($0) }
        let kind: RecordOperation.Kind = asset == nil ? .forceDelete : .forceUpdate
        _ = try send(
            .modifyRecords(
                ModifyRecords(operations: [RecordOperation(kind, record)], zoneID: Self.zone)),
            service)
    }

    private func content(of name: String, _ service: RecordService) throws -> Data {
        let file = try service.openAsset(key: try key(of: name, service)).file
        return try FileHandle(fileDescriptor: file.descriptor).readToEnd() ?? Data()
    }

    /// What stands in the address of a record's asset.
    func key(of name: String, _ service: RecordService) throws -> String {
        let request = LookupRecords(recordNames: [name], zoneID: Self.zone)
        guard case .records(let reply) = try send(.lookupRecords(request), service),
            case .record(let record)? = reply.results.first,
            case .asset(let asset)?? = record.fields["picture"]
        else { throw POSIXError(.ENOENT) }
        return try Self.key(in: asset.downloadURL)
    }

    func bytes(_ count: Int, _ seed: Int = 1) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed) })
    }

    func refusal(_ body: () throws -> Void) -> RecordError? {
        do { try body() } catch let error as RecordError { return error } catch {}
        return nil
    }

    // MARK: Going through

    @Test func aContentGoesIntoTheBucketOnceAndComesBack() throws {
        let data = bytes(300_000)
        let service = try service()
        for name in ["a", "b"] { try save(name, try upload(data, service), service) }
        #expect(bucket.names.count == 1)
        let name = try #require(bucket.names.first)
        #expect(name.hasPrefix("/shelf/assets/") && name.count == "/shelf/assets/".count + 65)
        #expect(bucket.seen.map(\.method) == ["PUT", "PUT"])
        #expect(bucket.seen.allSatisfy { $0.status == 200 })
        bucket.clear()
        #expect(try content(of: "a", service) == data)
        // What came in is kept for those who ask next.
        #expect(bucket.seen.isEmpty)
    }

    /// Contents are not gone because their bucket is not there.
    @Test func aBucketThatIsNotThereLosesNoContents() throws {
        let service = try service { $0.cacheBytesMax = 0 }
        try save("a", try upload(bytes(5_000), service), service)
        bucket.state.withLock { $0.isGone = true }
        #expect(refusal { _ = try content(of: "a", service) }?.code == .tryAgainLater)
        let told = notices.withLock { $0 }.map { "\($0.description) \($0.fields)" }.joined()
        #expect(told.contains("no such bucket"))
        bucket.state.withLock { $0.isGone = false }
        #expect(try content(of: "a", service) == bytes(5_000))
    }

    @Test func aServiceWithoutACopyFetchesItOnce() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bucket-service-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("records.sqlite").path
        let data = bytes(700_000)
        do {
            let service = try service(path: path)
            try save("a", try upload(data, service), service)
        }
        bucket.clear()
        let second = try service(path: path)
        for _ in 0..<3 { #expect(try content(of: "a", second) == data) }
        #expect(bucket.seen.map(\.method) == ["GET"])
    }

    /// The one copy in a folder of them.
    private func copy(in cache: URL) throws -> URL {
        let paths = FileManager.default.enumerator(atPath: cache.path)?.allObjects ?? []
        let files = paths.compactMap { $0 as? String }
            .map { cache.appendingPathComponent($0) }
            .filter { !$0.hasDirectoryPath && $0.lastPathComponent.utf8.count == 62 }
        #expect(files.count == 1)
        return try #require(files.first)
    }

    /// After a repair of the disk, say: the bucket has the object, which is whole.
    @Test func aCutCopyHidesNoObject() throws {
        let cache = FileManager.default.temporaryDirectory
            .appendingPathComponent("bucket-copies-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: cache) }
        let service = try service(cache: cache)
        let data = letters(2_500_000)
        try save("a", try upload(data, service), service)
        let stage = try RangeStage(service, key: try key(of: "a", service))
        func cut() throws {
            let file = try FileHandle(forWritingTo: try copy(in: cache))
            try file.truncate(atOffset: 1_000)
            try file.close()
        }
        try cut()
        let range = try stage.get("bytes=1000000-1000099")
        #expect(range.status == 206)
        #expect(range.body == String(decoding: data[1_000_000..<1_000_100], as: UTF8.self))
        let head = try stage.ask("HEAD")
        #expect(head.status == 200 && head.length == 2_500_000)
        #expect(try content(of: "a", service) == data)
        bucket.clear()
        // In the place of the cut one there is a whole one now.
        #expect(try content(of: "a", service) == data)
        #expect(bucket.seen.isEmpty)
        #expect(!notices.withLock { $0 }.contains { $0.description.contains("cannot be read") })
    }

    @Test func theFolderOfCopiesStaysSmall() throws {
        let service = try service { $0.cacheBytesMax = 250_000 }
        for number in 0..<8 {
            try save("r\(number)", try upload(bytes(100_000, number), service), service)
        }
        for number in 0..<8 {
            #expect(try content(of: "r\(number)", service) == bytes(100_000, number))
        }
        #expect(bucket.seen.count { $0.method == "GET" } >= 5)
    }

    @Test func whatNothingNamesGoesFromTheBucketToo() throws {
        let service = try service()
        try save("a", try upload(bytes(10_000), service), service)
        try save("b", try upload(bytes(10_000, 2), service), service)
        try save("a", nil, service)
        clock.advance(days: 5)
        _ = try service.collectAssets()
        clock.advance(days: 5)
        _ = try service.collectAssets()
        #expect(bucket.names.count == 1)
        #expect(try content(of: "b", service) == bytes(10_000, 2))
    }

    // MARK: Failures

    /// 403, 500 and 503: what cannot be kept is told, and nothing is lost by another try.
    @Test(arguments: [(403, 1), (500, 3), (503, 3), (301, 1)])
    func aRefusedUploadIsToldAndTriedAgain(status: Int, attempts: Int) throws {
        let service = try service()
        bucket.fail(status, status, status)
        let error = try #require(refusal { _ = try upload(bytes(5_000), service) })
        #expect(error.code == .tryAgainLater && (error.retryAfterSeconds ?? 0) > 0)
        #expect(bucket.seen.count == attempts && bucket.names.isEmpty)
        let told = notices.withLock { $0 }.map { "\($0.description) \($0.fields)" }.joined()
        #expect(told.contains("status \(status)") && !(told + error.reason).contains("EXAMPLE"))
        for _ in attempts..<3 { _ = refusal { _ = try upload(bytes(1), service) } }
        let again = try upload(bytes(5_000), service)
        try save("a", again, service)
        #expect(try content(of: "a", service) == bytes(5_000))
    }

    @Test func oneFailureIsNotNoticed() throws {
        let service = try service()
        bucket.fail(500, 503)
        try save("a", try upload(bytes(5_000), service), service)
        #expect(bucket.seen.map(\.status) == [500, 503, 200])
    }

    @Test func aWrongKeyIsToldWithoutIt() throws {
        let service = try service(secret: "wrong-secret-key")
        let error = try #require(refusal { _ = try upload(bytes(5_000), service) })
        #expect(error.code == .tryAgainLater)
        let told = notices.withLock { $0 }.map { "\($0.description) \($0.fields)" }.joined()
        #expect(told.contains("it denies access") && !told.contains("wrong-secret"))
        #expect(!"\(try bucket.address())".contains("EXAMPLE"))
        #expect(!String(reflecting: try bucket.address()).contains("EXAMPLE"))
    }

    /// A download that breaks off goes on where it stopped.
    @Test func aBrokenDownloadGoesOnWhereItStopped() throws {
        let service = try service { $0.cacheBytesMax = 0 }
        let data = bytes(400_000)
        try save("a", try upload(data, service), service)
        bucket.clear()
        bucket.cut(after: 150_000, times: 2)
        #expect(try content(of: "a", service) == data)
        let ranges = bucket.seen.map(\.range)
        #expect(ranges.count == 3 && ranges[0] == nil)
        #expect(ranges[1]?.hasPrefix("bytes=") == true && ranges[2]?.hasPrefix("bytes=") == true)
        #expect(ranges[2]?.hasSuffix("-399999") == true)
        bucket.clear()
        bucket.cut(after: 10, times: 9)
        #expect(refusal { _ = try content(of: "a", service) }?.code == .tryAgainLater)
        #expect(bucket.seen.count == 3)
    }

    @Test func aLostOrDamagedObjectIsNotServed() throws {
        let service = try service { $0.cacheBytesMax = 0 }
        try save("a", try upload(bytes(5_000), service), service)
        bucket.damage()
        #expect(refusal { _ = try content(of: "a", service) }?.code == .assetNotFound)
        bucket.lose()
        #expect(refusal { _ = try content(of: "a", service) }?.code == .assetNotFound)
        let told = notices.withLock { $0 }.map { "\($0.fields)" }
        #expect(told.contains { $0.contains("not those that its name says") })
        #expect(told.contains { $0.contains("no such object") })
        // The record stays, and another upload mends it.
        try save("a", try upload(bytes(5_000), service), service)
        #expect(try content(of: "a", service) == bytes(5_000))
    }

    @Test func aStoreThatIsNotThereIsTold() throws {
        let address = S3Address(
            endpoint: try #require(URL(string: "http://127.0.0.1:1")), region: "r", bucket: "b",
            accessKey: "a", secretKey: "s")
        #expect(throws: ObjectStoreFailure.self) {
            try S3Bucket(address).remove("aa/bb")
        }
    }
}

/// A clock that is set forward.
final class BucketClock: Clock {
    private let offset = Lock(0.0)
    func advance(days: Double) { offset.withLock { $0 += days * 86_400 } }
    func now() -> Date { Date().addingTimeInterval(offset.withLock { $0 }) }
}
