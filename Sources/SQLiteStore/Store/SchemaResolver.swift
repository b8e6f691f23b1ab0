internal import ObjectModel
internal import SQLiteDriver
internal import Stores

/// Fits a schema to the tables a file really has.
///
/// Columns are found by name. The name of a join table within one entity, and the numbers that tell
/// equal join columns apart, are not the same in all of Apple's files: these are looked for.
struct SchemaResolver: Sendable {
    private let tables: [String: TableColumns]
    private let path: String
    private let former: FormerColumns?

    /// The columns of a table of the file.
    private enum TableColumns: Sendable {
        case known(Set<String>)
        /// The plain text of a table that was not looked at yet.
        case text(String)

        var names: Set<String> {
            switch self {
            case .known(let names): names
            case .text(let text): TableSchema.plainColumns(ofStatement: text) ?? []
            }
        }
    }

    /// `layout` is that of the model the file is opened with.
    init(connection: Connection, path: String, layout: ModelLayout) throws {
        self.path = path
        former = FormerColumns(of: layout) {
            (try? ModelCache.read(from: connection, path: path)) ?? nil
        }
        tables =
            try Self.plainTables(connection)
            ?? Self.tables(connection, path: path).mapValues(TableColumns.known)
    }

    private func columns(of table: String) -> Set<String>? { tables[table]?.names }

    /// The text of each table, where all of them are declared as stores declare theirs: SQLite
    /// takes longer to tell the columns than to give the texts.
    private static func plainTables(_ connection: Connection) throws -> [String: TableColumns]? {
        var tables: [String: TableColumns] = [:]
        let statement = try connection.prepare(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z*' "
                + "AND sql NOT LIKE 'CREATE VIRTUAL%'")
        defer { statement.reset() }
        while try statement.step() {
            guard let table = statement.text(at: 0), let bytes = statement.textBytes(at: 1),
                TableSchema.isPlain(statement: bytes)
            else { return nil }
            tables[table] = .text(String(decoding: bytes, as: UTF8.self))
        }
        return tables
    }

    private static func tables(
        _ connection: Connection, path: String
    ) throws -> [String: Set<String>] {
        var tables: [String: Set<String>] = [:]
        let rows = try connection.rows(
            "SELECT m.name, c.name, c.hidden FROM sqlite_master m, pragma_table_xinfo(m.name) c "
                + "WHERE m.type = 'table' AND m.name GLOB 'Z*' "
                + "AND m.sql NOT LIKE 'CREATE VIRTUAL%'")
        for row in rows {
            guard row[2] == 0 else {
                throw StoreError(
                    .unsupported,
                    "A table of the store has computed columns, which no store has; remove them.",
                    fields: ["path": path, "table": row[0].string ?? ""])
            }
            if let table = row[0].string, let column = row[1].string {
                tables[table, default: []].insert(column)
            }
        }
        return tables
    }

    /// The schema with the file's names. Throws `.modelMismatch` where something is missing.
    func resolve(_ schema: StoreSchema) throws -> StoreSchema {
        var content = schema.content
        for (number, columns) in content.columnsByNumber {
            content.columnsByNumber[number] = try resolve(columns, schema.layout.entity(number))
        }
        return StoreSchema(schema.layout, content)
    }

    /// The columns of one entity with the file's names.
    func resolve(_ columns: EntityColumns, _ layout: EntityLayout?) throws -> EntityColumns {
        let columns = former?.renaming(columns) ?? columns
        try check(columns, entity: layout?.name ?? "")
        let places: [ToManyPlace] = try columns.toManys.enumerated().map { slot, place in
            guard case .join(let side) = place, let relationship = layout?.toManys[slot] else {
                try check(place, entity: layout?.name ?? "")
                return place
            }
            let inverse = relationship.inverseRelationship?.name ?? relationship.name
            return .join(try find(side, relationship.name, inverse: inverse))
        }
        return columns.replacing(toManys: places)
    }

