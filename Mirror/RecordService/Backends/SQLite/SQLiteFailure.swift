internal import RecordWire
internal import SQLiteDriver

/// Says SQLite's faults: in plain words to clients, whole and with the file to the log.
struct SQLiteFailure: Sendable {
    let path: String
    let log: ServiceLog

    private static let busyRetrySeconds = 2.0
    private static let diskRetrySeconds = 60.0

    func translate(_ error: any Error) -> RecordError {
        if let error = error as? RecordError { return error }
        if let failure = error as? ServiceFileFailure { return failure.told }
        guard let fault = error as? SQLiteFault else {
            note("The service failed.", "\(error)")
            return RecordError(
                .internalError, "The service failed in a way of its own; its log says more.")
        }
        return fault.isBusy ? Self.busy : noted(fault)
    }

    /// Why a file could not be opened, for whoever starts the service.
    static func opening(_ error: any Error) -> RecordError {
        switch error {
        case let error as RecordError: error
        case let fault as SQLiteFault where fault.isBusy: busy
        case let fault as SQLiteFault where fault.isNotADatabase:
            RecordError(
                .internalError,
                "The service's database file is damaged (SQLite \(fault.code): "
                    + "\(fault.message)) and stays as it is. Restore a backup with `diptych "
                    + "service restore FILE`, or mend a copy of it with `sqlite3 FILE .recover`.")
        case let fault as SQLiteFault:
            RecordError(
                .internalError,
                "The service's database file cannot be used (SQLite \(fault.code): "
                    + "\(fault.message)).")
        default: RecordError(.internalError, "The service's database cannot be used: \(error).")
        }
    }

    private func noted(_ fault: SQLiteFault) -> RecordError {
        let cause = "SQLite \(fault.code): \(fault.message)"
        if fault.isFull {
            note("The disk of the service is full; nothing is saved. Free space on it.", cause)
            return Self.later("The service's disk is full; nothing was saved.")
        }
        if fault.isSyncFailure {
            note(
                "The disk of the service did not keep what was written. The service takes no more "
                    + "writes and goes on reading; look at the disk, then start it anew.", cause)
            return Self.stopped
        }
        if fault.isIOFailure {
            note("The disk of the service failed; nothing was saved. Look at the disk.", cause)
            return Self.later("The service's disk failed; nothing was saved.")
        }
        if fault.isNotADatabase {
            note(
                "The service's database file is damaged. Stop the service, keep a copy of the "
                    + "file, and restore a backup.", cause)
            return RecordError(
                .internalError,
                "The service's database is damaged; nothing was saved. Tell who runs it.")
        }
        note("The service's database failed; nothing was saved.", cause)
        return RecordError(
            .internalError,
            "The service's database failed; nothing was saved. Its log says more.")
    }

    private func note(_ message: String, _ cause: String) {
        log(ServiceNotice(message, fields: ["file": path, "cause": cause]))
    }

    static var busy: RecordError {
        var error = RecordError(
            .tryAgainLater, "The service's database is busy; nothing was saved. Try again.")
        error.retryAfterSeconds = busyRetrySeconds
        return error
    }

    /// What every write is told once the disk failed to keep one.
    static var stopped: RecordError {
        later(
            "The service's disk failed to keep what was written, so it takes no writes until it "
                + "was looked at and started anew; reading goes on.")
    }

    private static func later(_ reason: String) -> RecordError {
        var error = RecordError(.tryAgainLater, reason + " Try again later.")
        error.retryAfterSeconds = diskRetrySeconds
        return error
    }
}
