internal import Foundation

extension NSManagedObjectModel {
    /// Links the relationships whose ends are given by name, as far as the entities are here by
    /// now.
    func findAwaitedEnds() {
        let byName = entitiesByName
        let waiting = entities.flatMap(\.declaredProperties)
            .compactMap { $0 as? NSRelationshipDescription }
        for relationship in waiting {
            guard let name = relationship.awaited.destination, let entity = byName[name] else {
                continue
            }
            relationship.destinationEntity = entity
            relationship.awaited.destination = nil
        }
        for relationship in waiting {
            guard let name = relationship.awaited.inverse,
                let inverse = relationship.destinationEntity?.property(named: name)
                    as? NSRelationshipDescription
            else { continue }
            relationship.inverseRelationship = inverse
            relationship.awaited.inverse = nil
        }
    }
}

extension NSEntityDescription {
    /// The property of that name, declared here or nearest among the ancestors.
    func property(named name: String) -> NSPropertyDescription? {
        var entity: NSEntityDescription? = self
        // Entities that inherit from themselves are refused only later, by the check of
        // consistency.
        for _ in 0..<Self.ancestorsMax {
            guard let current = entity else { return nil }
            if let own = current.declaredProperties.first(where: { $0.name == name }) { return own }
            entity = current.superentity
        }
        return nil
    }

    private static let ancestorsMax = 1000
}
