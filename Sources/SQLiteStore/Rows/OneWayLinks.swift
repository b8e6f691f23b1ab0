internal import ObjectModel
internal import SQLiteDriver
internal import Stores

/// To-one links without an inverse: the rows they lead to do not know of them. Used under the
/// store's lock.
final class OneWayLinks {
    /// One relationship of one entity.
    private struct Link {
        var entity: Int32
        var slot: Int
        var table: String
        var column: String
        var companion: String?
        var condition: String?
    }

    private let connection: Connection
    private let schema: StoreSchema
    /// By the entity that they lead to, subentities included. Found when rows are deleted first.
    private lazy var links = Self.links(of: schema)

    init(connection: Connection, schema: StoreSchema) {
        self.connection = connection
        self.schema = schema
    }

    private static func links(of schema: StoreSchema) -> [Int32: [Link]] {
        var links: [Int32: [Link]] = [:]
        for entity in schema.layout.entities
        where entity.toOnes.contains(where: { $0.inverseRelationship == nil }) {
            guard let columns = schema.columns(of: entity.number) else { continue }
            for (slot, relationship) in entity.toOnes.enumerated()
            where relationship.inverseRelationship == nil && slot < columns.toOnes.count {
                let place = columns.toOnes[slot]
                guard let target = schema.layout.entity(place.destination) else { continue }
                let link = Link(
                    entity: entity.number, slot: slot, table: columns.table, column: place.key,
                    companion: place.companion, condition: columns.condition)
                for number in schema.layout.family(of: target) {
                    links[number, default: []].append(link)
                }
            }
        }
        return links
    }

    /// Updates that empty all such links to rows that are gone. Cost: one search by the link's
    /// index for each row and relationship.
    func leading(to gone: [RowID]) throws -> [RowUpdate] {
        guard !gone.isEmpty, !links.isEmpty else { return [] }
        var updates: [RowID: RowUpdate] = [:]
        var order: [RowID] = []
        for target in gone {
            for link in links[target.entity] ?? [] {
                for row in try rows(link, to: target) {
                    if updates[row] == nil { order.append(row) }
                    updates[row, default: RowUpdate(id: row)].toOnes.append((link.slot, nil))
                }
            }
        }
        return order.compactMap { updates[$0] }
    }

    private func rows(_ link: Link, to target: RowID) throws -> [RowID] {
        var text = "SELECT Z_PK FROM \(link.table) WHERE \(link.column) = ?1"
        var values: [SQLiteValue] = [.integer(target.key)]
        if let companion = link.companion {
            text += " AND IFNULL(\(companion), ?2) = ?2"
            values.append(.integer(Int64(target.entity)))
        }
        if let condition = link.condition { text += " AND \(condition)" }
        return try connection.rows(text, values).compactMap { row in
            row[0].int64.map { RowID(entity: link.entity, key: $0) }
        }
    }
}
