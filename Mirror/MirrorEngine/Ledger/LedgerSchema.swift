internal import SQLiteDriver

/// The system tables of mirroring (FORMAT §10): Apple's eighteen, and twenty of our own.
enum LedgerSchema {
    /// One system table: its number in Z_PRIMARYKEY, its entity's name, and its columns after
    /// Z_OPT.
    struct Table {
        let number: Int
        let entity: String
        let columns: String
        var name: String { "A" + entity.uppercased() }
        var sql: String {
            "CREATE TABLE \(name) ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
                + "\(columns) )"
        }
    }

    static let tables = [
        Table(
            number: 17001, entity: "NSCKDatabaseMetadata",
            columns:
                "ZDATABASESCOPENUM INTEGER, ZHASSUBSCRIPTIONNUM INTEGER, ZLASTFETCHDATE TIMESTAMP, "
                + "ZDATABASENAME VARCHAR, ZCURRENTCHANGETOKEN BLOB"),
        Table(
            number: 17002, entity: "NSCKEvent",
            columns: "ZCLOUDKITEVENTTYPE INTEGER, ZCOUNTAFFECTEDOBJECTS INTEGER, "
                + "ZCOUNTFINISHEDOBJECTS INTEGER, ZERRORCODE INTEGER, ZSUCCEEDED INTEGER, "
                + "ZENDEDAT TIMESTAMP, ZSTARTEDAT TIMESTAMP, ZERRORDOMAIN VARCHAR, "
                + "ZEVENTIDENTIFIER BLOB"
        ),
        Table(
            number: 17003, entity: "NSCKExportedObject",
            columns: "ZCHANGETYPENUM INTEGER, ZTYPENUM INTEGER, ZOPERATION INTEGER, "
                + "ZCKRECORDNAME VARCHAR, ZZONENAME VARCHAR"),
        Table(
            number: 17004, entity: "NSCKExportMetadata",
            columns: "ZEXPORTEDAT TIMESTAMP, ZIDENTIFIER VARCHAR, ZHISTORYTOKEN BLOB"),
        Table(
            number: 17005, entity: "NSCKExportOperation",
            columns: "ZSTATUSNUM INTEGER, ZEXPORTMETADATA INTEGER, ZIDENTIFIER VARCHAR"),
        Table(
            number: 17006, entity: "NSCKHistoryAnalyzerState",
            columns: "ZENTITYID INTEGER, ZENTITYPK INTEGER, ZFINALCHANGETYPENUM INTEGER, "
                + "ZFINALTRANSACTIONNUMBER INTEGER, ZORIGINALCHANGETYPENUM INTEGER, "
                + "ZORIGINALTRANSACTIONNUMBER INTEGER, ZFINALCHANGEAUTHOR VARCHAR"),
        Table(
            number: 17007, entity: "NSCKImportOperation",
            columns: "ZIMPORTDATE TIMESTAMP, ZOPERATIONUUID BLOB, ZCHANGETOKENBYTES BLOB"),
        Table(
            number: 17008, entity: "NSCKImportPendingRelationship",
            columns: "ZNEEDSDELETE INTEGER, ZOPERATION INTEGER, ZCDENTITYNAME VARCHAR, "
                + "ZRECORDNAME VARCHAR, ZRECORDZONENAME VARCHAR, ZRECORDZONEOWNERNAME VARCHAR, "
                + "ZRELATEDENTITYNAME VARCHAR, ZRELATEDRECORDNAME VARCHAR, "
                + "ZRELATEDRECORDZONENAME VARCHAR, ZRELATEDRECORDZONEOWNERNAME VARCHAR, "
                + "ZRELATIONSHIPNAME VARCHAR"),
        Table(
            number: 17009, entity: "NSCKMetadataEntry",
            columns:
                "ZBOOLVALUENUM INTEGER, ZINTEGERVALUE INTEGER, ZDATEVALUE TIMESTAMP, ZKEY VARCHAR, "
                + "ZSTRINGVALUE VARCHAR, ZTRANSFORMEDVALUE BLOB"),
        Table(
            number: 17010, entity: "NSCKMirroredRelationship",
            columns: "ZISPENDING INTEGER, ZISUPLOADED INTEGER, ZNEEDSDELETE INTEGER, "
                + "ZRECORDZONE INTEGER, ZSYSTEMFIELDSASSET INTEGER, ZCDENTITYNAME VARCHAR, "
                + "ZCKRECORDID VARCHAR, ZRECORDNAME VARCHAR, ZRELATEDENTITYNAME VARCHAR, "
                + "ZRELATEDRECORDNAME VARCHAR, ZRELATIONSHIPNAME VARCHAR"),
        asset(17011, "NSCKMirroredRelationshipSystemFieldsAsset", owner: "ZMIRROREDRELATIONSHIP"),
        Table(
            number: 17012, entity: "NSCKRecordMetadata",
            columns:
                "ZENTITYID INTEGER, ZENTITYPK INTEGER, ZLASTEXPORTEDTRANSACTIONNUMBER INTEGER, "
                + "ZNEEDSCLOUDDELETE INTEGER, ZNEEDSLOCALDELETE INTEGER, ZNEEDSUPLOAD INTEGER, "
                + "ZPENDINGEXPORTCHANGETYPENUMBER INTEGER, ZPENDINGEXPORTTRANSACTIONNUMBER "
                + "INTEGER, "
                + "ZENCODEDRECORDASSET INTEGER, ZRECORDZONE INTEGER, ZSYSTEMFIELDSASSET INTEGER, "
                + "ZCKRECORDNAME VARCHAR"),
        asset(17013, "NSCKRecordMetadataEncodedRecordAsset", owner: "ZRECORDMETADATA"),
        asset(17014, "NSCKRecordMetadataSystemFieldsAsset", owner: "ZRECORDMETADATA"),
        Table(number: 17015, entity: "NSCKRecordZoneMetadata", columns: zoneColumns),
        asset(17016, "NSCKRecordZoneMetadataEncodedShareAsset", owner: "ZRECORDZONE"),
        Table(
            number: 17017, entity: "NSCKRecordZoneMoveReceipt",
            columns: "ZNEEDSCLOUDDELETE INTEGER, ZRECORDMETADATA INTEGER, ZMOVEDAT TIMESTAMP, "
                + "ZOWNERNAME VARCHAR, ZRECORDNAME VARCHAR, ZZONENAME VARCHAR"),
        Table(
            number: 17018, entity: "NSCKRecordZoneQuery",
            columns: "ZRECORDZONE INTEGER, ZLASTFETCHDATE TIMESTAMP, "
                + "ZMOSTRECENTRECORDMODIFICATIONDATE TIMESTAMP, ZRECORDTYPE VARCHAR, ZPREDICATE "
                + "BLOB, "
                + "ZQUERYCURSOR BLOB"),
    ]

