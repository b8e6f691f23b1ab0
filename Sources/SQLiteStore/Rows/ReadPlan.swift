internal import SQLiteDriver
internal import Stores

/// How rows of one table become `Row` values: one list of columns, and for each entity where its
/// slots stand in it. Made once per entity; a class, since each row is read with it.
final class ReadPlan: Sendable {
    let table: String
    /// What the select list names, in order.
    let columns: [String]
    /// The condition that leaves only the wanted entities; empty where the table holds no others.
    /// Column names have no prefix.
    let entityCondition: String
    private let decoders: [Int32: Decoder]
    private let only: Decoder?

    /// Where one entity's slots stand in the select list.
    final class Decoder: Sendable {
        struct Link: Sendable {
            var key: Int
            var companion: Int?
            var order: Int?
            var destination: Int32
            /// The destination and all that inherit from it.
            var family: Set<Int32>
        }
        let entity: Int32
        let attributes: [(column: Int, kind: ColumnKind)]
        let toOnes: [Link]
        /// The slots whose values may be in files.
        private let external: [Int]
        var mayMiss: Bool { !external.isEmpty }

        init(entity: Int32, attributes: [(column: Int, kind: ColumnKind)], toOnes: [Link]) {
            self.entity = entity
            self.attributes = attributes
            external = attributes.indices.filter { attributes[$0].kind == .binary(external: true) }
            self.toOnes = toOnes
        }

        /// The attributes of the statement's present row.
        func attributes(
            of statement: Statement, files: ExternalFiles?
        ) throws -> [AttributeValue] {
            try attributes.map { column, kind in
                try ValueCoding.read(statement, column, as: kind, files: files)
            }
        }

        /// The slots that read as null, although their columns name a file.
        func missing(_ values: [AttributeValue], of statement: Statement) -> [Int] {
            external.filter {
                values[$0].isNull && !statement.isNull(at: attributes[$0].column)
            }
        }

        /// The links of the statement's present row. `find` tells the entity of a key in the tree
        /// of a declared one.
        func links(
            of statement: Statement, find: (Int32, Int64) throws -> Int32?
        ) rethrows -> [Stores.Link?] {
            try toOnes.map { link in
                guard let target = try target(of: link, of: statement, find: find) else {
                    return nil
                }
                let order = link.order.flatMap {
                    statement.isNull(at: $0) ? nil : statement.int64(at: $0)
                }
                return Stores.Link(target, orderKey: order)
            }
        }

        /// The row at the end of a link; nil where there is none.
        func target(
            of link: Link, of statement: Statement, find: (Int32, Int64) throws -> Int32?
        ) rethrows -> RowID? {
            let key = statement.int64(at: link.key)
            guard key != 0 || !statement.isNull(at: link.key) else { return nil }
            var entity = link.destination
            if let companion = link.companion {
                // Real files have some that name no entity: then the target itself tells.
                let named = Int32(truncatingIfNeeded: statement.int64(at: companion))
                if link.family.contains(named) {
                    entity = named
                } else if let found = try find(entity, key), link.family.contains(found) {
                    entity = found
                }
            }
            return RowID(entity: entity, key: key)
        }
    }

    /// A plan for the rows of the entities `family`, which share a table. Nil when the family is
    /// empty.
    init?(schema: StoreSchema, family: [Int32]) {
        let members = family.compactMap { schema.columns(of: $0) }
        guard let first = members.first else { return nil }
        var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
        var places: [String: Int] = [:]
        func place(_ name: String) -> Int {
            if let known = places[name] { return known }
            columns.append(name)
            places[name] = columns.count - 1
            return columns.count - 1
        }
        var decoders: [Int32: Decoder] = [:]
        for member in members {
            decoders[member.number] = Decoder(
                entity: member.number,
                attributes: member.attributes.map { (place($0.name), $0.kind) },
                toOnes: member.toOnes.map { link in
                    let family = schema.layout.entity(link.destination).map(schema.layout.family)
                    return Decoder.Link(
                        key: place(link.key), companion: link.companion.map(place),
                        order: link.order.map(place), destination: link.destination,
                        family: Set(family ?? []))
                })
        }
        table = first.table
        self.columns = columns
        self.decoders = decoders
        only = first.condition == nil ? decoders[first.number] : nil
        entityCondition = Self.condition(
            members.map(\.number), tree: schema.countInTable(of: first.number))
    }

    private static func condition(_ numbers: [Int32], tree: Int) -> String {
        if numbers.count == tree { return "" }
        if numbers.count == 1 { return "Z_ENT = \(numbers[0])" }
        return "Z_ENT IN (\(numbers.map(String.init).joined(separator: ", ")))"
    }

    /// The select list, each column with `prefix`.
    func list(prefix: String = "") -> String {
        columns.map { prefix + $0 }.joined(separator: ", ")
    }

    /// The present row of a statement whose select list is this plan's. `find` tells the entity of
    /// a key in the tree of a declared one.
    func row(
        from statement: Statement, files: ExternalFiles?, find: (Int32, Int64) throws -> Int32?
    ) throws -> Row {
        let decoder = try decoder(of: statement)
        let attributes = try decoder.attributes(of: statement, files: files)
        var row = Row(
            id: RowID(entity: decoder.entity, key: statement.int64(at: 0)),
            version: statement.int64(at: 2), attributes: attributes,
            toOnes: decoder.toOnes.isEmpty ? [] : try decoder.links(of: statement, find: find))
        if decoder.mayMiss { row.missing = decoder.missing(attributes, of: statement) }
        return row
    }

    /// How the present row of a statement is read.
    func decoder(of statement: Statement) throws -> Decoder {
        if let only { return only }
        let number = statement.int64(at: 1)
        guard let decoder = decoders[Int32(truncatingIfNeeded: number)] else {
            throw StoreError(
                .corrupt, "A row's entity number is not in the model; the file is damaged.",
                fields: ["table": table, "entity": "\(number)"])
        }
        return decoder
    }

    /// Whether all rows of the table are of one entity.
    var isOfOneEntity: Bool { only != nil }

    /// Whether some of the values may be in files, which may be gone.
    var mayMiss: Bool { decoders.values.contains(where: \.mayMiss) }
}
