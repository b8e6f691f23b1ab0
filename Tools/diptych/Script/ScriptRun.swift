internal import Foundation
internal import ObjectModel
internal import Persistence
internal import Predicates

/// Does the steps of a script in a context; each save is whole or not at all.
final class ScriptRun {
    private let context: NSManagedObjectContext
    private let model: NSManagedObjectModel
    private var aliases: [String: NSManagedObject] = [:]
    /// The line at work, and the last one that gave an object values since the last save.
    private var line = 0
    private var lines: [NSManagedObject: Int] = [:]
    private(set) var outcome = ScriptOutcome()

    init(context: NSManagedObjectContext, model: NSManagedObjectModel) {
        self.context = context
        self.model = model
    }

    /// The objects that have names, by name.
    var named: [(name: String, id: String)] {
        aliases.filter { !$0.value.objectID.isTemporaryID }.sorted { $0.key < $1.key }
            .map { ($0.key, $0.value.objectID.uriRepresentation().absoluteString) }
    }

    /// Does all steps, and saves what is left at the end. Throws a `CommandError` with the line;
    /// what was saved before stays.
    func run(_ steps: [ScriptStep]) throws {
        for step in steps {
            line = step.line
            do {
                try perform(step.action)
            } catch {
                throw explained(error, line: step.line)
            }
        }
        guard context.hasChanges else { return }
        do {
            try save()
        } catch {
            throw explained(error, line: steps.last?.line ?? 0)
        }
    }

    private func explained(_ error: any Error, line: Int) -> CommandError {
        var result: CommandError
        if let error = error as? ScriptError {
            result = error.at(line: line)
        } else {
            result = CommandFailure.describe(error)
            result.message = "Line \(line): " + result.message
            if let origin = origin(of: error as NSError), origin != line {
                result.message += " The object is that of line \(origin)."
            }
        }
        let kept =
            outcome.saves == 0
            ? "Nothing was saved."
            : "What stands before the last save (\(outcome.saves) in all) was kept."
        result.hint = (result.hint.map { $0 + " " } ?? "") + kept
        return result
    }

    /// The line that gave values to the object that a save refuses; a save tells of it much later.
    private func origin(of error: NSError) -> Int? {
        let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
        let refused = (details.first ?? error).userInfo[NSValidationObjectErrorKey]
        return (refused as? NSManagedObject).flatMap { lines[$0] }
    }

    private func perform(_ action: ScriptStep.Action) throws {
        switch action {
        case .insert(let entity, let alias, let values):
            try insert(entity, as: alias, values)
        case .set(let target, let values):
            for object in try objects(target) { try assign(values, to: object) }
        case .link(let target, let relationship, let others, let place):
            let (owner, relationship) = try end(target, relationship)
            try link(owner, relationship, try others.flatMap(objects), place: place)
        case .unlink(let target, let relationship, let others):
            let (owner, relationship) = try end(target, relationship)
            try unlink(owner, relationship, try others.flatMap(objects))
        case .delete(let target):
            for object in try objects(target) { context.delete(object) }
        case .save: try save()
        }
    }

    private func save() throws {
        let inserted = context.insertedObjects.count
        let updated = context.updatedObjects.count
        let deleted = context.deletedObjects.count
        try context.save()
        lines = [:]
        outcome.saves += 1
        outcome.inserted += inserted
        outcome.updated += updated
        outcome.deleted += deleted
    }

    // MARK: Objects

    private func insert(
        _ name: String, as alias: String?, _ values: [ScriptStep.Assignment]
    ) throws {
        let entity = try entity(name)
        guard !entity.isAbstract else {
            throw ScriptError(
                "\(name) is abstract.",
                "Insert one of "
                    + entity.subentities.compactMap(\.name).sorted().joined(separator: ", ") + ".")
        }
        if let alias, aliases[alias] != nil {
            throw ScriptError("'\(alias)' is taken already.", "Choose another alias.")
        }
        let object = NSManagedObject(entity: entity, insertInto: context)
        if let alias { aliases[alias] = object }
        try assign(values, to: object)
    }

