import Foundation
import MirrorTransport
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// The whole way: channel, TLS, HTTP, routes, and the real service with a database on disk.
@Suite struct ServiceTests {
    private final class World {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-service-\(UUID().uuidString)")
        let service: RecordService
        let server: RecordServer
        let url: URL
        let credentials: Credentials
        let failures = Lock<[String]>([])

        init(limits: ServiceLimits = ServiceLimits()) throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            service = try RecordService(
                path: folder.appendingPathComponent("records.sqlite").path, platform: .system,
                limits: limits)
            try service.accounts.createContainer("iCloud.org.example")
            let user = try service.accounts.createUser(label: "me")
            credentials = Credentials(
                apiToken: try service.accounts.issueAPIToken(
                    container: "iCloud.org.example", label: "test"
                ).secret,
                userToken: try service.accounts.issueUserToken(
                    userRecordName: user.userRecordName, label: "test"
                ).secret)
            var configuration = ServerConfiguration(
                tls: .automatic(folder: folder.appendingPathComponent("tls"), hosts: []))
            configuration.port = 0
            configuration.failureLog = { [failures] _, error in
                failures.withLock { $0.append("\(error)") }
            }
            server = RecordServer(service: service, configuration: configuration)
            url = try server.start()
        }

        deinit {
            server.stop()
            try? FileManager.default.removeItem(at: folder)
        }

