internal import Foundation
internal import ObjectModel
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// What a store says about itself, with or without its model.
struct StoreFacts {
    struct Entity {
        let name: String
        let parent: String?
        /// Rows of exactly this entity.
        let count: Int
        var countWithSubentities: Int
        let hash: Data?
    }

    let type: StoreFileKind
    let identifier: String
    let metadata: [String: Any]
    /// The store's model, else what the file tells of it.
    let model: NSManagedObjectModel
    let isModelKnown: Bool
    private(set) var entities: [Entity] = []
    let history: (transactions: Int, changes: Int)?
    let mirror: MirrorFacts?

    var frameworkVersion: Int? {
        let version = metadata["NSPersistenceFrameworkVersion"]
        return version as? Int ?? (version as? Int64).map { Int($0) }
    }

    init(_ access: StoreAccess) throws {
        type = try StoreFileKind(of: access.url)
        metadata = try Self.metadata(of: access.url, type)
        identifier = metadata["NSStoreUUID"] as? String ?? ""
        let known = try access.knownModel()
        isModelKnown = known != nil
        model = try known ?? type.inferredModel(of: access.url)
        guard type == .sqlite else {
            (history, mirror) = (nil, nil)
            entities = try Self.entities(of: access, type, known, metadata)
            return
        }
        // Opening tells a model that does not fit, and where it keeps each entity.
        let isEmptied = metadata["NSStoreModelVersionHashes"] == nil
        let store = try known.map {
            try access.open(model: $0, readOnly: true, anyVersion: isEmptied)
        }
        let connection = try ReadingConnection.open(access.url)
        var tables: [String: String] = [:]
        try store?.read { transaction in
            for entity in transaction.layout.entities {
                tables[entity.name] = transaction.schema.columns(of: entity.number)?.table
            }
        }
        history = try Self.history(connection)
        mirror = try MirrorFacts(connection)
        entities = try Self.entities(connection, tables, metadata)
    }

    /// The metadata; of a store whose property list is missing or damaged, the identifier alone.
    private static func metadata(of url: URL, _ type: StoreFileKind) throws -> [String: Any] {
        do {
            return try type.metadata(at: url)
        } catch let error as StoreError where error.code == .corrupt && type == .sqlite {
            let row = try? ReadingConnection.open(url).value("SELECT Z_UUID FROM Z_METADATA")
            guard let identifier = row?.string else { throw error }
            return ["NSStoreUUID": identifier]
        }
    }

    private static func history(_ connection: Connection) throws -> (Int, Int)? {
        guard try has("ATRANSACTION", connection) else { return nil }
        let transactions = try connection.value("SELECT count(*) FROM ATRANSACTION")?.int64 ?? 0
        let changes = try connection.value("SELECT count(*) FROM ACHANGE")?.int64 ?? 0
        return (Int(transactions), Int(changes))
    }

    static func has(_ table: String, _ connection: Connection) throws -> Bool {
        try connection.value(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(table)]) != nil
    }

    private static func entities(
        _ connection: Connection, _ tables: [String: String], _ metadata: [String: Any]
    ) throws -> [Entity] {
        let hashes = metadata["NSStoreModelVersionHashes"] as? [String: Data] ?? [:]
        let rows = try connection.rows(
            "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY Z_ENT"
        ).compactMap { row -> (number: Int64, name: String, parent: Int64)? in
            guard let number = row[0].int64, let name = row[1].string else { return nil }
            return (number, name, row[2].int64 ?? 0)
        }
        let byNumber = Dictionary(rows.map { ($0.number, $0) }) { first, _ in first }
        func lineage(_ number: Int64) -> [Int64] {
            var line = [number]
            while let parent = byNumber[line[line.count - 1]]?.parent, parent != 0,
                !line.contains(parent)
            { line.append(parent) }
            return line
        }
        var counts: [Int64: Int] = [:]
        for row in rows {
            let root = byNumber[lineage(row.number).last ?? row.number]?.name ?? row.name
            let table = tables[row.name] ?? "Z" + root.uppercased()
            guard try has(table, connection) else { continue }
            let name = table.replacing("\"", with: "\"\"")
            let count = try connection.value(
                "SELECT count(*) FROM \"\(name)\" WHERE Z_ENT = ?", [.integer(row.number)])
            counts[row.number] = Int(count?.int64 ?? 0)
        }
        return rows.map { row in
            let family = rows.filter { lineage($0.number).contains(row.number) }
            return Entity(
                name: row.name, parent: byNumber[row.parent]?.name, count: counts[row.number] ?? 0,
                countWithSubentities: family.reduce(0) { $0 + (counts[$1.number] ?? 0) },
                hash: hashes[row.name])
        }
    }
}

/// What a store remembers of its mirror.
struct MirrorFacts {
    let records: Int
    let waiting: Int
    let pairs: Int
    let zones: [String]
    let service: String?
    let conflictsWaiting: Int

    /// Nil for a store that was never mirrored. Older systems kept fewer columns; what is missing
    /// counts as nothing.
    init?(_ connection: Connection) throws {
        guard try StoreFacts.has("ANSCKRECORDMETADATA", connection) else { return nil }
        func count(_ rest: String) -> Int {
            Int((try? connection.value("SELECT count(*) FROM \(rest)"))?.int64 ?? 0)
        }
        records = count("ANSCKRECORDMETADATA")
        waiting = count("ANSCKRECORDMETADATA WHERE ZNEEDSUPLOAD = 1 OR ZNEEDSCLOUDDELETE = 1")
        pairs = count("ANSCKMIRROREDRELATIONSHIP")
        conflictsWaiting = count("ADIPTYCHCONFLICT WHERE ZWINNER = 'waiting'")
        let names = try? connection.rows(
            "SELECT ZCKRECORDZONENAME FROM ANSCKRECORDZONEMETADATA ORDER BY 1")
        zones = names?.compactMap { $0[0].string } ?? []
        service =
            (try? connection.value(
                "SELECT ZSTRINGVALUE FROM ANSCKMETADATAENTRY WHERE ZKEY = 'DiptychContainer'"))?
            .string
    }
}
