/// How a model contradicts itself, in one sentence.
public struct ModelConsistencyError: Error, Sendable, CustomStringConvertible {
    /// What kind of contradiction it is; compare with the static members.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case missingName, duplicateName, inheritanceCircle, missingType, missingDestination
            case strangerDestination, brokenInverse, wrongCounts, unknownProperty
            case compositeCircle
        }
        private let kind: Kind
        public var description: String { kind.rawValue }

        /// An entity or a property without a name.
        public static let missingName = Code(kind: .missingName)
        /// Two entities of the model, or two properties of an entity, with one name.
        public static let duplicateName = Code(kind: .duplicateName)
        /// An entity among its own parents.
        public static let inheritanceCircle = Code(kind: .inheritanceCircle)
        /// A composite attribute among its own elements, or among theirs.
        public static let compositeCircle = Code(kind: .compositeCircle)
        /// A persistent attribute without a type.
        public static let missingType = Code(kind: .missingType)
        /// A relationship that leads nowhere.
        public static let missingDestination = Code(kind: .missingDestination)
        /// A relationship that leads out of the model.
        public static let strangerDestination = Code(kind: .strangerDestination)
        /// An inverse that does not lead back.
        public static let brokenInverse = Code(kind: .brokenInverse)
        /// A smallest count above the largest one.
        public static let wrongCounts = Code(kind: .wrongCounts)
        /// A constraint or an index over a property that the entity does not have.
        public static let unknownProperty = Code(kind: .unknownProperty)
    }

    /// What kind of contradiction it is.
    public var code: Code
    /// One sentence: what contradicts what, and what to do.
    public var message: String
    /// Names of the things concerned: `entity`, `property`.
    public var fields: [String: String]

    public var description: String { message }
}

extension NSManagedObjectModel {
    /// Throws `ModelConsistencyError` for the first contradiction in the model. Cost:
    /// O(properties).
    package func checkConsistency() throws {
        try ModelConsistency(model: self).check()
    }

    /// Throws `ModelConsistencyError` where an entity inherits from itself or a composite holds
    /// itself. Coordinators call it before they add a store. Cost: O(properties).
    package func checkCircles() throws {
        let consistency = ModelConsistency(model: self)
        for entity in entities { try consistency.checkCircles(of: entity) }
    }
}

/// The checks of one model.
private struct ModelConsistency {
    let model: NSManagedObjectModel

    func check() throws {
        try checkNames()
        for entity in model.entities { try checkCircles(of: entity) }
        let members = Set(model.entities.map(ObjectIdentifier.init))
        for entity in model.entities {
            try checkPropertyNames(of: entity)
            for property in entity.declaredProperties {
                switch property {
                case let relationship as NSRelationshipDescription:
                    try check(relationship, of: entity, members: members)
                case let attribute as NSAttributeDescription: try check(attribute, of: entity)
                default: break
                }
            }
            try checkGroups(of: entity)
        }
    }

    private func checkNames() throws {
        var seen: Set<String> = []
        for entity in model.entities {
            guard let name = entity.name, !name.isEmpty else {
                throw problem(
                    .missingName, "The model has an entity without a name; name it.", entity)
            }
            guard seen.insert(name).inserted else {
                throw problem(
                    .duplicateName, "The model has two entities named “\(name)”; rename one.",
                    entity)
            }
        }
    }

    func checkCircles(of entity: NSEntityDescription) throws {
        guard !entity.place.isBelowItself else {
            throw problem(
                .inheritanceCircle,
                "Entity “\(entity.name ?? "")” inherits from itself; take it out of its"
                    + " descendant's subentities.", entity)
        }
        for case let composite as NSCompositeAttributeDescription in entity.declaredProperties {
            try checkParts(of: composite, entity)
        }
    }

    private func checkParts(
        of composite: NSCompositeAttributeDescription, _ entity: NSEntityDescription
    ) throws {
        guard !composite.wasPutIntoItself else {
            throw problem(
                .compositeCircle,
                "Composite attribute \(label(entity, composite)) is among its own elements; take"
                    + " it out of them.", entity, composite)
        }
        for case let inner as NSCompositeAttributeDescription in composite.elements {
            try checkParts(of: inner, entity)
        }
    }

    private func checkPropertyNames(of entity: NSEntityDescription) throws {
        var seen: Set<String> = []
        for property in entity.declaredProperties {
            guard !property.name.isEmpty else {
                throw problem(
                    .missingName,
                    "Entity “\(entity.name ?? "")” has a property without a name; name it.", entity)
            }
            guard seen.insert(property.name).inserted else {
                throw problem(
                    .duplicateName,
                    "Entity “\(entity.name ?? "")” has two properties named “\(property.name)”;"
                        + " rename one.", entity, property)
            }
        }
    }

