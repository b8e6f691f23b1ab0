internal import PostgresDriver
internal import RecordWire

/// Says PostgreSQL's faults: in plain words to clients, with SQLSTATE and place to the log. Neither
/// hears values or a password.
struct PostgresFailure: Sendable {
    /// Host and name of the database.
    let place: String
    let log: ServiceLog

    private static let busyRetrySeconds = 2.0
    private static let diskRetrySeconds = 60.0

    func translate(_ error: any Error) -> RecordError {
        switch error {
        case let error as RecordError: return error
        case let error as NoServer: return unreachable("\(error.fault)")
        case let error as UnknownOutcome: return unknown(error.cause)
        case let fault as PostgresFault: return translate(fault)
        default:
            note("The service failed.", "\(error)")
            return RecordError(
                .internalError, "The service failed in a way of its own; its log says more.")
        }
    }

    private func translate(_ fault: PostgresFault) -> RecordError {
        if fault.isLost || fault.isReadOnly { return unreachable("\(fault)") }
        if fault.isTransient || fault.isTimeout || fault.isUniqueViolation || fault.isExhausted {
            return Self.later(
                "The service's database is busy; nothing was saved. Try again.",
                Self.busyRetrySeconds)
        }
        if fault.isFull {
            note("The disk of the database is full; nothing is saved. Free space.", "\(fault)")
            return Self.later(
                "The service's disk is full; nothing was saved. Try again later.",
                Self.diskRetrySeconds)
        }
        note("The service's database failed; nothing was saved.", "\(fault)")
        return RecordError(
            .internalError,
            "The service's database failed; nothing was saved. Its log says more.")
    }

    private func unreachable(_ cause: String) -> RecordError {
        note("The service's database cannot be reached; nothing is saved until it can.", cause)
        return Self.later(
            "The service's database cannot be reached; nothing was saved. Try again.",
            Self.busyRetrySeconds)
    }

    /// Who sends the same again meets its own write, by its write IDs, where there was one.
    private func unknown(_ cause: String) -> RecordError {
        note("The database went away while a write was being kept; the client asks again.", cause)
        return Self.later(
            "The service's database went away while it kept the request, which may be saved or "
                + "not. Send the same request again.", Self.busyRetrySeconds)
    }

    /// Why a database could not be opened, for whoever starts the service.
    static func opening(_ error: any Error, place: String) -> RecordError {
        switch error {
        case let error as RecordError: error
        case let error as NoServer:
            RecordError(
                .tryAgainLater,
                "\(place) cannot be reached (\(error.fault.message)). Check its address and "
                    + "that it runs; a password belongs into PGPASSFILE or a service file.")
        case let fault as PostgresFault where fault.isForbidden:
            RecordError(
                .internalError,
                "The role may not make or use the service's tables in \(place) "
                    + "(\(fault.message)). Let it own a database of its own.")
        default:
            RecordError(.internalError, "\(place) cannot be used: \(error).")
        }
    }

    private func note(_ message: String, _ cause: String) {
        log(ServiceNotice(message, fields: ["database": place, "cause": cause]))
    }

    private static func later(_ reason: String, _ seconds: Double) -> RecordError {
        var error = RecordError(.tryAgainLater, reason)
        error.retryAfterSeconds = seconds
        return error
    }
}
