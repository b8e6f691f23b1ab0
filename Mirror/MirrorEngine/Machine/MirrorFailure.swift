package import RecordWire

/// Why a request brought no answer, as the machine needs to know it.
package enum MirrorFailure: Sendable {
    /// The sync token is of no use any more: read the zone from its beginning.
    case tokenExpired
    case zoneMissing
    /// Another copy of this store was there under its name.
    case instanceForked
    /// The request is larger than the service, or something before it, takes.
    case tooLarge(RecordError)
    /// Worth another try, after so many seconds where the service said so.
    case transient(MirrorError, retryAfterSeconds: Double?)
    case permanent(MirrorError)

    package init(_ error: RecordError) {
        switch error.code.canonical {
        case .changeTokenExpired: self = .tokenExpired
        case .zoneNotFound: self = .zoneMissing
        case .instanceForked: self = .instanceForked
        case .limitExceeded: self = .tooLarge(error)
        case .throttled:
            self = .transient(
                MirrorError(.throttled, "The service asks to wait: \(error.reason)", cause: error),
                retryAfterSeconds: error.retryAfterSeconds)
        case let code where code.isTransient:
            self = .transient(
                MirrorError(.offline, "The service is not ready: \(error.reason)", cause: error),
                retryAfterSeconds: error.retryAfterSeconds)
        default: self = .permanent(MirrorError(refusal: error))
        }
    }

    /// Why an asset is taken in no way, so that its record waits alone; nil for what concerns more
    /// than the asset.
    var refusalOfAsset: RecordError? {
        switch self {
        case .tooLarge(let error): return error
        case .permanent(let error):
            let cause = error.cause as? RecordError
            return [.quotaExceeded, .badRequest].contains(cause?.code) ? cause : nil
        case .tokenExpired, .zoneMissing, .instanceForked, .transient: return nil
        }
    }

    /// Why no address is given out for an asset, so that its record waits alone: beside the above,
    /// who may write nothing is told so here already, before the record is looked at.
    var refusalOfAddress: RecordError? {
        if case .permanent(let error) = self, let cause = error.cause as? RecordError,
            cause.code == .accessDenied
        {
            return cause
        }
        return refusalOfAsset
    }

    /// The failure of a channel: the service's own answer, or none at all.
    package init(_ error: any Error) {
        if let error = error as? RecordError {
            self.init(error)
        } else if let error = error as? any ChannelFailure, error.isTooLarge {
            self = .tooLarge(RecordError(.limitExceeded, error.message))
        } else if let error = error as? any ChannelFailure {
            let failure = MirrorError(.offline, error.message, fields: error.fields, cause: error)
            self =
                error.isTransient
                ? .transient(failure, retryAfterSeconds: error.retryAfterSeconds)
                : .permanent(failure)
        } else {
            self = .permanent(
                MirrorError(.offline, "The service could not be asked: \(error)", cause: error))
        }
    }
}

extension MirrorError {
    /// The service's refusal of a whole request, in its own words.
    init(refusal error: RecordError) {
        self.init(
            .serviceRefused, "The service refused the request: \(error.reason)",
            fields: ["code": error.code.rawValue], cause: error)
    }
}
