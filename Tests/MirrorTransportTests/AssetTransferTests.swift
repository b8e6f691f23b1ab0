import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// Assets over TLS: channel, server, and a service with files.
@Suite struct AssetTransferTests {
    private let zone = ZoneID(zoneName: "notes")

    /// Bytes that no compression makes smaller, from a file, as a mapping.
    private func file(_ count: Int, in world: AssetWorld, named name: String = "large") throws
        -> Data
    {
        var word: UInt64 = 88_172_645_463_325_252
        var bytes = [UInt64](repeating: 0, count: count / 8 + 1)
        for index in bytes.indices {
            word ^= word << 13
            word ^= word >> 7
            word ^= word << 17
            bytes[index] = word
        }
        let url = world.folder.appendingPathComponent(name)
        try bytes.withUnsafeBytes { Data($0.prefix(count)) }.write(to: url)
        return try Data(contentsOf: url, options: .alwaysMapped)
    }

    private func address(_ channel: CurlChannel) throws -> String {
        let request = UploadAssets(tokens: [.init(fieldName: "picture")], zoneID: zone)
        guard case .assetUploads(let addresses) = try channel.sendBlocking(.uploadAssets(request))
        else { throw TransportError(.badResponse, "Another answer came.") }
        return addresses[0].url
    }

    private func save(_ asset: RecordAsset, _ channel: CurlChannel) throws -> RecordResult {
        var record = Record(recordName: "r", recordType: "Note")
        record.fields["picture"] = .asset(asset)
        let modify = ModifyRecords(
            operations: [RecordOperation(.forceUpdate, record)], zoneID: zone)
        guard case .records(let reply) = try channel.sendBlocking(.modifyRecords(modify)) else {
            throw TransportError(.badResponse, "Another answer came.")
        }
        return reply.results[0]
    }

    private func fetched(_ channel: CurlChannel) throws -> RecordAsset {
        let lookup = LookupRecords(recordNames: ["r"], zoneID: zone)
        guard case .records(let reply) = try channel.sendBlocking(.lookupRecords(lookup)),
            case .record(let record) = reply.results[0],
            case .asset(let asset)?? = record.fields["picture"]
        else { throw TransportError(.badResponse, "Another answer came.") }
        return asset
    }

    private func uploaded(_ bytes: Data, _ world: AssetWorld) async throws -> CurlChannel {
        let channel = try world.channel()
        _ = try channel.sendBlocking(.modifyZones([ZoneOperation(.create, zone)]))
        let asset = try await channel.upload(bytes, to: try address(channel))
        guard case .record = try save(asset, channel) else {
            throw TransportError(.badResponse, "The asset was refused.")
        }
        return channel
    }

    /// Neither side has room for the body in memory: the server holds 1 MB at most, the client
    /// takes answers of 1 MB.
    @Test func twentyMegabytesGoBothWaysWithoutBeingHeld() async throws {
        let world = try AssetWorld(configure: {
            $0.http.bodyBytesMax = 1 << 20
            $0.http.buffers.bytesMax = 1 << 20
        })
        let bytes = try file(20 << 20, in: world)
        _ = try await uploaded(bytes, world)
        let phone = try world.channel { $0.responseBytesMax = 1 << 20 }
        let copy = world.folder.appendingPathComponent("copy")
        try await phone.download(try fetched(phone), to: copy)
        #expect(try Data(contentsOf: copy, options: .alwaysMapped) == bytes)
        #expect(!FileManager.default.fileExists(atPath: copy.path + ".part"))
        #expect(try await phone.assetBytesMax() == ServiceLimits().assets.bytesMax)
    }

    @Test func anInterruptedDownloadGoesOn() async throws {
        let world = try AssetWorld()
        let bytes = try file(3_000_000, in: world)
        let channel = try await uploaded(bytes, world)
        let copy = world.folder.appendingPathComponent("copy")
        try bytes.prefix(2_900_000).write(to: copy.appendingPathExtension("part"))
        let before = channel.byteCount.received
        try await channel.download(try fetched(channel), to: copy)
        #expect(try Data(contentsOf: copy) == bytes)
        #expect(channel.byteCount.received - before < 200_000)
    }

    /// The proxy's own 200 is no answer of the service's. In a process of its own, whose variables
    /// name the proxy.
    @Test func anInterruptedDownloadGoesOnBehindAProxy() async throws {
        await #expect(processExitsWith: .success) {
            let tests = AssetTransferTests()
            let world = try AssetWorld()
            let bytes = try tests.file(3_000_000, in: world)
            let asset = try tests.fetched(try await tests.uploaded(bytes, world))
            let proxy = try CuttingProxy(
                to: UInt16(try #require(world.url.port)), tunnels: true)
            setenv("https_proxy", "http://127.0.0.1:\(proxy.port)", 1)
            for name in ["no_proxy", "NO_PROXY"] { unsetenv(name) }
            let channel = try world.channel()
            let copy = world.folder.appendingPathComponent("copy")
            try bytes.prefix(2_900_000).write(to: copy.appendingPathExtension("part"))
            try await channel.download(asset, to: copy)
            #expect(try Data(contentsOf: copy) == bytes)
            #expect(channel.byteCount.received < 200_000)
            #expect(proxy.takePassed() > 0)
        }
    }

    @Test func whatIsNotTheAssetIsThrownAway() async throws {
        let world = try AssetWorld()
        let bytes = try file(50_000, in: world)
        let channel = try await uploaded(bytes, world)
        let copy = world.folder.appendingPathComponent("copy")
        try Data(repeating: 7, count: 49_000).write(to: copy.appendingPathExtension("part"))
        await #expect(throws: TransportError.self) {
            try await channel.download(try self.fetched(channel), to: copy)
        }
        try await channel.download(try fetched(channel), to: copy)
        #expect(try Data(contentsOf: copy) == bytes)
    }

