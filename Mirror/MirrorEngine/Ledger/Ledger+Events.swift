public import Foundation
internal import Platform
internal import RecordWire
internal import SQLiteDriver

/// One step of mirroring, with its counts (ANSCKEVENT).
public struct MirrorEvent: Sendable {
    /// Raw values are Apple's.
    public enum Kind: Int64, Sendable {
        case setup = 0
        case `import` = 1
        case export = 2
    }
    public let identifier: UUID
    public let kind: Kind
    public let started: Date
    /// nil while it runs.
    public let ended: Date?
    public let succeeded: Bool
    /// Records that had to be handled, and those that were.
    public let affected: Int
    public let finished: Int
    public let error: String?
    /// The number of the error, as who logged it counts; nil for none.
    public let errorCode: Int?
    /// The round it was part of, as the service's access log names it too; nil for none.
    public let round: String?
}

extension Ledger {
    /// Writes an event that has ended, or adds to the one that was begun for the round.
    package func log(
        _ kind: MirrorEvent.Kind, started: Date, affected: Int, finished: Int,
        error: String? = nil, errorCode: Int? = nil
    ) throws {
        let begun = RoundEvents.current?.identifier(of: kind)
        let bytes = withUnsafeBytes(of: (begun ?? platform.randomness.uuid()).uuid) { Data($0) }
        if begun != nil, try add(to: bytes, affected, finished, error, errorCode) {
            return
        }
        try connection.run(
            "INSERT INTO ANSCKEVENT (Z_ENT, Z_OPT, ZCLOUDKITEVENTTYPE, ZCOUNTAFFECTEDOBJECTS, "
                + "ZCOUNTFINISHEDOBJECTS, ZSUCCEEDED, ZSTARTEDAT, ZENDEDAT, ZERRORDOMAIN, "
                + "ZERRORCODE, ZEVENTIDENTIFIER) VALUES (17002, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                .integer(kind.rawValue), SQLiteValue(affected), SQLiteValue(finished),
                SQLiteValue(error == nil), SQLiteValue(started), SQLiteValue(platform.clock.now()),
                SQLiteValue(error), SQLiteValue(errorCode.map(Int64.init)), .blob(bytes),
            ])
        let key = connection.lastInsertedRowID
        try connection.run(
            "DELETE FROM ANSCKEVENT WHERE Z_PK <= ?", [.integer(key - Self.eventsMax)])
        guard let round = RoundIdentifier.current else { return }
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHEVENTROUND (Z_PK, ZROUND) VALUES (?, ?)",
            [.integer(key), .text(round)])
        try connection.run(
            "DELETE FROM ADIPTYCHEVENTROUND WHERE Z_PK <= ?", [.integer(key - Self.eventsMax)])
    }

    /// Returns false where there is no such event yet.
    private func add(
        to identifier: Data, _ affected: Int, _ finished: Int, _ error: String?, _ code: Int?
    ) throws -> Bool {
        try connection.run(
            "UPDATE ANSCKEVENT SET ZCOUNTAFFECTEDOBJECTS = ZCOUNTAFFECTEDOBJECTS + ?, "
                + "ZCOUNTFINISHEDOBJECTS = ZCOUNTFINISHEDOBJECTS + ?, ZSUCCEEDED = ?, "
                + "ZENDEDAT = ?, ZERRORDOMAIN = ?, ZERRORCODE = ? WHERE ZEVENTIDENTIFIER = ?",
            [
                SQLiteValue(affected), SQLiteValue(finished), SQLiteValue(error == nil),
                SQLiteValue(platform.clock.now()), SQLiteValue(error),
                SQLiteValue(code.map(Int64.init)),
                .blob(identifier),
            ])
        return connection.changes > 0
    }

    /// The rounds of events; none in the tables of an older version of this library.
    private func eventRounds() throws -> [Int64: String] {
        let isThere = try connection.value(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ADIPTYCHEVENTROUND'")
        guard isThere != nil else { return [:] }
        var rounds: [Int64: String] = [:]
        try connection.forEachRow("SELECT Z_PK, ZROUND FROM ADIPTYCHEVENTROUND") { row in
            rounds[row.int64(at: 0)] = row.text(at: 1)
        }
        return rounds
    }

    /// So many of the newest events are kept.
    static let eventsMax: Int64 = 1_000

    /// The events, oldest first.
    package func events() throws -> [MirrorEvent] {
        let rounds = try eventRounds()
        var events: [MirrorEvent] = []
        try connection.forEachRow(
            "SELECT ZEVENTIDENTIFIER, ZCLOUDKITEVENTTYPE, ZSTARTEDAT, ZENDEDAT, ZSUCCEEDED, "
                + "ZCOUNTAFFECTEDOBJECTS, ZCOUNTFINISHEDOBJECTS, ZERRORDOMAIN, Z_PK, "
                + "ZERRORCODE "
                + "FROM ANSCKEVENT "
                + "ORDER BY Z_PK"
        ) { row in
            events.append(
                MirrorEvent(
                    identifier: Self.uuid(row.blob(at: 0)),
                    kind: MirrorEvent.Kind(rawValue: row.int64(at: 1)) ?? .setup,
                    started: Date(timeIntervalSinceReferenceDate: row.double(at: 2)),
                    ended: row.isNull(at: 3)
                        ? nil : Date(timeIntervalSinceReferenceDate: row.double(at: 3)),
                    succeeded: row.int64(at: 4) == 1, affected: Int(row.int64(at: 5)),
                    finished: Int(row.int64(at: 6)), error: row.text(at: 7),
                    errorCode: row.isNull(at: 9) ? nil : Int(row.int64(at: 9)),
                    round: rounds[row.int64(at: 8)]))
        }
        return events
    }

    private static func uuid(_ bytes: Data?) -> UUID {
        guard let bytes, bytes.count == 16 else {
            return UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