    private func entity(_ name: String) throws -> NSEntityDescription {
        if let entity = model.entitiesByName[name] { return entity }
        let names = model.entitiesByName.keys.sorted()
        let near = Spelling.nearest(to: name, among: names).map { "Did you mean \($0)? " } ?? ""
        throw ScriptError(
            "The model has no entity '\(name)'.",
            near + "It has \(names.joined(separator: ", ")).")
    }

    /// The objects of a target; never none.
    private func objects(_ target: ScriptTarget) throws -> [NSManagedObject] {
        switch target {
        case .alias(let name):
            if let object = aliases[name] { return [object] }
            throw ScriptError(
                "No object is called '\(name)' here.",
                "Aliases last for one script; Entity[predicate] finds objects of others.")
        case .identifier(let text):
            guard let id = context.persistentStoreCoordinator?.managedObjectID(for: text) else {
                throw ScriptError("\(text) is of another store, or of none.", "Look with inspect.")
            }
            return [try context.existingObject(with: id)]
        case .matching(let name, let predicate):
            let request = NSFetchRequest<NSManagedObject>()
            request.entity = try entity(name)
            if !predicate.allSatisfy(\.isWhitespace) {
                request.predicate = try NSPredicate.parse(predicate)
            }
            let found = try context.fetch(request)
            guard !found.isEmpty else {
                throw ScriptError("Nothing matches \(target.text).", "Look with inspect --where.")
            }
            return found
        }
    }

    private func end(
        _ target: ScriptTarget, _ name: String
    ) throws -> (NSManagedObject, NSRelationshipDescription) {
        let found = try objects(target)
        guard let object = found.first, found.count == 1 else {
            throw ScriptError(
                "\(target.text) matches \(found.count) objects.",
                "Choose one by a closer predicate.")
        }
        return (object, try relationship(name, of: object))
    }

    private func relationship(
        _ name: String, of object: NSManagedObject
    ) throws -> NSRelationshipDescription {
        if let found = object.entity.relationshipsByName[name] { return found }
        throw unknown(name, "relationship", object, object.entity.relationshipsByName.keys.sorted())
    }

    private func unknown(
        _ name: String, _ kind: String, _ object: NSManagedObject, _ names: [String]
    ) -> ScriptError {
        let near = Spelling.nearest(to: name, among: names).map { "Did you mean \($0)? " } ?? ""
        return ScriptError(
            "\(object.entity.name ?? "") has no \(kind) '\(name)'.",
            near + "It has \(names.joined(separator: ", ")).")
    }

    // MARK: Values

    private func assign(_ values: [ScriptStep.Assignment], to object: NSManagedObject) throws {
        lines[object] = line
        for assignment in values {
            if object.entity.relationshipsByName[assignment.key] != nil {
                try assignLink(assignment, to: object)
            } else {
                try assignAttribute(assignment, to: object)
            }
        }
    }

    private func assignAttribute(
        _ assignment: ScriptStep.Assignment, to object: NSManagedObject
    ) throws {
        let attributes = object.entity.attributesByName
        let path = assignment.key.split(separator: ".").map(String.init)
        if path.count > 1, let top = attributes[path[0]],
            let element = Self.element(path.dropFirst(), of: top)
        {
            let values = object.value(forKey: path[0]) as? [String: Any] ?? [:]
            object.setValue(
                Self.putting(
                    try value(assignment.value, for: element), at: path.dropFirst(), into: values),
                forKey: path[0])
            return
        }
        guard let attribute = attributes[assignment.key] else {
            let names = object.entity.propertiesByName.keys.sorted()
            throw unknown(assignment.key, "property", object, names)
        }
        guard !(attribute is NSDerivedAttributeDescription) else {
            throw ScriptError("\(attribute.name) is derived from others.", "Change those.")
        }
        object.setValue(try value(assignment.value, for: attribute), forKey: assignment.key)
    }

