internal import Foundation
package import Platform
package import SQLiteDriver

/// What mirroring remembers, in system tables of the store's own file.
///
/// It keeps what was observed (the last record seen, the last version sent, a deletion still to
/// tell) rather than a list of things to do: the work is derived from it. A ledger lives within one
/// store transaction, so object rows, bases and tokens change together.
package struct Ledger {
    package let connection: Connection
    package let platform: Environment
    let rare = RareTables()

    package init(connection: Connection, platform: Environment) {
        self.connection = connection
        self.platform = platform
    }

    /// Makes the tables when the store has none yet. Returns whether it made them.
    package func prepare() throws -> Bool {
        guard try !LedgerSchema.exists(in: connection) else {
            try LedgerSchema.upgrade(in: connection)
            return false
        }
        try LedgerSchema.create(in: connection)
        try set(.deviceID, to: .text(platform.randomness.uuid().uuidString))
        try connection.run(
            "INSERT INTO ANSCKDATABASEMETADATA (Z_PK, Z_ENT, Z_OPT, ZDATABASESCOPENUM, "
                + "ZDATABASENAME) "
                + "VALUES (1, 17001, 1, 2, 'private')")
        return true
    }

    /// Whether the store was ever mirrored.
    package static func exists(in connection: Connection) throws -> Bool {
        try LedgerSchema.exists(in: connection)
    }

    /// Brings the bookkeeping of primary keys up to date. The last step of each transaction that
    /// adds rows.
    package func finish() throws { try LedgerSchema.raiseKeys(in: connection) }
}

// MARK: Settings

