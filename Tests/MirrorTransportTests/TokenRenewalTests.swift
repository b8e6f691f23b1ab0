import Foundation
import MirrorTestKit
import MirrorTransport
import Platform
import RecordServer
import RecordService
import RecordWire
import Testing

/// Devices whose token is renewed before it ends. (SERVICE §2)
@Suite struct TokenRenewalTests {
    private static let container = "iCloud.org.example"
    private static let day = 86_400.0

    private final class World {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("diptych-renewal-\(UUID().uuidString)")
        let clock = VirtualClock()
        let credentials: Credentials
        private let server: RecordServer
        private let url: URL

        init() throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            var platform = Environment.system
            platform.clock = clock
            let service = try RecordService(platform: platform)
            let accounts = service.accounts
            try accounts.createContainer(TokenRenewalTests.container)
            let user = try accounts.createUser(label: "me").userRecordName
            credentials = Credentials(
                apiToken: try accounts.issueAPIToken(
                    container: TokenRenewalTests.container, label: "app"
                ).secret,
                userToken: try accounts.issueUserToken(
                    userRecordName: user, label: "laptop", days: 30
                ).secret)
            var configuration = ServerConfiguration(
                tls: .automatic(folder: folder.appendingPathComponent("tls"), hosts: []))
            configuration.port = 0
            server = RecordServer(service: service, configuration: configuration)
            url = try server.start()
        }

        deinit {
            server.stop()
            try? FileManager.default.removeItem(at: folder)
        }

        func channel(_ token: RotatingToken? = nil) throws -> CurlChannel {
            var configuration = ChannelConfiguration(
                serviceURL: url, target: RecordTarget(container: TokenRenewalTests.container),
                credentials: credentials)
            configuration.authorityFile = server.authorityFile
            configuration.rotatingToken = token
            return try CurlChannel(configuration: configuration)
        }

        func advance(days: Double) { clock.advance(seconds: days * TokenRenewalTests.day) }
    }

    private let world: World
    private let kept = Lock<[String]>([])

    init() throws { world = try World() }

    private func keptToken() -> RotatingToken {
        let kept = kept
        return RotatingToken(
            world.credentials.userToken, keep: { new in kept.withLock { $0.append(new) } },
            reread: { kept.withLock { $0.last } })
    }

    @Test func aDeviceThatSyncsIsNeverSignedOut() async throws {
        let token = keptToken()
        let channel = try world.channel(token)
        for _ in 0..<10 {
            world.advance(days: 9)
            _ = try await channel.send(.caller)
        }
        let texts = kept.withLock { $0 }
        #expect(Set(texts).count == texts.count && (3...5).contains(texts.count))
        #expect(token.value == texts.last)
        // Another process of the same device found the former token, and is told of the new one.
        let late = try world.channel()
        await #expect(throws: RecordError.self) { _ = try await late.send(.caller) }
    }

    /// One who cannot keep a new token goes on with the former one, which a restart finds.
    @Test(arguments: [true, false])
    func whatCannotBeKeptIsNotTaken(throwing: Bool) async throws {
        struct Full: Error {}
        let token =
            throwing
            ? RotatingToken(world.credentials.userToken) { _ in throw Full() }
            : RotatingToken(world.credentials.userToken)
        let channel = try world.channel(token)
        for _ in 0..<2 {
            world.advance(days: 12)
            _ = try await channel.send(.caller)
        }
        #expect(token.value == world.credentials.userToken)
        world.advance(days: 4)
        _ = try await world.channel().send(.caller)
        // It ends when it was said to.
        world.advance(days: 3)
        let error = await #expect(throws: RecordError.self) { _ = try await channel.send(.caller) }
        #expect(error?.code == .authenticationRequired)
    }

    /// The process beside it renewed the token that they share, long ago.
    @Test func aTokenThatAnotherProcessRenewedIsReadAnew() async throws {
        let (mine, other) = (keptToken(), keptToken())
        let (channel, beside) = (try world.channel(mine), try world.channel(other))
        _ = try await channel.send(.caller)
        for days in [21.0, 1, 1] {
            world.advance(days: days)
            _ = try await beside.send(.caller)
        }
        #expect(mine.value != other.value)
        _ = try await channel.send(.caller)
        #expect(mine.value == other.value && kept.withLock { $0.count } == 1)
    }
}