    private func check(_ columns: EntityColumns, entity: String) throws {
        var names = ["Z_PK", "Z_ENT", "Z_OPT"] + columns.attributes.map(\.name)
        for link in columns.toOnes {
            names += [link.key, link.companion, link.order].compactMap { $0 }
        }
        try check(names, in: columns.table, entity: entity)
    }

    private func check(_ place: ToManyPlace, entity: String) throws {
        guard case .owned(let members) = place else { return }
        try check(
            [members.key, members.order].compactMap { $0 }, in: members.table, entity: entity)
    }

    private func check(_ names: [String], in table: String, entity: String) throws {
        let present = columns(of: table) ?? []
        let missing = names.filter { !present.contains($0) }
        guard !missing.isEmpty else { return }
        throw StoreError(
            .modelMismatch,
            "The store lacks columns that the model's entity needs; open it with its own model.",
            fields: [
                "path": path, "entity": entity, "table": table,
                "missing": missing.joined(separator: ", "),
            ])
    }

    // MARK: Join tables

    private func find(_ side: JoinSide, _ relationship: String, inverse: String) throws -> JoinSide
    {
        let expected = [side.owner, side.member, side.order, side.inverseOrder].compactMap { $0 }
        if columns(of: side.table)?.isSuperset(of: expected) == true { return side }
        let stems = (member: relationship.uppercased(), owner: inverse.uppercased())
        let named = tables.keys.filter { table in
            table.hasPrefix("Z_")
                && (Self.is(table, stems.member) || Self.is(table, stems.owner))
        }.sorted()
        // Tables of several relationships can differ in their entities' numbers only.
        for keepsNumbers in [true, false] {
            for table in named {
                if let found = fit(side, to: table, stems, keepsNumbers: keepsNumbers) {
                    return found
                }
            }
        }
        throw StoreError(
            .modelMismatch,
            "The store lacks the join table of a relationship; open it with its own model.",
            fields: ["path": path, "relationship": relationship, "table": side.table])
    }

    /// The side with the columns of `table`, when they are those of the relationship.
    private func fit(
        _ side: JoinSide, to table: String, _ stems: (member: String, owner: String),
        keepsNumbers: Bool
    ) -> JoinSide? {
        let columns = (columns(of: table) ?? []).sorted()
        let keys = columns.filter { !$0.hasPrefix("Z_FOK_") }
        func column(_ stem: String, like expected: String) -> String? {
            keys.first {
                Self.is($0, stem)
                    && (!keepsNumbers || Self.number($0) == Self.number(expected))
            }
        }
        guard keys.count == 2, !side.isReflexive, stems.member != stems.owner,
            let memberColumn = column(stems.member, like: side.member),
            let ownerColumn = column(stems.owner, like: side.owner), memberColumn != ownerColumn
        else { return nil }
        func order(_ column: String) -> String { "Z_FOK_\(column.dropFirst(2))" }
        var found = side
        (found.table, found.owner, found.member) = (table, ownerColumn, memberColumn)
        found.order = side.order == nil ? nil : order(memberColumn)
        found.inverseOrder = side.inverseOrder == nil ? nil : order(ownerColumn)
        let orders = [found.order, found.inverseOrder].compactMap { $0 }
        return orders.allSatisfy(columns.contains) ? found : nil
    }

    /// Whether `name` is `Z_`, an entity's number, `stem`, and maybe a number that tells equal
    /// names apart.
    private static func `is`(_ name: String, _ stem: String) -> Bool {
        let rest = name.dropFirst(2).drop { $0.isASCII && $0.isNumber }
        guard rest.hasPrefix(stem) else { return false }
        return rest.dropFirst(stem.count).allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// The digits of the entity's number in a name.
    private static func number(_ name: String) -> Substring {
        name.dropFirst(2).prefix { $0.isASCII && $0.isNumber }
    }
}
