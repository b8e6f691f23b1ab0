/// How much one asker gets in a while. A request is one unit, and one more for each 2 ms that it
/// takes; past the limit THROTTLED is answered, with the seconds to wait.
public struct ThrottleLimits: Hashable, Sendable, Codable {
    /// Units of a second that one user may take; half of the service's four threads with heavy
    /// requests.
    public var unitsPerSecond = 1_000
    /// Units that may be saved up while nothing is asked.
    public var unitsSavedMax = 30_000

    public init() {}
}
