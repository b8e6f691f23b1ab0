internal import SQLiteDriver
internal import Stores

/// Rows whose entity number the model does not have: a damaged file has them, or one that a program
/// with another model wrote into.
///
/// They are in no answer that names entities, so whoever makes another file of a store's rows looks
/// for them first.
struct UnknownRows {
    let schema: StoreSchema
    let connection: Connection

    /// Throws `StoreError` `.corrupt` where there are any, with their count: in all tables, or in
    /// those of `tables`, and elsewhere where a row has a number that its table is to give anew.
    /// Cost: one pass through those of the tables that several entities share.
    func refuse(
        in tables: Set<String>? = nil, givenAnew fresh: [String: Set<Int32>] = [:]
    ) throws {
        var numbers: [String: Set<Int32>] = [:]
        for (_, number) in schema.layout.members {
            // A table of one entity is read whatever it says.
            guard let columns = schema.columns(of: number), columns.condition != nil else {
                continue
            }
            numbers[columns.table, default: []].insert(number)
        }
        for (table, numbers) in numbers.sorted(by: { $0.key < $1.key }) {
            var unknown =
                "FROM \(table) WHERE (Z_ENT IS NULL OR Z_ENT NOT IN (\(Self.list(numbers))))"
            if tables?.contains(table) == false {
                let taken = fresh[table, default: []].subtracting(numbers)
                guard !taken.isEmpty else { continue }
                unknown += " AND Z_ENT IN (\(Self.list(taken)))"
            }
            let count = try connection.value("SELECT count(*) \(unknown)")?.int64 ?? 0
            guard count > 0 else { continue }
            let first = try connection.value("SELECT Z_ENT \(unknown) LIMIT 1")?.int64
            throw StoreError(
                .corrupt,
                "\(count) \(count == 1 ? "row" : "rows") of the table \(table) name an entity that "
                    + "the model does not have, and would be lost; nothing was changed. Look into "
                    + "the file, or open it with the model it was written with.",
                fields: ["table": table, "entity": first.map { "\($0)" } ?? "none"])
        }
    }

    private static func list(_ numbers: some Collection<Int32>) -> String {
        numbers.sorted().map(String.init).joined(separator: ", ")
    }
}

extension SQLiteRowStore {
    /// Throws `StoreError` `.corrupt` where the file has rows of entities that the model does not
    /// have: nobody who asks for entities sees them, so a copy of the store would be without them.
    /// Cost: one pass through the tables that several entities share.
    package func checkEntityNumbers() throws {
        try read { transaction in
            try UnknownRows(schema: open.schema, connection: transaction.connection).refuse()
        }
    }
}
