/// Tells that files may have changed.
public protocol FileWatcher: Sendable {
    /// Watches the files at `paths`, which need not exist yet, until the returned watch ends.
    ///
    /// `look` is called on a thread of the watcher, never twice at a time: soon after one of the
    /// files was written to by any process, and, while it returns false, a few times more within
    /// some seconds, since a writer may finish a little after its last write. It returns whether it
    /// found what the files were watched for.
    func watch(_ paths: [String], _ look: @escaping @Sendable () -> Bool) -> any FileWatch
}

/// A watch under way. It ends when it is released, too.
public protocol FileWatch: AnyObject, Sendable {
    /// Ends the watch; a call that runs already goes on to its end.
    func end()
}

/// Sees nothing, for worlds in which nobody else writes.
public struct NoFileWatcher: FileWatcher {
    public init() {}

    public func watch(
        _ paths: [String], _ look: @escaping @Sendable () -> Bool
    ) -> any FileWatch { NoWatch() }

    private final class NoWatch: FileWatch {
        func end() {}
    }
}
