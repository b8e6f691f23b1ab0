internal import Foundation
internal import ObjectModel
internal import Stores

/// Prints rows of a store.
struct RowReport {
    let layout: ModelLayout
    let identifier: String
    /// The members of an object's to-many relationship, by its slot.
    private let readMembers: (RowID, Int) throws -> [Link]

    init(_ store: any RowStore) {
        layout = store.layout
        identifier = store.identifier
        readMembers = { try store.members(of: $0, toMany: $1) }
    }

    func id(_ row: RowID) -> String {
        let name = layout.entity(row.entity)?.name ?? "\(row.entity)"
        return "x-coredata://\(identifier)/\(name)/p\(row.key)"
    }

    func json(_ row: Row) throws -> JSON {
        guard let entity = layout.entity(row.id.entity) else { return .null }
        var links: [(String, JSON)] = zip(entity.toOnes, row.toOnes).map { relationship, link in
            (relationship.name, JSON(link.map { id($0.target) }))
        }
        for (slot, relationship) in entity.toManys.enumerated() {
            let members = try readMembers(row.id, slot)
            links.append((relationship.name, .array(members.map { .string(id($0.target)) })))
        }
        let values = zip(entity.attributes, row.attributes).map { slot, value in
            (slot.name, ValueText.json(value, slot.attribute.attributeType))
        }
        return [
            "id": .string(id(row.id)), "entity": .string(entity.name), "values": .object(values),
            "relationships": .object(links.sorted { $0.0 < $1.0 }),
        ]
    }

    // MARK: For people

    /// The rows under the names of `entity`'s properties; members are counted.
    func table(_ rows: [Row], of entity: EntityLayout) throws -> TextTable {
        var table = TextTable()
        let names =
            entity.attributes.map(\.name) + entity.toOnes.map(\.name) + entity.toManys.map(\.name)
        table.add(cells: ["OBJECT"] + names)
        for row in rows {
            guard let own = layout.entity(row.id.entity) else { continue }
            table.add(
                cells: ["\(own.name)/p\(row.id.key)"] + (try names.map { try cell($0, row, own) }))
        }
        return table
    }

    /// One object with its properties below each other, for entities that have many. Those without
    /// a value are counted.
    func printBlock(_ row: Row, _ console: Console) throws {
        guard let entity = layout.entity(row.id.entity) else { return }
        let names =
            entity.attributes.map(\.name) + entity.toOnes.map(\.name) + entity.toManys.map(\.name)
        var table = TextTable(indent: 2)
        var emptyCount = 0
        for name in names {
            let text = try cell(name, row, entity)
            let isEmpty =
                text == ValueText.nothing || (text == "0" && entity.toManySlot(name) != nil)
            if isEmpty { emptyCount += 1 } else { table.add(name, text) }
        }
        console.title("\(entity.name)/p\(row.id.key)")
        if !table.isEmpty { console.block(table.text) }
        if emptyCount > 0 { console.line("  (\(emptyCount) without a value)") }
    }

    private func cell(_ name: String, _ row: Row, _ entity: EntityLayout) throws -> String {
        if let slot = entity.attributeSlot(name) {
            return ValueText.short(
                row.attributes[slot], entity.attributes[slot].attribute.attributeType)
        }
        if let slot = entity.toOneSlot(name) {
            guard let target = row.toOnes[slot]?.target else { return ValueText.nothing }
            return "\(layout.entity(target.entity)?.name ?? "?")/p\(target.key)"
        }
        guard let slot = entity.toManySlot(name) else { return "" }
        return "\(try readMembers(row.id, slot).count)"
    }
}
