internal import Foundation
internal import MirrorEngine
internal import ObjectModel

/// The lines of a story that describe a model, made into one.
struct ModelLines {
    private struct Attribute {
        var name: String
        var type: NSAttributeType
        var isRequired = false
        var isEncrypted = false
        var rule: String?
    }

    private struct Entity {
        var name: String
        var line: Int
        var parent: String?
        var isAbstract = false
        var attributes: [Attribute] = []
        var unique: [[String]] = []
    }

    private struct End {
        var entity: String
        var name: String
        var isMany: Bool
        var isOrdered = false
        var deleteRule = NSDeleteRule.nullifyDeleteRule
        var rule: String?
    }

    private var entities: [Entity] = []
    private var relations: [(End, End?, destination: String?)] = []
    private var loaded: NSManagedObjectModel?

    init() {}

    /// The model in a file. Throws `StoryError` for one that cannot be read.
    init(file: URL, path: String) throws {
        do {
            loaded = try NSManagedObjectModel.load(from: file)
        } catch {
            throw StoryError(
                "The model '\(path)' cannot be read: \(error).",
                "Name an .xcdatamodel(d) or .mom(d); a path starts at the story's folder.")
        }
    }

    // MARK: Lines

    private static let entityForm =
        "entity Note: title text, views integer counter, code text unique"

    mutating func addEntity(_ words: inout StoryWords, line: Int) throws {
        try checkIsWritten()
        let name = try words.word("the entity's name", Self.entityForm)
        var entity = Entity(name: name, line: line)
        guard !entities.contains(where: { $0.name == entity.name }) else {
            throw StoryError("There is an entity \(entity.name) already.", "Name it differently.")
        }
        if words.take("is") {
            entity.parent = try words.word("the parent's name", "entity Todo is Note: done flag")
        }
        entity.isAbstract = words.take("abstract")
        if words.takeColon() {
            repeat { try addAttribute(to: &entity, &words) } while words.takeComma()
        }
        try words.end(Self.entityForm)
        entities.append(entity)
    }

    private func addAttribute(to entity: inout Entity, _ words: inout StoryWords) throws {
        let name = try words.word("an attribute's name", Self.entityForm)
        let word = try words.word("the type of \(name)", Self.entityForm)
        guard let type = Self.types[word] else {
            throw StoryError(
                "'\(word)' is no type.",
                "There are \(Self.types.keys.sorted().joined(separator: ", ")).")
        }
        var attribute = Attribute(name: name, type: type)
        while let word = words.plain {
            _ = words.take()
            switch word {
            case "required": attribute.isRequired = true
            case "encrypted": attribute.isEncrypted = true
            case "unique": entity.unique.append([name])
            default: attribute.rule = try StoryWords.rule(named: word).name
            }
        }
        entity.attributes.append(attribute)
    }

    static let types: [String: NSAttributeType] = [
        "text": .stringAttributeType, "integer": .integer64AttributeType,
        "number": .doubleAttributeType, "decimal": .decimalAttributeType,
        "date": .dateAttributeType, "flag": .booleanAttributeType, "uuid": .UUIDAttributeType,
        "link": .URIAttributeType, "data": .binaryDataAttributeType,
    ]

    mutating func addUnique(_ words: inout StoryWords) throws {
        let form = "unique Note by folder, title"
        try checkIsWritten()
        let name = try words.word("an entity's name", form)
        guard words.take("by") else { throw StoryError("'by' is missing.", "Write: \(form)") }
        let properties = try words.list("a property's name", form)
        try words.end(form)
        guard let place = entities.firstIndex(where: { $0.name == name }) else {
            throw StoryError("There is no entity \(name) yet.", "Write its line first.")
        }
        entities[place].unique.append(properties)
    }

    private static let relationForm =
        "relation Folder.notes many ordered, Note.folder one; or: relation Tag.pinned many to Note"

    mutating func addRelation(_ words: inout StoryWords) throws {
        try checkIsWritten()
        let first = try end(&words)
        if words.take("to") {
            let destination = try words.word("an entity's name", Self.relationForm)
            relations.append((first, nil, destination))
        } else {
            guard words.takeComma() else {
                throw StoryError("The other end is missing.", "Write: \(Self.relationForm)")
            }
            relations.append((first, try end(&words), nil))
        }
        try words.end(Self.relationForm)
    }

