internal import Foundation
internal import Predicates
internal import SQLiteDriver
public import Stores

extension SQLiteRowStore {
    /// Asks for keys alone, so that no value is read. Cost: one statement for each entity.
    public func present(among ids: [RowID]) throws -> Set<RowID> {
        guard !ids.isEmpty else { return [] }
        return try reading { reader in
            var found: Set<RowID> = []
            for (entity, ids) in Dictionary(grouping: ids, by: \.entity) {
                var query = RowQuery(entity: entity)
                query.predicate = .comparison(
                    ComparisonNode(left: .evaluatedObject, operator: .in, right: .constant(ids)))
                let keys = Set(try reader.ids(matching: query).map(\.key))
                found.formUnion(ids.lazy.filter { keys.contains($0.key) })
            }
            return found
        }
    }

    /// The name of the file that holds a value; nil for one in its row. Cost: one statement.
    package func externalFile(of id: RowID, slot: Int) throws -> String? {
        try reading { reader in
            guard let columns = reader.schema.columns(of: id.entity) else { return nil }
            let stored = try reader.connection.value(
                "SELECT \(columns.attributes[slot].name) FROM \(columns.table) WHERE Z_PK = ?",
                [.integer(id.key)])
            return stored?.data.flatMap(ExternalFiles.name)?.uuidString
        }
    }
}
