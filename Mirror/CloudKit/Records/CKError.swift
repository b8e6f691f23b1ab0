public import Foundation
internal import MirrorEngine

/// The domain of CloudKit's errors.
public let CKErrorDomain = "CKErrorDomain"

/// What the service, or the way to it, refused. Codes are Apple's. Source: Apple, CKError.
public struct CKError: CustomNSError, LocalizedError, Sendable {
    /// The codes that are thrown here, with Apple's numbers.
    public enum Code: Int, Sendable {
        case internalError = 1
        case networkUnavailable = 3
        case badContainer = 5
        case serviceUnavailable = 6
        case requestRateLimited = 7
        case permissionFailure = 10
        case invalidArguments = 12
        case serverRejectedRequest = 15
        case incompatibleVersion = 18
        case operationCancelled = 20
        case zoneNotFound = 26
    }

    public let code: Code
    /// What failed and what to do.
    public let message: String
    public let underlying: (any Error)?

    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    public static var errorDomain: String { CKErrorDomain }
    public var errorCode: Int { code.rawValue }
    public var errorDescription: String? { message }
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: message]
        if let underlying { info[NSUnderlyingErrorKey] = underlying }
        return info
    }
}

extension CKError {
    /// Any failure of a round, as CloudKit would tell it.
    init(_ error: any Error) {
        switch error {
        case let error as CKError: self = error
        case let error as MirrorError:
            self.init(Self.code(of: error.code), error.message, underlying: error)
        case is CancellationError:
            self.init(.operationCancelled, "The sync was cancelled; the next one goes on.")
        default:
            self.init(.internalError, "The sync failed: \(error)", underlying: error)
        }
    }

    private static func code(of code: MirrorError.Code) -> Code {
        switch code {
        case .offline: .networkUnavailable
        case .throttled: .requestRateLimited
        case .serviceRefused: .serverRejectedRequest
        case .otherContainer: .badContainer
        case .fieldMismatch, .unknownEntity: .incompatibleVersion
        case .storeNotMirrorable: .invalidArguments
        default: .internalError
        }
    }
}
