internal import ObjectModel
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// The links of one entity's rows to rows that are not there. Memory: a key for each of them.
struct DanglingLinks {
    /// The names of the relationships that have some, and whose they are.
    private let toOnes: [(slot: Int, owners: Set<Int64>)]
    private let toManys: [(slot: Int, owners: Set<Int64>)]
    private let entity: EntityLayout

    /// Cost: a search by key for each link.
    init(of entity: EntityLayout, in transaction: StoreTransaction) throws {
        self.entity = entity
        let columns = transaction.schema.columns(of: entity.number)
        // Some files do not say of which entity the rows of a table with one are.
        func own(_ alias: String) -> String {
            columns?.condition.map { "\(alias).\($0)" } ?? "1"
        }
        func keys(_ statement: String) throws -> Set<Int64> {
            try Set(transaction.connection.rows(statement).compactMap { $0[0].int64 })
        }
        toOnes = try (columns?.toOnes ?? []).enumerated().map { slot, link in
            guard let columns, let table = link.destinationTable else { return (slot, []) }
            return (
                slot,
                try keys(
                    "SELECT s.Z_PK FROM \(columns.table) s WHERE s.\(link.key) IS NOT NULL "
                        + "AND \(own("s")) AND NOT EXISTS "
                        + "(SELECT 1 FROM \(table) d WHERE d.Z_PK = s.\(link.key))")
            )
        }.filter { !$0.1.isEmpty }
        toManys = try (columns?.toManys ?? []).enumerated().map { slot, place in
            guard let columns, case .join(let side) = place else { return (slot, []) }
            func owners(_ owner: String, of member: String) throws -> Set<Int64> {
                try keys(
                    "SELECT DISTINCT j.\(owner) FROM \(side.table) j JOIN \(columns.table) o "
                        + "ON o.Z_PK = j.\(owner) AND \(own("o")) "
                        + "WHERE NOT EXISTS (SELECT 1 FROM \(side.destinationTable) d "
                        + "WHERE d.Z_PK = j.\(member))")
            }
            let found = try owners(side.owner, of: side.member)
            let turned = side.isReflexive ? try owners(side.member, of: side.owner) : []
            return (slot, found.union(turned))
        }.filter { !$0.1.isEmpty }
    }

    var isEmpty: Bool { toOnes.isEmpty && toManys.isEmpty }

    /// All rows that have some, by key.
    var owners: [Int64] {
        Set((toOnes + toManys).flatMap(\.owners)).sorted()
    }

    /// Leaves the links out of a row, and returns the names of the relationships concerned.
    func take(from row: inout Row) -> [String] {
        for (slot, owners) in toOnes where owners.contains(row.id.key) { row.toOnes[slot] = nil }
        return names(of: row.id.key)
    }

    /// The names of the relationships by which a row leads nowhere.
    func names(of key: Int64) -> [String] {
        toOnes.filter { $0.owners.contains(key) }.map { entity.toOnes[$0.slot].name }
            + toManys.filter { $0.owners.contains(key) }.map { entity.toManys[$0.slot].name }
    }
}