    private static let zoneColumns =
        "ZHASRECORDZONENUM INTEGER, ZHASSUBSCRIPTIONNUM INTEGER, ZNEEDSIMPORT INTEGER, "
        + "ZNEEDSNEWSHAREINVITATION INTEGER, ZNEEDSRECOVERYFROMIDENTITYLOSS INTEGER, "
        + "ZNEEDSRECOVERYFROMUSERPURGE INTEGER, ZNEEDSRECOVERYFROMZONEDELETE INTEGER, "
        + "ZNEEDSSHAREDELETE INTEGER, ZNEEDSSHAREUPDATE INTEGER, ZSUPPORTSATOMICCHANGES INTEGER, "
        + "ZSUPPORTSFETCHCHANGES INTEGER, ZSUPPORTSRECORDSHARING INTEGER, "
        + "ZSUPPORTSZONESHARING INTEGER, ZDATABASE INTEGER, ZENCODEDSHAREASSET INTEGER, "
        + "ZLASTFETCHDATE TIMESTAMP, ZCKOWNERNAME VARCHAR, ZCKRECORDZONENAME VARCHAR, "
        + "ZCURRENTCHANGETOKEN BLOB"

    private static func asset(_ number: Int, _ entity: String, owner: String) -> Table {
        Table(
            number: number, entity: entity,
            columns: "\(owner) INTEGER, ZBINARYDATA BLOB, ZEXTERNALBINARYDATA BLOB")
    }

    /// Apple's indexes by the rules of FORMAT §6, then ours, whose names start with ADIPTYCH.
    private static let indexes = [
        "CREATE UNIQUE INDEX Z_NSCKRecordMetadata_UNIQUE_entityId_entityPK ON ANSCKRECORDMETADATA "
            + "(ZENTITYID COLLATE BINARY ASC, ZENTITYPK COLLATE BINARY ASC)",
        "CREATE UNIQUE INDEX Z_NSCKRecordMetadata_UNIQUE_ckRecordName_recordZone ON "
            + "ANSCKRECORDMETADATA "
            + "(ZCKRECORDNAME COLLATE BINARY ASC, ZRECORDZONE COLLATE BINARY ASC)",
        "CREATE INDEX ADIPTYCH_PENDINGRECORDS ON ANSCKRECORDMETADATA (Z_PK) "
            + "WHERE ZNEEDSUPLOAD = 1 OR ZNEEDSCLOUDDELETE = 1",
        "CREATE INDEX ADIPTYCH_PENDINGPAIRS ON ANSCKMIRROREDRELATIONSHIP (Z_PK) "
            + "WHERE ZISUPLOADED = 0 OR ZNEEDSDELETE = 1",
        "CREATE INDEX ADIPTYCH_PAIRNAME ON ANSCKMIRROREDRELATIONSHIP (ZCKRECORDID)",
        "CREATE INDEX ADIPTYCH_PAIRFIRST ON ANSCKMIRROREDRELATIONSHIP (ZRECORDNAME)",
        "CREATE INDEX ADIPTYCH_PAIRSECOND ON ANSCKMIRROREDRELATIONSHIP (ZRELATEDRECORDNAME)",
        "CREATE INDEX ADIPTYCH_PENDINGSOURCE ON ANSCKIMPORTPENDINGRELATIONSHIP (ZRECORDNAME)",
        "CREATE INDEX ADIPTYCH_PENDINGTARGET ON ANSCKIMPORTPENDINGRELATIONSHIP "
            + "(ZRELATEDRECORDNAME)",
        "CREATE INDEX ADIPTYCH_EXPORTED ON ANSCKEXPORTEDOBJECT (ZOPERATION)",
        "CREATE INDEX ADIPTYCH_RECEIPTNAME ON ANSCKRECORDZONEMOVERECEIPT (ZRECORDNAME)",
    ]

