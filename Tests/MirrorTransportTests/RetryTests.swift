import Foundation
import MirrorTransport
import Platform
import RecordWire
import Testing

@Suite struct RetryTests {
    /// Draws the same share of each wait.
    private struct Share: Randomness {
        var share: Double
        func next() -> UInt64 {
            share >= 1 ? .max : UInt64(share * Double(1 << 53)) << 11
        }
    }

    private func waits(_ error: any Error, share: Double) -> [Double?] {
        let policy = RetryPolicy()
        return (1...10).map {
            policy.wait(afterAttempt: $0, error, randomness: Share(share: share))
        }
    }

    private func throttled(_ seconds: Double?) -> RecordError {
        var error = RecordError(.throttled, "Slower.")
        error.retryAfterSeconds = seconds
        return error
    }

    @Test func waitsDoubleUpToACapAndEnd() {
        let lost = TransportError(.connectionLost, "Lost.")
        let half = waits(lost, share: 0.5)
        #expect(half == [0.25, 0.5, 1, 2, 4, 8, 16, nil, nil, nil])
        #expect(waits(lost, share: 0).prefix(7).allSatisfy { $0 == 0 })
        var policy = RetryPolicy()
        policy.attemptsMax = 1_000
        let late = policy.wait(afterAttempt: 500, lost, randomness: Share(share: 0.5))
        #expect(late == 30)
    }

    @Test func whatTheServiceAsksForIsTheLeast() {
        #expect(waits(throttled(30), share: 0).first == 30)
        #expect(waits(throttled(30), share: 0.5).first == 30.25)
        #expect(waits(throttled(601), share: 0).first == .some(nil))
        #expect(waits(throttled(nil), share: 0.5).first == 0.25)
    }

    @Test func whatCannotGetBetterIsNotTriedAgain() {
        for code in [RecordError.Code.badRequest, .conflict, .authenticationFailed, .limitExceeded]
        {
            #expect(waits(RecordError(code, "No."), share: 1).first == .some(nil))
        }
        for code in [TransportError.Code.tlsUntrusted, .tlsWrongHost, .badResponse, .cancelled] {
            #expect(waits(TransportError(code, "No."), share: 1).first == .some(nil))
        }
        #expect(waits(CancellationError(), share: 1).first == .some(nil))
        // An error that names a time may be tried again, whatever its code.
        var quota = RecordError(.quotaExceeded, "Full.")
        quota.retryAfterSeconds = 5
        #expect(waits(quota, share: 0).first == 5)
    }

    private final class CountingSleeper: Sleeper {
        let waits = Lock<[Double]>([])
        func sleep(seconds: Double) async throws { waits.withLock { $0.append(seconds) } }
    }

    private struct FlakyChannel: RecordChannel {
        let failures: Lock<[any Error]>
        func send(_ request: RecordRequest) async throws -> RecordResponse {
            let next = failures.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if let next { throw next }
            return .caller(CallerReply(userRecordName: "_me"))
        }
    }

    @Test func aChannelTriesAgainAfterTheWaitsOfThePolicy() async throws {
        let flaky = FlakyChannel(
            failures: Lock([
                TransportError(.cannotConnect, "No."), throttled(30),
                TransportError(.unavailable, "No.", retryAfterSeconds: 7),
            ]))
        let sleeper = CountingSleeper()
        var platform = Platform.system
        platform.randomness = Share(share: 0)
        let channel = RetryingChannel(flaky, sleeper: sleeper, platform: platform)
        let answer = try await channel.send(.caller)
        #expect(answer == .caller(CallerReply(userRecordName: "_me")))
        #expect(sleeper.waits.withLock { $0 } == [0, 30, 7])
    }

    @Test func aChannelThrowsTheLastErrorWhenItGivesUp() async throws {
        let errors = (1...20).map { RecordError(.tryAgainLater, "Later \($0).") }
        let flaky = FlakyChannel(failures: Lock(errors))
        let sleeper = CountingSleeper()
        let channel = RetryingChannel(flaky, sleeper: sleeper)
        let error = await #expect(throws: RecordError.self) { try await channel.send(.caller) }
        #expect(error?.reason == "Later 8.")
        #expect(sleeper.waits.withLock { $0.count } == 7)
    }

    @Test func aRealServersPatienceReachesTheSleeper() async throws {
        let calls = Lock(0)
        let server = try ScriptedServer { _ in
            let isFirst = calls.withLock { calls in
                calls += 1
                return calls == 1
            }
            guard !isFirst else { throw throttled(2.5) }
            return .caller(CallerReply(userRecordName: "_me"))
        }
        let sleeper = CountingSleeper()
        var platform = Platform.system
        platform.randomness = Share(share: 0)
        let channel = RetryingChannel(
            try server.channel(), sleeper: sleeper, platform: platform)
        _ = try await channel.send(.caller)
        #expect(sleeper.waits.withLock { $0 } == [2.5])
    }

    @Test func theSystemsSleeperWaitsAndHearsCancellation() async throws {
        let began = ContinuousClock.now
        try await SystemSleeper().sleep(seconds: 0.05)
        #expect(ContinuousClock.now - began >= .milliseconds(50))
        let task = Task { try await SystemSleeper().sleep(seconds: 60) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
