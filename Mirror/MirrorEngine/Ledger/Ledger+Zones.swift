internal import Foundation
internal import Platform
package import RecordWire
internal import SQLiteDriver

/// What the ledger knows of the zone it mirrors (ANSCKRECORDZONEMETADATA).
package struct ZoneEntry: Hashable, Sendable {
    package var name: String
    /// Whether the service was told to make the zone.
    package var exists: Bool
    /// Where the last import ended; nil to read the zone from its beginning.
    package var token: String?
    /// What the requests of this round say of the client; nil where no round was begun.
    package var client: ClientState?
    package var marks = LedgerMarks()
    /// Records that wait for an asset.
    package var waitingForAssets: [String] = []
}

/// How far the ledger had come when something was asked for.
package struct LedgerMarks: Hashable, Sendable {
    /// How often a service without extensions took something.
    package var sends: Int64 = 0
    /// How often the store was to be compared as a whole: more by now, and what comes may be of
    /// another zone, or of another user's.
    package var comparisons: Int64 = 0
}

/// What a page of changes, or single records, were asked for with.
package struct PageRequest: Hashable, Sendable {
    package var token: String?
    /// Whether the records tell which writes they contain.
    package var toldWriteIDs: Bool
    package var marks: LedgerMarks
    /// Contents of assets that are to be had, and did not come, by the names of their files.
    var awaited: Set<String> = []

    package init(token: String?, toldWriteIDs: Bool, marks: LedgerMarks) {
        self.token = token
        self.toldWriteIDs = toldWriteIDs
        self.marks = marks
    }
}

extension Ledger {
    package func zone(_ id: ZoneID) throws -> ZoneEntry {
        let name = id.zoneName
        let row = try connection.rows(
            "SELECT ZHASRECORDZONENUM, ZCURRENTCHANGETOKEN FROM ANSCKRECORDZONEMETADATA "
                + "WHERE ZCKRECORDZONENAME = ?", [.text(name)]
        ).first
        guard let row else {
            try connection.run(
                "INSERT INTO ANSCKRECORDZONEMETADATA (Z_ENT, Z_OPT, ZHASRECORDZONENUM, ZDATABASE, "
                    + "ZCKOWNERNAME, ZCKRECORDZONENAME, ZSUPPORTSATOMICCHANGES, "
                    + "ZSUPPORTSFETCHCHANGES) "
                    + "VALUES (17015, 1, 0, ?, ?, ?, 1, 1)",
                [
                    .integer(try database(of: id)),
                    .text(id.ownerRecordName ?? Self.ownOwner), .text(name),
                ])
            return ZoneEntry(name: name, exists: false, token: nil)
        }
        let token = row[1].data.map { String(decoding: $0, as: UTF8.self) }
        return ZoneEntry(name: name, exists: row[0] == 1, token: token)
    }

    /// The zone with which the store is mirrored; nil before the first round and after a reset.
    package func knownZone() throws -> ZoneID? {
        let row = try connection.rows(
            "SELECT ZCKRECORDZONENAME, ZCKOWNERNAME FROM ANSCKRECORDZONEMETADATA "
                + "ORDER BY Z_PK LIMIT 1"
        ).first
        guard let row, let name = row[0].string else { return nil }
        let owner = row[1].string.flatMap { $0 == Self.ownOwner ? nil : $0 }
        return ZoneID(zoneName: name, ownerRecordName: owner)
    }

    /// Apple's word for the signed-in user.
    private static let ownOwner = "__defaultOwner__"

    /// The line of the database that a zone is in: 1 is the private one, 2 the shared one.
    private func database(of zone: ZoneID) throws -> Int64 {
        guard zone.ownerRecordName != nil else { return 1 }
        try connection.run(
            "INSERT OR IGNORE INTO ANSCKDATABASEMETADATA (Z_PK, Z_ENT, Z_OPT, ZDATABASESCOPENUM, "
                + "ZDATABASENAME) VALUES (2, 17001, 1, 3, 'shared')")
        return 2
    }

    /// Whether a zone of another's was ever known here.
    func knowsSharedDatabase() throws -> Bool {
        try connection.value("SELECT 1 FROM ANSCKDATABASEMETADATA WHERE ZDATABASESCOPENUM = 3")
            != nil
    }

    package func forgetZones() throws {
        try connection.run("DELETE FROM ANSCKRECORDZONEMETADATA")
    }

    package func setZoneExists(_ exists: Bool, _ name: String) throws {
        try connection.run(
            "UPDATE ANSCKRECORDZONEMETADATA SET ZHASRECORDZONENUM = ? WHERE ZCKRECORDZONENAME = ?",
            [SQLiteValue(exists), .text(name)])
    }

    /// Keeps the place up to which the zone was read. Belongs in the transaction that applies what
    /// was read.
    package func setToken(_ token: String?, zone name: String) throws {
        try connection.run(
            "UPDATE ANSCKRECORDZONEMETADATA SET ZCURRENTCHANGETOKEN = ?, ZLASTFETCHDATE = ? "
                + "WHERE ZCKRECORDZONENAME = ?",
            [
                SQLiteValue(token.map { Data($0.utf8) }), SQLiteValue(platform.clock.now()),
                .text(name),
            ])
    }
}
