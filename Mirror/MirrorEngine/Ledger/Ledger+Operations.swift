internal import Foundation
internal import Platform
internal import RecordWire
internal import SQLiteDriver

/// The logs of exports and imports: ANSCKEXPORTMETADATA, …OPERATION, …EXPORTEDOBJECT and
/// ANSCKIMPORTOPERATION. The newest `operationsMax` of each are kept.
extension Ledger {
    /// How an export stands. What Apple's numbers mean is not known; these are ours.
    package enum ExportStatus: Int64 {
        case sent = 0
        case answered = 1
    }

    private static let operationsMax: Int64 = 100

    private static let listingExported =
        "INSERT INTO ANSCKEXPORTEDOBJECT (Z_ENT, Z_OPT, ZCHANGETYPENUM, ZTYPENUM, ZOPERATION, "
        + "ZCKRECORDNAME) VALUES (17003, 1, ?, 0, ?, ?)"

    /// Notes a batch that is about to be sent, and up to where the history was read.
    package func logExport(of batch: ExportBatch) throws {
        let identifier = SQLiteValue.text(batch.identifier)
        let token = try historyToken().map { Data(String($0).utf8) }
        try connection.run(
            "INSERT INTO ANSCKEXPORTMETADATA (Z_ENT, Z_OPT, ZEXPORTEDAT, ZIDENTIFIER, "
                + "ZHISTORYTOKEN) "
                + "VALUES (17004, 1, ?, ?, ?)",
            [SQLiteValue(platform.clock.now()), identifier, SQLiteValue(token)])
        let metadata = connection.lastInsertedRowID
        try connection.run(
            "INSERT INTO ANSCKEXPORTOPERATION (Z_ENT, Z_OPT, ZSTATUSNUM, ZEXPORTMETADATA, "
                + "ZIDENTIFIER) "
                + "VALUES (17005, 1, ?, ?, ?)",
            [.integer(ExportStatus.sent.rawValue), .integer(metadata), identifier])
        try forgetExports(before: connection.lastInsertedRowID)
    }

    /// Lists the records of a batch that may stay without an answer.
    func listExported(_ entries: [SentBatch.Entry], in identifier: String) throws {
        guard let operation = try operation(ofExport: identifier) else { return }
        for entry in entries {
            try connection.run(
                Self.listingExported,
                [.integer(entry.record == nil ? 2 : 1), operation, .text(entry.recordName)])
        }
    }

    private func operation(ofExport identifier: String) throws -> SQLiteValue? {
        let key = try connection.value(
            "SELECT max(Z_PK) FROM ANSCKEXPORTOPERATION WHERE ZIDENTIFIER = ?", [.text(identifier)])
        return key.flatMap { $0.isNull ? nil : $0 }
    }

    /// Notes that a batch was answered. Its records need no listing any more.
    package func logAnswer(toExport identifier: String) throws {
        guard let operation = try operation(ofExport: identifier) else { return }
        try connection.run(
            "UPDATE ANSCKEXPORTOPERATION SET ZSTATUSNUM = ? WHERE Z_PK = ?",
            [.integer(ExportStatus.answered.rawValue), operation])
        try connection.run("DELETE FROM ANSCKEXPORTEDOBJECT WHERE ZOPERATION = ?", [operation])
    }

    /// Notes a page that was applied, with the token it led to.
    package func logImport(token: String?) throws {
        let bytes = withUnsafeBytes(of: platform.randomness.uuid().uuid) { Data($0) }
        try connection.run(
            "INSERT INTO ANSCKIMPORTOPERATION (Z_ENT, Z_OPT, ZIMPORTDATE, ZOPERATIONUUID, "
                + "ZCHANGETOKENBYTES) VALUES (17007, 1, ?, ?, ?)",
            [
                SQLiteValue(platform.clock.now()), .blob(bytes),
                SQLiteValue(token.map { Data($0.utf8) }),
            ])
        try connection.run(
            "DELETE FROM ANSCKIMPORTOPERATION WHERE Z_PK <= ?",
            [.integer(connection.lastInsertedRowID - Self.operationsMax)])
    }

    private func forgetExports(before newest: Int64) throws {
        let oldest = SQLiteValue.integer(newest - Self.operationsMax)
        try connection.run("DELETE FROM ANSCKEXPORTEDOBJECT WHERE ZOPERATION <= ?", [oldest])
        try connection.run("DELETE FROM ANSCKEXPORTOPERATION WHERE Z_PK <= ?", [oldest])
        try connection.run("DELETE FROM ANSCKEXPORTMETADATA WHERE Z_PK <= ?", [oldest])
    }
}
