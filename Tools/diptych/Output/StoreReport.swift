internal import Foundation
internal import ObjectModel

/// Prints what a store says about itself.
struct StoreReport {
    let facts: StoreFacts
    let name: String

    // MARK: For programs

    var json: JSON {
        [
            "store": [
                "type": .string(facts.type.rawValue), "uuid": .string(facts.identifier),
                "frameworkVersion": facts.frameworkVersion.map { JSON($0) } ?? .null,
                "metadata": Self.json(facts.metadata),
            ], "entities": .array(facts.entities.map(json)),
            "history": facts.history.map {
                ["transactions": JSON($0.transactions), "changes": JSON($0.changes)]
            } ?? .null, "mirror": facts.mirror.map(json) ?? .null,
        ]
    }

    private func json(_ entity: StoreFacts.Entity) -> JSON {
        let description = facts.model?.entitiesByName[entity.name]
        return [
            "name": .string(entity.name), "super": JSON(entity.parent),
            "abstract": .bool(description?.isAbstract ?? false), "count": JSON(entity.count),
            "countWithSubentities": JSON(entity.countWithSubentities),
            "attributes": .array(attributes(of: description).map(json)),
            "relationships": .array(relationships(of: description).map(json)),
            "versionHash": JSON(entity.hash.map(Self.hex)),
        ]
    }

    private func attributes(of entity: NSEntityDescription?) -> [NSAttributeDescription] {
        (entity?.attributesByName ?? [:]).values.sorted { $0.name < $1.name }
    }

    private func relationships(of entity: NSEntityDescription?) -> [NSRelationshipDescription] {
        (entity?.relationshipsByName ?? [:]).values.sorted { $0.name < $1.name }
    }

    private func json(_ attribute: NSAttributeDescription) -> JSON {
        [
            "name": .string(attribute.name), "type": JSON(attribute.attributeType.fileName),
            "optional": .bool(attribute.isOptional),
        ]
    }

    private func json(_ relationship: NSRelationshipDescription) -> JSON {
        [
            "name": .string(relationship.name),
            "destination": JSON(relationship.destinationEntity?.name),
            "inverse": JSON(relationship.inverseRelationship?.name),
            "toMany": .bool(relationship.isToMany), "ordered": .bool(relationship.isOrdered),
        ]
    }

    private func json(_ mirror: MirrorFacts) -> JSON {
        [
            "service": JSON(mirror.service), "zones": .array(mirror.zones.map(JSON.string)),
            "records": JSON(mirror.records), "pairs": JSON(mirror.pairs),
            "waiting": JSON(mirror.waiting), "conflictsWaiting": JSON(mirror.conflictsWaiting),
        ]
    }

    /// A property list as JSON: data as base64, dates as ISO 8601.
    private static func json(_ value: Any) -> JSON {
        switch value {
        case let text as String: return .string(text)
        case let data as Data: return .string(data.base64EncodedString())
        case let date as Date: return JSON(date)
        case let number as NSNumber:
            if isBoolean(number) { return .bool(number.boolValue) }
            let double = number.doubleValue
            return double == double.rounded() && abs(double) < 1e15
                ? .integer(number.int64Value) : .double(double)
        case let list as [Any]: return .array(list.map(json))
        case let members as [String: Any]:
            return .object(members.sorted { $0.key < $1.key }.map { ($0.key, json($0.value)) })
        default: return .string("\(value)")
        }
    }

    private static func isBoolean(_ number: NSNumber) -> Bool {
        String(cString: number.objCType) == "c"
    }

    private static func hex(_ data: Data) -> String {
        data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    // MARK: For people

    func print(_ console: Console) {
        console.line(console.bold("\(name): \(facts.type.title) store, \(facts.identifier)"))
        var head = TextTable(indent: 2)
        head.add("framework", facts.frameworkVersion.map(String.init) ?? "unknown")
        if let history = facts.history {
            head.add(
                "history",
                "\(Figure.count(history.transactions, "transaction")), "
                    + Figure.count(history.changes, "change"))
        } else {
            head.add("history", "none")
        }
        if let mirror = facts.mirror {
            head.add(
                "mirror",
                "\(Figure.count(mirror.records, "record")), \(Figure.count(mirror.pairs, "pair")), "
                    + "\(mirror.waiting) waiting" + (mirror.service.map { ", with \($0)" } ?? ""))
        } else {
            head.add("mirror", "never synced")
        }
        head.add("model", facts.model == nil ? "unknown; give --model to see properties" : "known")
        console.line(head.text)
        var table = TextTable(rightAligned: [1, 2], indent: 2)
        table.add("ENTITY", "OBJECTS", "WITH SUB", "PROPERTIES")
        for entity in facts.entities {
            let parent = entity.parent.map { " : \($0)" } ?? ""
            table.add(
                entity.name + parent, "\(entity.count)", "\(entity.countWithSubentities)",
                properties(of: facts.model?.entitiesByName[entity.name]))
        }
        console.line("\n" + table.text)
    }

    /// Attributes by name; relationships with their destination, many with a star.
    private func properties(of entity: NSEntityDescription?) -> String {
        let links = relationships(of: entity).map {
            "\($0.name) → \($0.destinationEntity?.name ?? "?")"
                + ($0.isToMany ? ($0.isOrdered ? "*…" : "*") : "")
        }
        return (attributes(of: entity).map(\.name) + links).joined(separator: ", ")
    }
}
