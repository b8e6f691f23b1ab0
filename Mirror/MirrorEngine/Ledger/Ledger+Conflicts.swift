public import Foundation
internal import Platform
public import RecordWire
internal import SQLiteDriver

/// One value that a merge discarded, or that waits for a decision: a line of the conflict log.
public struct ConflictEntry: Sendable {
    public let id: Int64
    public let date: Date
    public let entity: String
    public let recordName: String
    public let property: String
    /// The rule that settled it; `handRule` where somebody decided.
    public let rule: String
    /// "local", "remote", "merged", or "waiting" while nobody has decided.
    public let winner: String
    /// What both sides had last agreed on; nil where there was no value.
    public internal(set) var base: FieldValue?
    public internal(set) var local: FieldValue?
    public internal(set) var remote: FieldValue?
    /// The record that the remote value was sealed for, where it was logged so.
    let sealedFor: String?
    /// The device that wrote the remote value, by `RecordTarget.deviceID`; nil where the service
    /// did not say.
    public var remoteDevice: String? { devices.remote }
    /// The device on which the local value met it: this one, or the one that this store's file was
    /// copied from. nil for lines of older versions of this library.
    public var localDevice: String? { devices.local }
    let devices: (remote: String?, local: String?)

    /// Stands as `rule` of what was decided by hand.
    public static let handRule = "hand"
}

/// A value as the conflict log has it.
struct LoggedValue {
    var plain: FieldValue?
    /// The companion that keeps it exact.
    var exact: FieldValue?
    /// The record that it was sealed for, where it is as it was sealed.
    var sealedFor: String?
}

/// A member that a to-many loses, and which of a conflict's values had it.
package struct LostMember {
    var member: String
    var owner: String
    var entity: String
    var property: String
    var rule: String
    var base = true
    var local = true
    var remote = false
    var winner = PropertyConflict.Winner.remote

    package init(
        member: String, owner: String, entity: String, property: String, rule: String,
        base: Bool = true, local: Bool = true, remote: Bool = false,
        winner: PropertyConflict.Winner = .remote
    ) {
        self.member = member
        self.owner = owner
        self.entity = entity
        self.property = property
        self.rule = rule
        self.base = base
        self.local = local
        self.remote = remote
        self.winner = winner
    }
}

extension Ledger {
    /// Logs a conflict with the version of the record that brought it. A waiting one of the same
    /// property is replaced.
    package func log(
        _ conflict: PropertyConflict, entity: String, recordName: String,
        by modified: RecordStamp? = nil
    ) throws {
        try connection.run(
            "DELETE FROM ADIPTYCHCONFLICT WHERE ZRECORDNAME = ? AND ZPROPERTY = ? "
                + "AND ZWINNER = 'waiting'", [.text(recordName), .text(conflict.property)])
        try insert(
            [.text(entity), .text(recordName), .text(conflict.property)], rule: conflict.rule,
            winner: conflict.winner,
            [
                Self.blob(conflict.base), Self.blob(conflict.local, by: ownStamp()),
                Self.blob(conflict.remote, by: modified, sealedFor: conflict.sealedFor),
            ])
    }

    /// Logs that a to-many loses a member.
    package func log(_ lost: LostMember, by modified: RecordStamp? = nil) throws {
        let link = PropertyValue.link(NamedLink(lost.member))
        let nothing = PropertyValue.link(nil)
        try insert(
            [.text(lost.entity), .text(lost.owner), .text(lost.property)], rule: lost.rule,
            winner: lost.winner,
            [
                Self.blob(lost.base ? link : nothing),
                Self.blob(lost.local ? link : nothing, by: ownStamp()),
                Self.blob(lost.remote ? link : nothing, by: modified),
            ])
    }

    /// This device, as the writer of a local value.
    private func ownStamp() throws -> RecordStamp {
        RecordStamp(timestamp: 0, deviceID: try deviceID())
    }

    private func insert(
        _ place: [SQLiteValue], rule: String, winner: PropertyConflict.Winner,
        _ values: [SQLiteValue]
    ) throws {
        try connection.run(
            "INSERT INTO ADIPTYCHCONFLICT (ZDATE, ZENTITY, ZRECORDNAME, ZPROPERTY, ZRULE, ZWINNER, "
                + "ZBASE, ZLOCAL, ZREMOTE) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [SQLiteValue(platform.clock.now())] + place + [.text(rule), .text(winner.rawValue)]
                + values)
    }

    /// Drops old lines, and the graves of which no line speaks any more: once a round, since lines
    /// come by the thousand. Cost: O(1) where there are none, else a look at each grave.
    func dropOldConflicts() throws {
        let newest = try connection.value("SELECT max(Z_PK) FROM ADIPTYCHCONFLICT")?.int64 ?? 0
        let last = SQLiteValue.integer(newest - Self.conflictsMax)
        let oldest = try connection.value(
            "SELECT ZDATE FROM ADIPTYCHCONFLICT WHERE ZWINNER <> 'waiting' AND Z_PK <= ? "
                + "ORDER BY Z_PK LIMIT 1", [last])
        let limit = platform.clock.now().addingTimeInterval(-Self.conflictSeconds)
        guard let date = oldest?.double, date < limit.timeIntervalSinceReferenceDate else { return }
        try connection.run(
            "DELETE FROM ADIPTYCHCONFLICT WHERE ZWINNER <> 'waiting' AND Z_PK <= ? AND ZDATE < ?",
            [last, SQLiteValue(limit)])
        try dropUnloggedGraves()
    }

