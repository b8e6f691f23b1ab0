/// The bounds within which the HTTP server listens to strangers.
public struct HTTPConfiguration: Sendable {
    /// The largest request body, in bytes as sent.
    public var bodyBytesMax = 8 << 20
    /// How much of a body that is too large is read and dropped, so that its sender hears why.
    public var discardedBytesMax = 64 << 20
    /// A request line and headers; beyond it the answer is 431.
    public var headerBytesMax = 32 << 10
    public var connections = ConnectionLimits()
    public var buffers = BufferLimits()
    public var held = HeldRequestLimits()
    /// Threads that read, answer and write. A slow answer holds only the connections of its thread;
    /// as many writes as threads share a trip to the disk.
    public var threads = 32
    /// Proxies whose `X-Forwarded-For` counts: who they name is the sender, for all limits that go
    /// by address. Their own connections are not limited by address.
    public var trustedProxies: [AddressNetwork] = []
    /// Pages of other addresses that browsers may let ask; none without.
    public var origins = AllowedOrigins()
    /// How long `stop` waits for answers under way.
    public var drainSeconds = 10

    public init() {}
}

/// How many connections there are, and how long each may take.
public struct ConnectionLimits: Sendable {
    /// Open connections. When all are taken, the one that has been silent longest makes room.
    public var max = 1_000
    /// Of one address, or of one network of 64 bits in IPv6. nil where a proxy stands in front, so
    /// that all come from one address.
    public var perAddressMax: Int? = 128
    /// A connection without a request, or on which nothing moves, is closed after so long.
    public var idleSeconds = 60
    /// From the request line to the end of the headers.
    public var headSeconds = 20
    /// A request that has not arrived whole after so long is dropped, however lively it drips.
    public var requestSeconds = 300
    /// A body or an answer that moves more slowly is cut off, once `graceSeconds` have passed.
    public var bytesPerSecondMin = 4_096
    public var graceSeconds = 20

    public init() {}
}

/// How much of requests and answers is held in memory at once. Past it the answer is 503.
public struct BufferLimits: Sendable {
    public var bytesMax = 256 << 20
    public var bytesPerUserMax = 64 << 20
    /// nil where a proxy stands in front.
    public var bytesPerAddressMax: Int? = 128 << 20

    public init() {}
}
