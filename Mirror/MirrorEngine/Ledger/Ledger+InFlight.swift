internal import Foundation
internal import Platform
package import RecordWire
internal import SQLiteDriver

/// What is in flight (sent and not yet answered), and what the service refused.
///
/// A sent record is kept until the base advances. When the reply was lost, the service's record is
/// recognised as our own write by its values, and is no conflict.
extension Ledger {
    private static let keepingInFlight =
        "INSERT OR REPLACE INTO ADIPTYCHINFLIGHT (ZRECORDNAME, ZMARK, ZRECORD) VALUES (?, ?, ?)"

    func keepInFlight(_ archived: Data, of name: String, mark: String) throws {
        rare.note(.inFlight)
        try connection.run(
            Self.keepingInFlight, [.text(name), .text(mark), .blob(archived)])
    }

    /// What was sent under `mark` and not yet answered.
    package func inFlight(_ name: String, mark: String) throws -> Record? {
        try inFlight(
            "SELECT ZRECORD FROM ADIPTYCHINFLIGHT WHERE ZRECORDNAME = ? AND ZMARK = ?",
            [.text(name), .text(mark)])
    }

    /// What was sent last and not yet answered.
    package func lastInFlight(_ name: String) throws -> Record? {
        try inFlight(
            "SELECT ZRECORD FROM ADIPTYCHINFLIGHT WHERE ZRECORDNAME = ? "
                + "ORDER BY rowid DESC LIMIT 1", [.text(name)])
    }

    private func inFlight(_ sql: String, _ values: [SQLiteValue]) throws -> Record? {
        try spreadBatches()
        guard try mayHold(.inFlight), case .blob(let bytes)? = try connection.value(sql, values)
        else { return nil }
        return try Self.decode(bytes)
    }

    /// The IDs of all that was sent and not yet answered.
    func marksInFlight(_ name: String) throws -> [String] {
        try spreadBatches()
        guard try mayHold(.inFlight) else { return [] }
        return try connection.rows(
            "SELECT ZMARK FROM ADIPTYCHINFLIGHT WHERE ZRECORDNAME = ?", [.text(name)]
        ).compactMap { $0[0].string }
    }

    /// Puts other versions in the place of those that were sent and not yet answered.
    func replaceInFlight(_ name: String, _ change: (Record) -> Record) throws {
        for mark in try marksInFlight(name) {
            guard let sent = try inFlight(name, mark: mark) else { continue }
            try connection.run(
                "UPDATE ADIPTYCHINFLIGHT SET ZRECORD = ?3 WHERE ZRECORDNAME = ?1 AND ZMARK = ?2",
                [.text(name), .text(mark), .blob(RecordArchive.encode(change(sent)))])
        }
    }

    package func forgetInFlight(_ name: String) throws {
        try spreadBatches()
        try forgetEarlierInFlight(name)
    }

    /// Forgets what was sent before the batches that are in one piece still.
    func forgetEarlierInFlight(_ name: String) throws {
        guard try mayHold(.inFlight) else { return }
        try connection.run("DELETE FROM ADIPTYCHINFLIGHT WHERE ZRECORDNAME = ?", [.text(name)])
    }

    /// Counts values that are sealed under a key; throws `.keyWornOut` beyond what one may seal.
    func addSeals(_ count: Int, under key: SealingKey) throws {
        let former = try setting(.seals(under: key))?.int64 ?? 0
        guard former <= Sealer.sealsMax - Int64(count) else {
            throw MirrorError(
                .keyWornOut,
                "The key \(key) has sealed \(former) values on this device, as many as are safe. "
                    + "Rotate the key file.", fields: ["key": key.description])
        }
        try set(.seals(under: key), to: .integer(former + Int64(count)))
    }

