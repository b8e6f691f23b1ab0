internal import SQLiteDriver
internal import Stores

/// The three tables every store has besides its entities', as Apple declares them.
enum BookkeepingTables {
    static let statements = [
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, "
            + "Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), "
            + "Z_PLIST BLOB)",
        modelCache,
    ]

    static let modelCache = "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)"

    /// System entities are numbered from here on.
    static let systemNumbersStart: Int64 = 16000

    /// Writes a row of keys for each entity; only roots count.
    static func fill(_ connection: Connection, layout: ModelLayout) throws {
        for entity in layout.entities {
            let parent = SchemaBuilder.parent(of: entity, in: layout)?.number ?? 0
            try connection.run(
                "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)",
                [.integer(Int64(entity.number)), .text(entity.name), .integer(Int64(parent))])
        }
    }

    /// The numbers a file gives its entities.
    static func numbers(in connection: Connection) throws -> [String: Int32] {
        var numbers: [String: Int32] = [:]
        let rows = try connection.rows(
            "SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY WHERE Z_ENT < ?", [.integer(systemNumbersStart)]
        )
        for row in rows {
            guard let name = row[0].string, let number = row[1].int64.flatMap(Int32.init(exactly:))
            else { continue }
            numbers[name] = number
        }
        return numbers
    }
}
