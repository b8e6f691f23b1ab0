internal import Foundation
internal import MirrorEngine
internal import RecordWire

/// Failures of the engine and the service, as CloudKit would tell them.
extension CKError {
    /// Any failure of a round.
    init(_ error: any Error) {
        switch error {
        case let error as CKError: self = error
        case let error as RecordError: self.init(error, error.reason, underlying: error)
        case let error as any ChannelFailure:
            self.init(.networkUnavailable, error.message, underlying: error)
        case let error as MirrorError:
            if [.serviceRefused, .throttled, .offline].contains(error.code),
                let answer = error.cause as? RecordError
            {
                self.init(answer, error.message, underlying: error)
            } else {
                self.init(Self.code(of: error.code), error.message, underlying: error)
            }
        case is CancellationError:
            self.init(.operationCancelled, "The sync was cancelled; the next one goes on.")
        default:
            self.init(.internalError, "The sync failed: \(error)", underlying: error)
        }
    }

    private init(_ answer: RecordError, _ message: String, underlying: any Error) {
        var further: [String: Any] = [:]
        if let seconds = answer.retryAfterSeconds { further[CKErrorRetryAfterKey] = seconds }
        if let record = answer.serverRecord, let zone = answer.zoneID {
            let owner = zone.ownerRecordName ?? CKCurrentUserDefaultName
            further[CKRecordChangedErrorServerRecordKey] = CKRecord(
                record, in: CKRecordZone.ID(zoneName: zone.zoneName, ownerName: owner))
        }
        self.init(
            Self.code(of: answer.code), message, underlying: underlying, further: further)
    }

    static let noService = CKError(
        .serviceUnavailable,
        "No record service is named. Set NSPersistentCloudKitContainer.recordService before the "
            + "stores are loaded; 'diptych serve' runs one.")
    static let copyOfMirrored = CKError(
        .invalidArguments,
        "The store is a copy of another one that is mirrored here, and has its identifier. Give "
            + "it one of its own with migratePersistentStore, then mirror what that returns.")
    static let nothingMirrored = CKError(
        .invalidArguments,
        "No store of this container is mirrored: what loading it reported says why, and "
            + "startMirroring begins.")
    static let unexpected = CKError(
        .serverRejectedRequest, "The service answered with something else than was asked for.")

    private static func code(of code: RecordError.Code) -> Code {
        switch code.canonical {
        case .accessDenied: .permissionFailure
        case .authenticationFailed, .authenticationRequired: .notAuthenticated
        case .notFound: .unknownItem
        case .conflict, .exists: .serverRecordChanged
        case .throttled: .requestRateLimited
        case .tryAgainLater: .zoneBusy
        case .zoneNotFound: .zoneNotFound
        case .quotaExceeded: .quotaExceeded
        case .limitExceeded: .limitExceeded
        case .changeTokenExpired: .changeTokenExpired
        case .atomicError: .batchRequestFailed
        case .validatingReferenceError: .referenceViolation
        case .uniqueFieldError: .constraintViolation
        case .assetNotFound: .assetNotAvailable
        default: .serverRejectedRequest
        }
    }

    private static func code(of code: MirrorError.Code) -> Code {
        switch code {
        case .offline: .networkUnavailable
        case .throttled: .requestRateLimited
        case .serviceRefused: .serverRejectedRequest
        case .otherContainer: .badContainer
        case .otherUser: .notAuthenticated
        case .fieldMismatch, .unknownEntity: .incompatibleVersion
        case .storeNotMirrorable: .invalidArguments
        case .shareEnded: .zoneNotFound
        case .alreadyShared: .alreadyShared
        case .objectDeleted: .unknownItem
        default: .internalError
        }
    }
}
