/// How much a service keeps of uploads that broke off, so that they may go on.
public struct PartLimits: Hashable, Sendable, Codable {
    /// Files of all users, and of one; the oldest give way.
    public var countMax = 1_024
    public var countPerUserMax = 16
    /// Bytes of all users' parts, and of one's; the oldest give way. They count among the bytes
    /// that one user's assets may have.
    public var bytesMax: Int64 = 4 << 30
    public var bytesPerUserMax: Int64 = 1 << 30
    /// How long after its last byte a part waits to go on.
    public var graceSeconds = 86_400

    public init() {}
}
