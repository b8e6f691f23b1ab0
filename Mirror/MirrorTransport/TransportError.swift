public import RecordWire

/// Why no answer came from the service, and what to do about it.
public struct TransportError: ChannelFailure, Sendable, CustomStringConvertible {
    /// What kind of failure it is; compare with the static members.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case offline, cannotConnect, timedOut, connectionLost, unavailable
            case tlsUntrusted, tlsWrongHost, tlsFailed, responseTooLarge, badResponse
            case cancelled, badConfiguration, cannotWrite, failed
        }
        private let kind: Kind
        public var description: String { kind.rawValue }

        /// The service's host name cannot be resolved: mostly, there is no network.
        public static let offline = Code(kind: .offline)
        /// Nothing listens at the address.
        public static let cannotConnect = Code(kind: .cannotConnect)
        public static let timedOut = Code(kind: .timedOut)
        /// The connection ended before the answer was whole.
        public static let connectionLost = Code(kind: .connectionLost)
        /// Something before the service, such as a proxy, says that the service is away.
        public static let unavailable = Code(kind: .unavailable)
        /// No authority that is trusted here signed the service's certificate.
        public static let tlsUntrusted = Code(kind: .tlsUntrusted)
        /// The service's certificate is for other hosts.
        public static let tlsWrongHost = Code(kind: .tlsWrongHost)
        public static let tlsFailed = Code(kind: .tlsFailed)
        public static let responseTooLarge = Code(kind: .responseTooLarge)
        /// The answer is not one of a record service.
        public static let badResponse = Code(kind: .badResponse)
        public static let cancelled = Code(kind: .cancelled)
        /// The settings of the channel cannot be used.
        public static let badConfiguration = Code(kind: .badConfiguration)
        /// A file of this machine cannot be written.
        public static let cannotWrite = Code(kind: .cannotWrite)
        public static let failed = Code(kind: .failed)

        /// Whether the same request may succeed later without any change.
        public var isTransient: Bool {
            switch kind {
            case .offline, .cannotConnect, .timedOut, .connectionLost, .unavailable: true
            case .tlsUntrusted, .tlsWrongHost, .tlsFailed, .responseTooLarge, .badResponse,
                .cancelled, .badConfiguration, .cannotWrite, .failed:
                false
            }
        }
    }

    public var code: Code
    /// One sentence: what failed and what to do. Holds no token and no query.
    public var message: String
    /// Names of the things concerned: `host`, `curlCode`, `curlMessage`, `status`.
    public var fields: [String: String]
    /// Seconds to wait before another try, where the answer named them.
    public var retryAfterSeconds: Double?

    public init(
        _ code: Code, _ message: String, fields: [String: String] = [:],
        retryAfterSeconds: Double? = nil
    ) {
        self.code = code
        self.message = message
        self.fields = fields
        self.retryAfterSeconds = retryAfterSeconds
    }

    public var isTransient: Bool { code.isTransient }
    public var isTooLarge: Bool { code == .responseTooLarge }
    public var description: String { message }
}
