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
            ], "model": .string(facts.isModelKnown ? "known" : "inferred"),
            "entities": .array(facts.entities.map(json)),
            "history": facts.history.map {
                ["transactions": JSON($0.transactions), "changes": JSON($0.changes)]
            } ?? .null, "mirror": facts.mirror.map(json) ?? .null,
        ]
    }

    private func json(_ entity: StoreFacts.Entity) -> JSON {
        let description = facts.model.entitiesByName[entity.name]
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
        console.title("\(name): \(facts.type.title) store, \(facts.identifier)")
        console.block(head.text)
        let others = describeMetadata()
        if !others.isEmpty { console.block("\n  METADATA\n" + others.text) }
        console.block("\n" + overview(width: console.width).text)
        console.block("\n  Every property: diptych inspect \(ShellWord.file(name)) --properties")
    }

    private var head: TextTable {
        var head = TextTable(indent: 2)
        head.add("framework", facts.frameworkVersion.map(String.init) ?? "unknown")
        head.add(
            "history",
            facts.history.map {
                "\(Figure.count($0.transactions, "transaction")), "
                    + Figure.count($0.changes, "change")
            } ?? "none")
        head.add(
            "mirror",
            facts.mirror.map { mirror in
                "\(Figure.count(mirror.records, "record")), \(Figure.count(mirror.pairs, "pair")), "
                    + "\(mirror.waiting) waiting" + (mirror.service.map { ", with \($0)" } ?? "")
            } ?? "never synced")
        head.add(
            "model",
            facts.isModelKnown
                ? "known" : "not given, not in the store; names below are those of the file")
        return head
    }

    /// What the metadata say besides what the head and the entities show.
    private func describeMetadata() -> TextTable {
        let shown: Set = ["NSStoreType", "NSStoreUUID", "NSPersistenceFrameworkVersion"]
        var table = TextTable(indent: 2)
        for (key, value) in facts.metadata.sorted(by: { $0.key < $1.key })
        where !shown.contains(key) && !key.hasPrefix("NSStoreModelVersionHashes") {
            table.add(key, Self.words(value))
        }
        return table
    }

    /// A property list in at most a line.
    private static func words(_ value: Any) -> String {
        let text =
            switch value {
            case let text as String: PlainText.line(text)
            case let data as Data: Figure.bytes(Int64(data.count))
            default: json(value).text
            }
        return PlainText.cut(text, to: 60)
    }

    private func overview(width: Int) -> TextTable {
        var table = TextTable(rightAligned: [1, 2], indent: 2)
        let titles = facts.entities.map { $0.name + ($0.parent.map { " : \($0)" } ?? "") }
        let taken =
            2 + (titles.map { TextWidth.columns(of: PlainText.line($0)) }.max() ?? 0) + 2 + 7 + 2
            + 8 + 2
        table.add("ENTITY", "OBJECTS", "WITH SUB", "PROPERTIES")
        for (entity, title) in zip(facts.entities, titles) {
            let names = properties(of: facts.model.entitiesByName[entity.name])
            table.add(
                title, "\(entity.count)", "\(entity.countWithSubentities)",
                Self.joined(names, width: max(width - taken, 30)))
        }
        return table
    }

    /// As many names as there is room for, and how many more there are.
    private static func joined(_ names: [String], width: Int) -> String {
        let whole = names.joined(separator: ", ")
        guard TextWidth.columns(of: whole) > width else { return whole }
        var text = ""
        for (index, name) in names.enumerated() {
            let more = " … and \(names.count - index) more"
            let next = text.isEmpty ? name : text + ", " + name
            guard TextWidth.columns(of: next) + more.count <= width else {
                return text.isEmpty
                    ? Figure.count(names.count, "property", "properties") : text + more
            }
            text = next
        }
        return text
    }

    /// Attributes by name; relationships with their destination, many with a star.
    private func properties(of entity: NSEntityDescription?) -> [String] {
        let links = relationships(of: entity).map {
            "\($0.name) → \($0.destinationEntity?.name ?? "?")"
                + ($0.isToMany ? ($0.isOrdered ? "*…" : "*") : "")
        }
        return attributes(of: entity).map(\.name) + links
    }
}
