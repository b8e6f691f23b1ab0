/// An error of a channel's own: no answer came from the service.
public protocol ChannelFailure: Error {
    /// What failed and what to do, in one sentence without secrets.
    var message: String { get }
    /// Names of the things concerned, such as the host.
    var fields: [String: String] { get }
    /// Whether the same request may succeed later without any change.
    var isTransient: Bool { get }
    /// Whether a smaller request may succeed.
    var isTooLarge: Bool { get }
    /// Seconds to wait before another try, where somebody named them.
    var retryAfterSeconds: Double? { get }
}

extension ChannelFailure {
    public var isTooLarge: Bool { false }
}