    private func check(_ attribute: NSAttributeDescription, of entity: NSEntityDescription) throws {
        guard attribute.attributeType != .undefinedAttributeType || attribute.isTransient else {
            throw problem(
                .missingType,
                "Attribute \(label(entity, attribute)) has no type; give it one or make it"
                    + " transient.",
                entity, attribute)
        }
    }

    private func check(
        _ relationship: NSRelationshipDescription, of entity: NSEntityDescription,
        members: Set<ObjectIdentifier>
    ) throws {
        let label = label(entity, relationship)
        guard let destination = relationship.destinationEntity else {
            let wanted = relationship.awaited.destination.map { " named “\($0)”" } ?? ""
            throw problem(
                .missingDestination,
                "Relationship \(label) has no destination entity\(wanted); set destinationEntity"
                    + " to an entity of the model.", entity, relationship)
        }
        guard members.contains(ObjectIdentifier(destination)) else {
            throw problem(
                .strangerDestination,
                "Relationship \(label) leads to “\(destination.name ?? "")”, which is not among the"
                    + " model's entities; add it to them.", entity, relationship)
        }
        guard relationship.maxCount == 0 || relationship.minCount <= relationship.maxCount
        else {
            throw problem(
                .wrongCounts,
                "Relationship \(label) asks for at least \(relationship.minCount) and at most"
                    + " \(relationship.maxCount) objects; correct minCount or maxCount.",
                entity, relationship)
        }
        try checkInverse(of: relationship, entity, destination, label)
    }

    private func checkInverse(
        of relationship: NSRelationshipDescription, _ entity: NSEntityDescription,
        _ destination: NSEntityDescription, _ label: String
    ) throws {
        guard let inverse = relationship.inverseRelationship else {
            guard let wanted = relationship.awaited.inverse else { return }
            throw problem(
                .brokenInverse,
                "Relationship \(label) names the inverse “\(wanted)”, which"
                    + " “\(destination.name ?? "")”"
                    + " does not have; add it or clear the inverse.", entity, relationship)
        }
        guard isLedBack(inverse, to: relationship, of: entity) else {
            let back = inverse.inverseRelationship.map { "“\($0.name)”" } ?? "nothing"
            throw problem(
                .brokenInverse,
                "Relationship \(label) has the inverse “\(inverse.name)”, whose own inverse is"
                    + " \(back); set both to each other.", entity, relationship)
        }
        guard
            destination.isKindOf(entity: inverse.entity)
                || inverse.entity.isKindOf(entity: destination)
        else {
            throw problem(
                .brokenInverse,
                "Relationship \(label) has the inverse “\(inverse.name)”, which belongs to"
                    + " “\(inverse.entity.name ?? "")” and not to the destination"
                    + " “\(destination.name ?? "")”; correct one of them.", entity, relationship)
        }
    }

    /// Whether `inverse` leads back. Apple's compiler lets two relationships of one entity share an
    /// inverse that names only one of them, and shipped models do so.
    private func isLedBack(
        _ inverse: NSRelationshipDescription, to relationship: NSRelationshipDescription,
        of entity: NSEntityDescription
    ) -> Bool {
        guard let back = inverse.inverseRelationship else { return false }
        return back === relationship || back.entity === entity && back !== inverse
    }

    private func checkGroups(of entity: NSEntityDescription) throws {
        let known = entity.propertiesByName
        for name in entity.uniquenessConstraintNames.joined() where known[name] == nil {
            throw unknown(name, "A uniqueness constraint", entity)
        }
        for index in entity.indexes {
            guard !index.name.isEmpty else {
                throw problem(
                    .missingName,
                    "Entity “\(entity.name ?? "")” has an index without a name; name it.", entity)
            }
            for name in index.elements.compactMap(\.propertyName) where known[name] == nil {
                throw unknown(name, "The index “\(index.name)”", entity)
            }
        }
    }

    // MARK: Errors

    private func unknown(
        _ name: String, _ place: String, _ entity: NSEntityDescription
    ) -> ModelConsistencyError {
        var error = problem(
            .unknownProperty,
            "\(place) of entity “\(entity.name ?? "")” names “\(name)”, which the entity does not"
                + " have; correct the name.", entity)
        error.fields["property"] = name
        return error
    }

    private func label(_ entity: NSEntityDescription, _ property: NSPropertyDescription) -> String {
        "“\(entity.name ?? "").\(property.name)”"
    }

    private func problem(
        _ code: ModelConsistencyError.Code, _ message: String, _ entity: NSEntityDescription,
        _ property: NSPropertyDescription? = nil
    ) -> ModelConsistencyError {
        var fields = ["entity": entity.name ?? ""]
        fields["property"] = property?.name
        return ModelConsistencyError(code: code, message: message, fields: fields)
    }
}
