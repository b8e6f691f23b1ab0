package import RecordWire
internal import SQLiteDriver
internal import Stores

/// One pair's line in ANSCKMIRROREDRELATIONSHIP, with its record as this device last saw it.
package struct PairEntry: Sendable {
    package var key: Int64
    package var recordName: String
    package var pair: JoinRecord
    /// An end has not arrived: the pair is known and not yet in the join table.
    package var isPending: Bool
    package var isUploaded: Bool
    package var needsDelete: Bool
    package var base: Record?
}

/// What is compared with a member of the store's join table: a pair's line, without its record.
struct MemberLine {
    let key: Int64
    /// The other end's row; nil where no object here has its name.
    let row: RowID?
    let isPending: Bool
}

extension Ledger {
    private static let pairColumns =
        "p.Z_PK, p.ZCKRECORDID, p.ZCDENTITYNAME, p.ZRELATIONSHIPNAME, p.ZRECORDNAME, "
        + "p.ZRELATEDRECORDNAME, p.ZISPENDING, p.ZISUPLOADED, p.ZNEEDSDELETE, a.ZBINARYDATA "
        + "FROM ANSCKMIRROREDRELATIONSHIP p LEFT JOIN ANSCKMIRROREDRELATIONSHIPSYSTEMFIELDSASSET a "
        + "ON a.Z_PK = p.ZSYSTEMFIELDSASSET"

    package func pair(named name: String) throws -> PairEntry? {
        try pairs("p.ZCKRECORDID = ?", [.text(name)]).first
    }

    /// The lines in which `name` is the leading end, or the other one.
    package func pairs(of name: String, isFirst: Bool, kind: PairKind) throws -> [PairEntry] {
        try pairs(
            "\(isFirst ? "p.ZRECORDNAME" : "p.ZRELATEDRECORDNAME") = ? AND p.ZCDENTITYNAME = ? "
                + "AND p.ZRELATIONSHIPNAME = ?",
            [.text(name), .text(kind.entityNames), .text(kind.relationshipNames)])
    }

    func pair(key: Int64) throws -> PairEntry? { try pairs("p.Z_PK = ?", [.integer(key)]).first }

    /// As `pairs(of:isFirst:kind:)`, of the lines that are not on their way out: a list may have a
    /// hundred thousand members of which one was added.
    func memberLines(of name: String, isFirst: Bool, kind: PairKind) throws -> [MemberLine] {
        let (own, other) =
            isFirst
            ? ("ZRECORDNAME", "ZRELATEDRECORDNAME") : ("ZRELATEDRECORDNAME", "ZRECORDNAME")
        var lines: [MemberLine] = []
        let statement = try connection.prepare(
            "SELECT p.Z_PK, p.ZISPENDING, m.ZENTITYID, m.ZENTITYPK "
                + "FROM ANSCKMIRROREDRELATIONSHIP p LEFT JOIN ANSCKRECORDMETADATA m "
                + "ON m.ZCKRECORDNAME = p.\(other) WHERE p.\(own) = ? AND p.ZCDENTITYNAME = ? "
                + "AND p.ZRELATIONSHIPNAME = ? AND p.ZNEEDSDELETE = 0")
        defer { statement.reset() }
        try statement.bind([
            .text(name), .text(kind.entityNames), .text(kind.relationshipNames),
        ])
        while try statement.step() {
            let row =
                statement.isNull(at: 2)
                ? nil
                : RowID(
                    entity: Int32(truncatingIfNeeded: statement.int64(at: 2)),
                    key: statement.int64(at: 3))
            lines.append(
                MemberLine(
                    key: statement.int64(at: 0), row: row, isPending: statement.int64(at: 1) == 1))
        }
        return lines
    }

    /// All lines in which `name` is either end.
    package func pairs(of name: String) throws -> [PairEntry] {
        try pairs("p.ZRECORDNAME = ?1 OR p.ZRELATEDRECORDNAME = ?1", [.text(name)])
    }