    @Test func oldAndForeignAddressesAreRefused() async throws {
        let world = try AssetWorld()
        let bytes = try file(5_000, in: world)
        let channel = try await uploaded(bytes, world)
        let copy = world.folder.appendingPathComponent("copy")
        var asset = try fetched(channel)
        asset.downloadURL = asset.downloadURL?.replacing("key=", with: "key=A")
        await #expect(throws: RecordError.self) {
            try await channel.download(asset, to: copy)
        }
        let own = try address(channel)
        try world.revokeToken()
        for address in [own, try fetchedBeforeRevocation(asset)] {
            let refusal = await #expect(throws: RecordError.self) {
                _ = try await channel.upload(bytes, to: address)
            }
            #expect([.authenticationFailed, .accessDenied].contains(refusal?.code))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.incoming).isEmpty)
    }

    private func fetchedBeforeRevocation(_ asset: RecordAsset) throws -> String {
        try #require(asset.downloadURL).replacing("/assets/file", with: "/assets/upload")
    }

    @Test func anotherUsersTokenDoesNotGoWithAnAddress() async throws {
        let world = try AssetWorld()
        let channel = try world.channel()
        let address = try address(channel)
        let handle = try world.handle()
        func status(_ headers: [(String, String)]) throws -> Int {
            try handle.perform(
                CurlCall(method: "PUT", url: address, headers: headers, body: Data("x".utf8))
            ).status
        }
        let api = ("X-Diptych-API-Token", world.credentials.apiToken)
        #expect(try status([api, ("X-Diptych-User-Token", try world.strangersToken())]) == 403)
        #expect(try status([api, ("X-Diptych-User-Token", "nonsense")]) == 401)
        #expect(
            try status([api, ("X-Diptych-User-Token", world.credentials.userToken ?? "")]) == 200)
        #expect(try status([("Content-Encoding", "gzip")]) == 415)
        #expect(try status([]) == 200)
    }

    @Test func rangesAreAnsweredAsTheyAreAsked() async throws {
        let world = try AssetWorld()
        let bytes = try file(1_000, in: world)
        let channel = try await uploaded(bytes, world)
        let address = try #require(try fetched(channel).downloadURL)
        let handle = try world.handle()
        func get(_ range: String, _ more: [(String, String)] = []) throws -> CurlAnswer {
            try handle.perform(CurlCall(url: address, headers: [("Range", range)] + more))
        }
        let first = try get("bytes=0-99")
        #expect(first.status == 206 && first.body == bytes.prefix(100))
        #expect(first.headers["content-range"] == "bytes 0-99/1000")
        #expect(try get("bytes=990-").body == bytes.suffix(10))
        #expect(try get("bytes=-5").body == bytes.suffix(5))
        #expect(try get("bytes=900-5000").body == bytes.suffix(100))
        let outside = try get("bytes=1000-")
        #expect(outside.status == 416 && outside.headers["content-range"] == "bytes */1000")
        for ignored in ["bytes=1-2,4-5", "bytes=5-1", "bytes=x-", "lines=1-2", "bytes=-"] {
            #expect(try get(ignored).status == 200)
        }
        #expect(try get("bytes=0-9", [("If-Range", "\"other\"")]).status == 200)
        let head = try handle.perform(CurlCall(method: "HEAD", url: address))
        #expect(head.status == 200 && head.headers["content-length"] == "1000")
        #expect(head.headers["x-content-type-options"] == "nosniff")
        #expect(try handle.perform(CurlCall(method: "POST", url: address)).status == 405)
    }

    @Test func anUploadThatIsTooLargeOrBrokenOffLeavesNothing() async throws {
        let world = try AssetWorld(limits: { $0.assets.bytesMax = 100_000 })
        let bytes = try file(400_000, in: world)
        let channel = try world.channel()
        let refusal = await #expect(throws: RecordError.self) {
            _ = try await channel.upload(bytes, to: try self.address(channel))
        }
        #expect(refusal?.code == .limitExceeded)
        let small = try await channel.upload(bytes.prefix(100_000), to: try address(channel))
        #expect(small.size == 100_000)
        let flag = CancelFlag()
        flag.cancel()
        #expect(throws: TransportError.self) {
            _ = try world.handle().perform(
                CurlCall(method: "POST", url: try address(channel), body: bytes), cancelFlag: flag)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.incoming).isEmpty)
    }
}