/// A key of ANSCKMETADATAENTRY.
package struct LedgerKey: Hashable, Sendable {
    package let text: String

    /// The number of the last history transaction that was analysed.
    package static let historyToken = LedgerKey(
        text: "NSCloudKitMirroringDelegateLastHistoryTokenKey")
    /// The digest of the model with which the zone was last read.
    package static let modelDigest = LedgerKey(text: "DiptychModelDigest")
    /// What that model knows of records (`ModelCatalog`).
    package static let modelCatalog = LedgerKey(text: "DiptychModelCatalog")
    /// This device's name in the stamps of what it writes.
    package static let deviceID = LedgerKey(text: "DiptychDeviceIdentifier")
    /// Which service and container the store is mirrored with.
    package static let container = LedgerKey(text: "DiptychContainer")
    /// And in which of the container's environments.
    package static let environment = LedgerKey(text: "DiptychEnvironment")
    /// And for which user of which service.
    package static let user = LedgerKey(text: "DiptychUser")
    /// The zone of another's that the store had last, and that closed.
    static let leftZone = LedgerKey(text: "DiptychLeftZone")
    /// Set once the zone was read to its end for the first time.
    package static let initialImport = LedgerKey(text: "DiptychInitialImportCompleted")
    /// The service speaks without extensions.
    package static let plainSends = LedgerKey(text: "DiptychPlainSends")
    package static let plainDialect = LedgerKey(text: "DiptychServiceIsPlain")
    /// Set once the service was seen to tell a device which of its writes it took.
    package static let echoesWriteIDs = LedgerKey(text: "DiptychServiceNamesWriters")
    /// Set while imported records may have left ends of one-to-one relationships that do not meet.
    package static let oneToOneCheck = LedgerKey(text: "DiptychOneToOneCheck")
    /// The history's newest change when all of them met (`UnmetEnds`).
    static let oneToOnesSeen = LedgerKey(text: "DiptychOneToOnesSeen")
    /// Objects were looked at under another selection than the one that is kept.
    static let selectionCheck = LedgerKey(text: "DiptychSelectionCheck")
    /// The latest edit time seen or given out, in milliseconds.
    package static let editClock = LedgerKey(text: "DiptychEditClock")
    /// The identifier of the store that this one is a copy of under another; see `WriteNaming`.
    static let origin = LedgerKey(text: "DiptychOriginalIdentifier")
    /// The random name of this store file, and the number of its last round.
    package static let instance = LedgerKey(text: "DiptychInstance")
    package static let round = LedgerKey(text: "DiptychRound")
    /// The newest change tag seen in the zone.
    package static let witness = LedgerKey(text: "DiptychWitness")
    /// The zone's epochs, and those of the time that the service lost last.
    package static let line = LedgerKey(text: "DiptychEpochs")
    package static let lostLine = LedgerKey(text: "DiptychLostEpochs")
    /// Set while the zone is read from its start to be compared with all that is known here.
    package static let reconciling = LedgerKey(text: "DiptychReconciling")
    /// How often that was begun.
    static let comparisons = LedgerKey(text: "DiptychComparisons")
    /// Set where the zone is to be read from its start once more, though nothing was lost.
    static let readingAgain = LedgerKey(text: "DiptychReadingAgain")
    /// The keys that opened the sealed values in the rows.
    package static let sealingKeys = LedgerKey(text: "DiptychSealingKeys")
    /// How many values were sealed here under a key.
    package static func seals(under key: SealingKey) -> LedgerKey {
        LedgerKey(text: "DiptychSeals \(key)")
    }
    /// The reason why sync does not run, in words; absent when the last round was whole.
    package static let lastError = LedgerKey(text: "DiptychLastError")
    /// When the service asked to be left alone until.
    package static let retryAt = LedgerKey(text: "DiptychRetryAt")
    /// Set while pairs may wait whose records can be read in several ways.
    static let unclearPairs = LedgerKey(text: "DiptychUnclearPairs")
    /// Why rounds do not begin by themselves (`MirrorHold`).
    package static let hold = LedgerKey(text: "DiptychHold")
    /// What is to be sent, as it was at the last look (`SyncSelection`).
    package static let selection = LedgerKey(text: "DiptychSelection")
    /// How many bytes were moved on a day, where that is bounded.
    package static let bytesDay = LedgerKey(text: "DiptychBytesDay")
    package static let bytesOfDay = LedgerKey(text: "DiptychBytesOfDay")
    /// The process that keeps the store in sync by itself.
    package static let activity = LedgerKey(text: "DiptychActivity")
    /// Since when something waits for export without a break.
    package static let waitingSince = LedgerKey(text: "DiptychWaitingSince")
    /// How often somebody decided what the next round is to send.
    static let decisions = LedgerKey(text: "DiptychDecisions")
    /// When the last round ended with both queues empty.
    package static let lastRound = LedgerKey(text: "DiptychLastRound")
}

extension Ledger {
    /// The value kept under `key`; nil when there is none.
    package func setting(_ key: LedgerKey) throws -> SQLiteValue? {
        let row = try connection.rows(
            "SELECT ZINTEGERVALUE, ZSTRINGVALUE, ZDATEVALUE FROM ANSCKMETADATAENTRY WHERE ZKEY = ?",
            [.text(key.text)]
        ).first
        return row?.first { !$0.isNull }
    }

    /// Keeps `value` under `key`, in the column of its kind; null removes it.
    package func set(_ key: LedgerKey, to value: SQLiteValue) throws {
        try connection.run("DELETE FROM ANSCKMETADATAENTRY WHERE ZKEY = ?", [.text(key.text)])
        let column: String
        switch value {
        case .integer: column = "ZINTEGERVALUE"
        case .real: column = "ZDATEVALUE"
        case .text: column = "ZSTRINGVALUE"
        case .blob: column = "ZTRANSFORMEDVALUE"
        case .null: return
        }
        try connection.run(
            "INSERT INTO ANSCKMETADATAENTRY (Z_ENT, Z_OPT, ZKEY, \(column)) VALUES (17009, 1, "
                + "?, ?)",
            [.text(key.text), value])
    }

    package func deviceID() throws -> String { try setting(.deviceID)?.string ?? "" }

    package func historyToken() throws -> Int64? { try setting(.historyToken)?.int64 }
}
