internal import ObjectModel

/// Which entities of the old model the mappings of a migration name.
struct MappingCoverage {
    private let mappings: [NSEntityMapping]

    init(_ models: [NSMappingModel]) { mappings = models.flatMap { $0.entityMappings ?? [] } }

    /// Whether a mapping says what becomes of the entity's objects. One with an expression of its
    /// own may fetch those of subentities, too; one without an entity any.
    func names(_ entity: NSEntityDescription) -> Bool {
        mappings.contains { mapping in
            let isFetching = mapping.sourceExpression != nil
            guard let name = mapping.sourceEntityName else { return isFetching }
            return entity.name == name || isFetching && entity.isBelow(name)
        }
    }
}

extension NSEntityDescription {
    /// Whether a superentity has that name.
    fileprivate func isBelow(_ name: String) -> Bool {
        guard let superentity else { return false }
        return superentity.name == name || superentity.isBelow(name)
    }
}
