/// Waits, without holding a thread.
public protocol Sleeper: Sendable {
    /// Returns after `seconds`; throws `CancellationError` when the task is cancelled meanwhile.
    func sleep(seconds: Double) async throws
}

/// Waits by the machine's own clock.
public struct SystemSleeper: Sleeper {
    public init() {}
    public func sleep(seconds: Double) async throws {
        try await Task.sleep(for: .seconds(max(0, seconds)))
    }
}
