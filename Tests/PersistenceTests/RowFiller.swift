import CoreData
import Foundation
import ObjectModel
import SQLiteDriver

/// Fills an empty SQLite store with rows by plain SQL, so that no code under test has a say in
/// what is there before.
struct RowFiller {
    private let connection: Connection
    private let model: NSManagedObjectModel
    private let numbers: [String: Int64]
    private let columns: [String: Set<String>]
    /// The rows of each entity, as keys of its tree.
    private var rows: [String: [Int64]] = [:]
    private var dice: Dice
    private static let rowsPerEntity = 3

    init(_ url: URL, model: NSManagedObjectModel, seed: UInt64) throws {
        connection = try Connection(path: url.path, access: .readWrite)
        self.model = model
        dice = Dice(seed)
        numbers = try StoreTables.numbers(connection)
        columns = try StoreTables.columns(connection)
    }

    mutating func fill() throws {
        try connection.script("BEGIN")
        let entities = model.entities.filter { numbers[$0.name ?? ""] != nil }
            .sorted { ($0.name ?? "") < ($1.name ?? "") }
        var highest: [String: Int64] = [:]
        for entity in entities where !entity.isAbstract {
            let table = StoreTables.table(of: entity)
            for _ in 0..<Self.rowsPerEntity {
                highest[table, default: 0] += 1
                let key = highest[table] ?? 0
                rows[entity.name ?? "", default: []].append(key)
                try insert(entity, key, table)
            }
        }
        for entity in entities where entity.superentity == nil {
            let key = highest[StoreTables.table(of: entity)] ?? 0
            try connection.run(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = ?",
                [.integer(key), .text(entity.name ?? "")])
        }
        for entity in entities where !entity.isAbstract { try link(entity) }
        for entity in entities { try join(entity) }
        try connection.script("COMMIT")
    }

    // MARK: Values

    private mutating func insert(
        _ entity: NSEntityDescription, _ key: Int64, _ table: String
    ) throws {
        var names = ["Z_PK", "Z_ENT", "Z_OPT"]
        var values: [SQLiteValue] = [
            .integer(key), .integer(numbers[entity.name ?? ""] ?? 0), .integer(1),
        ]
        for (name, attribute) in entity.attributesByName.sorted(by: { $0.key < $1.key }) {
            let column = "Z" + name.uppercased()
            guard columns[table]?.contains(column) ?? false,
                !(attribute is NSDerivedAttributeDescription)
            else { continue }
            names.append(column)
            values.append(value(of: attribute, key))
        }
        let places = names.map { _ in "?" }.joined(separator: ", ")
        try connection.run(
            "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(places))", values)
    }

    private mutating func value(of attribute: NSAttributeDescription, _ key: Int64) -> SQLiteValue {
        if attribute.isOptional, dice.hits(20) { return .null }
        let number = key * 16 + Int64(dice.below(16))
        switch attribute.attributeType {
        case .booleanAttributeType: return .integer(number % 2)
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return .integer(number)
        case .doubleAttributeType, .floatAttributeType, .dateAttributeType:
            return .real(Double(number) + 0.5)
        case .decimalAttributeType: return .integer(number)
        case .UUIDAttributeType: return .blob(Data(repeating: UInt8(number % 256), count: 16))
        case .URIAttributeType: return .text("https://example.org/\(number)")
        case .binaryDataAttributeType, .transformableAttributeType:
            let mark: [UInt8] = attribute.allowsExternalBinaryDataStorage ? [1] : []
            return .blob(Data(mark + [UInt8(number % 256), 2, 3]))
        default: return .text("\(attribute.name) \(number)")
        }
    }

    // MARK: Links

    /// The rows that a relationship may lead to, each with its entity's number.
    private func ends(of relationship: NSRelationshipDescription) -> [(key: Int64, entity: Int64)] {
        guard let end = relationship.destinationEntity else { return [] }
        return model.entities.filter { $0.isKindOf(entity: end) }
            .sorted { ($0.name ?? "") < ($1.name ?? "") }
            .flatMap { entity -> [(key: Int64, entity: Int64)] in
                let name = entity.name ?? ""
                return (rows[name] ?? []).map { ($0, numbers[name] ?? 0) }
            }
    }

