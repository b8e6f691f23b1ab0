import Foundation
import MirrorEngine
import MirrorTestKit
import Platform
import RecordWire
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// The system tables as another tool sees them.
@Suite struct LedgerTests {
    let service: SimulatedService
    let device: Device

    init() throws {
        service = try Device.service()
        device = try Device(1, service)
    }

    private func rows(_ sql: String) throws -> [[SQLiteValue]] {
        try device.store.read { try $0.connection.rows(sql) }
    }

    @Test func theTablesAreThoseQuotedFromRealStores() throws {
        try device.sync()
        let sql = try rows(
            "SELECT sql FROM sqlite_master WHERE name IN ('ANSCKRECORDMETADATA', "
                + "'ANSCKMETADATAENTRY') ORDER BY name")
        #expect(
            sql == [
                [
                    .text(
                        "CREATE TABLE ANSCKMETADATAENTRY ( Z_PK INTEGER PRIMARY KEY, Z_ENT "
                            + "INTEGER, "
                            + "Z_OPT INTEGER, ZBOOLVALUENUM INTEGER, ZINTEGERVALUE INTEGER, "
                            + "ZDATEVALUE TIMESTAMP, ZKEY VARCHAR, ZSTRINGVALUE VARCHAR, "
                            + "ZTRANSFORMEDVALUE BLOB )")
                ],
                [
                    .text(
                        "CREATE TABLE ANSCKRECORDMETADATA ( Z_PK INTEGER PRIMARY KEY, Z_ENT "
                            + "INTEGER, "
                            + "Z_OPT INTEGER, ZENTITYID INTEGER, ZENTITYPK INTEGER, "
                            + "ZLASTEXPORTEDTRANSACTIONNUMBER INTEGER, ZNEEDSCLOUDDELETE INTEGER, "
                            + "ZNEEDSLOCALDELETE INTEGER, ZNEEDSUPLOAD INTEGER, "
                            + "ZPENDINGEXPORTCHANGETYPENUMBER INTEGER, "
                            + "ZPENDINGEXPORTTRANSACTIONNUMBER INTEGER, ZENCODEDRECORDASSET "
                            + "INTEGER, "
                            + "ZRECORDZONE INTEGER, ZSYSTEMFIELDSASSET INTEGER, ZCKRECORDNAME "
                            + "VARCHAR )"
                    )
                ],
            ])
    }

    @Test func everySystemTableHasItsNumberAndItsHighestKey() throws {
        try device.insert("Note")
        try device.sync()
        let numbers = try rows(
            "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_ENT BETWEEN 17001 AND 17018 ORDER BY Z_ENT")
        #expect(numbers.compactMap { $0[0].int64 } == Array(17001...17018))
        let lines = try rows(
            "SELECT Z_MAX, (SELECT max(Z_PK) FROM ANSCKRECORDMETADATA) FROM Z_PRIMARYKEY "
                + "WHERE Z_NAME = 'NSCKRecordMetadata'")
        #expect(lines.first?[0] == lines.first?[1])
    }

    @Test func exportsAndImportsAreLogged() throws {
        try device.insert("Note")
        try device.sync()
        #expect(
            try rows("SELECT ZSTATUSNUM FROM ANSCKEXPORTOPERATION") == [[.integer(1)]])
        #expect(try rows("SELECT count(*) FROM ANSCKEXPORTEDOBJECT") == [[.integer(0)]])
        let other = try Device(2, service)
        try other.sync()
        let imports = try other.store.read {
            try $0.connection.rows("SELECT count(*) FROM ANSCKIMPORTOPERATION")
        }
        #expect(imports == [[.integer(1)]])
        #expect(try other.mirrored.events().map(\.kind) == [.setup, .import])
        #expect(try device.mirrored.events().map(\.finished).last == 1)
    }

    /// Rows for each record would be written to be deleted.
    @Test func aBatchIsKeptInOnePieceWhileItIsUnderWay() throws {
        for _ in 0..<3 { try device.insert("Note") }
        let under = Lock<[[SQLiteValue]]>([])
        let kept =
            "SELECT (SELECT count(*) FROM ADIPTYCHBATCH), (SELECT count(*) FROM ADIPTYCHINFLIGHT), "
            + "(SELECT count(*) FROM ANSCKEXPORTEDOBJECT)"
        device.intercept = { request in
            guard case .modifyRecords = request else { return nil }
            let now = try rows(kept)
            under.withLock { $0 += now }
            return nil
        }
        try device.sync()
        #expect(under.withLock { $0 } == [[.integer(1), .integer(0), .integer(0)]])
        #expect(try rows(kept) == [[.integer(0), .integer(0), .integer(0)]])
    }

    /// As many as before are kept once the round has ended, also where it failed.
    @Test(arguments: [false, true])
    func morePagesAreInMemoryAndInTheLogDuringARound(isLost: Bool) throws {
        let setting = {
            try device.store.write { write in
                try ["cache_size", "wal_autocheckpoint"].map {
                    try write.connection.pragma($0)?.int64
                }
            }
        }
        let before = try setting()
        try device.insert("Note")
        let during = Lock<[[Int64?]]>([])
        device.intercept = { request in
            guard case .modifyRecords = request else { return nil }
            let now = try setting()
            during.withLock { $0.append(now) }
            if isLost { throw Missing(name: "network") }
            return nil
        }
        try device.sync()
        #expect(during.withLock { Set($0) } == [[-16_384, 8_192]] && before == [-2_000, 1_000])
        #expect(try setting() == before)
    }

    /// Of a batch that was not taken as a whole, what was not taken is kept by its name.
    @Test func whatOfABatchIsRefusedIsKeptByItsName() throws {
        try device.insert("Note")
        try device.insert("Cover", ["image": .data(Data(repeating: 1, count: 1_200_000))])
        #expect(try device.sync().refused == 1)
        #expect(try rows("SELECT count(*) FROM ADIPTYCHBATCH") == [[.integer(0)]])
        #expect(try rows("SELECT count(*) FROM ADIPTYCHINFLIGHT") == [[.integer(1)]])
    }

    @Test func anUnansweredBatchStandsInTheLog() throws {
        try device.insert("Note")
        device.intercept = { request in
            if case .modifyRecords = request { throw Missing(name: "network") }
            return nil
        }
        try device.sync()
        #expect(
            try rows("SELECT ZSTATUSNUM FROM ANSCKEXPORTOPERATION") == [[.integer(0)]])
        #expect(try rows("SELECT count(*) FROM ANSCKEXPORTEDOBJECT") == [[.integer(1)]])
        #expect(try device.mirrored.status()?.pending.inserts == 1)
    }

    /// What is asked at the end of every round must not cost more where much is stored.
    @Test func pairsThatWaitAreFoundByAnIndex() throws {
        try device.sync()
        let plan = try rows(
            "EXPLAIN QUERY PLAN SELECT 1 FROM ANSCKMIRROREDRELATIONSHIP p WHERE p.ZISPENDING = 1 "
                + "AND p.ZNEEDSDELETE = 0")
        #expect(plan.first?[3].string?.contains("ADIPTYCH_PAIRWAITING") == true)
    }

    /// A ledger of version 0.1.0 had another table of what is in flight, and none for lost time.
    @Test(arguments: [false, true])
    func aLedgerOfTheFirstVersionGoesOn(isReset: Bool) throws {
        let note = try device.insert("Note", ["title": .text("a")])
        device.intercept = { request in
            guard case .modifyRecords = request else { return nil }
            _ = try self.service.handle(request, from: try self.device.mirrored.deviceID())
            throw Missing(name: "answer")
        }
        try device.sync()
        device.intercept = { _ in nil }
        try device.store.write { transaction in
            let connection = transaction.connection
            try connection.script(
                """
                CREATE TABLE ADIPTYCHSENT (ZRECORDNAME VARCHAR, ZMARK VARCHAR, ZRECORD BLOB,
                    PRIMARY KEY (ZRECORDNAME, ZMARK)) WITHOUT ROWID;
                INSERT INTO ADIPTYCHSENT SELECT * FROM ADIPTYCHINFLIGHT;
                DROP TABLE ADIPTYCHINFLIGHT; DROP TABLE ADIPTYCHSEEN;
                DROP TABLE ADIPTYCHREPLAY; DROP TABLE ADIPTYCHDELETED;
                DROP INDEX ADIPTYCH_HELDTARGET;
                """)
        }
        #expect(try device.mirrored.status()?.pending.inserts == 1)
        if isReset { #expect(try device.mirrored.reset()) }
        try device.set(note, "title", .text("b"))
        try device.sync()
        let other = try Device(2, service)
        try other.sync()
        #expect(try other.value(other.only("Note"), "title") == .text("b"))
        #expect(try device.mirrored.conflicts().isEmpty)
        #expect(
            try rows("SELECT name FROM sqlite_master WHERE name = 'ADIPTYCHSENT'").isEmpty)
        #expect(
            try rows("SELECT 1 FROM sqlite_master WHERE name = 'ADIPTYCH_HELDTARGET'").count == 1)
    }

    /// A bulk deletion that met edits logs more lines at once than are kept for good.
    @Test func linesAndGravesOfThisMonthStayHoweverManyCameAfter() throws {
        let note = try device.insert("Note")
        try device.sync()
        let month = 31 * 86_400.0
        let now = device.clock.now().timeIntervalSinceReferenceDate
        try device.store.write { write in
            for (key, name, date) in [
                (1, "old", now - month), (2, "new", now - 60), (20_000, "newest", now),
            ] {
                try write.connection.run(
                    "INSERT INTO ADIPTYCHCONFLICT (Z_PK, ZDATE, ZENTITY, ZRECORDNAME, ZPROPERTY, "
                        + "ZRULE, ZWINNER) VALUES (?, ?, 'Note', ?, 'title', 'local', 'local')",
                    [SQLiteValue(key), .real(date), .text(name)])
                try write.connection.run(
                    "INSERT INTO ADIPTYCHGRAVE (ZRECORDNAME, ZISLOCAL) VALUES (?, 1)",
                    [.text(name)])
            }
        }
        let other = try Device(2, service)
        try other.sync()
        try other.set(other.only("Note"), "title", .text("b"))
        try other.sync()
        try device.set(note, "title", .text("a"))
        for _ in 0..<2 { try device.sync() }
        let names = try device.mirrored.conflicts().map(\.recordName)
        #expect(names.prefix(2) == ["new", "newest"] && names.count == 3)
        let graves = try rows("SELECT ZRECORDNAME FROM ADIPTYCHGRAVE ORDER BY Z_PK")
        #expect(graves == [[.text("new")], [.text("newest")]])
    }

    /// Without it each look for an object's lines would go through the whole log.
    @Test func anObjectsLinesAreFoundByAnIndex() throws {
        try device.sync()
        let plan = try rows(
            "EXPLAIN QUERY PLAN SELECT 1 FROM ADIPTYCHCONFLICT WHERE ZRECORDNAME = 'a'")
        #expect(plan.contains { $0.contains { $0.string?.hasPrefix("SEARCH") ?? false } })
    }
}