    /// The other lines of the same pair that are not on their way out.
    package func twins(of entry: PairEntry, symmetric: Bool) throws -> [PairEntry] {
        let pair = entry.pair
        var condition = "(p.ZRECORDNAME = ?1 AND p.ZRELATEDRECORDNAME = ?2"
        if symmetric { condition += " OR p.ZRECORDNAME = ?2 AND p.ZRELATEDRECORDNAME = ?1" }
        return try pairs(
            condition + ") AND p.ZCDENTITYNAME = ?3 AND p.ZRELATIONSHIPNAME = ?4 "
                + "AND p.ZNEEDSDELETE = 0 AND p.Z_PK <> ?5",
            [
                .text(pair.first), .text(pair.second), .text(pair.entityNames),
                .text(pair.relationshipNames), .integer(entry.key),
            ])
    }

    /// The lines that give the same member to another owner, and are not on their way out.
    package func rivals(of pair: JoinRecord, kind: PairKind) throws -> [PairEntry] {
        try pairs(of: pair.second, isFirst: false, kind: kind).filter {
            !$0.pair.first.isExactly(pair.first) && !$0.needsDelete
        }
    }

    package func pendingPairs(after key: Int64, limit: Int) throws -> [PairEntry] {
        try pairs(
            "(p.ZISUPLOADED = 0 OR p.ZNEEDSDELETE = 1) AND p.Z_PK > ? AND NOT EXISTS "
                + "(SELECT 1 FROM ADIPTYCHREFUSAL r WHERE r.ZRECORDNAME = p.ZCKRECORDID)"
                + (try withoutOutside("p.ZRECORDNAME, p.ZRELATEDRECORDNAME"))
                + " ORDER BY p.Z_PK LIMIT ?", [.integer(key), SQLiteValue(limit)])
    }

    /// Whether the ledger knows any pair.
    package func hasPairs() throws -> Bool {
        try connection.value("SELECT 1 FROM ANSCKMIRROREDRELATIONSHIP LIMIT 1") != nil
    }

    /// The pairs that wait for the object called `name`.
    package func waitingPairs(for name: String) throws -> [PairEntry] {
        try pairs(
            "p.ZISPENDING = 1 AND p.ZNEEDSDELETE = 0 "
                + "AND (p.ZRECORDNAME = ?1 OR p.ZRELATEDRECORDNAME = ?1)", [.text(name)])
    }

    @discardableResult
    package func addPair(
        _ pair: JoinRecord, named name: String, isUploaded: Bool, isPending: Bool = false
    ) throws -> Int64 {
        let entities = pair.entityNames.split(separator: ":", omittingEmptySubsequences: false)
        try connection.run(
            "INSERT INTO ANSCKMIRROREDRELATIONSHIP (Z_ENT, Z_OPT, ZISPENDING, ZISUPLOADED, "
                + "ZNEEDSDELETE, ZRECORDZONE, ZCDENTITYNAME, ZRELATEDENTITYNAME, ZCKRECORDID, "
                + "ZRECORDNAME, ZRELATEDRECORDNAME, ZRELATIONSHIPNAME) "
                + "VALUES (17010, 1, ?, ?, 0, 1, ?, ?, ?, ?, ?, ?)",
            [
                SQLiteValue(isPending), SQLiteValue(isUploaded), .text(pair.entityNames),
                SQLiteValue(entities.last.map(String.init)), .text(name), .text(pair.first),
                .text(pair.second), .text(pair.relationshipNames),
            ])
        return connection.lastInsertedRowID
    }

    package func setPair(
        _ key: Int64, isPending: Bool? = nil, isUploaded: Bool? = nil, needsDelete: Bool? = nil
    ) throws {
        try connection.run(
            "UPDATE ANSCKMIRROREDRELATIONSHIP SET ZISPENDING = ifnull(?2, ZISPENDING), "
                + "ZISUPLOADED = ifnull(?3, ZISUPLOADED), ZNEEDSDELETE = ifnull(?4, ZNEEDSDELETE) "
                + "WHERE Z_PK = ?1",
            [
                .integer(key), isPending.map { SQLiteValue($0) } ?? .null,
                isUploaded.map { SQLiteValue($0) } ?? .null,
                needsDelete.map { SQLiteValue($0) } ?? .null,
            ])
    }

