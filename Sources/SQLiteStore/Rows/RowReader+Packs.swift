internal import SQLiteDriver
internal import Stores

// Rows in packs, for who needs few of their values at once.
extension RowReader {
    /// The rows of a statement whose select list is the plan's.
    func packs(of statement: Statement, plan: ReadPlan) throws -> [RowPack] {
        var packing = packing(by: plan)
        while try statement.step() { try packing.add(statement) }
        return packing.finish()
    }

    /// The rows that exist among `ids`, by their keys. Nil where they are to be read as `rows`
    /// does: values may be in files, or the keys lie apart.
    func packs(_ ids: [RowID]) throws -> [RowPack]? {
        guard let entity = ids.first?.entity, ids.allSatisfy({ $0.entity == entity }) else {
            return nil
        }
        let plan = try plan(for: entity)
        guard !plan.mayMiss, let span = KeySpan(ids[...]) else { return nil }
        let statement = try statement(for: plan, within: span)
        defer { statement.reset() }
        let keys = (span.isAscending ? ids : ids.sorted()).map(\.key)
        var packing = packing(by: plan)
        var wanted = 0
        while wanted < keys.count, try statement.step() {
            let key = statement.int64(at: 0)
            while wanted < keys.count, keys[wanted] < key { wanted += 1 }
            if wanted < keys.count, keys[wanted] == key { try packing.add(statement) }
        }
        return packing.finish()
    }

    private func packing(by plan: ReadPlan) -> RowPacking {
        RowPacking(plan) { try self.entity(of: $1, in: $0) }
    }
}