    /// Our own tables: what is in flight, when properties under the rule `latest` were edited, the
    /// conflict log, and what was refused; and what serves when the service or this store goes back
    /// to an older state.
    private static let ownTables = [
        "CREATE TABLE ADIPTYCHINFLIGHT (ZRECORDNAME VARCHAR, ZMARK VARCHAR, ZRECORD BLOB, "
            + "PRIMARY KEY (ZRECORDNAME, ZMARK))",
        "CREATE TABLE ADIPTYCHEDIT (ZRECORDNAME VARCHAR, ZPROPERTY VARCHAR, "
            + "ZMILLISECONDS INTEGER, ZDEVICE VARCHAR, PRIMARY KEY (ZRECORDNAME, ZPROPERTY)) "
            + "WITHOUT ROWID",
        "CREATE TABLE ADIPTYCHCONFLICT (Z_PK INTEGER PRIMARY KEY, ZDATE TIMESTAMP, ZENTITY "
            + "VARCHAR, "
            + "ZRECORDNAME VARCHAR, ZPROPERTY VARCHAR, ZRULE VARCHAR, ZWINNER VARCHAR, ZBASE BLOB, "
            + "ZLOCAL BLOB, ZREMOTE BLOB)",
        "CREATE INDEX ADIPTYCH_WAITING ON ADIPTYCHCONFLICT (ZRECORDNAME) WHERE ZWINNER = 'waiting'",
        "CREATE TABLE ADIPTYCHREFUSAL (ZRECORDNAME VARCHAR PRIMARY KEY, ZDATE TIMESTAMP, ZCODE "
            + "VARCHAR, "
            + "ZREASON VARCHAR) WITHOUT ROWID",
    ]

    private static let reconciliationTables = [
        "CREATE TABLE IF NOT EXISTS ADIPTYCHSEEN (ZRECORDNAME VARCHAR PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE IF NOT EXISTS ADIPTYCHREPLAY (ZRECORDNAME VARCHAR PRIMARY KEY, "
            + "ZRECORD BLOB) WITHOUT ROWID",
        "CREATE TABLE IF NOT EXISTS ADIPTYCHDELETED (Z_PK INTEGER PRIMARY KEY, ZRECORDNAME "
            + "VARCHAR UNIQUE, ZTAG VARCHAR)",
        "CREATE INDEX IF NOT EXISTS ADIPTYCH_PAIRWAITING ON ANSCKMIRROREDRELATIONSHIP "
            + "(ZRECORDNAME) WHERE ZISPENDING = 1",
    ]

    /// What serves devices with different versions of the model.
    private static let versionTables = [
        "CREATE TABLE IF NOT EXISTS ADIPTYCHASIDE (ZRECORDNAME VARCHAR PRIMARY KEY, ZREASON "
            + "VARCHAR, ZRECORD BLOB) WITHOUT ROWID",
        "CREATE TABLE IF NOT EXISTS ADIPTYCHFOREIGN (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, "
            + "ZENTITYPK INTEGER, ZRECORD BLOB)",
        "CREATE UNIQUE INDEX IF NOT EXISTS ADIPTYCH_FOREIGNROW ON ADIPTYCHFOREIGN (ZENTITYID, "
            + "ZENTITYPK)",
        Ledger.computedTable,
    ]