        func channel(_ change: (inout ChannelConfiguration) -> Void = { _ in }) throws
            -> CurlChannel
        {
            var configuration = ChannelConfiguration(
                serviceURL: url,
                target: RecordTarget(container: "iCloud.org.example", deviceID: "laptop"),
                credentials: credentials)
            configuration.authorityFile = server.authorityFile
            change(&configuration)
            return try CurlChannel(configuration: configuration)
        }
    }

    private let zone = ZoneID(zoneName: "notes")

    private func save(_ names: [String], text: String = "hällo") -> RecordRequest {
        let operations = names.map { name in
            var record = Record(recordName: name, recordType: "Note")
            record.fields["text"] = .string(text)
            return RecordOperation(.create, record)
        }
        return .modifyRecords(ModifyRecords(operations: operations, zoneID: zone))
    }

    private func changes(since token: String?, _ channel: CurlChannel) throws -> ZoneChangesReply {
        let request = RecordRequest.zoneChanges(
            ZoneChanges(zones: [.init(zoneID: zone, syncToken: token)]))
        guard case .zoneChanges(let replies) = try channel.sendBlocking(request) else {
            throw TransportError(.badResponse, "Another answer came.")
        }
        return try #require(replies.first)
    }

    @Test func whatOneDeviceSavesAnotherIsTold() throws {
        let world = try World()
        let laptop = try world.channel()
        let phone = try world.channel { $0.target.deviceID = "phone" }
        _ = try laptop.sendBlocking(.modifyZones([ZoneOperation(.create, zone)]))
        guard case .records(let reply) = try laptop.sendBlocking(save(["a", "b"])) else {
            Issue.record("another answer came")
            return
        }
        #expect(reply.results.count == 2)
        let first = try changes(since: nil, phone)
        #expect(Set(first.records.map(\.recordName)) == ["a", "b"])
        #expect(first.records.allSatisfy { $0.modified?.deviceID == "laptop" })
        _ = try phone.sendBlocking(save(["c"]))
        let second = try changes(since: first.syncToken, laptop)
        #expect(second.records.map(\.recordName) == ["c"])
        #expect(second.records.first?.fields["text"] == .string("hällo"))
        #expect(world.failures.withLock { $0 }.isEmpty)
    }

    @Test func aCreatedTwiceRecordComesBackWithTheServices() throws {
        let world = try World()
        let channel = try world.channel()
        _ = try channel.sendBlocking(.modifyZones([ZoneOperation(.create, zone)]))
        _ = try channel.sendBlocking(save(["a"], text: "first"))
        guard case .records(let reply) = try channel.sendBlocking(save(["a"], text: "second")),
            case .failure(let error) = reply.results.first
        else {
            Issue.record("the second creation was taken")
            return
        }
        #expect(error.code == .exists)
        #expect(error.serverRecord?.fields["text"] == .string("first"))
    }

    @Test func unknownCallersAreRefused() throws {
        let world = try World()
        let wrong = try world.channel { $0.credentials.userToken = "wrong" }
        let missing = try world.channel { $0.credentials.userToken = nil }
        let elsewhere = try world.channel { $0.target.container = "iCloud.org.other" }
        #expect(refusal(wrong)?.code == .authenticationFailed)
        #expect(refusal(missing)?.code == .authenticationRequired)
        #expect(refusal(elsewhere) != nil)
    }

    private func refusal(_ channel: CurlChannel) -> RecordError? {
        #expect(throws: RecordError.self) { try channel.sendBlocking(.caller) }
    }

    @Test func theServicesLimitsArePublishedAndKept() throws {
        var limits = ServiceLimits()
        limits.requestBytesMax = 20_000
        limits.operationsPerRequestMax = 3
        let world = try World(limits: limits)
        let channel = try world.channel()
        _ = try channel.sendBlocking(.modifyZones([ZoneOperation(.create, zone)]))
        let many = #expect(throws: RecordError.self) {
            try channel.sendBlocking(save(["a", "b", "c", "d"]))
        }
        #expect(many?.code == .limitExceeded)
        // Small on the wire, too large when whole.
        let large = #expect(throws: RecordError.self) {
            try channel.sendBlocking(save(["a"], text: String(repeating: "x", count: 30_000)))
        }
        #expect(large?.code == .limitExceeded)
        let handle = try handle(to: world)
        let answer = try handle.perform(
            CurlCall(url: world.url.absoluteString + "/capabilities"))
        let published = try JSONDecoder().decode(ServerCapabilities.self, from: answer.body)
        #expect(published.limits["operationsPerRequest"] == 3)
        #expect(published.limits["requestBytes"] == 20_000)
    }

    /// What repeats becomes smaller in zstd than gzip can make anything.
    @Test func aServiceThatSaysSoIsSentZstd() throws {
        let world = try World()
        _ = try world.channel().sendBlocking(.modifyZones([ZoneOperation(.create, zone)]))
        func sent(_ name: String, _ dialect: ServiceDialect?) throws -> Int64 {
            let channel = try world.channel { $0.dialect = dialect }
            _ = try channel.sendBlocking(.caller)
            let before = channel.byteCount.sent
            let text = String(repeating: "compressible ", count: 40_000)
            _ = try channel.sendBlocking(save([name], text: text))
            return channel.byteCount.sent - before
        }
        #expect(try sent("a", nil) + 200 < sent("b", .extended))
    }

    private func handle(to world: World) throws -> CurlHandle {
        var limits = CurlLimits()
        limits.authorityFile = world.server.authorityFile
        return try CurlHandle(limits: limits)
    }

    @Test func manyDevicesWriteAtOnceAndNothingIsLost() async throws {
        let world = try World()
        let zone = zone
        _ = try world.channel().sendBlocking(.modifyZones([ZoneOperation(.create, zone)]))
        let channels = try (0..<10).map { number in
            try world.channel { $0.target.deviceID = "device-\(number)" }
        }
        try await withThrowingTaskGroup { group in
            for (number, channel) in channels.enumerated() {
                group.addTask {
                    for turn in 0..<10 {
                        let names = (0..<5).map { "\(number)-\(turn)-\($0)" }
                        guard case .records(let reply) = try await channel.send(save(names)),
                            reply.results.allSatisfy(isRecord)
                        else { throw TransportError(.badResponse, "A write was refused.") }
                    }
                }
            }
            try await group.waitForAll()
        }
        let reader = try world.channel()
        var token: String?
        var names: Set<String> = []
        while true {
            let page = try changes(since: token, reader)
            names.formUnion(page.records.map(\.recordName))
            token = page.syncToken
            guard page.moreComing else { break }
        }
        #expect(names.count == 500)
    }

    private func isRecord(_ result: RecordResult) -> Bool {
        guard case .record = result else { return false }
        return true
    }
}
