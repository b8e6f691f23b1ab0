import CoreData
import FaultFiles
import Foundation
import SQLiteDriver
import Testing

/// A mapped migration of a mirrored store, struck at each deed while the ledger changes hands: the
/// old store has all of the old ledger, or the new one all of the new.
extension MigrationCrashTests {
    private struct Mirrored {
        let old = VersionDraft.model { draft in
            draft.entity("Person", [text("name")])
            draft.entity("Zone", [text("name")])
        }
        let new = VersionDraft.model { draft in
            draft.entity("Animal", [text("name")])
            draft.entity("Being", [text("name"), number("size")], from: "Person")
            draft.entity("Zone", [text("name")])
        }
        static let count = 9

        private var mapping: NSMappingModel {
            let model = NSMappingModel()
            model.entityMappings = [("Person", "Being"), ("Zone", "Zone")].map { from, to in
                .transforming(from, to, ["name": "$source.name"], from: old, to: new)
            }
            return model
        }

        /// Rows with gaps between their keys, so that none keeps its own; with a line each, as
        /// mirrors write them, and the history's place.
        func prepare() throws -> MigrationBench {
            let bench = try MigrationBench()
            try bench.fill(old) { context throws in
                for place in 0..<(2 * Self.count) {
                    _ = context.make("Person", ["name": "p\(place)"])
                }
                _ = context.make("Zone", ["name": "z"])
                try context.save()
                for place in 0..<Self.count {
                    context.delete(try context.one("Person", "p\(2 * place)"))
                }
            }
            try Connection(path: bench.url.path, access: .readWrite).script(
                "CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, "
                    + "ZENTITYPK INTEGER, ZCKRECORDNAME VARCHAR, ZNEEDSUPLOAD INTEGER, "
                    + "ZPENDINGEXPORTTRANSACTIONNUMBER INTEGER, "
                    + "ZLASTEXPORTEDTRANSACTIONNUMBER INTEGER); "
                    + "CREATE UNIQUE INDEX LINES ON ANSCKRECORDMETADATA (ZENTITYID, ZENTITYPK); "
                    + "CREATE TABLE ANSCKMETADATAENTRY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, "
                    + "Z_OPT INTEGER, ZKEY VARCHAR, ZINTEGERVALUE INTEGER, "
                    + "ZSTRINGVALUE VARCHAR); "
                    + "CREATE TABLE ADIPTYCHFOREIGN (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, "
                    + "ZENTITYPK INTEGER, ZRECORD BLOB); "
                    + "INSERT INTO ANSCKRECORDMETADATA (ZENTITYID, ZENTITYPK, ZCKRECORDNAME) "
                    + "SELECT Z_ENT, Z_PK, 'r-' || ZNAME FROM ZPERSON; "
                    + "INSERT INTO ADIPTYCHFOREIGN (ZENTITYID, ZENTITYPK, ZRECORD) "
                    + "SELECT Z_ENT, Z_PK, ZNAME FROM ZPERSON; "
                    + "INSERT INTO ANSCKMETADATAENTRY (ZKEY, ZINTEGERVALUE) VALUES "
                    + "('NSCloudKitMirroringDelegateLastHistoryTokenKey', 0); "
                    + "INSERT INTO ANSCKMETADATAENTRY (ZKEY, ZSTRINGVALUE) VALUES "
                    + "('DiptychDeviceIdentifier', 'me'); PRAGMA wal_checkpoint(TRUNCATE)")
            return bench
        }

        func migrate(_ bench: MigrationBench) throws {
            try ProgressiveMigration(
                storeAt: bench.url, type: .sqlite,
                versions: ModelVersions(
                    [.init(name: "1", model: old), .init(name: "2", model: new)],
                    mappings: [mapping])
            ).run()
        }

        /// Returns whether the store is the new one.
        func expectWhole(_ bench: MigrationBench, _ deed: Int) throws -> Bool {
            let connection = try Connection(path: bench.url.path, access: .readWrite)
            #expect(
                try connection.value("PRAGMA integrity_check")?.string == "ok", "deed \(deed)")
            let isNew =
                try connection.value(
                    "SELECT 1 FROM sqlite_master WHERE name = 'ZBEING'") != nil
            let table = isNew ? "ZBEING" : "ZPERSON"
            let facts = [
                "SELECT count(*) FROM \(table)", "SELECT count(*) FROM ANSCKRECORDMETADATA",
                "SELECT count(*) FROM ANSCKRECORDMETADATA m JOIN \(table) b ON m.ZENTITYID = "
                    + "b.Z_ENT AND m.ZENTITYPK = b.Z_PK WHERE m.ZCKRECORDNAME = 'r-' || b.ZNAME",
                "SELECT count(*) FROM ADIPTYCHFOREIGN f JOIN \(table) b ON f.ZENTITYID = b.Z_ENT "
                    + "AND f.ZENTITYPK = b.Z_PK WHERE f.ZRECORD = b.ZNAME",
            ]
            for fact in facts {
                #expect(
                    try connection.value(fact)?.int64 == Int64(Self.count), "deed \(deed): \(fact)")
            }
            let device = try connection.value(
                "SELECT ZSTRINGVALUE FROM ANSCKMETADATAENTRY WHERE ZKEY = "
                    + "'DiptychDeviceIdentifier'")
            #expect(device?.string == "me", "deed \(deed)")
            return isNew
        }
    }

    @Test(arguments: [FaultFileSystem.Fault.failing, .losingUnsynced, .full])
    func aLedgerChangesHandsWhollyOrNot(_ fault: FaultFileSystem.Fault) throws {
        let faults = FaultFileSystem.shared
        let mirrored = Mirrored()
        let origin = try mirrored.prepare()
        var (struck, new) = (0, 0)
        for deed in stride(from: 1, to: 3_000, by: fault == .full ? 4 : 3) {
            let bench = try MigrationBench()
            try origin.copy(to: bench.folder)
            faults.begin(bench.folder, fault, at: deed)
            let isDone = (try? mirrored.migrate(bench)) != nil
            let left = try MigrationBench()
            try bench.copy(to: left.folder)
            let (_, hasStruck) = faults.end(bench.folder)
            #expect(isDone || hasStruck, "deed \(deed)")
            if try mirrored.expectWhole(left, deed) { new += 1 }
            guard hasStruck else { break }
            struck += 1
            try mirrored.migrate(left)
            #expect(try mirrored.expectWhole(left, deed))
        }
        #expect(struck > 10 && new > 0)
    }
}
