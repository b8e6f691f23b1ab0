internal import Foundation

/// Turns the names by which a file's entities refer to each other into links.
struct EntityLinker {
    private let found: [EntityReader.Found]

    init(_ found: [EntityReader.Found]) { self.found = found }

    /// Links parents, destinations and inverses. Throws where a name leads nowhere.
    func link() throws {
        let byName = try indexByName()
        try linkParents(byName)
        if let file = found.first?.element.file {
            var bounds = ModelBounds(file: file)
            try bounds.check(found.map(\.entity))
        }
        for entity in found {
            for end in entity.relationships {
                try linkDestination(of: end.description, end.element, byName)
            }
        }
        var finder = PropertyFinder()
        for entity in found {
            for end in entity.relationships {
                linkInverse(of: end.description, end.element, byName, &finder)
            }
        }
    }

    private func indexByName() throws -> [String: NSEntityDescription] {
        var byName: [String: NSEntityDescription] = [:]
        for item in found {
            let name = item.entity.name ?? ""
            guard byName.updateValue(item.entity, forKey: name) == nil else {
                throw item.element.problem(
                    .duplicateName,
                    "the model has two entities named “\(name)”; rename or remove one",
                    fields: ["entity": name])
            }
        }
        return byName
    }

    private func linkParents(_ byName: [String: NSEntityDescription]) throws {
        var parents: [String: String] = [:]
        var children: [String: [NSEntityDescription]] = [:]
        for item in found {
            guard let parent = item.element.text("parentEntity"), let name = item.entity.name else {
                continue
            }
            guard byName[parent] != nil else {
                throw unknownEntity(parent, item.element, "parentEntity")
            }
            parents[name] = parent
            children[parent, default: []].append(item.entity)
        }
        for item in found { try checkAncestors(of: item, parents) }
        for (parent, entities) in children { byName[parent]?.subentities = entities }
    }

    private func checkAncestors(of item: EntityReader.Found, _ parents: [String: String]) throws {
        var path = [item.entity.name ?? ""]
        while let parent = parents[path[path.count - 1]] {
            path.append(parent)
            guard parent != path[0] else {
                throw item.element.problem(
                    .inheritanceCircle,
                    "\(item.element.label) inherits from itself (\(path.joined(separator: " → ")));"
                        + " clear one parentEntity", fields: ["entity": path[0]])
            }
            guard path.count > ModelBounds.ancestorsMax else { continue }
            // A circle further up is reported by its own members.
            if Set(path).count < path.count { return }
            throw ModelBounds(file: item.element.file).tooDeep
        }
    }

    private func linkDestination(
        of relationship: NSRelationshipDescription, _ element: MarkupElement,
        _ byName: [String: NSEntityDescription]
    ) throws {
        guard let name = relationship.awaited.destination else {
            throw element.problem(
                .unknownEntity,
                "\(element.label) has no destination; expected destinationEntity=\"…\"",
                fields: ["property": relationship.name])
        }
        guard let destination = byName[name] else {
            throw unknownEntity(name, element, "destinationEntity")
        }
        relationship.destinationEntity = destination
        relationship.awaited.destination = nil
    }

    private func linkInverse(
        of relationship: NSRelationshipDescription, _ element: MarkupElement,
        _ byName: [String: NSEntityDescription], _ finder: inout PropertyFinder
    ) {
        guard let name = relationship.awaited.inverse else { return }
        relationship.awaited.inverse = nil
        let holder = element.text("inverseEntity")
        if let holder, byName[holder] == nil {
            element.note("inverseEntity", holder, "is no entity of the model; passed over")
        }
        let candidates = [holder.flatMap { byName[$0] }, relationship.destinationEntity]
        let inverse = candidates.compactMap { $0 }
            .compactMap { finder.property(named: name, in: $0) as? NSRelationshipDescription }.first
        guard let inverse else {
            // Apple's compiler warns of it and makes a relationship without inverse.
            return element.note(
                "inverseName", name, "is no relationship of the destination; read without inverse")
        }
        relationship.inverseRelationship = inverse
    }

    private func unknownEntity(
        _ name: String, _ element: MarkupElement, _ key: String
    ) -> ModelFileError {
        element.problem(
            .unknownEntity,
            "\(element.label) refers to the entity “\(name)”, which the model does not have;"
                + " correct \(key)", fields: ["entity": name])
    }
}
