/// The bounds within which the HTTP server listens to strangers.
public struct HTTPConfiguration: Sendable {
    /// The largest request body, in bytes as sent.
    public var bodyBytesMax = 8 << 20
    /// How much of a body that is too large is read and dropped, so that its sender hears why.
    public var discardedBytesMax = 64 << 20
    /// Memory for one connection's request line and headers; beyond it the answer is 431.
    public var headerBytesMax = 32 << 10
    public var connectionsMax = 1_000
    /// A connection that sends and receives nothing for so long is closed.
    public var idleSeconds = 60
    /// A request that has not arrived whole after so long is dropped, however lively it drips.
    public var requestSeconds = 300
    /// Threads that read, answer and write. A slow answer holds only the connections of its thread.
    public var threads = 4
    /// How long `stop` waits for answers under way.
    public var drainSeconds = 10

    public init() {}
}
