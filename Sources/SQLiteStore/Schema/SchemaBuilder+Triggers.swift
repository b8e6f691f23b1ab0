internal import ObjectModel
internal import Stores

extension SchemaBuilder {
    /// The triggers that compute the derived attributes which one tree's entities declare.
    mutating func buildTriggers(of tree: [EntityLayout]) {
        for entity in tree {
            let isOwn = ownNames(of: entity)
            for slot in entity.attributes where isOwn(slot.name) {
                guard let derived = slot.attribute as? NSDerivedAttributeDescription,
                    let column = attributes[entity.number]?[slot.name]?.name
                else { continue }
                let target = DerivedColumn(
                    table: tableName(of: entity), column: column, entity: entity.name,
                    attribute: slot.name)
                let text = derived.derivationExpressionText ?? ""
                if let statements = triggers(of: target, text: text, in: entity) {
                    schema.triggers += statements
                } else {
                    note(
                        entity, slot.name,
                        "The derivation \(text) has no triggers here; the column stays as it is.")
                }
            }
        }
    }

    private func triggers(
        of target: DerivedColumn, text: String, in entity: EntityLayout
    ) -> [String]? {
        switch Derivation(text: text) {
        case .count(let relationship):
            guard let slot = entity.toManySlot(relationship) else { return nil }
            let toMany = entity.toManys[slot]
            guard let destination = destination(of: toMany),
                let inverse = toMany.inverseRelationship,
                let key = links[destination.number]?[inverse.name]?.key
            else { return nil }
            return target.countTriggers(child: tableName(of: destination), key: key)
        case .path(let relationship, let attribute):
            guard let slot = entity.toOneSlot(relationship),
                let key = links[entity.number]?[relationship]?.key,
                let destination = destination(of: entity.toOnes[slot]),
                let source = attributes[destination.number]?[attribute]?.name
            else { return nil }
            return target.pathTriggers(key: key, parent: tableName(of: destination), source: source)
        case nil: return nil
        }
    }
}

/// What a derived attribute is computed from, of the forms whose triggers are known.
private enum Derivation {
    case count(String)
    case path(String, String)

    init?(text: String) {
        if text.hasPrefix("count:("), text.hasSuffix(")") {
            self = .count(String(text.dropFirst(7).dropLast()))
            return
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return nil }
        if parts[1] == "@count" {
            self = .count(parts[0])
        } else {
            self = .path(parts[0], parts[1])
        }
    }
}

/// The column of a derived attribute. The texts are Apple's, to the letter.
private struct DerivedColumn {
    let table: String
    let column: String
    let entity: String
    let attribute: String

    func countTriggers(child: String, key: String) -> [String] {
        let prefix = "Z_DA_\(child)_\(entity)_\(attribute)_PARAMETER"
        func parameter(_ name: String, _ event: String, _ side: String, _ value: String) -> String {
            "CREATE TRIGGER \(prefix)_\(name) AFTER \(event) ON \(child) FOR EACH ROW "
                + "WHEN (\(side).\(key) NOT NULL) BEGIN UPDATE \(table) SET \(column) = \(value) "
                + "WHERE Z_PK = \(side).\(key); \(tell("Updated", "Z_PK = \(side).\(key)")); END"
        }
        let count = "(SELECT IFNULL(COUNT(\(key)), 0) FROM \(child) WHERE \(key) = NEW.Z_PK)"
        return [
            parameter("INSERT", "INSERT", "NEW", "IFNULL(\(column), 0) + 1"),
            parameter("UPDATE_INCREMENT", "UPDATE OF \(key)", "NEW", "\(column) + 1"),
            parameter("UPDATE_DECREMENT", "UPDATE OF \(key)", "OLD", "\(column) - 1"),
            parameter("DELETE", "DELETE", "OLD", "\(column) - 1"),
            sourceTrigger("INSERT", "INSERT", count, "InsertUpdated"),
        ]
    }

    func pathTriggers(key: String, parent: String, source: String) -> [String] {
        let value = "(SELECT \(source) FROM \(parent) WHERE Z_PK = NEW.\(key))"
        func parameter(_ name: String, _ event: String, _ told: String) -> String {
            "CREATE TRIGGER Z_DA_\(parent)_\(entity)_\(attribute)_PARAMETER_\(name) AFTER \(event) "
                + "ON \(parent) FOR EACH ROW BEGIN UPDATE \(table) SET \(column) = NEW.\(source) "
                + "WHERE \(key) = NEW.Z_PK; \(tell(told, "\(key) = NEW.Z_PK")); END"
        }
        return [
            sourceTrigger("INSERT", "INSERT", value, "InsertUpdated"),
            sourceTrigger("UPDATE", "UPDATE OF \(key)", value, "Updated"),
            parameter("INSERT", "INSERT", "InsertUpdated"),
            parameter("UPDATE", "UPDATE OF \(source)", "Updated"),
        ]
    }

    private func sourceTrigger(
        _ name: String, _ event: String, _ value: String, _ told: String
    ) -> String {
        "CREATE TRIGGER Z_DA_\(table)_\(entity)_\(attribute)_SOURCE_\(name) AFTER \(event) "
            + "ON \(table) FOR EACH ROW BEGIN UPDATE \(table) SET \(column) = \(value) "
            + "WHERE Z_PK = NEW.Z_PK; "
            + "\(tell(told, "Z_PK = NEW.Z_PK")); END"
    }

    /// The call by which the application hears of the computed value.
    private func tell(_ told: String, _ condition: String) -> String {
        "SELECT NSCoreDataDATrigger\(told)AffectedObjectValue('\(table)', Z_ENT, Z_PK, "
            + "'\(attribute)', \(column)) FROM \(table) WHERE \(condition)"
    }
}
