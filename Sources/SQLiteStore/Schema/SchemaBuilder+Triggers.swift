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
                let written = schema.columns(of: entity.number)?.written ?? []
                if written.contains(where: { entity.attributes[$0.slot].name == slot.name }) {
                    continue
                }
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
        case .sum(let relationship, let attribute):
            guard let slot = entity.toManySlot(relationship),
                let destination = destination(of: entity.toManys[slot]),
                let inverse = entity.toManys[slot].inverseRelationship,
                let key = links[destination.number]?[inverse.name]?.key,
                let source = attributes[destination.number]?[attribute], !source.isDerived
            else { return nil }
            return target.sumTriggers(
                child: tableName(of: destination), key: key, source: source.name)
        case nil: return nil
        }
    }
}

/// What a derived attribute is computed from, of the forms whose triggers are known.
private enum Derivation {
    case count(String)
    case path(String, String)
    case sum(String, String)

    init?(text: String) {
        func argument(of function: String) -> String? {
            guard text.hasPrefix(function + "("), text.hasSuffix(")") else { return nil }
            return String(text.dropFirst(function.count + 1).dropLast())
        }
        func parts(_ text: String) -> [String] {
            text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        }
        if let relationship = argument(of: "count:") {
            self = .count(relationship)
            return
        }
        let path = argument(of: "sum:").map(parts)
        switch path ?? parts(text) {
        case let both where both.count == 2 && path != nil: self = .sum(both[0], both[1])
        case let both where both.count == 2 && both[1] == "@count": self = .count(both[0])
        case let both where both.count == 2: self = .path(both[0], both[1])
        case let three where three.count == 3 && three[1] == "@sum":
            self = .sum(three[0], three[2])
        default: return nil
        }
    }
}

/// The column of a derived attribute. The texts of counts and paths are Apple's, to the letter;
/// sums follow their form, and call nothing that Apple's do not.
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

    func sumTriggers(child: String, key: String, source: String) -> [String] {
        func sum(_ owner: String) -> String {
            "(SELECT IFNULL(SUM(\(source)), 0) FROM \(child) WHERE \(key) = \(owner))"
        }
        func parameter(_ name: String, _ event: String, _ side: String, _ more: String = "")
            -> String
        {
            let owner = "\(side).\(key)"
            return "CREATE TRIGGER Z_DA_\(child)_\(entity)_\(attribute)_PARAMETER_\(name) "
                + "AFTER \(event) ON \(child) FOR EACH ROW WHEN (\(owner) NOT NULL\(more)) BEGIN "
                + "UPDATE \(table) SET \(column) = \(sum(owner)) WHERE Z_PK = \(owner); "
                + "\(tell("Updated", "Z_PK = \(owner)")); END"
        }
        return [
            parameter("INSERT", "INSERT", "NEW"),
            parameter("UPDATE_INCREMENT", "UPDATE OF \(key), \(source)", "NEW"),
            parameter(
                "UPDATE_DECREMENT", "UPDATE OF \(key)", "OLD", " AND OLD.\(key) IS NOT NEW.\(key)"),
            parameter("DELETE", "DELETE", "OLD"),
            sourceTrigger("INSERT", "INSERT", sum("NEW.Z_PK"), "InsertUpdated"),
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
