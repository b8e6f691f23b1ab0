import Foundation
import MirrorTestKit
import MirrorTransport
import Platform
import RecordWire
import Testing

/// Devices whose token is renewed before it ends. (SERVICE §2)
@Suite struct TokenRenewalTests {
    private let clock = VirtualClock()
    private let world: ChannelWorld
    private let kept = Lock<[String]>([])

    init() throws {
        var platform = Environment.system
        platform.clock = clock
        world = try ChannelWorld(platform: platform, tokenDays: 30)
    }

    private func channel(_ token: RotatingToken? = nil) throws -> CurlChannel {
        try world.channel { $0.rotatingToken = token }
    }

    private func advance(days: Double) { clock.advance(seconds: days * 86_400) }

    private func keptToken() -> RotatingToken {
        let kept = kept
        return RotatingToken(
            world.credentials.userToken, keep: { new in kept.withLock { $0.append(new) } },
            reread: { kept.withLock { $0.last } })
    }

    @Test func aDeviceThatSyncsIsNeverSignedOut() async throws {
        let token = keptToken()
        let channel = try self.channel(token)
        for _ in 0..<10 {
            advance(days: 9)
            _ = try await channel.send(.caller)
        }
        let texts = kept.withLock { $0 }
        #expect(Set(texts).count == texts.count && (3...5).contains(texts.count))
        #expect(token.value == texts.last)
        // Another process of the same device found the former token, and is told of the new one.
        let late = try self.channel()
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
        let channel = try self.channel(token)
        for _ in 0..<2 {
            advance(days: 12)
            _ = try await channel.send(.caller)
        }
        #expect(token.value == world.credentials.userToken)
        advance(days: 4)
        _ = try await self.channel().send(.caller)
        // It ends when it was said to.
        advance(days: 3)
        let error = await #expect(throws: RecordError.self) { _ = try await channel.send(.caller) }
        #expect(error?.code == .authenticationRequired)
    }

    /// Another user signed in meanwhile, as whom nothing is sent that was meant for the first.
    @Test func anotherUsersTokenIsNotTakenInTheMidst() async throws {
        let kept = Lock<String?>(nil)
        let token = RotatingToken(
            world.credentials.userToken, reread: { kept.withLock { $0 } })
        let channel = try self.channel(token)
        let name = try await channel.caller()?.userRecordName
        advance(days: 31)
        let other = try world.token(of: "ben")
        kept.withLock { $0 = other }
        let error = await #expect(throws: RecordError.self) {
            _ = try await channel.send(.listZones)
        }
        #expect(error?.code == .authenticationRequired)
        // The next round asks anew who it is.
        #expect(token.value == other)
        #expect(try await channel.caller()?.userRecordName != name)
    }

    /// The process beside it renewed the token that they share, long ago.
    @Test func aTokenThatAnotherProcessRenewedIsReadAnew() async throws {
        let (mine, other) = (keptToken(), keptToken())
        let (channel, beside) = (try self.channel(mine), try self.channel(other))
        _ = try await channel.send(.caller)
        for days in [21.0, 1, 1] {
            advance(days: days)
            _ = try await beside.send(.caller)
        }
        #expect(mine.value != other.value)
        _ = try await channel.send(.caller)
        #expect(mine.value == other.value && kept.withLock { $0.count } == 1)
    }
}
