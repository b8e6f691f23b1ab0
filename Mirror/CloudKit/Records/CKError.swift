public import Foundation
internal import MirrorEngine
internal import RecordWire

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
        case unknownItem = 11
        case invalidArguments = 12
        case serverRecordChanged = 14
        case serverRejectedRequest = 15
        case incompatibleVersion = 18
        case operationCancelled = 20
        case zoneBusy = 23
        case zoneNotFound = 26
        case alreadyShared = 30
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
        case let error as RecordError:
            self.init(Self.code(of: error.code), error.reason, underlying: error)
        case let error as any ChannelFailure:
            self.init(.networkUnavailable, error.message, underlying: error)
        case let error as MirrorError:
            self.init(Self.code(of: error.code), error.message, underlying: error)
        case is CancellationError:
            self.init(.operationCancelled, "The sync was cancelled; the next one goes on.")
        default:
            self.init(.internalError, "The sync failed: \(error)", underlying: error)
        }
    }

    static let noService = CKError(
        .serviceUnavailable,
        "No record service is named. Set NSPersistentCloudKitContainer.recordService before the "
            + "stores are loaded; 'diptych serve' runs one.")
    static let unexpected = CKError(
        .serverRejectedRequest, "The service answered with something else than was asked for.")

    private static func code(of code: RecordError.Code) -> Code {
        switch code.canonical {
        case .accessDenied, .authenticationFailed, .authenticationRequired: .permissionFailure
        case .notFound: .unknownItem
        case .conflict, .exists: .serverRecordChanged
        case .throttled: .requestRateLimited
        case .zoneNotFound: .zoneNotFound
        default: .serverRejectedRequest
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
        case .shareEnded: .zoneNotFound
        case .alreadyShared: .alreadyShared
        default: .internalError
        }
    }
}
