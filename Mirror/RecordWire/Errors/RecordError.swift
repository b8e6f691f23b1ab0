/// What the service answered instead of a result. (SERVICE §5)
public struct RecordError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The codes of the wire. An unknown code is kept as it came.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let accessDenied = Code(rawValue: "ACCESS_DENIED")
        public static let atomicError = Code(rawValue: "ATOMIC_ERROR")
        public static let authenticationFailed = Code(rawValue: "AUTHENTICATION_FAILED")
        public static let authenticationRequired = Code(rawValue: "AUTHENTICATION_REQUIRED")
        public static let badRequest = Code(rawValue: "BAD_REQUEST")
        /// The change tag is stale; `serverRecord` is what the service has.
        public static let conflict = Code(rawValue: "CONFLICT")
        /// The record to create is there already; `serverRecord` is it.
        public static let exists = Code(rawValue: "EXISTS")
        public static let internalError = Code(rawValue: "INTERNAL_ERROR")
        public static let notFound = Code(rawValue: "NOT_FOUND")
        public static let quotaExceeded = Code(rawValue: "QUOTA_EXCEEDED")
        /// Another record of the zone has the same natural key; `serverRecord` is it, where the
        /// caller may read it.
        public static let uniqueFieldError = Code(rawValue: "UNIQUE_FIELD_ERROR")
        public static let throttled = Code(rawValue: "THROTTLED")
        public static let tryAgainLater = Code(rawValue: "TRY_AGAIN_LATER")
        public static let validatingReferenceError = Code(rawValue: "VALIDATING_REFERENCE_ERROR")
        public static let zoneNotFound = Code(rawValue: "ZONE_NOT_FOUND")
        /// More operations, bytes or keys than the service takes in one request (our extension).
        public static let limitExceeded = Code(rawValue: "LIMIT_EXCEEDED")
        /// The sync token is from another zone, or older than what the service remembers (our
        /// extension).
        public static let changeTokenExpired = Code(rawValue: "CHANGE_TOKEN_EXPIRED")
        /// The client's store was copied, or restored from an older copy: another client of the
        /// same instance was here (our extension). Draw a new instance and go on.
        public static let instanceForked = Code(rawValue: "INSTANCE_FORKED")
        /// The service's copy of the record cannot be read; delete or replace it (our extension).
        public static let recordDamaged = Code(rawValue: "RECORD_DAMAGED")
        /// The service does not have the asset: its receipt is unknown, of somebody else or too
        /// old, or its file is gone (our extension). Upload the asset and send the new receipt.
        public static let assetNotFound = Code(rawValue: "ASSET_NOT_FOUND")
        /// The answer is not what the protocol describes. Made on the client, never sent.
        public static let unexpectedServerResponse = Code(rawValue: "UNEXPECTED_SERVER_RESPONSE")
    }

    /// What a refusal is about, where its code leaves that open (our extension). What is not known
    /// is kept as it came.
    public struct Detail: RawRepresentable, Hashable, Sendable, Codable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// What the container's schema says of record types and fields: once it says something
        /// else, the same request may succeed.
        public static let schema = Detail(rawValue: "SCHEMA")
        /// A request names more things than are taken at once: its parts may succeed.
        public static let count = Detail(rawValue: "COUNT")
    }

    public var code: Code
    /// nil where the code says it all, and from services that tell none.
    public var detail: Detail?
    /// What was refused and what to do, in words.
    public var reason: String
    public var recordName: String?
    public var zoneID: ZoneID?
    public var subscriptionID: String?
    /// Seconds to wait before another try; nil: do not retry.
    public var retryAfterSeconds: Double?
    /// Where to sign in, with AUTHENTICATION_REQUIRED.
    public var redirectURL: String?
    /// The service's version of the record, in a CONFLICT or EXISTS entry; in one of
    /// UNIQUE_FIELD_ERROR the record that has the key (our extension).
    public var serverRecord: Record?
    /// The request's id in the service's log.
    public var uuid: String?

    public init(_ code: Code, _ reason: String, recordName: String? = nil, zoneID: ZoneID? = nil) {
        self.code = code
        self.reason = reason
        self.recordName = recordName
        self.zoneID = zoneID
    }

    /// A refusal for what the container's schema says.
    public static func ofSchema(_ reason: String) -> RecordError {
        var error = RecordError(.badRequest, reason)
        error.detail = .schema
        return error
    }

    /// A refusal of so many things in one request.
    public static func ofCount(_ reason: String) -> RecordError {
        var error = RecordError(.limitExceeded, reason)
        error.detail = .count
        return error
    }

    public var description: String { "\(code.rawValue): \(reason)" }
}

extension RecordError.Code {
    /// The status of a response that fails as a whole with this code. (SERVICE §5)
    public var httpStatus: Int {
        switch self {
        case .accessDenied: 403
        case .atomicError, .badRequest, .changeTokenExpired: 400
        case .authenticationFailed: 401
        case .authenticationRequired: 421
        case .conflict, .exists, .instanceForked, .uniqueFieldError: 409
        case .notFound, .zoneNotFound, .assetNotFound: 404
        case .quotaExceeded, .limitExceeded: 413
        case .throttled: 429
        case .tryAgainLater: 503
        case .validatingReferenceError: 412
        default: 500
        }
    }

    /// Whether the same request may succeed later without any change.
    public var isTransient: Bool {
        self == .throttled || self == .tryAgainLater || self == .internalError
    }
}