    /// The element of a composite that a path of names leads to, through composites of composites.
    private static func element(
        _ path: ArraySlice<String>, of attribute: NSAttributeDescription
    ) -> NSAttributeDescription? {
        guard let name = path.first else { return attribute }
        let elements = (attribute as? NSCompositeAttributeDescription)?.elements ?? []
        return elements.first { $0.name == name }.flatMap { element(path.dropFirst(), of: $0) }
    }

    /// The values of a composite with another one at the end of a path.
    private static func putting(
        _ value: Any?, at path: ArraySlice<String>, into values: [String: Any]
    ) -> [String: Any] {
        guard let name = path.first else { return values }
        var values = values
        let rest = path.dropFirst()
        values[name] =
            rest.isEmpty
            ? value : putting(value, at: rest, into: values[name] as? [String: Any] ?? [:])
        return values
    }

    private func value(_ value: ScriptValue, for attribute: NSAttributeDescription) throws -> Any? {
        guard case .text(let text) = value else { return nil }
        return try ValueReading.value(text, for: attribute)
    }

    private func assignLink(_ assignment: ScriptStep.Assignment, to object: NSManagedObject) throws
    {
        let relationship = try relationship(assignment.key, of: object)
        guard !relationship.isToMany else {
            throw ScriptError(
                "\(assignment.key) has many members.", "Add them with link and unlink.")
        }
        guard case .text(let text) = assignment.value else {
            return object.setValue(nil, forKey: assignment.key)
        }
        let found = try objects(ScriptTarget(text))
        guard found.count == 1 else {
            throw ScriptError(
                "\(text) matches \(found.count) objects.", "Choose one by a closer predicate.")
        }
        try link(object, relationship, found, place: nil)
    }

    // MARK: Links

    private func link(
        _ owner: NSManagedObject, _ relationship: NSRelationshipDescription,
        _ others: [NSManagedObject], place: Int?
    ) throws {
        let name = relationship.name
        for other in others {
            guard let wanted = relationship.destinationEntity,
                other.entity.isKindOf(entity: wanted)
            else {
                throw ScriptError(
                    "\(owner.entity.name ?? "").\(name) takes "
                        + "\(relationship.destinationEntity?.name ?? "another entity"), not "
                        + "\(other.entity.name ?? "").")
            }
        }
        guard relationship.isToMany else {
            guard let other = others.first, others.count == 1 else {
                throw ScriptError("\(name) has room for one object.", "Link one.")
            }
            return owner.setValue(other, forKey: name)
        }
        guard relationship.isOrdered else {
            guard place == nil else {
                throw ScriptError("\(name) is not ordered.", "Leave out at=.")
            }
            for other in others { owner.addObject(other, toRelationshipNamed: name) }
            return
        }
        let members = owner.mutableOrderedSetValue(forKey: name)
        for (offset, other) in others.enumerated() {
            let known = members.index(of: other)
            if known != NSNotFound { members.removeObject(at: known) }
            let count = members.count
            members.insert(other, at: min(min(place ?? count, count) + offset, count))
        }
    }

    private func unlink(
        _ owner: NSManagedObject, _ relationship: NSRelationshipDescription,
        _ others: [NSManagedObject]
    ) throws {
        let name = relationship.name
        let members = Set(owner.objectIDs(forRelationshipNamed: name))
        for other in others {
            guard members.contains(other.objectID) else {
                throw ScriptError("The object is no member of \(name).", "Look with inspect.")
            }
            if relationship.isToMany {
                owner.removeObject(other, fromRelationshipNamed: name)
            } else {
                owner.setValue(nil, forKey: name)
            }
        }
    }
}

/// What a script came to.
struct ScriptOutcome {
    var saves = 0
    var inserted = 0
    var updated = 0
    var deleted = 0
}
