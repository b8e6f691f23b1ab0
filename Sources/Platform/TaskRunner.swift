/// Runs work that nobody waits for, so that whoever assembles a program, or simulates one, decides
/// whether and when it runs.
public protocol TaskRunner: Sendable {
    /// Begins `work` soon; it goes on until it ends by itself or is cancelled.
    func run(_ work: @escaping @Sendable () async -> Void) -> any RunningTask
}

/// Work under way.
public protocol RunningTask: Sendable {
    /// Asks the work to end; returns at once.
    func cancel()
}

/// Runs work on Swift's own threads.
public struct SystemTaskRunner: TaskRunner {
    public init() {}

    public func run(_ work: @escaping @Sendable () async -> Void) -> any RunningTask {
        SystemTask(task: Task { await work() })
    }

    private struct SystemTask: RunningTask {
        let task: Task<Void, Never>

        func cancel() { task.cancel() }
    }
}