    /// Notes that the service will not take a record as it is. It waits until the object changes.
    package func keepRefusal(of name: String, _ error: RecordError) throws {
        rare.note(.refusals)
        let code = error.detail == .schema ? Self.refusedBySchema : error.code
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHREFUSAL (ZRECORDNAME, ZDATE, ZCODE, ZREASON) "
                + "VALUES (?, ?, ?, ?)",
            [
                .text(name), SQLiteValue(platform.clock.now()), .text(code.rawValue),
                .text(error.reason),
            ])
    }

    /// What was refused is gone, or has changed since.
    package func forgetRefusal(of name: String) throws {
        guard try mayHold(.refusals) else { return }
        try connection.run("DELETE FROM ADIPTYCHREFUSAL WHERE ZRECORDNAME = ?", [.text(name)])
    }

    /// Whether a record's edit or deletion was refused because it is not the user's to write.
    func isDenied(_ name: String) throws -> Bool { try isRefused(name, .accessDenied) }

    /// Whether a record's edit or deletion was refused with a code.
    func isRefused(_ name: String, _ code: RecordError.Code) throws -> Bool {
        guard try mayHold(.refusals) else { return false }
        return try connection.rows(
            "SELECT 1 FROM ADIPTYCHREFUSAL WHERE ZRECORDNAME = ? AND ZCODE = ?",
            [.text(name), .text(code.rawValue)]
        ).first != nil
    }

    /// Lets all that was refused with a code be sent again.
    func forgetRefusals(_ code: RecordError.Code) throws {
        guard try mayHold(.refusals) else { return }
        try connection.run(
            "DELETE FROM ADIPTYCHREFUSAL WHERE ZCODE = ?", [.text(code.rawValue)])
    }

    /// Whether the service is still to hear of a record's edit or deletion, and has not refused it.
    package func waits(_ name: String) throws -> Bool {
        if try isToDrop(name) { return true }
        guard let entry = try entry(named: name) else { return false }
        let isRefused =
            try connection.rows(
                "SELECT 1 FROM ADIPTYCHREFUSAL WHERE ZRECORDNAME = ?", [.text(name)]
            ).first != nil
        return (entry.needsUpload || entry.needsCloudDelete) && !isRefused
    }

    /// Lets what did not fit into the user's quota, met another record's natural key, named an
    /// asset that the service lacks or uploads that it did not take, or was not the user's to write
    /// in the public database, be sent again, once in an hour: room is made and roles are given
    /// elsewhere, and nobody tells this device. Of a share's permission it is told. After a
    /// deletion, and in a round that somebody asked for, what did not fit is sent at once. What the
    /// schema does not take, and what is below such records, goes once in an hour, too: another may
    /// be deployed meanwhile.
    package func retryRefused(in database: MirrorDatabase, of environment: String) throws {
        guard try mayHold(.refusals) else { return }
        let now = platform.clock.now()
        let before = now.addingTimeInterval(-Self.refusalPauseSeconds)
        var codes = [
            RecordError.Code.quotaExceeded, .uniqueFieldError, .assetNotFound,
            ReplyRecording.refusedUploads,
        ]
        if database == .public { codes.append(.accessDenied) }
        for code in codes + Self.codesOfSchema(environment) {
            try connection.run(
                // A time to come was noted by a clock that was wrong.
                "DELETE FROM ADIPTYCHREFUSAL WHERE ZCODE = ? AND NOT ZDATE BETWEEN ? AND ?",
                [.text(code.rawValue), SQLiteValue(before), SQLiteValue(now)])
        }
    }

    /// Lets all that the schema did not take be sent again: another may have been deployed.
    func retryRefusedBySchema(of environment: String) throws {
        for code in Self.codesOfSchema(environment) { try forgetRefusals(code) }
    }

    /// Why a record waits that does not fit what the service's schema says.
    package static let refusedBySchema = RecordError.Code(rawValue: "SCHEMA_REFUSED")

    /// With a record of a share that the schema refused goes what is below it. Where the service
    /// does not tell such refusals from others, as in the plain dialect, they are among what
    /// production takes in no way.
    private static func codesOfSchema(_ environment: String) -> [RecordError.Code] {
        [refusedBySchema, .validatingReferenceError]
            + (environment == MirroredStore.standardEnvironment
                ? [] : [.badRequest, ReplyRecording.refusedUploads])
    }

    private static let refusalPauseSeconds = 3_600.0
}
