public import Foundation

/// The domain of CloudKit's errors.
public let CKErrorDomain = "CKErrorDomain"
/// How many seconds to wait before another try, in an error's user info.
public let CKErrorRetryAfterKey = "CKErrorRetryAfterKey"
/// The record as the service has it, in the user info of `serverRecordChanged`.
public let CKRecordChangedErrorServerRecordKey = "ServerRecord"
/// The record that was to be sent, in the user info of `serverRecordChanged`.
public let CKRecordChangedErrorClientRecordKey = "ClientRecord"
/// The record that both were made from, in the user info of `serverRecordChanged`.
public let CKRecordChangedErrorAncestorRecordKey = "AncestorRecord"
/// The errors of single items, by their IDs, in the user info of `partialFailure`.
public let CKPartialErrorsByItemIDKey = "CKPartialErrors"

/// What the service, or the way to it, refused. Source: Apple, CKError.
public struct CKError: CustomNSError, LocalizedError, @unchecked Sendable {
    // @unchecked: nobody changes the user info once it is given.
    public let code: Code
    /// What failed and what to do.
    public let message: String
    public let underlying: (any Error)?
    private let further: [String: Any]

    /// An error with a message of its own.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.init(code, message, underlying: underlying, further: [:])
    }

    /// An error as Apple's initializer makes it.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.init(
            code, userInfo[NSLocalizedDescriptionKey] as? String ?? "CloudKit failed: \(code).",
            underlying: userInfo[NSUnderlyingErrorKey] as? any Error, further: userInfo)
    }

    init(
        _ code: Code, _ message: String, underlying: (any Error)?, further: [String: Any]
    ) {
        self.code = code
        self.message = message
        self.underlying = underlying
        self.further = further
    }

    public static var errorDomain: String { CKErrorDomain }
    public var errorCode: Int { code.rawValue }
    public var errorDescription: String? { message }
    public var errorUserInfo: [String: Any] {
        var info = further
        info[NSLocalizedDescriptionKey] = message
        if let underlying { info[NSUnderlyingErrorKey] = underlying }
        return info
    }

    /// The user info. Source: Apple, CKError.
    public var userInfo: [String: Any] { errorUserInfo }
    /// Seconds to wait before another try; nil where none would help.
    public var retryAfterSeconds: Double? { further[CKErrorRetryAfterKey] as? Double }
    /// The record as the service has it, where it was changed there meanwhile.
    public var serverRecord: CKRecord? {
        further[CKRecordChangedErrorServerRecordKey] as? CKRecord
    }
    /// The record that was to be sent; nil, since the mirror merges records itself.
    public var clientRecord: CKRecord? {
        further[CKRecordChangedErrorClientRecordKey] as? CKRecord
    }
    /// The record that both were made from; nil, likewise.
    public var ancestorRecord: CKRecord? {
        further[CKRecordChangedErrorAncestorRecordKey] as? CKRecord
    }
    /// The errors of single items, in a `partialFailure`.
    public var partialErrorsByItemID: [AnyHashable: any Error]? {
        further[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error]
    }
}