    /// Deleted objects that can be restored, and records that are held back.
    private static let graveTables = [
        "CREATE INDEX IF NOT EXISTS ADIPTYCH_LOGGED ON ADIPTYCHCONFLICT (ZRECORDNAME)",
        "CREATE TABLE IF NOT EXISTS ADIPTYCHHELD (ZRECORDNAME VARCHAR, ZTARGET VARCHAR, "
            + "PRIMARY KEY (ZRECORDNAME, ZTARGET)) WITHOUT ROWID",
        "CREATE INDEX IF NOT EXISTS ADIPTYCH_HELDTARGET ON ADIPTYCHHELD (ZTARGET)",
        "CREATE TABLE IF NOT EXISTS ADIPTYCHGRAVE (Z_PK INTEGER PRIMARY KEY, ZRECORDNAME VARCHAR "
            + "UNIQUE, ZISLOCAL INTEGER, ZRECORD BLOB, ZLINKS BLOB)",
    ]

    /// What was counted: as triggers note it, and named; and a line while the mirror itself writes.
    private static let countTables = [
        "CREATE TABLE IF NOT EXISTS ADIPTYCHCOUNTLOG (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, "
            + "ZENTITYPK INTEGER, ZCOLUMN VARCHAR, ZAMOUNT INTEGER, ZAFTER INTEGER)",
        "CREATE TABLE IF NOT EXISTS ADIPTYCHCOUNT (Z_PK INTEGER PRIMARY KEY, ZRECORDNAME VARCHAR, "
            + "ZPROPERTY VARCHAR, ZLABEL VARCHAR, ZAMOUNT INTEGER)",
        "CREATE UNIQUE INDEX IF NOT EXISTS ADIPTYCH_COUNTLABEL ON ADIPTYCHCOUNT (ZRECORDNAME, "
            + "ZPROPERTY, ZLABEL)",
        "CREATE TABLE IF NOT EXISTS ADIPTYCHQUIET (Z_PK INTEGER PRIMARY KEY)",
    ]

    /// Which round an event was part of.
    private static let eventTables = [
        "CREATE TABLE IF NOT EXISTS ADIPTYCHEVENTROUND (Z_PK INTEGER PRIMARY KEY, ZROUND VARCHAR)"
    ]

    /// What serves assets on their way.
    private static let assetTables = [Ledger.receiptTable] + Ledger.assetNameTables

    /// What stores of an older version of this library may lack.
    private static let laterTables =
        reconciliationTables + versionTables + countTables + graveTables + eventTables
        + assetTables + Ledger.shareTables
        + [Ledger.outsideTable, Ledger.sentBatchTable] + Ledger.aliasTables

    /// The same by their names.
    private static let laterNames = laterTables.map { sql in
        sql.split(separator: " ").drop { $0 != "EXISTS" }.dropFirst().first.map(String.init) ?? ""
    }

    /// Brings the tables of an older version of this library up to date. Writes in flight moved to
    /// a table that keeps their order; where they had none, the numbers that served as write IDs
    /// tell it.
    static func upgrade(in connection: Connection) throws {
        let there = Set(
            try connection.rows("SELECT name FROM sqlite_master WHERE name GLOB 'ADIPTYCH*'")
                .compactMap { $0.first?.string })
        for (name, sql) in zip(laterNames, laterTables) where !there.contains(name) {
            try connection.run(sql)
        }
        guard there.contains("ADIPTYCHSENT") else { return }
        let former = try connection.value(
            "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'ADIPTYCHSENT'")
        guard let former = former?.string, let table = ownTables.first else { return }
        let order = former.contains("WITHOUT ROWID") ? "length(ZMARK), ZMARK" : "rowid"
        try connection.run(table)
        try connection.run(
            "INSERT INTO ADIPTYCHINFLIGHT (ZRECORDNAME, ZMARK, ZRECORD) SELECT ZRECORDNAME, ZMARK, "
                + "ZRECORD FROM ADIPTYCHSENT ORDER BY \(order)")
        try connection.run("DROP TABLE ADIPTYCHSENT")
    }

    static func exists(in connection: Connection) throws -> Bool {
        try connection.value(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ANSCKRECORDMETADATA'")
            != nil
    }

    /// Makes the tables, their indexes and their rows in Z_PRIMARYKEY. Runs inside the caller's
    /// transaction.
    static func create(in connection: Connection) throws {
        for table in tables {
            try connection.run(table.sql)
            try connection.run(
                "INSERT OR REPLACE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, "
                    + "?, 0, 0)",
                [SQLiteValue(table.number), .text(table.entity)])
        }
        for sql in indexes + ownTables + laterTables {
            try connection.run(sql)
        }
    }

    /// Brings Z_MAX of the system tables up to the rows they hold, as Core Data would.
    static func raiseKeys(in connection: Connection) throws {
        try connection.run(raisingKeys)
    }

    private static let raisingKeys =
        "UPDATE Z_PRIMARYKEY SET Z_MAX = used.key FROM ("
        + tables.map { "SELECT \($0.number) AS entity, max(Z_PK) AS key FROM \($0.name)" }
        .joined(separator: " UNION ALL ")
        + ") AS used WHERE Z_ENT = used.entity AND Z_MAX < used.key"
}
