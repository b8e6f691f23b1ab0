internal import Predicates
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
}
