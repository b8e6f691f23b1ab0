import Foundation
import MirrorEngine
import MirrorTransport
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// Uploads that break off on their way over TLS, and go on.
@Suite struct ResumedUploadTests {
    private let zone = ZoneID(zoneName: "notes")

    /// Bytes that repeat nowhere.
    private func data(_ count: Int, seed: UInt64 = 1) -> Data {
        var word = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        var words = [UInt64](repeating: 0, count: count / 8 + 1)
        for index in words.indices {
            word ^= word << 13
            word ^= word >> 7
            word ^= word << 17
            words[index] = word
        }
        return words.withUnsafeBytes { Data($0.prefix(count)) }
    }

    private func proxy(_ world: AssetWorld) throws -> (CuttingProxy, URL) {
        let port = try #require(world.url.port)
        let proxy = try CuttingProxy(to: UInt16(port))
        return (proxy, try #require(URL(string: "https://127.0.0.1:\(proxy.port)")))
    }

    private func address(_ channel: CurlChannel) throws -> String {
        let request = UploadAssets(tokens: [.init(fieldName: "picture")], zoneID: zone)
        guard case .assetUploads(let addresses) = try channel.sendBlocking(.uploadAssets(request))
        else { throw TransportError(.badResponse, "Another answer came.") }
        return addresses[0].url
    }

    /// Bytes that a part has, once the server heard that its connection ended.
    private func partBytes(_ world: AssetWorld, isAtLeast least: Int) -> Int {
        let folder = URL(fileURLWithPath: world.incoming).deletingLastPathComponent()
            .appendingPathComponent("parts")
        var size = 0
        for _ in 0..<60_000 {
            let files = FileManager.default.enumerator(atPath: folder.path)?.allObjects ?? []
            size = files.compactMap { $0 as? String }.compactMap { file in
                let attributes = try? FileManager.default.attributesOfItem(
                    atPath: folder.appendingPathComponent(file).path)
                return attributes?[.type] as? FileAttributeType == .typeRegular
                    ? attributes?[.size] as? Int : nil
            }.reduce(0, +)
            if size >= least { return size }
            usleep(10_000)
        }
        return size
    }

    @Test func whatIsCutInTheMiddleGoesOn() async throws {
        let world = try AssetWorld()
        let (proxy, url) = try proxy(world)
        let channel = try world.channel { $0.serviceURL = url }
        let bytes = data(12 << 20)
        let first = try address(channel)
        proxy.cut(after: 8 << 20)
        await #expect(throws: TransportError.self) {
            _ = try await channel.upload(bytes, to: first)
        }
        #expect(partBytes(world, isAtLeast: 7 << 20) >= 7 << 20)
        // A new process, with a new address, knows nothing of the first.
        let again = try world.channel { $0.serviceURL = url }
        let second = try address(again)
        _ = proxy.takePassed()
        let asset = try await again.upload(bytes, to: second)
        #expect(asset.size == 12 << 20 && asset.receipt != nil)
        #expect(proxy.takePassed() < 6 << 20)
        #expect(partBytes(world, isAtLeast: 0) == 0)
    }

    @Test func aStoreSyncsThroughCuts() async throws {
        let world = try AssetWorld()
        let (proxy, url) = try proxy(world)
        let (a, b) = (try AssetDevice("a", world), try AssetDevice("b", world))
        let picture = data(9 << 20, seed: 7)
        try a.insert("one", picture: picture, text: "x")
        proxy.cut(after: 5 << 20)
        // The round tries again by itself, with an address of its own.
        #expect(try await a.sync(through: world.channel { $0.serviceURL = url }).isInSync)
        #expect(proxy.takePassed() < 12 << 20)
        #expect(try await b.sync().isInSync)
        #expect(try b.note("one").picture == picture)
    }

