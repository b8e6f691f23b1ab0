public import Platform
public import RecordWire

/// Sends through another channel, again where the policy says so.
public struct RetryingChannel: RecordChannel {
    private let channel: any RecordChannel
    private let policy: RetryPolicy
    private let sleeper: any Sleeper
    private let randomness: any Randomness

    public init(
        _ channel: any RecordChannel, policy: RetryPolicy = RetryPolicy(),
        sleeper: any Sleeper = SystemSleeper(), platform: Platform = .system
    ) {
        self.channel = channel
        self.policy = policy
        self.sleeper = sleeper
        randomness = platform.randomness
    }

    /// Throws the last error where the policy gives up, and `CancellationError` while waiting.
    public func send(_ request: RecordRequest) async throws -> RecordResponse {
        var attempt = 1
        while true {
            do {
                return try await channel.send(request)
            } catch {
                let seconds = policy.wait(afterAttempt: attempt, error, randomness: randomness)
                guard let seconds else { throw error }
                try await sleeper.sleep(seconds: seconds)
                attempt += 1
            }
        }
    }
}