    /// So many of the newest lines are kept, and those of 30 days, so that what one round discards
    /// can be read; one that waits for a decision is kept at any age.
    package static let conflictsMax: Int64 = 10_000
    private static let conflictSeconds = 30 * 86_400.0

    /// The log, newest last. Cost: O(lines).
    package func conflicts(waitingOnly: Bool = false) throws -> [ConflictEntry] {
        try conflicts(waitingOnly ? "WHERE ZWINNER = 'waiting' " : "", [])
    }

    /// One line; nil where there is none. Cost: O(1).
    func conflict(_ id: Int64) throws -> ConflictEntry? {
        try conflicts("WHERE Z_PK = ? ", [.integer(id)]).first
    }

    private func conflicts(_ condition: String, _ values: [SQLiteValue]) throws -> [ConflictEntry] {
        var entries: [ConflictEntry] = []
        try connection.forEachRow(
            "SELECT Z_PK, ZDATE, ZENTITY, ZRECORDNAME, ZPROPERTY, ZRULE, ZWINNER, ZBASE, ZLOCAL, "
                + "ZREMOTE FROM ADIPTYCHCONFLICT \(condition)ORDER BY Z_PK", values
        ) { row in
            let local = try row.blob(at: 8).map(Self.decode)
            let remote = try row.blob(at: 9).map(Self.decode)
            entries.append(
                ConflictEntry(
                    id: row.int64(at: 0),
                    date: Date(timeIntervalSinceReferenceDate: row.double(at: 1)),
                    entity: row.text(at: 2) ?? "", recordName: row.text(at: 3) ?? "",
                    property: row.text(at: 4) ?? "", rule: row.text(at: 5) ?? "",
                    winner: row.text(at: 6) ?? "", base: try Self.field(row.blob(at: 7)),
                    local: local?.fields["v"] ?? nil, remote: remote?.fields["v"] ?? nil,
                    sealedFor: remote.flatMap(Self.sealedFor),
                    devices: (remote?.modified?.deviceID, local?.modified?.deviceID)))
        }
        return entries
    }

    /// Somebody took one side's value by hand; no rule decided it then.
    package func decide(_ id: Int64, winner: String) throws {
        try connection.run(
            "UPDATE ADIPTYCHCONFLICT SET ZWINNER = ?, ZRULE = ? WHERE Z_PK = ?",
            [.text(winner), .text(ConflictEntry.handRule), .integer(id)])
    }

    /// What waits of a record for a decision is decided for one side.
    func decideWaiting(of name: String, for winner: PropertyConflict.Winner) throws {
        try connection.run(
            "UPDATE ADIPTYCHCONFLICT SET ZWINNER = ? WHERE ZRECORDNAME = ? "
                + "AND ZWINNER = 'waiting'", [.text(winner.rawValue), .text(name)])
    }

    package func waitingConflicts() throws -> Int {
        Int(
            try connection.value("SELECT count(*) FROM ADIPTYCHCONFLICT WHERE ZWINNER = 'waiting'")?
                .int64 ?? 0)
    }

    /// The entities of all objects that wait for a decision.
    package func waitingEntities() throws -> Set<String> {
        Set(
            try connection.rows(
                "SELECT DISTINCT ZENTITY FROM ADIPTYCHCONFLICT WHERE ZWINNER = 'waiting'"
            ).compactMap { $0[0].string })
    }

    /// The properties of one record that wait for a decision.
    package func waitingProperties(of name: String) throws -> Set<String> {
        Set(
            try connection.rows(
                "SELECT ZPROPERTY FROM ADIPTYCHCONFLICT WHERE ZWINNER = 'waiting' AND "
                    + "ZRECORDNAME = ?",
                [.text(name)]
            ).compactMap { $0[0].string })
    }

    /// One of a conflict's three values, with the companion that keeps it exact.
    func value(ofConflict id: Int64, _ side: ConflictSide) throws -> LoggedValue {
        let bytes = try connection.value(
            "SELECT Z\(side.rawValue.uppercased()) FROM ADIPTYCHCONFLICT WHERE Z_PK = ?",
            [.integer(id)])
        guard let record = try bytes?.data.map(Self.decode) else { return LoggedValue() }
        return LoggedValue(
            plain: record.fields["v"] ?? nil, exact: record.fields["e"] ?? nil,
            sealedFor: Self.sealedFor(record))
    }

    private static func sealedFor(_ record: Record) -> String? {
        if case .string(let name)?? = record.fields["s"] { name } else { nil }
    }

    private static func blob(
        _ value: PropertyValue, by modified: RecordStamp? = nil, sealedFor name: String? = nil
    ) -> SQLiteValue {
        var record = Record(recordName: "", recordType: "")
        record.modified = modified
        switch value {
        case .attribute(let value):
            let (plain, exact) = AttributeCoding.fields(for: value)
            record.fields["v"] = plain
            record.fields["e"] = exact
        case .link(let link): record.fields["v"] = link.map { .string($0.recordName) }
        }
        if let name { record.fields["s"] = .string(name) }
        return record.fields.isEmpty && modified == nil
            ? .null : .blob(RecordArchive.encode(record))
    }

    private static func field(_ bytes: Data?) throws -> FieldValue? {
        guard let bytes else { return nil }
        return try decode(bytes).fields["v"] ?? nil
    }
}