    private mutating func link(_ entity: NSEntityDescription) throws {
        let table = StoreTables.table(of: entity)
        for (name, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
            let column = "Z" + name.uppercased()
            guard !relationship.isToMany, columns[table]?.contains(column) ?? false else {
                continue
            }
            let ends = ends(of: relationship)
            // Of a one-to-one link neither end may be taken twice; one end knows it here.
            let isOneToOne = relationship.inverseRelationship.map { !$0.isToMany } ?? false
            guard !ends.isEmpty, !isOneToOne else { continue }
            let companion = columns[table]?.first {
                $0.hasSuffix("_" + name.uppercased()) && $0.dropFirst().first?.isNumber ?? false
            }
            for key in rows[entity.name ?? ""] ?? [] {
                guard let end = dice.pick(ends) else { continue }
                try connection.run(
                    "UPDATE \(table) SET \(column) = ? WHERE Z_PK = ?",
                    [.integer(end.key), .integer(key)])
                guard let companion else { continue }
                try connection.run(
                    "UPDATE \(table) SET \(companion) = ? WHERE Z_PK = ?",
                    [.integer(end.entity), .integer(key)])
            }
        }
    }

    private mutating func join(_ entity: NSEntityDescription) throws {
        for property in entity.declaredProperties {
            guard let relationship = property as? NSRelationshipDescription,
                let inverse = relationship.inverseRelationship, inverse !== relationship,
                let number = numbers[entity.name ?? ""],
                let other = relationship.destinationEntity?.name.flatMap({ numbers[$0] })
            else { continue }
            let table = "Z_\(number)\(relationship.name.uppercased())"
            let (own, end) = (
                "Z_\(number)\(inverse.name.uppercased())",
                "Z_\(other)\(relationship.name.uppercased())"
            )
            guard let present = columns[table], present.contains(own), present.contains(end) else {
                continue
            }
            let owners = ends(of: inverse)
            for (place, member) in ends(of: relationship).enumerated() {
                guard let owner = dice.pick(owners) else { continue }
                let orders = present.filter { $0.hasPrefix("Z_FOK_") }.sorted()
                let names = [own, end] + orders
                let values =
                    [owner.key, member.key] + orders.map { _ in Int64(2048 + place * 1024) }
                try connection.run(
                    "INSERT OR IGNORE INTO \(table) (\(names.joined(separator: ", "))) "
                        + "VALUES (\(values.map { "\($0)" }.joined(separator: ", ")))")
            }
        }
    }
}

/// What plain SQL tells of a store's tables.
enum StoreTables {
    static func numbers(_ connection: Connection) throws -> [String: Int64] {
        try connection.rows("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY WHERE Z_ENT < 16000")
            .reduce(into: [:]) { $0[$1[0].string ?? ""] = $1[1].int64 }
    }

    static func columns(_ connection: Connection) throws -> [String: Set<String>] {
        try connection.rows(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
                + "WHERE m.type = 'table'"
        ).reduce(into: [:]) { $0[$1[0].string ?? "", default: []].insert($1[1].string ?? "") }
    }

    static func table(of entity: NSEntityDescription) -> String {
        var root = entity
        while let parent = root.superentity { root = parent }
        return "Z" + (root.name ?? "").uppercased()
    }

    /// A column of an entity's rows, in the order of their keys.
    static func values(
        _ connection: Connection, _ entity: NSEntityDescription, _ column: String
    ) throws -> [SQLiteValue]? {
        guard let number = try numbers(connection)[entity.name ?? ""],
            try columns(connection)[table(of: entity)]?.contains(column) ?? false
        else { return nil }
        return try connection.rows(
            "SELECT \(column) FROM \(table(of: entity)) WHERE Z_ENT = ? ORDER BY Z_PK",
            [.integer(number)]
        ).map { $0[0] }
    }
}