    private func end(_ words: inout StoryWords) throws -> End {
        let path = try words.word("ENTITY.relationship", Self.relationForm)
        let parts = path.split(separator: ".").map(String.init)
        guard parts.count == 2 else {
            throw StoryError(
                "'\(path)' is no end of a relationship.", "Write: \(Self.relationForm)")
        }
        guard entities.contains(where: { $0.name == parts[0] }) else {
            throw StoryError("There is no entity \(parts[0]) yet.", "Write its line first.")
        }
        let isMany = words.take("many")
        guard isMany || words.take("one") else {
            throw StoryError("\(path) is 'one' or 'many'.", "Write: \(Self.relationForm)")
        }
        var end = End(entity: parts[0], name: parts[1], isMany: isMany)
        while let word = words.plain, word != "to" {
            _ = words.take()
            switch word {
            case "ordered": end.isOrdered = true
            case "cascade": end.deleteRule = .cascadeDeleteRule
            case "deny": end.deleteRule = .denyDeleteRule
            default: end.rule = try StoryWords.rule(named: word).name
            }
        }
        return end
    }

    private func checkIsWritten() throws {
        guard loaded != nil else { return }
        throw StoryError(
            "A model from a file takes no lines of its own.", "Change the file, or write all of it."
        )
    }

    // MARK: The model

    func model() throws -> NSManagedObjectModel {
        let model = try loaded ?? built()
        do {
            try model.checkConsistency()
        } catch {
            let words = "\(error)"
            let reason = words.hasSuffix(".") ? words : words + "."
            throw StoryError("The model contradicts itself: \(reason)")
        }
        model.freeze()
        return model
    }

    private func built() throws -> NSManagedObjectModel {
        guard !entities.isEmpty else {
            throw StoryError("A model has no entities.", "Write: \(Self.entityForm)")
        }
        var made: [String: NSEntityDescription] = [:]
        for line in entities {
            let entity = SampleModel.entity(line.name, line.attributes.map(Self.attribute))
            entity.isAbstract = line.isAbstract
            made[line.name] = entity
        }
        for relation in relations { try relate(relation, in: made) }
        for line in entities {
            made[line.name]?.uniquenessConstraints = line.unique.map { $0 as [Any] }
            guard let parent = line.parent, let entity = made[line.name] else { continue }
            guard let above = made[parent], above !== entity else {
                throw StoryError(
                    "There is no entity \(parent), which \(line.name) is.",
                    "There are \(entities.map(\.name).joined(separator: ", "))."
                ).at(line.line)
            }
            above.subentities += [entity]
        }
        let model = NSManagedObjectModel()
        model.entities = entities.compactMap { made[$0.name] }
        return model
    }

    private static func attribute(_ line: Attribute) -> NSAttributeDescription {
        let attribute = SampleModel.attribute(line.name, line.type)
        attribute.isOptional = !line.isRequired
        attribute.allowsCloudEncryption = line.isEncrypted
        if let rule = line.rule { attribute.userInfo = [MergePolicy.userInfoKey: rule] }
        return attribute
    }

    private func relate(
        _ relation: (End, End?, destination: String?), in made: [String: NSEntityDescription]
    ) throws {
        let (first, second, destination) = relation
        let relationship = Self.relationship(first)
        let target = second?.entity ?? destination ?? ""
        guard let owner = made[first.entity], let other = made[target] else {
            throw StoryError("There is no entity \(target).", "Write its line first.")
        }
        relationship.destinationEntity = other
        owner.properties += [relationship]
        guard let second else { return }
        if second.entity == first.entity, second.name == first.name {
            relationship.inverseRelationship = relationship
            return
        }
        let inverse = Self.relationship(second)
        inverse.destinationEntity = owner
        other.properties += [inverse]
        relationship.inverseRelationship = inverse
        inverse.inverseRelationship = relationship
    }

    private static func relationship(_ end: End) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = end.name
        relationship.maxCount = end.isMany ? 0 : 1
        relationship.isOrdered = end.isOrdered
        relationship.deleteRule = end.deleteRule
        if let rule = end.rule { relationship.userInfo = [MergePolicy.userInfoKey: rule] }
        return relationship
    }
}