    /// Gives a line other names, and its ends another order; its record stays.
    package func rename(pair key: Int64, to pair: JoinRecord) throws {
        let entities = pair.entityNames.split(separator: ":", omittingEmptySubsequences: false)
        try connection.run(
            "UPDATE ANSCKMIRROREDRELATIONSHIP SET ZCDENTITYNAME = ?, ZRELATEDENTITYNAME = ?, "
                + "ZRELATIONSHIPNAME = ?, ZRECORDNAME = ?, ZRELATEDRECORDNAME = ? WHERE Z_PK = ?",
            [
                .text(pair.entityNames), SQLiteValue(entities.last.map(String.init)),
                .text(pair.relationshipNames), .text(pair.first), .text(pair.second),
                .integer(key),
            ])
    }

    package func setPairBase(_ record: Record, key: Int64) throws {
        try connection.run(
            "INSERT OR REPLACE INTO ANSCKMIRROREDRELATIONSHIPSYSTEMFIELDSASSET "
                + "(Z_PK, Z_ENT, Z_OPT, ZMIRROREDRELATIONSHIP, ZBINARYDATA) VALUES (?1, 17011, "
                + "1, ?1, ?2)",
            [.integer(key), .blob(RecordArchive.encode(record))])
        try connection.run(
            "UPDATE ANSCKMIRROREDRELATIONSHIP SET ZSYSTEMFIELDSASSET = ?1 WHERE Z_PK = ?1 "
                + "AND ZSYSTEMFIELDSASSET IS NULL", [.integer(key)])
        try forgetInFlight(record.recordName)
    }

    package func removePair(_ entry: PairEntry) throws {
        try connection.run(
            "DELETE FROM ANSCKMIRROREDRELATIONSHIPSYSTEMFIELDSASSET WHERE Z_PK = ?",
            [.integer(entry.key)])
        try connection.run(
            "DELETE FROM ANSCKMIRROREDRELATIONSHIP WHERE Z_PK = ?", [.integer(entry.key)])
        try connection.run(
            "DELETE FROM ADIPTYCHREFUSAL WHERE ZRECORDNAME = ?", [.text(entry.recordName)])
        try forgetInFlight(entry.recordName)
    }

    /// Takes a pair out: the service is told where it may know of it, else the line just goes.
    package func queuePairDeletion(_ entry: PairEntry) throws {
        let mayBeKnown = try entry.base != nil || lastInFlight(entry.recordName) != nil
        if mayBeKnown {
            try setPair(entry.key, needsDelete: true)
            try forgetRefusal(of: entry.recordName)
        } else {
            try removePair(entry)
        }
    }

    func pairs(_ condition: String, _ values: [SQLiteValue]) throws -> [PairEntry] {
        var entries: [PairEntry] = []
        let statement = try connection.prepare("SELECT \(Self.pairColumns) WHERE \(condition)")
        defer { statement.reset() }
        try statement.bind(values)
        while try statement.step() { entries.append(try Self.pairEntry(at: statement)) }
        return entries
    }

    private static func pairEntry(at row: Statement) throws -> PairEntry {
        let base = try row.blob(at: 9).map(decode)
        var pair = JoinRecord(
            entityNames: row.text(at: 2) ?? "", relationshipNames: row.text(at: 3) ?? "",
            first: row.text(at: 4) ?? "", second: row.text(at: 5) ?? "")
        if let known = base.flatMap({ JoinRecord($0, of: pair) }) {
            // Its record may be older than the keys of the ends, and have them the other way round.
            let isTurned =
                !known.first.isExactly(pair.first) && known.first.isExactly(pair.second)
            pair.firstOrder = isTurned ? known.secondOrder : known.firstOrder
            pair.secondOrder = isTurned ? known.firstOrder : known.secondOrder
        }
        return PairEntry(
            key: row.int64(at: 0), recordName: row.text(at: 1) ?? "", pair: pair,
            isPending: row.int64(at: 6) == 1, isUploaded: row.int64(at: 7) == 1,
            needsDelete: row.int64(at: 8) == 1, base: base)
    }
}