    @Test func aChangedFileBeginsAnew() async throws {
        let world = try AssetWorld()
        let (proxy, url) = try proxy(world)
        let channel = try world.channel { $0.serviceURL = url }
        let first = try address(channel)
        let bytes = data(6 << 20)
        proxy.cut(after: 4 << 20)
        await #expect(throws: TransportError.self) {
            _ = try await channel.upload(bytes, to: first)
        }
        #expect(partBytes(world, isAtLeast: 3 << 20) >= 3 << 20)
        var changed = bytes
        changed[100] ^= 1
        _ = proxy.takePassed()
        let asset = try await channel.upload(changed, to: try address(channel))
        #expect(asset.size == 6 << 20)
        #expect(proxy.takePassed() > 6 << 20)
    }

    @Test func headsAreAnsweredAsTheyAreSent() async throws {
        let world = try AssetWorld()
        let channel = try world.channel()
        let bytes = data(5_000)
        let hash = try RunningSHA256()
        try bytes.withUnsafeBytes { try hash.update($0) }
        let digest = ("Repr-Digest", "sha-256=:\(try hash.digest().base64EncodedString()):")
        let length = ("Upload-Length", "5000")
        let address = try address(channel)
        let handle = try world.handle()
        func call(
            _ method: String, _ headers: [(String, String)], _ body: Data = Data()
        ) throws -> CurlAnswer {
            try handle.perform(
                CurlCall(method: method, url: address, headers: headers, body: body))
        }
        #expect(try call("HEAD", []).status == 400)
        #expect(try call("HEAD", [digest]).status == 400)
        #expect(try call("HEAD", [digest, ("Upload-Length", "5x")]).status == 400)
        #expect(try call("PATCH", [("Upload-Offset", "0")]).status == 400)
        // What says that more comes is never taken for the whole.
        let piece = ("Upload-Complete", "?0")
        for head in [
            [piece], [piece, length], [piece, digest],
            [piece, length, ("Repr-Digest", "sha-256=:###:")],
        ] {
            #expect(try call("POST", head, bytes.prefix(2_000)).status == 400)
        }
        let unreadable = ("Repr-Digest", "sha-256=:###:")
        #expect(try call("POST", [unreadable], bytes).status == 400)
        let empty = try call("HEAD", [digest, length])
        #expect(empty.status == 204 && empty.headers["upload-offset"] == "0")
        let more = try call(
            "POST", [digest, length, ("Upload-Complete", "?0")], bytes.prefix(2_000))
        #expect(more.status == 204 && more.headers["upload-offset"] == "2000")
        let asked = try call("HEAD", [("repr-digest", "md5=:AAAA:, " + digest.1), length])
        #expect(asked.headers["upload-offset"] == "2000")
        #expect(asked.headers["upload-complete"] == "?0")
        #expect(asked.headers["upload-limit"]?.hasPrefix("max-size=") == true)
        let wrong = try call(
            "PATCH", [digest, length, ("Upload-Offset", "1999")], bytes.dropFirst(1_999))
        #expect(wrong.status == 409 && wrong.headers["upload-offset"] == "2000")
        for bad in ["2001", "9223372036854775807", "-1", "", "2000, 2000"] {
            let head = [digest, length, ("Upload-Offset", bad)]
            #expect([400, 409].contains(try call("PATCH", head, bytes.dropFirst(2_000)).status))
        }
        let last = try call(
            "PATCH", [digest, length, ("Upload-Offset", "2000"), ("Upload-Complete", "?1")],
            bytes.dropFirst(2_000))
        #expect(last.status == 200)
        #expect(try WireCodec.decodeUploaded(last.body).size == 5_000)
        #expect(try call("HEAD", [digest, length]).headers["upload-offset"] == "0")
    }

    @Test func aServiceWithoutTheExtensionGetsTheWhole() async throws {
        let world = try AssetWorld(dialect: .plain)
        let handle = try world.handle()
        var configuration: (inout ChannelConfiguration) -> Void { { $0.dialect = .plain } }
        let channel = try world.channel(configuration)
        let bytes = data(3 << 20)
        let address = try address(channel)
        #expect(try handle.perform(CurlCall(method: "HEAD", url: address)).status == 405)
        #expect(try await channel.upload(bytes, to: address).size == 3 << 20)
    }
}
